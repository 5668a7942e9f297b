package canonical

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"straggler/ingest"
	"straggler/schema"
)

// filer puts the values of one file into rows of its table.
type filer struct {
	r       *reader
	table   *schema.Table
	columns []*slot        // by position in the file; nil where the table has no such column
	names   map[string]int // position by name, for JSON
	rec     *record
}

// slot is a column and where its value lies in the Go row.
type slot struct {
	*schema.Column
	index int     // in the table
	known uintptr // offset of the flag of a Null
}

// filer finds the table of a file. JSON lines say their columns line by line.
func (r *reader) filer(p ingest.Part, columns []string) *filer {
	f := &filer{r: r, table: tableNamed(p.Name)}
	if f.table == nil && columns != nil {
		f.table = tableFitting(columns)
	}
	if f.table == nil {
		return f
	}
	if columns == nil {
		for _, c := range f.table.Columns {
			columns = append(columns, c.Name)
		}
	}
	f.names = map[string]int{}
	for i, name := range columns {
		c := slotOf(f.table, strings.TrimSpace(name))
		f.columns = append(f.columns, c)
		f.names[strings.TrimSpace(name)] = i
		if c == nil {
			r.skip(f.table.Name, name)
		}
	}
	return f
}

// slotOf finds a column of a table by name, nil where it has none.
func slotOf(t *schema.Table, name string) *slot {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Name != name {
			continue
		}
		s := &slot{Column: c, index: i}
		if c.Nullable {
			s.known = c.Offset() + nullFlag[c.Type]
		}
		return s
	}
	return nil
}

// nullFlag is where the flag of a Null lies behind its value.
var nullFlag = map[schema.Type]uintptr{
	schema.Bool:      unsafe.Offsetof(schema.Null[bool]{}.OK),
	schema.Int:       unsafe.Offsetof(schema.Null[int32]{}.OK),
	schema.BigInt:    unsafe.Offsetof(schema.Null[int64]{}.OK),
	schema.Double:    unsafe.Offsetof(schema.Null[float64]{}.OK),
	schema.String:    unsafe.Offsetof(schema.Null[string]{}.OK),
	schema.Timestamp: unsafe.Offsetof(schema.Null[schema.Time]{}.OK),
}

// record is a row that is being made: what was set, and the text of its keys, by column.
type record struct {
	table *schema.Table
	row   reflect.Value  // pointer to it
	at    unsafe.Pointer // the same
	keys  []string
	set   uint64
}

func (r *record) has(column string) bool {
	c := slotOf(r.table, column)
	return c != nil && r.set>>c.index&1 == 1
}

func (r *record) key(column string) string {
	if c := slotOf(r.table, column); c != nil {
		return r.keys[c.index]
	}
	return ""
}

// begin clears the row; one row is made at a time.
func (f *filer) begin() *record {
	if f.rec == nil || f.rec.table != f.table {
		row := reflect.New(f.table.Row)
		f.rec = &record{table: f.table, row: row, at: row.UnsafePointer(), keys: make([]string, len(f.table.Columns))}
	}
	f.rec.row.Elem().SetZero()
	clear(f.rec.keys)
	f.rec.set = 0
	return f.rec
}

func (f *filer) csv(fields []string) error {
	if len(fields) != len(f.columns) {
		return fmt.Errorf("%d fields, the header has %d", len(fields), len(f.columns))
	}
	rec := f.begin()
	for i, text := range fields {
		if err := f.put(rec, i, text); err != nil {
			return err
		}
	}
	return f.r.take(rec)
}

func (f *filer) json(line []byte) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return fmt.Errorf("not a JSON object: %w", err)
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	if f.table == nil {
		t := tableFitting(names)
		if t == nil {
			return errNoTable
		}
		f.table = t
		columns := f.r.filerOf(t)
		f.columns, f.names = columns.columns, columns.names
	}
	rec := f.begin()
	for _, name := range names {
		i, ok := f.names[name]
		if !ok {
			f.r.skip(f.table.Name, name)
			continue
		}
		if m[name] == nil {
			continue
		}
		text, ok := textOf(m[name])
		if !ok {
			return fmt.Errorf("column %s: a list or an object can not stand in a column", name)
		}
		if err := f.value(rec, i, text); err != nil {
			return err
		}
	}
	return f.r.take(rec)
}

