package store

import (
	"context"
	"errors"
	"fmt"

	"straggler/schema"
)

// Snapshot is the visible contents of a store at one moment, for engines that read its files. The files stay until it is
// closed, even if later commits replace them.
type Snapshot struct {
	s       *Store
	pinned  pin
	commits int64 // made through the Store when the snapshot was taken
	cat     *catalog
	closed  bool
}

// Slice is files of one table with the same columns and the same hidden inputs, which one scan can read.
type Slice struct {
	Columns []string // "name TYPE", as in the commit
	Files   []FileRecord
	Hidden  []schema.Key // rows with one of these in InputColumn are not part of the table
	Chosen  []schema.Key // of SlicesOf: only rows with one of these are; nil: all except the hidden ones
}

// Snapshot takes a snapshot of what is visible now.
func (s *Store) Snapshot(ctx context.Context) (*Snapshot, error) {
	pinned, err := s.at.pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	n := &Snapshot{s: s, pinned: pinned, commits: -1}
	if err := n.Follow(ctx); err != nil {
		return nil, errors.Join(err, pinned.Close())
	}
	return n, nil
}

// Follow renews the snapshot if something was committed through the same Store since it was taken.
func (n *Snapshot) Follow(ctx context.Context) error {
	now := n.s.commits.Load()
	if n.commits == now {
		return nil
	}
	cat, err := n.s.catalog(ctx)
	if err != nil {
		return err
	}
	n.cat, n.commits = cat, now
	return nil
}

// Version changes when Follow renews the snapshot.
func (n *Snapshot) Version() int64 { return n.commits }

// Slices returns the parts of a table, in the order of the commits.
func (n *Snapshot) Slices(table string) []Slice { return n.cat.slices(table) }

// SlicesOf returns the parts of a table with rows of the given inputs: rows read from them, or results computed from a single
// one of them.
func (n *Snapshot) SlicesOf(table string, inputs []schema.Key) ([]Slice, error) {
	wanted, known := make(map[KeyText]bool, len(inputs)), 0
	for _, k := range inputs {
		wanted[KeyText(k)] = true
	}
	for in := range n.cat.inputs {
		if wanted[in.Key] {
			known++
		}
	}
	if known != len(wanted) {
		return nil, fmt.Errorf("store: %w: inputs have come or gone; try again", ErrConflict)
	}
	var out []Slice
	for i, c := range n.cat.commits {
		if !n.cat.visible[i] {
			continue
		}
		var part Slice
		whole := true // every row of an input is wanted
		for key := range n.cat.hidden[i] {
			whole = whole && key == 0
		}
		for key := range c.inputKeys() {
			if wanted[key] && !n.cat.hidden[i][key] {
				part.Chosen = append(part.Chosen, schema.Key(key))
			} else {
				whole = false
			}
		}
		if len(part.Chosen) == 0 {
			continue
		}
		if whole {
			part.Chosen = nil
		}
		for _, t := range c.Tables {
			if t.Name == table {
				part.Columns, part.Files = t.Columns, t.Files
				if whole && c.Kind.result() { // without results computed from several inputs
					part.Hidden = t.hidden(map[KeyText]bool{0: true})
				}
				out = append(out, part)
			}
		}
	}
	return joinSlices(out), nil
}

// joinSlices merges slices that one scan can read.
func joinSlices(slices []Slice) []Slice {
	var out []Slice
	at := make(map[string]int)
	for _, s := range slices {
		id := fmt.Sprint(s.Columns, s.Hidden, s.Chosen)
		n, ok := at[id]
		if !ok {
			at[id] = len(out)
			out = append(out, Slice{Columns: s.Columns, Hidden: s.Hidden, Chosen: s.Chosen})
			n = len(out) - 1
		}
		out[n].Files = append(out[n].Files, s.Files...)
	}
	return out
}

// Path returns the local path of a file that has been fetched.
func (n *Snapshot) Path(f FileRecord) string { return n.pinned.path(f) }

// Remote reports that files are fetched over a network, so that callers fetch only what they need.
func (n *Snapshot) Remote() bool { return n.pinned.remote() }

// Fetch makes files readable on this machine. It fails when one does not match its commit.
func (n *Snapshot) Fetch(ctx context.Context, files []FileRecord) error {
	return n.pinned.fetch(ctx, files)
}

// Check checks that files that another machine is about to read exist and are complete: an engine's error for a missing or
// truncated one does not say what to do. In a bucket, where that takes long, it checks none.
func (n *Snapshot) Check(ctx context.Context, files []FileRecord) error {
	if n.Remote() {
		return nil
	}
	return n.Fetch(ctx, files)
}

// Close allows the removal of files that later commits replaced. It may be called more than once.
func (n *Snapshot) Close() error {
	if n.closed {
		return nil
	}
	n.closed = true
	return n.pinned.Close()
}

// HadoopURL returns the URL under which the machines of a cluster find the store.
func (s *Store) HadoopURL() string { return s.hadoop }
