package canonical

import (
	"context"
	"fmt"

	"straggler/ingest"
	"straggler/ingest/read/parquet"
	"straggler/schema"
)

// parquet reads a Parquet file. Its values are decoded like text, so that the three encodings agree.
func (r *reader) parquet(ctx context.Context, p ingest.Part) error {
	var f *filer
	var b batch
	row := int64(0)
	err := parquet.EachBatch(ctx, p, func(rows *parquet.Batch) error {
		if f == nil {
			t := tableNamed(p.Name)
			if t == nil {
				t = tableFitting(rows.Columns)
			}
			if t == nil {
				return fmt.Errorf("%s: %w", p.Name, errNoTable)
			}
			f = newFiler(t, rows.Columns, 0)
			for _, name := range f.unknown {
				r.skip(t.Name, name)
			}
		}
		b.reset(f.table)
		for i := range rows.Rows {
			row++
			if err := f.parquetRow(rows, i, &b); err != nil {
				b.rejects = append(b.rejects, schema.Reject{Reason: fmt.Sprintf("row %d: %v", row, err)})
				continue
			}
			b.where = append(b.where, position{})
			b.n++
		}
		return r.fold(f, p.Name, &b)
	})
	if err != nil {
		r.out.Reject(schema.Reject{SourceFile: p.Name, Reason: "the file cannot be read from here on: " + err.Error()})
	}
	return err
}

func (f *filer) parquetRow(rows *parquet.Batch, i int, out *batch) error {
	row := out.begin()
	for c, slot := range f.columns {
		v := rows.Value(i, c)
		if slot == nil || v.Kind == parquet.Null {
			continue
		}
		if err := f.value(row, out, slot, []byte(v.String())); err != nil {
			return err
		}
	}
	return nil
}
