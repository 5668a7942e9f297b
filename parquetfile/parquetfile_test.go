package parquetfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"

	"straggler/parquetfile"
)

// column is a column that parquet-go writes: the number of values, some of which may be NULL.
type column struct {
	typ      parquet.Type
	nullable bool
	rows     []parquet.Row
	want     []any
}

// columnOf returns a column of some type whose rows have a value if their level is 1; without levels all have.
func columnOf[A any](t parquet.Type, levels []int, values []A, as func(A) parquet.Value, want func(A) any) (c column) {
	c.typ, c.nullable = t, levels != nil
	definition := 1
	if !c.nullable {
		levels, definition = slices.Repeat([]int{1}, len(values)), 0
	}
	for _, v := range values {
		c.want = append(c.want, want(v))
	}
	for _, l := range levels {
		if l == 0 {
			c.rows = append(c.rows, parquet.Row{parquet.NullValue().Level(0, 0, 0)})
			continue
		}
		c.rows, values = append(c.rows, parquet.Row{as(values[0]).Level(0, definition, 0)}), values[1:]
	}
	return c
}

// textsOf returns a column of texts.
func textsOf(levels []int, values ...string) column {
	return columnOf(parquet.ByteArrayType, levels, values,
		func(v string) parquet.Value { return parquet.ByteArrayValue([]byte(v)) }, func(v string) any { return v })
}

func numbersOf(levels []int, values []int64) column {
	return columnOf(parquet.Int64Type, levels, values, parquet.Int64Value, func(v int64) any { return v })
}

