package spark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/beltran/gohive/hiveserver"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/schema"
)

// The conversion of a HiveServer2's columns to portable types, like that of DuckDB's vectors (duckdb/vectors.go). Decimals,
// timestamps and everything that is not a number arrive as text.

// result is one statement on a cluster.
type result struct {
	e        *Engine
	op       *hs2.Operation
	types    []schema.Type
	first    []*hiveserver.TColumn // fetched before the first Next, so that a broken connection shows in time
	fetching bool
	given    int64 // rows
	batch    engine.Batch
	bits     [][]uint64
	file     io.Closer // goes with the result; nil: nothing
	closed   bool
}

func newResult(e *Engine, op *hs2.Operation) *result {
	n := len(op.Columns())
	r := &result{e: e, op: op, types: make([]schema.Type, n), bits: make([][]uint64, n)}
	for i, c := range op.Columns() {
		r.types[i] = portableType(c.Type)
	}
	r.batch.Columns = make([]engine.Vector, n)
	return r
}

// rows streams the result.
func (r *result) rows(ctx context.Context) *engine.Rows {
	columns := make([]engine.Column, len(r.types))
	for i, c := range r.op.Columns() {
		columns[i] = engine.Column{Name: c.Name, Type: r.types[i], Native: c.Type}
	}
	return engine.NewRows(ctx, columns, r)
}

// portableType returns the portable type of values.
func portableType(t string) schema.Type {
	switch t {
	case "BOOLEAN":
		return schema.Bool
	case "TINYINT", "SMALLINT", "INT":
		return schema.Int
	case "BIGINT":
		return schema.BigInt
	case "FLOAT", "DOUBLE", "DECIMAL":
		return schema.Double
	case "TIMESTAMP", "TIMESTAMPLOCALTZ":
		return schema.Timestamp
	}
	return schema.String
}

func (r *result) Next(ctx context.Context) (*engine.Batch, error) {
	columns := r.first
	r.first = nil
	if r.fetching {
		var err error
		if columns, err = r.op.Fetch(ctx); err != nil {
			if errors.Is(err, hs2.ErrLost) {
				return nil, fmt.Errorf("spark: after %d rows: %w; run it again", r.given, err)
			}
			return nil, r.e.explainMissing(sparkError(err))
		}
	}
	r.fetching = true
	if columns == nil {
		return nil, nil
	}
	r.batch.Len = hs2.Length(columns[0])
	r.given += int64(r.batch.Len)
	for i, c := range columns {
		if hs2.Length(c) != r.batch.Len {
			return nil, fmt.Errorf("spark: column %s has %d values and the first has %d", r.op.Columns()[i].Name, hs2.Length(c), r.batch.Len)
		}
		if err := r.read(i, c); err != nil {
			return nil, fmt.Errorf("spark: column %s: %w", r.op.Columns()[i].Name, err)
		}
	}
	return &r.batch, nil
}

// read converts one column to its portable type.
func (r *result) read(i int, c *hiveserver.TColumn) error {
	out, n := &r.batch.Columns[i], r.batch.Len
	switch {
	case c.BoolVal != nil && r.types[i] == schema.Bool:
		out.Valid, out.Bools = r.validity(i, c.BoolVal.Nulls), c.BoolVal.Values
	case c.ByteVal != nil && r.types[i] == schema.Int:
		out.Valid, out.Int32s = r.validity(i, c.ByteVal.Nulls), widened(out.Int32s, c.ByteVal.Values)
	case c.I16Val != nil && r.types[i] == schema.Int:
		out.Valid, out.Int32s = r.validity(i, c.I16Val.Nulls), widened(out.Int32s, c.I16Val.Values)
	case c.I32Val != nil && r.types[i] == schema.Int:
		out.Valid, out.Int32s = r.validity(i, c.I32Val.Nulls), c.I32Val.Values
	case c.I64Val != nil && r.types[i] == schema.BigInt:
		out.Valid, out.Int64s = r.validity(i, c.I64Val.Nulls), c.I64Val.Values
	case c.DoubleVal != nil && r.types[i] == schema.Double:
		out.Valid, out.Float64s = r.validity(i, c.DoubleVal.Nulls), c.DoubleVal.Values
	case c.StringVal != nil:
		out.Valid = r.validity(i, c.StringVal.Nulls)
		return r.readTexts(i, c.StringVal.Values, out)
	case c.BinaryVal != nil && r.types[i] == schema.String:
		out.Valid, out.Strings = r.validity(i, c.BinaryVal.Nulls), engine.Resized(out.Strings, n)
		for k, b := range c.BinaryVal.Values {
			out.Strings[k] = blobText(b)
		}
	default:
		return fmt.Errorf("the server calls it %s and sends something else", r.op.Columns()[i].Type)
	}
	return nil
}

