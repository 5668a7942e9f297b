package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"straggler/parquetfile"
	"straggler/schema"
)

// ErrMalformed is returned when a file is not a Parquet file, is damaged, or does not contain rows of the table.
var ErrMalformed = errors.New("not a valid Parquet file")

// Footer is the footer of a file.
type Footer struct {
	Rows    int64
	Columns []string
}

// ReadFooter reads only the end of a file.
func ReadFooter(from *io.SectionReader) (Footer, error) {
	f, err := open(from)
	if err != nil {
		return Footer{}, err
	}
	out := Footer{Rows: f.meta.Rows}
	for _, c := range f.root.Children {
		out.Columns = append(out.Columns, c.Name)
	}
	return out, nil
}

// source is a file being read.
type source struct {
	*io.SectionReader
	meta *parquetfile.Metadata
	root *parquetfile.Field
}

func open(from *io.SectionReader) (*source, error) {
	m, err := parquetfile.ReadMetadata(from, from.Size())
	if err != nil {
		return nil, malformed(err)
	}
	root, err := m.Root()
	if err != nil {
		return nil, malformed(err)
	}
	return &source{from, m, root}, nil
}

func malformed(err error) error { return fmt.Errorf("%w: %w", ErrMalformed, err) }

// readRows is the number of rows read at a time.
const readRows = 4096

// Reader reads files of one table, through the memory of one batch of rows.
type Reader struct {
	table     *schema.Table
	key       string
	hasColumn func(name string) bool
	rows      reflect.Value // as many as the largest row group so far, but at most readRows
	keys      []int64       // one of each
}

// NewReader returns a reader of rows of a table and of a column after them, key, of type BigInt. Columns that the files lack
// according to hasColumn are NULL.
func NewReader(t *schema.Table, key string, hasColumn func(name string) bool) *Reader {
	return &Reader{t, key, hasColumn, reflect.Zero(reflect.SliceOf(t.Row)), nil}
}

// Read yields the rows of a file in order, some at a time, with the key of each; their memory is reused.
func (r *Reader) Read(ctx context.Context, from *io.SectionReader, emit func(keys []int64, rows schema.Batch) error) error {
	f, err := open(from)
	if err != nil {
		return err
	}
	for _, g := range f.meta.RowGroups {
		if err := r.rowGroup(ctx, f, g, emit); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) rowGroup(ctx context.Context, f *source, group *parquetfile.RowGroup, emit func(keys []int64, rows schema.Batch) error) error {
	batch := int(min(max(group.Rows, 1), readRows))
	if len(r.keys) < batch {
		r.rows, r.keys = reflect.MakeSlice(r.rows.Type(), batch, batch), make([]int64, batch)
	}
	columns, err := r.columns(f, group, batch)
	if err != nil {
		return malformed(err)
	}
	for left := group.Rows; left > 0; left -= readRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(left, readRows))
		for _, c := range columns {
			if err := c.read(n); err != nil {
				return malformed(err)
			}
		}
		if err := emit(r.keys[:n], r.table.Batch(r.rows.Slice(0, n))); err != nil {
			return err
		}
	}
	return nil
}

// columns opens the columns of a row group, the keys last, to be read a batch at a time.
func (r *Reader) columns(f *source, group *parquetfile.RowGroup, batch int) ([]columnReader, error) {
	memory := parquetfile.NewMemory(parquetfile.MaxMemory)
	out := make([]columnReader, 0, len(r.table.Columns)+1)
	for i := range r.table.Columns {
		c := &r.table.Columns[i]
		to := target{name: c.Name, rows: batch, values: unsafe.Add(r.rows.UnsafePointer(), c.Offset()), stride: r.table.Row.Size()}
		if c.Nullable {
			to.valid = unsafe.Add(to.values, sizes[c.Type])
		}
		var from *parquetfile.Chunk
		if r.hasColumn(c.Name) {
			var err error
			if from, err = f.column(group, c.Name, memory); err != nil {
				return nil, err
			}
		} else if !c.Nullable {
			return nil, fmt.Errorf("it lacks the column %s, which cannot be NULL", c.Name)
		}
		reader, err := to.reader(from, c.Type)
		if err != nil {
			return nil, err
		}
		out = append(out, reader)
	}
	from, err := f.column(group, r.key, memory)
	if err != nil {
		return nil, err
	}
	keys := target{name: r.key, rows: batch, values: unsafe.Pointer(unsafe.SliceData(r.keys)), stride: unsafe.Sizeof(r.keys[0])}
	reader, err := keys.reader(from, schema.BigInt)
	return append(out, reader), err
}

