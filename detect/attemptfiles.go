package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/store/parquet"
)

// An engine in this process need not return the attempts: their columns are read from the files of the store into slices, row
// group by row group. That takes a third of the processor time of a query.

// fileEngine is an engine in this process that says which files its tables are.
type fileEngine interface {
	engine.Loader

	// Stored returns the files of a table, or those with rows of the inputs; nil: all.
	Stored(ctx context.Context, table string, inputs []schema.Key) (*store.Snapshot, []store.Slice, error)
}

// attemptFiles are the attempts of the part.
type attemptFiles struct {
	snapshot *store.Snapshot
	slices   []store.Slice
	rows     int // read at once
}

// blockRows is half a page, as the store writes them: 1 MB of attempts.
const blockRows = 10 << 10

// attemptFiles returns the attempts of the part.
func (p *part) attemptFiles(ctx context.Context, eng engine.Engine) (attemptFiles, error) {
	of, ok := eng.(fileEngine)
	if !ok {
		return attemptFiles{}, fmt.Errorf("the engine %s has no files: %w", eng.Name(), errors.ErrUnsupported)
	}
	var inputs []schema.Key
	if !p.whole {
		inputs = append([]schema.Key{}, store.KeysOf(p.chosen)...)
	}
	snapshot, slices, err := of.Stored(ctx, "attempts", inputs)
	return attemptFiles{snapshot, slices, blockRows}, err
}

// attemptGroup is a row group.
type attemptGroup struct {
	parquet.RowGroup
	slice *store.Slice
	name  string // of the file
	file  *os.File
	uses  *atomic.Int32 // row groups of the file that are not closed
}

// close closes the file after the last of its row groups.
func (g *attemptGroup) close() {
	if g.uses.Add(-1) == 0 {
		g.file.Close()
	}
}

// restricted reports that some rows of the file may not be part of the table.
func (g *attemptGroup) restricted() bool { return g.slice.Chosen != nil || len(g.slice.Hidden) > 0 }

// has reports whether a row is part of the table, by its input.
func (g *attemptGroup) has(input schema.Key) bool {
	if g.slice.Chosen != nil {
		return slices.Contains(g.slice.Chosen, input)
	}
	return !slices.Contains(g.slice.Hidden, input)
}

// mayHave returns false if no row is part of the table, by the range of the inputs.
func (g *attemptGroup) mayHave() bool {
	low, high, ok := g.Range(store.InputColumn)
	return !ok || g.slice.Chosen == nil || slices.ContainsFunc(g.slice.Chosen, func(k schema.Key) bool { return low <= int64(k) && int64(k) <= high })
}

// damaged adds the name of the file to an error about its contents.
func (g *attemptGroup) damaged(err error) error {
	if errors.Is(err, parquet.ErrMalformed) {
		return fmt.Errorf("%s: %w: %w; straggler store verify lists what is damaged", g.name, store.ErrDamaged, err)
	}
	return fmt.Errorf("%s: %w", g.name, err)
}

// groups passes on the row groups with rows of the table and phases of a span, in order; each must be closed.
func (f *attemptFiles) groups(ctx context.Context, phases span, yield func(*attemptGroup) bool) error {
	for i := range f.slices {
		for _, record := range f.slices[i].Files {
			if err := ctx.Err(); err != nil {
				return err
			}
			groups, err := openGroups(f.snapshot.Path(record), &f.slices[i], phases)
			if err != nil {
				return err
			}
			for k, g := range groups {
				if !yield(g) {
					for _, g := range groups[k+1:] {
						g.close()
					}
					return nil
				}
			}
		}
	}
	return nil
}

// share has workers process the row groups with phases of a span, in any order. Of each, in order, next makes what the function
// that a worker gets from worker processes, and then closes the row group; next may wait for others, and is false if ctx ends.
func share[W any](ctx context.Context, f *attemptFiles, phases span, next func(context.Context, *attemptGroup) (W, bool),
	worker func(context.Context) func(W) error) error {
	group, ctx := errgroup.WithContext(ctx)
	work := make(chan W)
	group.Go(func() error {
		defer close(work)
		return f.groups(ctx, phases, func(g *attemptGroup) bool {
			if w, ok := next(ctx, g); ok {
				select {
				case work <- w:
					return true
				case <-ctx.Done():
				}
			}
			g.close()
			return false
		})
	})
	for range workers {
		group.Go(func() error {
			process := worker(ctx)
			for w := range work {
				if err := process(w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// openGroups opens a file.
func openGroups(name string, slice *store.Slice, phases span) (out []*attemptGroup, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if len(out) == 0 {
			file.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	uses := new(atomic.Int32)
	opened, err := parquet.Open(io.NewSectionReader(file, 0, info.Size()))
	if err != nil {
		g := attemptGroup{name: name}
		return nil, g.damaged(err)
	}
	for _, g := range opened.RowGroups() {
		g := &attemptGroup{g, slice, name, file, uses}
		low, high, ok := g.Range("phase_id")
		if g.mayHave() && (phases.all || !ok || low <= int64(phases.high) && int64(phases.low) <= high) {
			out = append(out, g)
		}
	}
	uses.Store(int32(len(out)))
	return out, nil
}
