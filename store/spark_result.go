package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/beltran/gohive/hiveserver"

	"straggler/schema"
	"straggler/store/hs2"
)

// How a HiveServer2's columns become the portable types: as duckdb's vectors do (vectors.go). Decimals, instants and
// everything that is not a number come as text.

// sparkResult is one statement on a cluster.
type sparkResult struct {
	e      *sparkSQL
	op     *hs2.Operation
	types  []schema.Type
	native []string
	first  []*hiveserver.TColumn // fetched before anybody asked, so that a broken connection shows in time
	asked  bool
	given  int64 // rows
	batch  batch
	bits   [][]uint64
	closed bool
}

func (r *sparkResult) describe() []Column {
	out := make([]Column, len(r.op.Columns()))
	r.types = make([]schema.Type, len(out))
	r.batch.cols = make([]vector, len(out))
	r.bits = make([][]uint64, len(out))
	for i, c := range r.op.Columns() {
		r.types[i] = sparkPortable(c.Type)
		r.native = append(r.native, c.Type)
		out[i] = Column{Name: c.Name, Type: r.types[i], Native: c.Type}
	}
	return out
}

// sparkPortable is the type that values come as.
func sparkPortable(t string) schema.Type {
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

// fetch gets the first rows.
func (r *sparkResult) fetch(ctx context.Context) (err error) {
	r.first, err = r.op.Fetch(ctx)
	return sparkError(err)
}

func (r *sparkResult) next(ctx context.Context) (*batch, error) {
	columns := r.first
	r.first = nil
	if r.asked {
		var err error
		if columns, err = r.op.Fetch(ctx); err != nil {
			if errors.Is(err, hs2.ErrLost) {
				return nil, fmt.Errorf("store: after %d rows: %w; run it again", r.given, err)
			}
			return nil, r.e.unseen(sparkError(err))
		}
	}
	r.asked = true
	if columns == nil {
		return nil, nil
	}
	r.batch.n = hs2.Length(columns[0])
	r.given += int64(r.batch.n)
	for i, c := range columns {
		if hs2.Length(c) != r.batch.n {
			return nil, fmt.Errorf("store: column %s has %d values and the first has %d", r.op.Columns()[i].Name, hs2.Length(c), r.batch.n)
		}
		if err := r.read(i, c); err != nil {
			return nil, fmt.Errorf("store: column %s: %w", r.op.Columns()[i].Name, err)
		}
	}
	return &r.batch, nil
}

// read turns one column into its portable type.
func (r *sparkResult) read(i int, c *hiveserver.TColumn) error {
	out, n := &r.batch.cols[i], r.batch.n
	switch {
	case c.BoolVal != nil && r.types[i] == schema.Bool:
		out.valid, out.bools = r.validity(i, c.BoolVal.Nulls), c.BoolVal.Values
	case c.ByteVal != nil && r.types[i] == schema.Int:
		out.valid, out.int32s = r.validity(i, c.ByteVal.Nulls), widened(out.int32s, c.ByteVal.Values)
	case c.I16Val != nil && r.types[i] == schema.Int:
		out.valid, out.int32s = r.validity(i, c.I16Val.Nulls), widened(out.int32s, c.I16Val.Values)
	case c.I32Val != nil && r.types[i] == schema.Int:
		out.valid, out.int32s = r.validity(i, c.I32Val.Nulls), c.I32Val.Values
	case c.I64Val != nil && r.types[i] == schema.BigInt:
		out.valid, out.ints = r.validity(i, c.I64Val.Nulls), c.I64Val.Values
	case c.DoubleVal != nil && r.types[i] == schema.Double:
		out.valid, out.floats = r.validity(i, c.DoubleVal.Nulls), c.DoubleVal.Values
	case c.StringVal != nil:
		out.valid = r.validity(i, c.StringVal.Nulls)
		return r.readTexts(i, c.StringVal.Values, out)
	case c.BinaryVal != nil && r.types[i] == schema.String:
		out.valid, out.strings = r.validity(i, c.BinaryVal.Nulls), grown(out.strings, n)
		for k, b := range c.BinaryVal.Values {
			out.strings[k] = blobText(b)
		}
	default:
		return fmt.Errorf("the server calls it %s and sends something else", r.native[i])
	}
	return nil
}

func widened[From int8 | int16](dst []int32, values []From) []int32 {
	dst = grown(dst, len(values))
	for i, v := range values {
		dst[i] = int32(v)
	}
	return dst
}

// readTexts reads the values that come as text.
func (r *sparkResult) readTexts(i int, texts []string, out *vector) (err error) {
	switch r.types[i] {
	case schema.String:
		out.strings = texts
	case schema.Double:
		out.floats = grown(out.floats, len(texts))
		for k, s := range texts {
			if out.null(k) {
				continue
			}
			if out.floats[k], err = strconv.ParseFloat(s, 64); err != nil {
				return fmt.Errorf("%q is no number", s)
			}
		}
	case schema.Timestamp:
		out.ints = grown(out.ints, len(texts))
		for k, s := range texts {
			if out.null(k) {
				continue
			}
			if out.ints[k], err = parseSparkTime(s); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("the server calls it %s and sends text", r.native[i])
	}
	return nil
}

// validity turns Hive's bits, 1 for NULL, over.
func (r *sparkResult) validity(i int, nulls []byte) []uint64 {
	any := false
	for _, b := range nulls {
		any = any || b != 0
	}
	if !any {
		return nil
	}
	r.bits[i] = grown(r.bits[i], (r.batch.n+63)/64)
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

// parseSparkTime reads an instant in the session's zone, UTC: 2026-01-02 03:04:05.678901 with as many decimals as it has.
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
		return 0, fmt.Errorf("%q is no instant", s)
	}
	var d [3]int
	for i, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("%q is no instant", s)
		}
		d[i] = n
	}
	t, err := time.Parse("15:04:05.999999999", clock)
	if err != nil {
		return 0, fmt.Errorf("%q is no instant", s)
	}
	return time.Date(sign*d[0], time.Month(d[1]), d[2], t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).UnixMicro(), nil
}

// blobText is bytes as DuckDB casts them to text: those that are not printable ASCII as \xNN.
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

func (r *sparkResult) close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.op.Close()
	if errors.Is(err, hs2.ErrLost) || errors.Is(err, hs2.ErrFrozen) { // it went with the connection
		return nil
	}
	return sparkError(err)
}
