package table

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"straggler/schema"
)

// groupRows is the number of rows in a row group.
const groupRows = 64 << 10

// writeParquet writes one file, a row group at a time.
func writeParquet(w io.Writer, rows Rows, _ Options) (n int64, err error) {
	defer func() { // the library panics when it cannot write
		if r := recover(); r != nil {
			err = fmt.Errorf("table: writing Parquet: %v", r)
		}
	}()
	var fields pqschema.FieldList
	names := uniqueNames(rows)
	columns := make([]parquetColumn, len(names))
	for i, c := range rows.Columns() {
		columns[i].typ = c.Type
		node, err := parquetNode(names[i], c.Type)
		if err != nil {
			return 0, fmt.Errorf("table: column %s: %w", c.Name, err)
		}
		fields = append(fields, node)
	}
	root, err := pqschema.NewGroupNode("rows", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return 0, fmt.Errorf("table: %w", err)
	}
	// The library would close what can be closed.
	out := file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd))))
	for rows.Next() {
		for i := range columns {
			columns[i].add(rows.Value(i))
		}
		if n++; n%groupRows == 0 {
			if err := writeGroup(out, columns); err != nil {
				return n, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	if n%groupRows > 0 {
		if err := writeGroup(out, columns); err != nil {
			return n, err
		}
	}
	return n, out.Close()
}

func parquetNode(name string, t schema.Type) (pqschema.Node, error) {
	optional := parquet.Repetitions.Optional
	switch t {
	case schema.Bool:
		return pqschema.NewBooleanNode(name, optional, -1), nil
	case schema.BigInt:
		return pqschema.NewInt64Node(name, optional, -1), nil
	case schema.Int:
		return pqschema.NewInt32Node(name, optional, -1), nil
	case schema.Double:
		return pqschema.NewFloat64Node(name, optional, -1), nil
	case schema.Timestamp:
		return pqschema.NewPrimitiveNodeLogical(name, optional, pqschema.NewTimestampLogicalType(true, pqschema.TimeUnitMicros),
			parquet.Types.Int64, 0, -1)
	}
	return pqschema.NewPrimitiveNodeLogical(name, optional, pqschema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
}

// parquetColumn is the values of one column in one row group; NULL has a level and no value.
type parquetColumn struct {
	typ    schema.Type
	levels []int16
	bools  []bool
	int32s []int32
	ints   []int64
	floats []float64
	texts  []parquet.ByteArray
}

func (c *parquetColumn) add(v any) {
	if v == nil {
		c.levels = append(c.levels, 0)
		return
	}
	c.levels = append(c.levels, 1)
	switch c.typ {
	case schema.Bool:
		c.bools = append(c.bools, v.(bool))
	case schema.Int:
		c.int32s = append(c.int32s, v.(int32))
	case schema.BigInt:
		c.ints = append(c.ints, v.(int64))
	case schema.Double:
		c.floats = append(c.floats, v.(float64))
	case schema.Timestamp:
		c.ints = append(c.ints, int64(v.(schema.Time)))
	default:
		c.texts = append(c.texts, parquet.ByteArray(plain(v)))
	}
}

func writeGroup(out *file.Writer, columns []parquetColumn) error {
	group, err := out.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i := range columns {
		w, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := columns[i].write(w); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

// write writes the values and resets the column.
func (c *parquetColumn) write(w file.ColumnChunkWriter) (err error) {
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.bools, c.levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(c.int32s, c.levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.ints, c.levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(c.floats, c.levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(c.texts, c.levels, nil)
	}
	*c = parquetColumn{typ: c.typ, levels: c.levels[:0], bools: c.bools[:0], int32s: c.int32s[:0], ints: c.ints[:0],
		floats: c.floats[:0], texts: c.texts[:0]}
	return err
}
