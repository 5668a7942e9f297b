package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// Compaction is the result of Compact or Remove.
type Compaction struct {
	Commits   int    // commits that were rewritten
	Rows      int64  // rows that were rewritten
	Into      string // the commit that holds them now, "" if there was nothing to do
	Removed   int    // files removed
	Postponed bool   // some files are still being read, and are left to the next compaction or ingest
}

// smallBytes is the size under which a commit is worth merging with others.
const smallBytes = 64 << 20

// Compact merges small log commits, and those with retired rows, into one new commit that replaces them, and does the same with
// the commits of each kind of result. It removes the files of commits that are completely hidden. The contents of the tables
// stay the same.
func (s *Store) Compact(ctx context.Context, tool string) (Compaction, error) {
	var done Compaction
	tx, err := s.Begin(ctx, Origin{Kind: Log, Tool: tool})
	if err != nil {
		return done, err
	}
	defer tx.Abort()
	cat, err := s.catalog(ctx)
	if err != nil {
		return done, err
	}
	if chosen := cat.compactable(Log); len(chosen) > 0 {
		if err := tx.rewrite(ctx, cat, chosen); err != nil {
			return done, err
		}
		c, err := tx.Commit(ctx)
		if err != nil {
			return done, err
		}
		done.add(chosen, &c)
	}
	err = tx.Abort()
	for _, kind := range resultKinds {
		err = errors.Join(err, s.compactResults(ctx, kind, &done))
	}
	return done, errors.Join(err, s.sweepNow(ctx, &done))
}

// compactResults merges the small commits of a kind of result, and those with hidden rows, into one.
func (s *Store) compactResults(ctx context.Context, kind Kind, done *Compaction) error {
	cat, err := s.catalog(ctx)
	if err != nil || len(cat.compactable(kind)) == 0 {
		return err
	}
	tx, err := s.Begin(ctx, Origin{Kind: kind})
	if err != nil {
		return err
	}
	defer tx.Abort()
	chosen := tx.cat.compactable(kind)
	if len(chosen) == 0 {
		return nil
	}
	visible := tx.cat.visibleOf(kind)
	last := visible[len(visible)-1]
	if last.Columns != resultColumns() {
		return nil // the next results of the kind replace these
	}
	tx.origin.Tool, tx.state = last.Tool, last.State
	for i, c := range tx.cat.commits {
		if tx.cat.visible[i] && c.Kind == kind && !slices.Contains(chosen, i) {
			tx.kept = append(tx.kept, KeptRecord{Sequence: c.Sequence})
		}
	}
	if err := tx.rewrite(ctx, tx.cat, chosen); err != nil {
		return err
	}
	c, err := tx.Commit(ctx)
	if err != nil {
		return err
	}
	done.add(chosen, &c)
	return nil
}

// add counts rewritten commits.
func (done *Compaction) add(chosen []int, into *Commit) {
	done.Commits += len(chosen)
	if done.Into == "" {
		done.Into = into.ID
	}
	for _, n := range into.Rows() {
		done.Rows += n
	}
}

// compactable chooses the commits of a kind to rewrite. A single small commit stays as it is.
func (cat *catalog) compactable(kind Kind) []int {
	var chosen []int
	worth := false
	for i, c := range cat.commits {
		if !cat.visible[i] || c.Kind != kind || kind == Log && len(c.Inputs) == 0 {
			continue
		}
		holes := len(cat.hidden[i]) > 0
		if holes || c.Bytes() < smallBytes {
			chosen = append(chosen, i)
			worth = worth || holes
		}
	}
	if !worth && len(chosen) < 2 {
		return nil
	}
	return chosen
}

