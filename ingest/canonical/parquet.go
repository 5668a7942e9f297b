package canonical

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"straggler/ingest"
	"straggler/ingest/read/parquet"
	"straggler/schema"
)

// parquet reads a Parquet file. Its values go the way of text, so that the three encodings agree.
func (r *reader) parquet(ctx context.Context, p ingest.Part) error {
	var f *filer
	var b batch
	row := int64(0)
	err := parquet.EachBatch(ctx, p, func(records arrow.RecordBatch) error {
		if f == nil {
			var names []string
			for _, field := range records.Schema().Fields() {
				names = append(names, field.Name)
			}
			t := tableNamed(p.Name)
			if t == nil {
				t = tableFitting(names)
			}
			if t == nil {
				return fmt.Errorf("%s: %w", p.Name, errNoTable)
			}
			f = newFiler(t, names, 0)
			for _, name := range f.unknown {
				r.skip(t.Name, name)
			}
		}
		b.reset(f.table)
		for i := range int(records.NumRows()) {
			row++
			if err := f.parquetRow(records, i, &b); err != nil {
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

func (f *filer) parquetRow(records arrow.RecordBatch, i int, out *batch) error {
	row := out.begin()
	for c, slot := range f.columns {
		column := records.Column(c)
		if slot == nil || column.IsNull(i) {
			continue
		}
		text := ""
		if times, ok := column.(interface{ Value(int) arrow.Timestamp }); ok {
			unit := column.DataType().(*arrow.TimestampType).Unit
			text = strconv.FormatInt(times.Value(i).ToTime(unit).UnixMicro(), 10)
		} else {
			text = column.ValueStr(i)
		}
		if err := f.value(row, out, slot, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}
