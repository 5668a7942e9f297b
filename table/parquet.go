package table

import (
	"fmt"
	"io"

	"straggler/schema"
	"straggler/store/parquet"
)

// writeParquet writes one file, a row group at a time.
func writeParquet(w io.Writer, rows Rows, _ Options) (n int64, err error) {
	columns := make([]schema.Column, len(rows.Columns()))
	for i, name := range uniqueNames(rows) {
		columns[i] = schema.Column{Name: name, Type: rows.Columns()[i].Type, Nullable: true}
	}
	out, err := parquet.NewWriter(w, columns, "")
	if err != nil {
		return 0, fmt.Errorf("table: %w", err)
	}
	group := parquet.NewBuffer(columns)
	value := func(i int) any {
		v := rows.Value(i)
		if v != nil && columns[i].Type == schema.String {
			return plain(v)
		}
		return v
	}
	for rows.Next() {
		group.AppendValues(value)
		n++
		if group.Full() {
			if err := out.WriteRowGroup(group); err != nil {
				return n, err
			}
			group.Reset()
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	if group.Rows() > 0 {
		if err := out.WriteRowGroup(group); err != nil {
			return n, err
		}
	}
	return n, out.Close()
}
