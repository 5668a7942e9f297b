package schema

import "github.com/apache/arrow-go/v18/arrow"

// Arrow is the table's Arrow schema. Instants are UTC microseconds (Parquet isAdjustedToUTC).
func (t *Table) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowTypes[c.Type], Nullable: c.Nullable}
	}
	return arrow.NewSchema(fields, nil)
}

var arrowTypes = map[Type]arrow.DataType{
	Bool:      arrow.FixedWidthTypes.Boolean,
	BigInt:    arrow.PrimitiveTypes.Int64,
	Int:       arrow.PrimitiveTypes.Int32,
	Double:    arrow.PrimitiveTypes.Float64,
	String:    arrow.BinaryTypes.String,
	Timestamp: arrow.FixedWidthTypes.Timestamp_us,
}
