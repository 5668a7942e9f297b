package store

import (
	"context"
	"fmt"
	"time"
)

// Entry describes one commit for display.
type Entry struct {
	Sequence  int64
	ID        string
	Kind      Kind
	Tool      string
	Committed time.Time // by the clock of the disk or the object store
	Inputs    []InputRecord
	Hidden    int // inputs that later commits retired or replaced
	Tables    map[string]int64
	Files     int
	Rows      int64
	Bytes     int64
	Visible   bool
	Stale     bool // results computed from other logs than those now visible
}

// List returns the commits in order.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	state := cat.state()
	results := make(map[Kind]string) // the state of the logs from which the last results of each kind were computed
	for _, c := range cat.commits {
		if c.Kind.result() {
			results[c.Kind] = c.State
		}
	}
	var out []Entry
	for i, c := range cat.commits {
		e := Entry{Sequence: c.Sequence, ID: c.ID, Kind: c.Kind, Tool: c.Tool, Inputs: c.Inputs, Tables: c.Rows(), Bytes: c.Bytes(),
			Committed: cat.times[i].UTC(), Visible: cat.visible[i], Stale: c.Kind.result() && results[c.Kind] != state}
		for _, in := range c.Inputs {
			if cat.hidden[i][in.Key] || !cat.visible[i] {
				e.Hidden++
			}
		}
		for _, t := range c.Tables {
			e.Files += len(t.Files)
		}
		for _, n := range e.Tables {
			e.Rows += n
		}
		out = append(out, e)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return out, nil
}
