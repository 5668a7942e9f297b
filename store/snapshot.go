package store

import (
	"context"
	"errors"
	"fmt"

	"straggler/schema"
)

// Snapshot is what is visible of a store at one moment, for those who read its files: engines. The files stay until it is
// closed, whatever later commits replace.
type Snapshot struct {
	s       *Store
	pinned  pin
	commits int64 // made through the Store when the snapshot was taken
	cat     *catalog
	closed  bool
}

// Slice is files of one table that are read alike: they have the same columns, and rows of the same inputs are hidden.
type Slice struct {
	Columns []string // "name TYPE", as the commit says
	Files   []FileRecord
	Hidden  []schema.Key // rows that have one of these in InputColumn are not part of the table
	Chosen  []schema.Key // of SlicesOf: only rows that have one of these are; nil: all but the hidden ones
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

// Follow takes the snapshot anew when something was committed through the same Store since it was taken.
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

// Version is another number after Follow has taken the snapshot anew.
func (n *Snapshot) Version() int64 { return n.commits }

// Slices are what a table consists of, in the order of the commits.
func (n *Snapshot) Slices(table string) []Slice { return n.cat.slices(table) }

// SlicesOf are what the rows of a table that came from some inputs lie in, of the commits that have such.
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
		var here []schema.Key
		whole := len(n.cat.hidden[i]) == 0
		if n.cat.visible[i] {
			for _, in := range c.Inputs {
				if wanted[in.Key] && !n.cat.hidden[i][in.Key] {
					here = append(here, schema.Key(in.Key))
				} else {
					whole = false
				}
			}
		}
		if len(here) == 0 {
			continue
		}
		if whole {
			here = nil
		}
		for _, t := range c.Tables {
			if t.Name == table {
				out = append(out, Slice{Columns: t.Columns, Files: t.Files, Chosen: here})
			}
		}
	}
	return joinSlices(out), nil
}

// joinSlices makes one of slices that are read alike.
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

// Path is where on this machine a file is, once it was fetched.
func (n *Snapshot) Path(f FileRecord) string { return n.pinned.path(f) }

// Remote says that files have to be fetched, so that only those that are needed should be.
func (n *Snapshot) Remote() bool { return n.pinned.remote() }

// Fetch makes files readable on this machine, and fails where they are not as their commit says.
func (n *Snapshot) Fetch(ctx context.Context, files []FileRecord) error {
	return n.pinned.fetch(ctx, files)
}

// Check looks at files that another machine is about to read: an engine that finds one missing or shortened cannot say
// what to do. It looks at none where that takes long.
func (n *Snapshot) Check(ctx context.Context, files []FileRecord) error {
	if n.Remote() {
		return nil
	}
	return n.Fetch(ctx, files)
}

// Close lets the files go that later commits replaced. It may be called again.
func (n *Snapshot) Close() error {
	if n.closed {
		return nil
	}
	n.closed = true
	return n.pinned.Close()
}

// HadoopURL names the store as the machines of a cluster find it.
func (s *Store) HadoopURL() string { return s.hadoop }