// columnReader reads one column of a row group into the next n rows.
type columnReader interface{ read(n int) error }

func (f *source) column(group *parquetfile.RowGroup, name string, memory *parquetfile.Memory) (*parquetfile.Chunk, error) {
	i := slices.IndexFunc(f.root.Children, func(c *parquetfile.Field) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("it lacks the column %s", name)
	}
	field := f.root.Children[i]
	if field.MaxRepetition > 0 {
		return nil, fmt.Errorf("its column %s holds lists", name)
	}
	return group.Chunk(f, f.Size(), field, memory)
}

// target is the destination of the values of a column.
type target struct {
	name   string
	rows   int            // that there is room for
	values unsafe.Pointer // of the first row
	valid  unsafe.Pointer // Null.OK of the first row; nil if the column cannot be NULL
	stride uintptr
}

// reader returns a reader of a column's values, or of NULLs if there is no column.
func (to target) reader(from *parquetfile.Chunk, typ schema.Type) (columnReader, error) {
	if from == nil {
		return noValues{to}, nil
	}
	switch typ {
	case schema.BigInt, schema.Timestamp:
		return newValues(to, from, asTheyAre[int64])
	case schema.Int:
		return newValues(to, from, asTheyAre[int32])
	case schema.Double:
		return newValues(to, from, asTheyAre[float64])
	case schema.Bool:
		return newValues(to, from, asTheyAre[bool])
	}
	return newValues(to, from, stringsOf)
}

// noValues makes a column NULL.
type noValues struct{ to target }

func (r noValues) read(n int) error {
	for i := range n {
		*(*bool)(unsafe.Add(r.to.valid, uintptr(i)*r.to.stride)) = false
	}
	return nil
}

// values reads a column that is in the file.
type values[From parquetfile.Value, To any] struct {
	to     target
	from   *parquetfile.Column[From]
	as     func([]From) []To
	buf    []From
	levels []int16 // 1 for a value, 0 for NULL; nil if the file's column cannot be NULL
}

func newValues[From parquetfile.Value, To any](to target, chunk *parquetfile.Chunk, as func([]From) []To) (columnReader, error) {
	from, err := parquetfile.ColumnOf[From](chunk)
	if err != nil {
		return nil, err
	}
	r := &values[From, To]{to: to, from: from, as: as, buf: make([]From, to.rows)}
	if chunk.Field.MaxDefinition > 0 {
		r.levels = make([]int16, to.rows)
	}
	return r, nil
}

func (r *values[From, To]) read(n int) error {
	for done := 0; done < n; {
		more, err := r.from.Next()
		if err != nil {
			return err
		}
		if !more {
			return fmt.Errorf("column %s ends %d rows early", r.to.name, n-done)
		}
		rows, count, err := r.from.Read(r.buf[:n-done], r.levels, nil)
		if err != nil {
			return fmt.Errorf("column %s: %w", r.to.name, err)
		}
		if err := r.scatter(done, rows, r.as(r.buf[:count])); err != nil {
			return err
		}
		done += rows
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

// stringsOf copies texts out of the page's memory, in one allocation. A text equal to the previous one shares its memory.
func stringsOf(in [][]byte) []string {
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
