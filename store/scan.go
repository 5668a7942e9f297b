package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"straggler/schema"
	"straggler/store/parquet"
)

// emitRows takes rows of one input, in memory that is reused. The key is 0 for rows of no input.
type emitRows func(input schema.Key, rows schema.Batch) error

// scan reads the visible rows of a slice of a table, in the order of its files.
func (n *Snapshot) scan(ctx context.Context, t *schema.Table, sl Slice, emit emitRows) error {
	if err := n.Fetch(ctx, sl.Files); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	hasColumn := func(name string) bool {
		return slices.ContainsFunc(sl.Columns, func(have string) bool { return strings.HasPrefix(have, name+" ") })
	}
	r := parquet.NewReader(t, InputColumn, hasColumn)
	for _, f := range sl.Files {
		err := scanFile(ctx, r, n.Path(f), func(keys []schema.Key, rows schema.Batch) error {
			return byInput(keys, rows, sl.Hidden, emit)
		})
		if errors.Is(err, parquet.ErrMalformed) {
			err = fmt.Errorf("%w: %w; straggler store verify lists what is damaged", ErrDamaged, err)
		}
		if err != nil {
			return fmt.Errorf("store: %s: %w", f.Path, err)
		}
	}
	return nil
}

func scanFile(ctx context.Context, r *parquet.Reader, name string, emit func(keys []schema.Key, rows schema.Batch) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return r.Read(ctx, io.NewSectionReader(f, 0, info.Size()), emit)
}

// byInput emits rows input by input, except those of hidden inputs.
func byInput(keys []schema.Key, rows schema.Batch, hidden []schema.Key, emit emitRows) error {
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from + 1; to < len(keys) && keys[to] == keys[from]; to++ {
		}
		if slices.Contains(hidden, keys[from]) {
			continue
		}
		if err := emit(keys[from], rows.Slice(from, to)); err != nil {
			return err
		}
	}
	return nil
}
