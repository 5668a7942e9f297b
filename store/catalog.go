package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// catalog is the commits of a store at one moment, and what of them is visible.
type catalog struct {
	commits []*Commit          // by sequence
	alive   []bool             // of each commit: some of it is visible
	gone    []map[KeyText]bool // of each commit: keys of rows that are not
	next    int64              // the first sequence number that was never used
}

// readTries is how often a reader starts again when a compaction takes commits away under it.
const readTries = 10

func (s *Store) catalog() (*catalog, error) {
	for try := 1; ; try++ {
		c, err := s.readCatalog()
		if errors.Is(err, fs.ErrNotExist) && try < readTries {
			continue
		}
		return c, err
	}
}

func (s *Store) readCatalog() (*catalog, error) {
	sequences, err := s.sequences()
	if err != nil {
		return nil, err
	}
	cat := &catalog{next: 1}
	for _, n := range sequences {
		cat.next = n + 1
		name := s.path("commits", commitName(n))
		data, err := s.fs.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		c, err := decodeCommit(data, n)
		if err != nil {
			return nil, fmt.Errorf("store: %s: %w; restore it from a copy, or remove it and ingest its logs again", name, err)
		}
		cat.commits = append(cat.commits, c)
	}
	cat.resolve()
	return cat, nil
}

// sequences lists the commit files in order.
func (s *Store) sequences() ([]int64, error) {
	entries, err := s.fs.ReadDir(s.path("commits"))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	var out []int64
	for _, e := range entries {
		if n, ok := commitSequence(e.Name()); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// resolve works out what is visible. Going back from the last commit: a replaced commit is not, nor is a result that a
// later one of its kind supersedes, nor a commit all of whose inputs later commits retired. What a commit retires stays
// retired whatever becomes of the commit itself.
func (cat *catalog) resolve() {
	cat.alive = make([]bool, len(cat.commits))
	cat.gone = make([]map[KeyText]bool, len(cat.commits))
	retired := make(map[KeyText]bool)
	replaced := make(map[int64]bool)
	results := make(map[Kind]bool)
	for i := len(cat.commits) - 1; i >= 0; i-- {
		c := cat.commits[i]
		cat.gone[i] = hidden(c, retired)
		cat.alive[i] = len(c.Tables) > 0 && !replaced[c.Sequence] && !(c.Kind.result() && results[c.Kind]) &&
			(len(c.Inputs) == 0 || slices.ContainsFunc(c.Inputs, func(in InputRecord) bool { return !cat.gone[i][in.Key] }))
		if c.Kind.result() {
			results[c.Kind] = true
		}
		for _, k := range c.Retired {
			retired[k] = true
		}
		for _, n := range c.Replaced {
			replaced[n] = true
		}
	}
}

// hidden are the keys of a commit whose rows are not to be seen: its retired inputs, and of a compaction also the rows of
// ingests none of whose inputs is left.
func hidden(c *Commit, retired map[KeyText]bool) map[KeyText]bool {
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

// inputs are the visible inputs, by the commit they are in.
func (cat *catalog) inputs(yield func(InputRecord, *Commit) bool) {
	for i, c := range cat.commits {
		if !cat.alive[i] {
			continue
		}
		for _, in := range c.Inputs {
			if !cat.gone[i][in.Key] && !yield(in, c) {
				return
			}
		}
	}
}

// state names the logs that are visible: equal when the same inputs are, however they are spread over commits.
func (cat *catalog) state() string {
	var lines []string
	for in := range cat.inputs {
		lines = append(lines, fmt.Sprintf("%d %q", in.Key, in.Fingerprint))
	}
	for i, c := range cat.commits {
		if cat.alive[i] && c.Kind == Log && len(c.Inputs) == 0 {
			lines = append(lines, c.ID)
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%016x", xxhash.Sum64String(strings.Join(lines, "\n")))
}

// slice is files of one table that are read alike: they have the same columns, and the same inputs are hidden.
type slice struct {
	columns []string
	files   []FileRecord
	hidden  []schema.Key
}

// slices are what a table consists of, in the order of the commits.
func (cat *catalog) slices(table string) []slice {
	var out []slice
	at := make(map[string]int)
	for i, c := range cat.commits {
		if !cat.alive[i] {
			continue
		}
		for _, t := range c.Tables {
			if t.Name != table {
				continue
			}
			hidden := sortedKeys(cat.gone[i])
			id := fmt.Sprint(t.Columns, hidden)
			n, ok := at[id]
			if !ok {
				n = len(out)
				at[id] = n
				out = append(out, slice{columns: t.Columns, hidden: hidden})
			}
			out[n].files = append(out[n].files, t.Files...)
		}
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
