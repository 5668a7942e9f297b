package parquet

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	pqschema "github.com/apache/arrow-go/v18/parquet/schema"

	"straggler/schema"
)

// ErrMalformed is returned when a file is no Parquet file, is damaged, or does not hold rows of the table.
var ErrMalformed = errors.New("not a valid Parquet file")

// Footer is what a file says of itself.
type Footer struct {
	Rows    int64
	Columns []string
}

// ReadFooter reads no more of a file than its end.
func ReadFooter(from arrowparquet.ReaderAtSeeker) (Footer, error) {
	var out Footer
	err := catch(func() error {
		f, err := file.NewParquetReader(from)
		if err != nil {
			return err
		}
		defer f.Close()
		out.Rows = f.NumRows()
		for i := range f.MetaData().Schema.NumColumns() {
			out.Columns = append(out.Columns, f.MetaData().Schema.Column(i).Name())
		}
		return nil
	})
	return out, err
}

// readRows is how many rows are read at a time.
const readRows = 4096

// Reader reads files of one table, through the memory of one batch of rows.
type Reader struct {
	table     *schema.Table
	key       string
	hasColumn func(name string) bool
	rows      reflect.Value // readRows of them
	keys      []int64
}

// NewReader makes a reader of rows of a table and of a column behind them, key, of type BigInt. What hasColumn says the files
// do not have is NULL.
func NewReader(t *schema.Table, key string, hasColumn func(name string) bool) *Reader {
	return &Reader{t, key, hasColumn, reflect.MakeSlice(reflect.SliceOf(t.Row), readRows, readRows), make([]int64, readRows)}
}

// Read gives the rows of a file in their order, some at a time, and the key of each; their memory is used again.
func (r *Reader) Read(ctx context.Context, from arrowparquet.ReaderAtSeeker, emit func(keys []int64, rows schema.Batch) error) error {
	var f *file.Reader
	if err := catch(func() (err error) { f, err = file.NewParquetReader(from); return err }); err != nil {
		return err
	}
	for g := range f.NumRowGroups() {
		if err := r.rowGroup(ctx, f.RowGroup(g), emit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) rowGroup(ctx context.Context, group *file.RowGroupReader, emit func(keys []int64, rows schema.Batch) error) error {
	var columns []columnReader
	err := catch(func() (err error) { columns, err = r.columns(group); return err })
	if err != nil {
		return err
	}
	for left := group.NumRows(); left > 0; left -= readRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(left, readRows))
		err := catch(func() error {
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
		if err := emit(r.keys[:n], r.table.Batch(r.rows.Slice(0, n))); err != nil {
			return err
		}
	}
	return nil
}

// catch calls the Parquet library, which fails or panics where a file is not what it says.
func catch(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}()
	return call()
}

// columns opens the columns of a row group, the keys last.
func (r *Reader) columns(group *file.RowGroupReader) ([]columnReader, error) {
	out := make([]columnReader, 0, len(r.table.Columns)+1)
	for i := range r.table.Columns {
		c := &r.table.Columns[i]
		to := target{name: c.Name, values: unsafe.Add(r.rows.UnsafePointer(), c.Offset()), stride: r.table.Row.Size()}
		if c.Nullable {
			to.valid = unsafe.Add(to.values, sizes[c.Type])
		}
		var from file.ColumnChunkReader
		if r.hasColumn(c.Name) {
			var err error
			if from, err = openColumn(group, c.Name); err != nil {
				return nil, err
			}
		} else if !c.Nullable {
			return nil, fmt.Errorf("it lacks the column %s, which cannot be NULL", c.Name)
		}
		reader := to.reader(from, c.Type)
		if reader == nil {
			return nil, fmt.Errorf("its column %s holds %v, which does not fit into %s", c.Name, from.Type(), c.Type)
		}
		out = append(out, reader)
	}
	from, err := openColumn(group, r.key)
	if err != nil {
		return nil, err
	}
	keys := target{name: r.key, values: unsafe.Pointer(unsafe.SliceData(r.keys)), stride: unsafe.Sizeof(r.keys[0])}
	reader := keys.reader(from, schema.BigInt)
	if reader == nil {
		return nil, fmt.Errorf("its column %s holds %v", r.key, from.Type())
	}
	return append(out, reader), nil
}

// columnReader reads one column of a row group into the next n rows.
type columnReader interface{ read(n int) error }

func openColumn(group *file.RowGroupReader, name string) (file.ColumnChunkReader, error) {
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
	valid  unsafe.Pointer // Null.OK of the first row; nil where the column cannot be NULL
	stride uintptr
}

// reader reads a column's values, NULL where there is no column; nil where the types differ.
func (to target) reader(from file.ColumnChunkReader, typ schema.Type) columnReader {
	if from == nil {
		return noValues{to}
	}
	switch typ {
	case schema.BigInt, schema.Timestamp:
		if from, ok := from.(*file.Int64ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[int64])
		}
	case schema.Int:
		if from, ok := from.(*file.Int32ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[int32])
		}
	case schema.Double:
		if from, ok := from.(*file.Float64ColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[float64])
		}
	case schema.Bool:
		if from, ok := from.(*file.BooleanColumnChunkReader); ok {
			return newValues(to, from, asTheyAre[bool])
		}
	case schema.String:
		if from, ok := from.(*file.ByteArrayColumnChunkReader); ok {
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

// valueReader is a column of a row group in the file.
type valueReader[From any] interface {
	ReadBatchInPage(n int64, values []From, definition, repetition []int16) (rows int64, present int, err error)
	Descriptor() *pqschema.Column
	HasNext() bool
	Err() error
}

// values reads a column that is in the file.
type values[From, To any] struct {
	to     target
	from   valueReader[From]
	as     func([]From) []To
	buf    []From
	levels []int16 // 1 for a value, 0 for NULL; nil where the file's column cannot be NULL
}

func newValues[From, To any](to target, from valueReader[From], as func([]From) []To) *values[From, To] {
	r := &values[From, To]{to: to, from: from, as: as, buf: make([]From, readRows)}
	if from.Descriptor().MaxDefinitionLevel() > 0 {
		r.levels = make([]int16, readRows)
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
		if err := r.scatter(done, int(rows), r.as(r.buf[:count])); err != nil {
			return err
		}
		done += int(rows)
	}
	return nil
}

// scatter puts values into n rows from the row at.
func (r *values[From, To]) scatter(at, n int, values []To) error {
	k := 0
	for i := range n {
		row := uintptr(at+i) * r.to.stride
		null := r.levels != nil && r.levels[i] == 0
		if r.to.valid != nil {
			*(*bool)(unsafe.Add(r.to.valid, row)) = !null
		} else if null {
			return fmt.Errorf("column %s is NULL, which it cannot be", r.to.name)
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
func stringsOf(in []arrowparquet.ByteArray) []string {
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