// written returns a file of one column, as parquet-go writes it some rows at a time.
func written(t testing.TB, c column, batch int, e encoding.Encoding, o ...parquet.WriterOption) []byte {
	t.Helper()
	node := parquet.Encoded(parquet.Leaf(c.typ), e)
	if c.nullable {
		node = parquet.Optional(node)
	}
	var to bytes.Buffer
	w := parquet.NewWriter(&to, append([]parquet.WriterOption{parquet.NewSchema("schema", parquet.Group{"c": node})}, o...)...)
	for rows := range slices.Chunk(c.rows, batch) {
		if _, err := w.WriteRows(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

// valuesOf reads the only column of a file, NULLs left out.
func valuesOf(data []byte) ([]any, error) {
	m, err := parquetfile.ReadMetadata(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	root, err := m.Root()
	if err != nil {
		return nil, err
	}
	var out []any
	for _, g := range m.RowGroups {
		for _, f := range root.Children {
			c := func() (*parquetfile.Chunk, error) {
				return g.Chunk(bytes.NewReader(data), int64(len(data)), f, parquetfile.NewMemory(parquetfile.MaxMemory))
			}
			switch f.Type {
			case parquetfile.Boolean:
				err = read[bool](c, &out, func(v bool) any { return v })
			case parquetfile.Int32:
				err = read[int32](c, &out, func(v int32) any { return v })
			case parquetfile.Int64:
				err = read[int64](c, &out, func(v int64) any { return v })
			case parquetfile.Int96Type:
				err = read[parquetfile.Int96](c, &out, func(v parquetfile.Int96) any { return v.Time().UnixNano() })
			case parquetfile.Float:
				err = read[float32](c, &out, func(v float32) any { return v })
			case parquetfile.Double:
				err = read[float64](c, &out, func(v float64) any { return v })
			default:
				err = read[[]byte](c, &out, func(v []byte) any { return string(v) })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// read appends the values of a chunk, and checks that Fill reads the same ones as Read.
func read[T parquetfile.Value](open func() (*parquetfile.Chunk, error), out *[]any, as func(T) any) error {
	chunk, err := open()
	if err != nil {
		return err
	}
	c, err := parquetfile.ColumnOf[T](chunk)
	if err != nil {
		return err
	}
	first := len(*out)
	values, definition, repetition := make([]T, 100), make([]int16, 100), make([]int16, 100)
	for all := 0; ; {
		more, err := c.Next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		_, present, err := c.Read(values, definition, repetition)
		if err != nil {
			return err
		}
		for _, v := range values[:present] {
			*out = append(*out, as(v))
		}
		if all++; all > 1<<14 { // a few bytes of levels may represent billions of rows
			return nil
		}
	}
	if chunk.Field.MaxRepetition > 0 {
		return nil
	}
	return sameFilled(open, (*out)[first:], as)
}

// sameFilled compares the values that Fill reads, as they are and as results of a function.
func sameFilled[T parquetfile.Value](open func() (*parquetfile.Chunk, error), want []any, as func(T) any) error {
	var columns [2]*parquetfile.Column[T]
	for i := range columns {
		chunk, err := open()
		if err != nil {
			return err
		}
		if i > 0 {
			chunk.Reuse(new(parquetfile.Chunk))
		}
		if columns[i], err = parquetfile.ColumnOf[T](chunk); err != nil {
			return err
		}
	}
	direct, mapped := columns[0], parquetfile.MappedOf(columns[1], as)
	values, results, known, unknown := make([]T, 77), make([]any, 77), make([]bool, 77), new(T)
	for {
		more, err := direct.Next()
		if err != nil || !more {
			if err == nil && len(want) > 0 {
				err = fmt.Errorf("Fill ends %d values early", len(want))
			}
			return err
		}
		if _, err := mapped.Next(); err != nil {
			return err
		}
		n, err := direct.Fill(values, *unknown, known)
		if err != nil {
			return err
		}
		if also, err := mapped.Fill(results, unknown, nil); err != nil || also != n {
			return fmt.Errorf("%d results of %d values: %w", also, n, err)
		}
		for i, v := range values[:n] {
			if known[i] == (results[i] == unknown) {
				return fmt.Errorf("a value is known: %v, its result is not: %v", known[i], known[i])
			}
			if !known[i] {
				continue
			}
			if len(want) == 0 || !reflect.DeepEqual(as(v), want[0]) && as(v) == as(v) || !reflect.DeepEqual(results[i], want[0]) && as(v) == as(v) {
				return fmt.Errorf("Fill reads %v and the result %v where Read reads %v", as(v), results[i], want[:min(1, len(want))])
			}
			want = want[1:]
		}
	}
}

// columns are several of every type, with n values, some of which are NULL if there are levels.
func columns(r *rand.Rand, n int, levels []int) map[string]column {
	some := func(of func(i int) int64) (out []int64) {
		for i := range n {
			out = append(out, of(i))
		}
		return out
	}
	numbers := map[string][]int64{"rising": some(func(i int) int64 { return 1_700_000_000_000_000 + int64(i)*999 }),
		"few": some(func(i int) int64 { return int64(r.IntN(5)) }),
		"any": some(func(int) int64 { return int64(r.Uint64()) }), "ends": some(func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, -1}[i%3] })}
	out := make(map[string]column)
	for name, of := range numbers {
		i32, f32, f64, bools, days, texts, fixed := make([]int32, n), make([]float32, n), make([]float64, n), make([]bool, n),
			make([][2]int64, n), make([]string, n), make([]string, n)
		for i, v := range of {
			i32[i], f32[i], f64[i], bools[i] = int32(v), float32(v)/3, float64(v)/3, v&1 == 1
			days[i] = [2]int64{int64(i % 30000), int64(uint64(v) % 86_400_000_000_000)} // since 1970, and nanoseconds
			texts[i] = strings.Repeat("ab", i%7) + fmt.Sprint(v)
			fixed[i] = string(binary.LittleEndian.AppendUint64(nil, uint64(v))[:7])
		}
		out["int64 "+name] = numbersOf(levels, of)
		out["int32 "+name] = columnOf(parquet.Int32Type, levels, i32, parquet.Int32Value, func(v int32) any { return v })
		out["float "+name] = columnOf(parquet.FloatType, levels, f32, parquet.FloatValue, func(v float32) any { return v })
		out["double "+name] = columnOf(parquet.DoubleType, levels, f64, parquet.DoubleValue, func(v float64) any { return v })
		out["bool "+name] = columnOf(parquet.BooleanType, levels, bools, parquet.BooleanValue, func(v bool) any { return v })
		out["int96 "+name] = columnOf(parquet.Int96Type, levels, days, func(v [2]int64) parquet.Value {
			return parquet.Int96Value(deprecated.Int96{uint32(v[1]), uint32(v[1] >> 32), uint32(2440588 + v[0])}) // Julian day
		}, func(v [2]int64) any { return v[0]*86_400_000_000_000 + v[1] })
		out["text "+name] = textsOf(levels, texts...)
		out["fixed "+name] = columnOf(parquet.FixedLenByteArrayType(7), levels, fixed,
			func(v string) parquet.Value { return parquet.FixedLenByteArrayValue([]byte(v)) }, func(v string) any { return v })
	}
	return out
}

// encodings are those of each type beside PLAIN and a dictionary.
var encodings = map[string][]encoding.Encoding{
	"int64": {&parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit}, "int32": {&parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit},
	"float": {&parquet.ByteStreamSplit}, "double": {&parquet.ByteStreamSplit}, "bool": {&parquet.RLE},
	"text": {&parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}, "fixed": {&parquet.ByteStreamSplit, &parquet.DeltaByteArray},
}

var codecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}

// Files written by parquet-go are read back: values of every type, in every encoding and compression, in pages of both
// versions.
func TestEncodings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	files := 0
	for _, n := range []int{1, 7, 33, 1000} {
		present := 0
		levels := make([]int, n)
		for i := range levels {
			levels[i] = r.IntN(2)
			present += levels[i]
		}
		for _, of := range []map[string]column{columns(r, n, nil), columns(r, present, levels)} {
			for name, c := range of {
				kind, _, _ := strings.Cut(name, " ")
				for _, e := range append(encodings[kind], &parquet.Plain, &parquet.RLEDictionary) {
					if e == &parquet.RLEDictionary && kind == "bool" {
						continue
					}
					data := written(t, c, 32, e, parquet.Compression(codecs[files%len(codecs)]), parquet.PageBufferSize(300),
						parquet.DataPageVersion(1+files/len(codecs)%2))
					files++
					got, err := valuesOf(data)
					if err != nil || len(got) != len(c.want) || len(got) > 0 && !reflect.DeepEqual(got, c.want) {
						t.Fatalf("%d values of %s, encoding %v, file %d: %d values, %v", n, name, e, files, len(got), err)
					}
				}
			}
		}
	}
	if files < 500 {
		t.Errorf("%d files were read", files)
	}
}

// thriftOf returns a file whose footer is the given bytes of Thrift.
func thriftOf(footer []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(append([]byte(parquetfile.Magic), footer...), uint32(len(footer))), parquetfile.Magic...)
}

// The claims of a file cost nothing before they are checked: lists of billions, structures a million deep, pages of gigabytes.
func TestClaims(t *testing.T) {
	small := written(t, numbersOf(nil, []int64{1, 2, 3}), 3, &parquet.Plain, parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd))
	page := bytes.Index(small, []byte{0x15, 0, 0x15, 48}) // a data page of 24 bytes
	if page < 0 {
		t.Fatal("the file has no page as the test expects it")
	}
	m, err := parquetfile.ReadMetadata(bytes.NewReader(small), int64(len(small)))
	if err != nil {
		t.Fatal(err)
	}
	column := m.RowGroups[0].Columns[0].Metadata
	claim := binary.AppendVarint(nil, math.MaxInt32)
	huge := append(append(bytes.Clone(small[:page+3]), claim...), small[page+4:column.DataOffset+column.CompressedBytes]...)
	column.CompressedBytes += int64(len(claim)) - 1
	hugeFooter, err := m.Footer()
	if err != nil {
		t.Fatal(err)
	}
	huge = append(huge, hugeFooter...)
	decimals := parquetfile.Primitive("c", parquetfile.Int32)
	decimals.Converted, decimals.Scale = thrift.New(int32(5)), math.MaxInt32
	footer, err := parquetfile.New("a test", []*parquetfile.SchemaElement{decimals}).Footer()
	if err != nil {
		t.Fatal(err)
	}
	shared := parquetfile.New("a test", []*parquetfile.SchemaElement{parquetfile.Primitive("a", parquetfile.Int32),
		parquetfile.Primitive("b", parquetfile.Int32)})
	pages := &parquetfile.ColumnMetadata{Type: parquetfile.Int32, CompressedBytes: 1 << 10, Path: []string{"a"}}
	shared.Add(1, []*parquetfile.ColumnMetadata{pages, pages})
	sharedFooter, err := shared.Footer()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"decimals of 2^31 digits", append([]byte(parquetfile.Magic), footer...), "decimals of scale 2147483647"},
		{"the same pages for two columns", append(make([]byte, 1<<10), sharedFooter...), "take more than the file"},
		{"a list of 2^31 fields", thriftOf(append([]byte{0x15, 2, 0x19, 0xFC}, binary.AppendUvarint(nil, math.MaxInt32)...)),
			"a list of 2147483647 structures"},
		{"an unknown list of as many", thriftOf(append([]byte{0x15, 2, 0xF9, 0xF0 | 1}, binary.AppendUvarint(nil, math.MaxInt32)...)), "is cut"},
		{"a text of 2^31 bytes", thriftOf(append([]byte{0x15, 2, 0x58}, binary.AppendUvarint(nil, math.MaxInt32)...)), "is cut"},
		{"deep structures", thriftOf(bytes.Repeat([]byte{0xFC}, 1<<20)), "32 deep"},
		{"deep lists", thriftOf(append([]byte{0xF9}, bytes.Repeat([]byte{0x19}, 1<<20)...)), "32 deep"},
		{"a page of 2 GB", huge, "claims to be 2147483647"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := valuesOf(c.data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d values and %v, want %q", c.name, len(got), err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: %d bytes of memory, %v", c.name, n, err)
		}
	}
}

