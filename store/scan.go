package store

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"straggler/schema"
)

// scanRows is how many rows are read at a time.
const scanRows = 4096

// emitRows takes rows of one input, whose memory is used again. The key is 0 for rows of no input.
type emitRows func(input schema.Key, rows schema.Batch) error

// scan reads the visible rows of a slice of a table, in the order in which they lie in its files.
func (n *Snapshot) scan(ctx context.Context, t *schema.Table, sl Slice, emit emitRows) error {
	if err := n.Fetch(ctx, sl.Files); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s := scanner{t: t, sl: sl, emit: emit, keys: make([]schema.Key, scanRows)}
	s.rows = reflect.MakeSlice(reflect.SliceOf(t.Row), scanRows, scanRows)
	for _, f := range sl.Files {
		if err := s.file(ctx, n.Path(f)); err != nil {
			return fmt.Errorf("store: %s: %w", f.Path, err)
		}
	}
	return nil
}

// scanner reads files into the memory of one batch of rows.
type scanner struct {
	t    *schema.Table
	sl   Slice
	emit emitRows
	rows reflect.Value // scanRows of them
	keys []schema.Key
}

func (s *scanner) file(ctx context.Context, name string) error {
	disk, err := os.Open(name)
	if err != nil {
		return err
	}
	defer disk.Close()
	var file *pqfile.Reader
	if err := reading(func() (err error) { file, err = pqfile.NewParquetReader(disk); return err }); err != nil {
		return err
	}
	for g := range file.NumRowGroups() {
		if err := s.group(ctx, file.RowGroup(g)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) group(ctx context.Context, group *pqfile.RowGroupReader) error {
	var columns []columnReader
	err := reading(func() (err error) { columns, err = s.columns(group); return err })
	if err != nil {
		return err
	}
	for left := group.NumRows(); left > 0; left -= scanRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(left, scanRows))
		err := reading(func() error {
			for _, c := range columns {
				if err := c.read(n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.give(n); err != nil {
			return err
		}
	}
	return nil
}

// give emits the rows that are there, input by input.
func (s *scanner) give(n int) error {
	for from, to := 0, 0; from < n; from = to {
		key := s.keys[from]
		for to = from + 1; to < n && s.keys[to] == key; to++ {
		}
		if slices.Contains(s.sl.Hidden, key) {
			continue
		}
		if err := s.emit(key, s.t.Batch(s.rows.Slice(from, to))); err != nil {
			return err
		}
	}
	return nil
}

// reading calls the Parquet library, which fails or panics where a file is not what it says.
func reading(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w; straggler store verify lists what is damaged", ErrDamaged, err)
		}
	}()
	return call()
}

// columnReader reads one column of a row group into the next n rows.
type columnReader interface{ read(n int) error }

// columns opens the columns of a row group, the keys of the inputs last. Those that the files do not have are NULL.
func (s *scanner) columns(group *pqfile.RowGroupReader) ([]columnReader, error) {
	out := make([]columnReader, 0, len(s.t.Columns)+1)
	for i := range s.t.Columns {
		c := &s.t.Columns[i]
		to := target{name: c.Name, values: unsafe.Add(s.rows.UnsafePointer(), c.Offset()), stride: s.t.Row.Size()}
		if c.Nullable {
			to.valid = unsafe.Add(to.values, sizes[c.Type])
		}
		var from pqfile.ColumnChunkReader
		if slices.ContainsFunc(s.sl.Columns, func(have string) bool { return strings.HasPrefix(have, c.Name+" ") }) {
			var err error
			if from, err = openColumn(group, c.Name); err != nil {
				return nil, err
			}
		} else if !c.Nullable {
			return nil, fmt.Errorf("it lacks the column %s, which can not be NULL", c.Name)
		}
		r := to.reader(from, c.Type)
		if r == nil {
			return nil, fmt.Errorf("its column %s holds %v, which does not fit into %s", c.Name, from.Type(), c.Type)
		}
		out = append(out, r)
	}
	from, err := openColumn(group, InputColumn)
	if err != nil {
		return nil, err
	}
	keys := target{name: InputColumn, values: unsafe.Pointer(unsafe.SliceData(s.keys)), stride: unsafe.Sizeof(s.keys[0])}
	r := keys.reader(from, schema.BigInt)
	if r == nil {
		return nil, fmt.Errorf("its column %s holds %v", InputColumn, from.Type())
	}
	return append(out, r), nil
}

func openColumn(group *pqfile.RowGroupReader, name string) (pqfile.ColumnChunkReader, error) {
	i := group.MetaData().Schema.ColumnIndexByName(name)
	if i < 0 {
		return nil, fmt.Errorf("it lacks the column %s", name)
	}
	return group.Column(i)
}

// target is where the values of a column go.
type target struct {
	name   string
	values unsafe.Pointer // of the first row
	valid  unsafe.Pointer // Null.OK of the first row; nil where the column can not be NULL
	stride uintptr
}

// reader reads a column's values, NULL where there is no column; nil where the types differ.
func (to target) reader(from pqfile.ColumnChunkReader, typ schema.Type) columnReader {
	if from == nil {
		return noValues{to}
	}
	switch typ {
	case schema.BigInt, schema.Timestamp:
		if from, ok := from.(*pqfile.Int64ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[int64])
		}
	case schema.Int:
		if from, ok := from.(*pqfile.Int32ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[int32])
		}
	case schema.Double:
		if from, ok := from.(*pqfile.Float64ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[float64])
		}
	case schema.Bool:
		if from, ok := from.(*pqfile.BooleanColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[bool])
		}
	case schema.String:
		if from, ok := from.(*pqfile.ByteArrayColumnChunkReader); ok {
			return newValues(to, from, stringsOf)
		}
	}
	return nil
}

