package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"straggler/schema"
)

// catalog is the commits of a store at one moment, and what is visible of them.
type catalog struct {
	commits []*Commit          // by sequence
	times   []time.Time        // of each commit: when it was made, by the clock of the backend
	visible []bool             // of each commit: whether any of it is visible
	hidden  []map[KeyText]bool // of each commit: keys of rows that are not visible
	next    int64              // the first unused sequence number
}

// readTries is how often a reader starts again when a compaction removes commits meanwhile.
const readTries = 10

func (s *Store) catalog(ctx context.Context) (*catalog, error) {
	for try := 1; ; try++ {
		c, err := s.readCatalog(ctx)
		if errors.Is(err, fs.ErrNotExist) && try < readTries && ctx.Err() == nil {
			continue
		}
		return c, err
	}
}

// commitReads is how many commits are read concurrently from backends with latency.
const commitReads = 16

func (s *Store) readCatalog(ctx context.Context) (*catalog, error) {
	files, err := s.commitFiles(ctx)
	if err != nil {
		return nil, err
	}
	cat := &catalog{next: 1, commits: make([]*Commit, len(files)), times: make([]time.Time, len(files))}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(commitReads)
	for i, f := range files {
		cat.next, cat.times[i] = f.sequence+1, f.modified
		if cat.commits[i] = s.cachedCommit(f); cat.commits[i] == nil {
			group.Go(func() (err error) {
				cat.commits[i], err = s.readCommit(ctx, f)
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	cat.resolve()
	return cat, nil
}

// commitFile is the file of a commit.
type commitFile struct {
	fileInfo
	sequence int64
}

// commitFiles lists the commit files in order.
func (s *Store) commitFiles(ctx context.Context) ([]commitFile, error) {
	entries, err := s.at.list(ctx, "commits")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var out []commitFile
	for _, e := range entries {
		if n, ok := commitSequence(e.name); ok {
			out = append(out, commitFile{e, n})
		}
	}
	slices.SortFunc(out, func(a, b commitFile) int { return cmp.Compare(a.sequence, b.sequence) })
	return out, nil
}

// cachedCommit is a commit that was read before, and what its file was then.
type cachedCommit struct {
	size     int64
	modified time.Time
	commit   *Commit
}

// cachedCommit returns the commit read before, nil when the file has changed.
func (s *Store) cachedCommit(f commitFile) *Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.cache[f.sequence]; ok && c.size == f.size && c.modified.Equal(f.modified) {
		return c.commit
	}
	return nil
}

func (s *Store) readCommit(ctx context.Context, f commitFile) (*Commit, error) {
	data, err := readFile(ctx, s.at, f.fileInfo)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	c, err := decodeCommit(data, f.sequence)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w; %s", s.path(f.name), err, adviceOnCommit(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil {
		s.cache = make(map[int64]cachedCommit)
	}
	s.cache[f.sequence] = cachedCommit{f.size, f.modified, c}
	return c, nil
}

// resolve determines what is visible, from the last commit backwards. Not visible are replaced commits, results that the last
// one of their kind does not keep, and commits all of whose inputs later commits retired. What a commit retires stays retired
// even when the commit itself is no longer visible.
func (cat *catalog) resolve() {
	cat.visible = make([]bool, len(cat.commits))
	cat.hidden = make([]map[KeyText]bool, len(cat.commits))
	retired := make(map[KeyText]bool)
	replaced := make(map[int64]bool)
	results := make(map[Kind]bool)
	kept := make(map[int64]map[KeyText]bool) // of the results that count: the keys that the last of their kind drops
	for i := len(cat.commits) - 1; i >= 0; i-- {
		c := cat.commits[i]
		cat.hidden[i] = hiddenKeys(c, retired)
		cat.visible[i] = c.Kind != Removal && !replaced[c.Sequence] &&
			(len(c.Inputs) == 0 || slices.ContainsFunc(c.Inputs, func(in InputRecord) bool { return !cat.hidden[i][in.Key] }))
		switch {
		case !c.Kind.result():
		case !results[c.Kind]:
			results[c.Kind] = true
			for _, k := range c.Kept {
				if cat.visible[i] {
					kept[k.Sequence] = keySet(k.Dropped)
				}
			}
		case kept[c.Sequence] == nil:
			cat.visible[i] = false
		default:
			cat.hidden[i] = kept[c.Sequence]
		}
		for _, k := range c.Retired {
			retired[k] = true
		}
		for _, n := range c.Replaced {
			replaced[n] = true
		}
	}
}

// hiddenKeys returns the keys of a commit whose rows are not visible: those of its retired inputs, and in a compaction also
// those of ingests without remaining inputs.
func hiddenKeys(c *Commit, retired map[KeyText]bool) map[KeyText]bool {
	gone := make(map[KeyText]bool)
	left := make(map[string]bool)
	for _, in := range c.Inputs {
		if retired[in.Key] {
			gone[in.Key] = true
		} else {
			left[in.Ingest] = true
		}
	}
	for _, ingest := range c.Ingests {
		if !left[ingest.ID] {
			gone[ingest.Key] = true
		}
	}
	return gone
}

// inputs are the visible inputs with their commits.
func (cat *catalog) inputs(yield func(InputRecord, *Commit) bool) {
	for i, c := range cat.commits {
		if !cat.visible[i] {
			continue
		}
		for _, in := range c.Inputs {
			if !cat.hidden[i][in.Key] && !yield(in, c) {
				return
			}
		}
	}
}

// state identifies the visible logs. It depends on the inputs and not on how they are distributed over commits.
func (cat *catalog) state() string {
	var lines []string
	for in := range cat.inputs {
		lines = append(lines, fmt.Sprintf("%d %q", in.Key, in.Fingerprint))
	}
	for i, c := range cat.commits {
		if cat.visible[i] && c.Kind == Log && len(c.Inputs) == 0 {
			lines = append(lines, c.ID)
		}
	}
	slices.Sort(lines)
	return checksumText(xxhash.Sum64String(strings.Join(lines, "\n")))
}

// slices returns the parts of a table, in the order of the commits.
func (cat *catalog) slices(table string) []Slice {
	var out []Slice
	for i, c := range cat.commits {
		if !cat.visible[i] {
			continue
		}
		for _, t := range c.Tables {
			if t.Name == table {
				out = append(out, Slice{Columns: t.Columns, Files: t.Files, Hidden: t.hidden(cat.hidden[i])})
			}
		}
	}
	return joinSlices(out)
}

func keySet(keys []KeyText) map[KeyText]bool {
	out := make(map[KeyText]bool, len(keys))
	for _, k := range keys {
		out[k] = true
	}
	return out
}

func sortedKeys(keys map[KeyText]bool) []schema.Key {
	var out []schema.Key
	for k := range keys {
		out = append(out, schema.Key(k))
	}
	slices.Sort(out)
	return out
}

// files returns the paths that commits name, visible or not.
func (cat *catalog) files() map[string]bool {
	used := make(map[string]bool)
	for _, c := range cat.commits {
		maps.Copy(used, namesOf(c))
	}
	return used
}

// checkConflicts compares a new commit with what is visible now. What it replaces must be unchanged since it was read; its
// inputs must be new, or retired by it; and no two inputs may allocate the same keys.
func (cat *catalog) checkConflicts(c *Commit, old []replaced) error {
	gone := make(map[int64]bool)
	for _, r := range old {
		i := slices.IndexFunc(cat.commits, func(c *Commit) bool { return c.Sequence == r.sequence })
		if i < 0 || !cat.visible[i] || !maps.Equal(cat.hidden[i], r.hidden) {
			return fmt.Errorf("store: %w: commit %d is not what it was; try again", ErrConflict, r.sequence)
		}
		gone[r.sequence] = true
	}
	if err := cat.checkKept(c, gone); err != nil {
		return err
	}
	retired := make(map[KeyText]bool)
	for _, k := range c.Retired {
		retired[k] = true
	}
	mine := make(map[KeyText]*InputRecord)
	blocks := make(map[block]string)
	for i := range c.Inputs {
		in := &c.Inputs[i]
		mine[in.Key] = in
		for b := range in.blocks {
			if other, taken := blocks[b]; taken {
				return fmt.Errorf("store: %s and %s: %w in table %s; rename one of them", other, in.Name, ErrKeys, b.table)
			}
			blocks[b] = in.Name
		}
	}
	for in, from := range cat.inputs {
		if gone[from.Sequence] || retired[in.Key] {
			continue
		}
		if m := mine[in.Key]; m != nil && m.Fingerprint == in.Fingerprint {
			return fmt.Errorf("store: %s: %w, as %s of ingest %s", m.Name, ErrIngested, in.Name, in.Ingest)
		}
		for b := range in.blocks {
			if name, taken := blocks[b]; taken {
				return fmt.Errorf("store: %s: %w as %s of ingest %s; rename it", name, ErrKeys, in.Name, in.Ingest)
			}
		}
		if m := mine[in.Key]; m != nil {
			return fmt.Errorf("store: %s: %w as %s of ingest %s; rename it", m.Name, ErrKeys, in.Name, in.Ingest)
		}
	}
	return nil
}

// block is a range of keys of a table that one input allocates from, named by its first key.
type block struct {
	table string
	first schema.Key
}

// blocks are the ranges of keys that an input's rows took.
func (in *InputRecord) blocks(yield func(block) bool) {
	for _, t := range schema.Tables() {
		if t.Columns[0].Key != "primary" || t.Columns[0].Type != schema.BigInt || in.Rows[t.Name] == 0 {
			continue
		}
		keys := schema.NewKeys(schema.Key(in.Key), t.Name)
		for n := int64(0); n < in.Rows[t.Name]; n += schema.BlockKeys {
			if !yield(block{t.Name, keys.Nth(n)}) {
				return
			}
		}
	}
}