// A page that claims to be larger than the best compression of its bytes allows is rejected.
func TestNoMoreThanACompressionGives(t *testing.T) {
	values := make([]int64, 4<<20) // 32 MiB of zeros, which zstd compresses to a few KiB
	data := written(t, numbersOf(nil, values), len(values), &parquet.Plain, parquet.PageBufferSize(64<<20), parquet.Compression(&parquet.Zstd))
	if got, err := valuesOf(data); err != nil || len(got) < 1<<20 {
		t.Errorf("%d values of a page of 32 MiB in a file of %d bytes: %v", len(got), len(data), err)
	}
}

// changed returns a file with a modified footer.
func changed(t *testing.T, data []byte, change func(*parquetfile.Metadata)) []byte {
	t.Helper()
	m, err := parquetfile.ReadMetadata(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	footer, err := m.Footer()
	if err != nil {
		t.Fatal(err)
	}
	end := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	return append(bytes.Clone(data[:end]), footer...)
}

// Files that are encrypted, in their footers or only in their pages, are reported as such.
func TestEncrypted(t *testing.T) {
	for name, footer := range map[string]bool{"footer": true, "pages": false} {
		_, err := valuesOf(written(t, textsOf(nil, "secret"), 1, &parquet.Plain,
			parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: []byte("0123456789012345"), EncryptedFooter: footer})))
		if err == nil || !strings.Contains(err.Error(), "encrypted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Row groups must not share pages, which a footer could have read any number of times, nor be more than writers number.
func TestRowGroups(t *testing.T) {
	data := written(t, textsOf(nil, strings.Repeat("ab", 1000)), 1, &parquet.Plain)
	shared := changed(t, data, func(m *parquetfile.Metadata) { m.RowGroups = append(m.RowGroups, m.RowGroups...) })
	if got, err := valuesOf(shared); err == nil {
		t.Errorf("%d values of pages that two row groups share", len(got))
	}
	many := changed(t, data, func(m *parquetfile.Metadata) {
		for range 1 << 15 {
			m.RowGroups = append(m.RowGroups, &parquetfile.RowGroup{})
		}
	})
	if _, err := valuesOf(many); err == nil || !strings.Contains(err.Error(), "a list of 32769 structures") {
		t.Errorf("row groups of which the number does not fit into their ordinals: %v", err)
	}
}

// Some writers give texts a length in the schema, which has no meaning.
func TestLengthOfTexts(t *testing.T) {
	data := written(t, textsOf(nil, "a", "bcd"), 2, &parquet.Plain)
	got, err := valuesOf(changed(t, data, func(m *parquetfile.Metadata) { m.Schema[1].Length = 1 }))
	if err != nil || !reflect.DeepEqual(got, []any{"a", "bcd"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// A column is read into memory in parts, and the pages of all columns of a row group together stay within their budget.
func TestMemory(t *testing.T) {
	values := make([]int64, 1<<20)
	for i := range values {
		values[i] = int64(uint64(i) * 0x9E3779B97F4A7C15)
	}
	long := numbersOf(nil, values)
	small, large, zstd := parquet.PageBufferSize(100<<10), parquet.PageBufferSize(64<<20), parquet.Compression(&parquet.Zstd)
	for name, c := range map[string]struct {
		data []byte
		most int64
		fits bool
	}{
		"8 MiB of small pages":             {written(t, long, 1<<10, &parquet.Plain, small), 2 << 20, true},
		"a page of 8 MiB":                  {written(t, long, 1<<20, &parquet.Plain, large), 2 << 20, false},
		"a compressed page of 8 MiB":       {written(t, long, 1<<20, &parquet.Plain, large, zstd), 12 << 20, false},
		"a compressed dictionary of 8 MiB": {written(t, long, 1<<20, &parquet.RLEDictionary, zstd), 20 << 20, false},
	} {
		m, err := parquetfile.ReadMetadata(bytes.NewReader(c.data), int64(len(c.data)))
		if err != nil {
			t.Fatal(err)
		}
		root, err := m.Root()
		if err != nil {
			t.Fatal(err)
		}
		open := func() (*parquetfile.Chunk, error) {
			return m.RowGroups[0].Chunk(bytes.NewReader(c.data), int64(len(c.data)), root.Children[0], parquetfile.NewMemory(c.most))
		}
		var got []any
		err = read[int64](open, &got, func(v int64) any { return v })
		if c.fits && (err != nil || !reflect.DeepEqual(got, long.want)) || !c.fits && (err == nil || !strings.Contains(err.Error(), "together")) {
			t.Errorf("%s: %d values, %v", name, len(got), err)
		}
	}
}

// Pages of old writers are blocks of LZ4 in frames of Hadoop, or without frames.
func TestHadoopLZ4(t *testing.T) {
	block := func(of string) []byte { // one literal run (lz4_Block_format.md)
		return append([]byte{byte(len(of)) << 4}, of...)
	}
	frame := func(of string) []byte {
		b := block(of)
		return append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(of))), uint32(len(b))), b...)
	}
	one, two := "\x03\x00\x00\x00abc", "\x01\x00\x00\x00d"
	for name, page := range map[string][]byte{"two frames": append(frame(one), frame(two)...), "a block": block(one + two)} {
		// two values, PLAIN
		header := []byte{0x15, 0, 0x15, byte(2 * len(one+two)), 0x15, byte(2 * len(page)), 0x2C, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0}
		m := parquetfile.New("a test", []*parquetfile.SchemaElement{parquetfile.UTF8("c").SetNullable(false)})
		size := int64(len(header) + len(page))
		m.Add(2, []*parquetfile.ColumnMetadata{{Type: parquetfile.ByteArray, Path: []string{"c"}, Codec: parquetfile.HadoopLZ4,
			Values: 2, Bytes: size, CompressedBytes: size, DataOffset: 4}})
		footer, err := m.Footer()
		if err != nil {
			t.Fatal(err)
		}
		got, err := valuesOf(append(append(append([]byte(parquetfile.Magic), header...), page...), footer...))
		if err != nil || !reflect.DeepEqual(got, []any{"abc", "d"}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Any bytes give values or an error.
func FuzzValues(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	files := 0
	for name, c := range columns(r, 40, nil) {
		kind, _, _ := strings.Cut(name, " ")
		for _, e := range append(encodings[kind], &parquet.Plain) {
			files++
			if files%3 == 0 && kind != "bool" {
				e = &parquet.RLEDictionary
			}
			f.Add(written(f, c, 40, e, parquet.Compression(codecs[files%len(codecs)])))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valuesOf(data)
	})
}