// rewrite copies the visible rows of the chosen commits into the transaction, attempts sorted by phase a million at a time.
// Rows that belong to no input of their commit, such as those of ingests, get a key of their own, so that they can be removed
// with the ingest later.
func (tx *Tx) rewrite(ctx context.Context, cat *catalog, chosen []int) error {
	files, err := tx.s.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer files.Close()
	for _, i := range chosen {
		c := cat.commits[i]
		own := KeyText(0)
		if c.Kind == Log && len(c.Ingests) == 0 {
			own = ownKey(c.ID)
			tx.ingests = append(tx.ingests, IngestRecord{ID: c.ID, Key: own})
		}
		for _, r := range c.Ingests {
			if !cat.hidden[i][r.Key] {
				tx.ingests = append(tx.ingests, r)
			}
		}
		for _, in := range c.Inputs {
			if !cat.hidden[i][in.Key] {
				if err := tx.Input(in); err != nil {
					return err
				}
			}
		}
		for _, in := range c.Saw {
			if !cat.hidden[i][in.Key] {
				tx.saw = append(tx.saw, cat.markedAgain(in, c.Sequence))
			}
		}
		tx.replaced = append(tx.replaced, replaced{c.Sequence, cat.hidden[i]})
		for _, t := range c.Tables {
			table := schema.ByName(t.Name)
			if table == nil {
				return fmt.Errorf("store: commit %d: %w: it has a table %q", c.Sequence, ErrNewer, t.Name)
			}
			w, err := tx.writerOf(table)
			if err != nil {
				return err
			}
			w.sorts = table.Cluster != ""
			sl := Slice{Columns: t.Columns, Files: t.Files, Hidden: t.hidden(cat.hidden[i])}
			err = files.scan(ctx, table, sl, func(input schema.Key, rows schema.Batch) error {
				if input == 0 {
					input = schema.Key(own)
				}
				return tx.Append(input, rows)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ownKey returns the key of an ingest's own rows.
func ownKey(id string) KeyText { return KeyText(xxhash.Sum64String("ingest "+id) >> 1) }

// Remove removes an ingest, or all ingests or results in a commit, by its id. Earlier versions of the logs that it replaced do not
// become visible again.
func (s *Store) Remove(ctx context.Context, id, tool string) (Compaction, error) {
	var done Compaction
	tx, err := s.Begin(ctx, Origin{Kind: Removal, Tool: tool})
	if err != nil {
		return done, err
	}
	defer tx.Abort()
	cat, err := s.catalog(ctx)
	if err != nil {
		return done, err
	}
	for i, c := range cat.commits {
		if !cat.visible[i] {
			continue
		}
		for _, in := range c.Inputs {
			if (in.Ingest == id || c.ID == id) && !cat.hidden[i][in.Key] {
				tx.Retire(schema.Key(in.Key))
			}
		}
		if c.ID == id && len(c.Inputs) == 0 || c.Kind.result() && cat.resultHas(c.Kind, id) {
			tx.replaced = append(tx.replaced, replaced{c.Sequence, cat.hidden[i]})
		}
	}
	if len(tx.retired)+len(tx.replaced) == 0 {
		return done, fmt.Errorf("store: %s: %w: %q; straggler store ls lists them", s.where, ErrNoCommit, id)
	}
	c, err := tx.Commit(ctx)
	if err != nil {
		return done, err
	}
	done.Commits, done.Into = 1, c.ID
	return done, errors.Join(tx.Abort(), s.sweepNow(ctx, &done))
}

func (s *Store) sweepNow(ctx context.Context, done *Compaction) error {
	unlock, err := s.at.lock(ctx)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer unlock()
	done.Removed, done.Postponed, err = s.sweep(ctx)
	if err != nil {
		return fmt.Errorf("store: removing files that are not used any more: %w", err)
	}
	return nil
}

// sweep removes commits that are completely hidden, and then the files that only they named. It does nothing while a snapshot
// is open. The caller holds the writers' lock.
//
// The oldest commits are removed first, and a commit stays as long as it hides something of an earlier one that stays: so at
// every moment the remaining commits show what all of them showed.
func (s *Store) sweep(ctx context.Context) (removed int, postponed bool, err error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return 0, false, err
	}
	if len(cat.obsolete()) == 0 {
		removed, err = s.removeOrphans(ctx, cat, true)
		return removed, false, err
	}
	obsolete, postponed, release, err := s.at.collectable(ctx, cat)
	if err != nil || len(obsolete) == 0 {
		return 0, postponed, err
	}
	defer release()
	for _, c := range obsolete {
		if len(c.Retired)+len(c.Replaced) > 0 || c.Kind.result() {
			// What it hides must be removed durably first.
			if err := s.at.sync(); err != nil {
				return 0, false, err
			}
		}
		if err := s.at.remove(ctx, commitName(c.Sequence)); err != nil {
			return 0, false, err
		}
	}
	if err := s.at.sync(); err != nil {
		return 0, false, err
	}
	if cat, err = s.catalog(ctx); err != nil {
		return 0, false, err
	}
	removed, err = s.removeFilesOf(ctx, obsolete, cat)
	return removed, postponed, err
}

// removeFilesOf removes the files of removed commits, and those of dead writers.
func (s *Store) removeFilesOf(ctx context.Context, gone []*Commit, cat *catalog) (int, error) {
	used := cat.files()
	removed := 0
	for _, c := range gone {
		for _, t := range c.Tables {
			for _, f := range t.Files {
				if used[f.Path] {
					continue
				}
				if err := s.at.remove(ctx, f.Path); err == nil {
					removed++
				} else if !errors.Is(err, fs.ErrNotExist) {
					return removed, err
				}
			}
		}
	}
	more, err := s.removeOrphans(ctx, cat, true)
	return removed + more, err
}

// obsolete lists the commits that can be removed, oldest first.
func (cat *catalog) obsolete() (obsolete []*Commit) {
	var kept []*Commit
	last := make(map[Kind]int64) // visible commit of each kind
	for i, c := range cat.commits {
		if cat.visible[i] {
			last[c.Kind] = c.Sequence
		}
	}
	for i, c := range cat.commits {
		superseded := last[c.Kind] > c.Sequence
		if cat.visible[i] || slices.ContainsFunc(kept, func(earlier *Commit) bool { return c.hides(earlier, superseded) }) {
			kept = append(kept, c)
		} else {
			obsolete = append(obsolete, c)
		}
	}
	return obsolete
}

// hides reports whether c hides something of an earlier commit. A superseded result hides nothing.
func (c *Commit) hides(earlier *Commit, superseded bool) bool {
	return c.Kind.result() && !superseded && c.Kind == earlier.Kind || slices.Contains(c.Replaced, earlier.Sequence) ||
		slices.ContainsFunc(earlier.Inputs, func(in InputRecord) bool { return slices.Contains(c.Retired, in.Key) })
}