func (r *reader) filerOf(t *schema.Table) *filer {
	return r.filer(ingest.Part{Name: t.Name + ".jsonl"}, nil)
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func jsonKeys(line []byte) []string {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// put sets a value from a field of CSV, which says NULL by being empty.
func (f *filer) put(rec *record, i int, text string) error {
	if text = strings.TrimSpace(text); text == "" || text == "NULL" {
		return nil
	}
	return f.value(rec, i, text)
}

// value sets a value that is there, such as one of JSON or Parquet, which know NULL. An empty text says no more than NULL
// does.
func (f *filer) value(rec *record, i int, text string) error {
	c := f.columns[i]
	if c == nil || text == "" {
		return nil
	}
	rec.set |= 1 << c.index
	if c.Key != "" && c.Type == schema.BigInt {
		rec.keys[c.index] = text
		return nil
	}
	if err := f.setText(unsafe.Add(rec.at, c.Offset()), c.Column, text); err != nil {
		return fmt.Errorf("column %s: %w", c.Name, err)
	}
	if c.Nullable {
		*(*bool)(unsafe.Add(rec.at, c.known)) = true
	}
	return nil
}

// setText puts a value of the column's type at dst.
func (f *filer) setText(dst unsafe.Pointer, c *schema.Column, text string) error {
	if c.Type != schema.String || c.Words != nil {
		text = strings.TrimSpace(text)
	}
	switch c.Type {
	case schema.String:
		if c.Words != nil && !slices.Contains(c.Words, text) {
			return fmt.Errorf("%.40q is none of %s", text, strings.Join(c.Words, ", "))
		}
		*(*string)(dst) = f.r.text.Text([]byte(text))
	case schema.Bool:
		b, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return fmt.Errorf("%.40q is neither true nor false", text)
		}
		*(*bool)(dst) = b
	case schema.Double:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%.40q is not a finite number", text)
		}
		*(*float64)(dst) = v
	case schema.BigInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			v, ferr := strconv.ParseFloat(text, 64)
			if ferr != nil || v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
				return fmt.Errorf("%.40q is not a whole number of 64 bits", text)
			}
			n = int64(v)
		}
		*(*int64)(dst) = n
	case schema.Int:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%.40q is not a whole number of 32 bits", text)
		}
		*(*int32)(dst) = int32(n)
	case schema.Timestamp:
		t, ok := instant(text)
		if !ok {
			return fmt.Errorf("%.40q is not a time such as 2026-01-02 03:04:05.678+00, nor microseconds since 1970", text)
		}
		*(*schema.Time)(dst) = t
	}
	return nil
}

// instant reads the ways in which databases write times; without a zone they are UTC.
func instant(text string) (schema.Time, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return schema.Time(n), n > -6e16 && n < 253402300800000000
	}
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{
		"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999-07", "2006-01-02T15:04:05.999999999-0700",
		"2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999 UTC", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() >= 1 && t.Year() < 10000 {
			return schema.Time(t.UnixMicro()), true
		}
	}
	return 0, false
}

// parquet reads a Parquet file. Its values go the way of text, so that the three encodings agree.
func (r *reader) parquet(ctx context.Context, p ingest.Part) error {
	var f *filer
	row := int64(0)
	err := ingest.EachBatch(ctx, p, func(batch arrow.RecordBatch) error {
		if f == nil {
			var names []string
			for _, field := range batch.Schema().Fields() {
				names = append(names, field.Name)
			}
			if f = r.filer(p, names); f.table == nil {
				return fmt.Errorf("%s: %w", p.Name, errNoTable)
			}
		}
		for i := range int(batch.NumRows()) {
			row++
			if err := f.batchRow(batch, i); err != nil {
				r.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: 0, Reason: fmt.Sprintf("row %d: %v", row, err)})
				continue
			}
			f.decoded()
		}
		return r.flush(false)
	})
	if err != nil {
		r.out.Reject(schema.Reject{SourceFile: p.Name, Reason: "the file can not be read from here on: " + err.Error()})
	}
	return err
}

func (f *filer) batchRow(batch arrow.RecordBatch, i int) error {
	rec := f.begin()
	for c := range f.columns {
		column := batch.Column(c)
		if f.columns[c] == nil || column.IsNull(i) {
			continue
		}
		text := ""
		if times, ok := column.(interface{ Value(int) arrow.Timestamp }); ok {
			unit := column.DataType().(*arrow.TimestampType).Unit
			text = strconv.FormatInt(times.Value(i).ToTime(unit).UnixMicro(), 10)
		} else {
			text = column.ValueStr(i)
		}
		if err := f.value(rec, c, text); err != nil {
			return err
		}
	}
	return f.r.take(rec)
}