// noValues makes a column NULL.
type noValues struct{ to target }

func (r noValues) read(n int) error {
	for i := range n {
		*(*bool)(unsafe.Add(r.to.valid, uintptr(i)*r.to.stride)) = false
	}
	return nil
}

// columnChunk is a column of a row group in the file.
type columnChunk[From any] interface {
	ReadBatchInPage(n int64, values []From, definition, repetition []int16) (rows int64, present int, err error)
	Descriptor() *pqschema.Column
	HasNext() bool
	Err() error
}

// values reads a column that is in the file.
type values[From, To any] struct {
	to     target
	from   columnChunk[From]
	as     func([]From) []To
	buf    []From
	levels []int16 // 1 for a value, 0 for NULL; nil where the file's column can not be NULL
}

func newValues[From, To any](to target, from columnChunk[From], as func([]From) []To) *values[From, To] {
	r := &values[From, To]{to: to, from: from, as: as, buf: make([]From, scanRows)}
	if from.Descriptor().MaxDefinitionLevel() > 0 {
		r.levels = make([]int16, scanRows)
	}
	return r
}

func (r *values[From, To]) read(n int) error {
	for done := 0; done < n; {
		if !r.from.HasNext() {
			return fmt.Errorf("column %s ends %d rows early: %w", r.to.name, n-done, r.from.Err())
		}
		rows, count, err := r.from.ReadBatchInPage(int64(n-done), r.buf, r.levels, nil)
		if err != nil {
			return fmt.Errorf("column %s: %w", r.to.name, err)
		}
		if err := r.place(done, int(rows), r.as(r.buf[:count])); err != nil {
			return err
		}
		done += int(rows)
	}
	return nil
}

// place puts values into n rows from the row at.
func (r *values[From, To]) place(at, n int, values []To) error {
	k := 0
	for i := range n {
		row := uintptr(at+i) * r.to.stride
		null := r.levels != nil && r.levels[i] == 0
		if r.to.valid != nil {
			*(*bool)(unsafe.Add(r.to.valid, row)) = !null
		} else if null {
			return fmt.Errorf("column %s is NULL, which it can not be", r.to.name)
		}
		var v To
		if !null {
			v = values[k]
			k++
		}
		*(*To)(unsafe.Add(r.to.values, row)) = v
	}
	return nil
}

func asTheyAre[T any](in []T) []T { return in }

// stringsOf copies texts out of the page's memory, all into one piece. One that equals the text before it shares it.
func stringsOf(in []parquet.ByteArray) []string {
	var all strings.Builder
	same := func(i int) bool { return i > 0 && string(in[i]) == string(in[i-1]) }
	for i, b := range in {
		if !same(i) {
			all.Write(b)
		}
	}
	rest := all.String()
	out := make([]string, len(in))
	for i, b := range in {
		if same(i) {
			out[i] = out[i-1]
			continue
		}
		out[i], rest = rest[:len(b)], rest[len(b):]
	}
	return out
}
