package store

import (
	"fmt"
	"io"

	"straggler/schema"
)

// WriteParquet writes rows as one Parquet file, in the encodings of the store's own files. It reads the rows to their
// end and does not close them.
func WriteParquet(w io.Writer, rows *Rows) error {
	columns := make([]schema.Column, len(rows.columns))
	seen := make(map[string]bool)
	for i, c := range rows.columns {
		if seen[c.Name] {
			return fmt.Errorf("store: a Parquet file can not have two columns named %q; name one of them otherwise in the query", c.Name)
		}
		seen[c.Name] = true
		columns[i] = schema.Column{Name: c.Name, Type: c.Type, Nullable: true}
	}
	var (
		p       *part
		b       = newBuffer(columns)
		memory  recycler
		scratch scratch
		err     error
	)
	flush := func() error {
		if p == nil {
			plain := func(i int) bool { return b.cols[i].text.plain }
			if p, err = newPart("output", unsynced{w}, columns, plain, &memory); err != nil {
				return fmt.Errorf("store: %w", err)
			}
		}
		if b.n > 0 {
			err = p.writeGroup(b, nil, &scratch)
		}
		b.reset()
		return err
	}
	for in := rows.nextBatch(); in != nil; in = rows.nextBatch() {
		b.addBatch(in)
		if b.n+in.n > groupRows || b.textBytes() >= maxTextBytes {
			if err := flush(); err != nil {
				return fmt.Errorf("store: writing Parquet: %w", err)
			}
		}
	}
	if rows.err != nil {
		return rows.err
	}
	if err := flush(); err != nil {
		return fmt.Errorf("store: writing Parquet: %w", err)
	}
	if err := p.finish(); err != nil {
		return fmt.Errorf("store: writing Parquet: %w", err)
	}
	return nil
}

// addBatch copies a batch of a result.
func (b *buffer) addBatch(in *batch) {
	for i := range b.cols {
		c, v := &b.cols[i], &in.cols[i]
		for r := range in.n {
			c.valid = append(c.valid, !v.null(r))
		}
		switch c.typ {
		case schema.BigInt, schema.Timestamp:
			c.i64 = append(c.i64, v.ints[:in.n]...)
		case schema.Int:
			c.i32 = append(c.i32, v.int32s[:in.n]...)
		case schema.Double:
			c.f64 = append(c.f64, v.floats[:in.n]...)
		case schema.Bool:
			c.bools = append(c.bools, v.bools[:in.n]...)
		case schema.String:
			for _, s := range v.strings[:in.n] {
				c.text.add(s)
			}
		}
	}
	b.n += in.n
}

// unsynced is a writer that somebody else syncs and closes.
type unsynced struct{ io.Writer }

func (unsynced) Sync() error  { return nil }
func (unsynced) Close() error { return nil }