func widened[From int8 | int16](dst []int32, values []From) []int32 {
	dst = engine.Resized(dst, len(values))
	for i, v := range values {
		dst[i] = int32(v)
	}
	return dst
}

// readTexts reads values that arrive as text.
func (r *result) readTexts(i int, texts []string, out *engine.Vector) (err error) {
	switch r.types[i] {
	case schema.String:
		out.Strings = texts
	case schema.Double:
		out.Float64s = engine.Resized(out.Float64s, len(texts))
		for k, s := range texts {
			if out.Null(k) {
				continue
			}
			if out.Float64s[k], err = strconv.ParseFloat(s, 64); err != nil {
				return fmt.Errorf("%q is not a number", s)
			}
		}
	case schema.Timestamp:
		out.Int64s = engine.Resized(out.Int64s, len(texts))
		for k, s := range texts {
			if out.Null(k) {
				continue
			}
			if out.Int64s[k], err = parseSparkTime(s); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("the server calls it %s and sends text", r.op.Columns()[i].Type)
	}
	return nil
}

// validity inverts Hive's bits, which are 1 for NULL.
func (r *result) validity(i int, nulls []byte) []uint64 {
	any := false
	for _, b := range nulls {
		any = any || b != 0
	}
	if !any {
		return nil
	}
	r.bits[i] = engine.Resized(r.bits[i], (r.batch.Len+63)/64)
	for k := range r.bits[i] {
		r.bits[i][k] = ^uint64(0)
	}
	for k, b := range nulls {
		if k/8 < len(r.bits[i]) {
			r.bits[i][k/8] &^= uint64(b) << (8 * (k % 8))
		}
	}
	return r.bits[i]
}

// parseSparkTime reads a timestamp in the session's time zone, UTC: 2026-01-02 03:04:05.678901 with any number of decimals.
// Years beyond 9999 have a +.
func parseSparkTime(s string) (int64, error) {
	text := strings.TrimPrefix(s, "+")
	if len(text) == len("2006-01-02") { // the server leaves out a midnight
		text += " 00:00:00"
	}
	sign := 1
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, sign = rest, -1
	}
	date, clock, ok := strings.Cut(text, " ")
	fields := strings.Split(date, "-")
	if !ok || len(fields) != 3 {
		return 0, fmt.Errorf("%q is not a timestamp", s)
	}
	var d [3]int
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("%q is not a timestamp", s)
		}
		d[i] = n
	}
	t, err := time.Parse("15:04:05.999999999", clock)
	if err != nil {
		return 0, fmt.Errorf("%q is not a timestamp", s)
	}
	return time.Date(sign*d[0], time.Month(d[1]), d[2], t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).UnixMicro(), nil
}

// blobText returns bytes as DuckDB casts them to text: those that are not printable ASCII as \xNN.
func blobText(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			fmt.Fprintf(&out, `\x%02X`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

func (r *result) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.op.Close()
	if errors.Is(err, hs2.ErrLost) || errors.Is(err, hs2.ErrFrozen) { // it went with the connection
		err = nil
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return sparkError(err)
}
