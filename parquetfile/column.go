package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"
	"unsafe"
)

// A column of a row group consists of pages: optionally a dictionary of its values first; then its values, with two levels for
// each (Melnik et al., Dremel, VLDB 2010 §4), in as many pages as the writer chose.

// Value is the type of the values of a column.
type Value interface {
	bool | int32 | int64 | Int96 | float32 | float64 | []byte
}

// Int96 is a time of old writers: nanoseconds of a day, and the Julian day, little-endian.
type Int96 [12]byte

// Time returns the time that it represents.
func (v Int96) Time() time.Time {
	const epoch = 2440588 // the Julian day that begins at noon of 1970-01-01
	day := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
	return time.Unix(day*86400, int64(binary.LittleEndian.Uint64(v[:]))).UTC()
}

// typeOf returns the column type for values of a Go type; bytes may have a length.
func typeOf[T Value](length bool) Type {
	var zero T
	switch any(zero).(type) {
	case bool:
		return Boolean
	case int32:
		return Int32
	case int64:
		return Int64
	case Int96:
		return Int96Type
	case float32:
		return Float
	case float64:
		return Double
	}
	if length {
		return FixedLenByteArray
	}
	return ByteArray
}

// Chunk is a column of a row group, of any type.
type Chunk struct {
	Field *Field

	codec   Codec
	from    io.ReaderAt
	at, end int64   // of the bytes not in memory yet
	memory  *Memory // of the buffers below, and the dictionary
	window  []byte  // of the bytes in memory
	pages   []byte  // of window, still to be read
	left    int64   // values in them, including NULLs
	buffer  []byte  // of the current page
	inPage  int     // values of it still to be read
	defined int     // bit width of definition levels
	repeat  int     // and of repetition levels

	definition, repetition hybrid[int16]
	levels                 []int16 // for Fill
}

// Chunk opens a column of a row group in a file of the given size.
func (g *RowGroup) Chunk(from io.ReaderAt, size int64, f *Field, memory *Memory) (*Chunk, error) {
	if f.Children != nil || f.Column >= len(g.Columns) {
		return nil, fmt.Errorf("column %s has no pages", f.Name)
	}
	c := g.Columns[f.Column]
	if c.Encryption != nil {
		return nil, fmt.Errorf("column %s is encrypted", f.Name)
	}
	m := c.Metadata
	if m == nil || c.FilePath != "" {
		return nil, fmt.Errorf("column %s: its pages are not in this file", f.Name)
	}
	if m.Type != f.Type {
		return nil, fmt.Errorf("column %s is %v by the schema and %v by its pages", f.Name, f.Type, m.Type)
	}
	begin := m.DataOffset
	if d := m.DictionaryOffset; d.Valid && d.V > 0 && d.V < begin {
		begin = d.V
	}
	if n := m.CompressedBytes; begin < 0 || n < 0 || begin > size || n > size-begin {
		return nil, fmt.Errorf("column %s: its pages lie beyond the end of the file", f.Name)
	}
	return &Chunk{Field: f, codec: m.Codec, from: from, at: begin, end: begin + m.CompressedBytes, memory: memory, left: m.Values,
		defined: bits.Len16(uint16(f.MaxDefinition)), repeat: bits.Len16(uint16(f.MaxRepetition))}, nil
}

// Reuse takes over the buffers of a column that is read no more, and whose texts are not used any more.
func (c *Chunk) Reuse(of *Chunk) { c.window, c.buffer, c.levels = of.window, of.buffer, of.levels }

// windowBytes is how much of a column is read at a time: about one page, as most writers size them.
const windowBytes = 1 << 20

// fill reads until the given number of bytes of the column are available, or all that are left.
func (c *Chunk) fill(n int) error {
	n = int(min(int64(max(n, windowBytes)), int64(len(c.pages))+c.end-c.at))
	if n <= len(c.pages) {
		return nil
	}
	if cap(c.window) < n {
		if err := c.memory.take(n - cap(c.window)); err != nil {
			return err
		}
		window := make([]byte, n)
		copy(window, c.pages)
		c.window = window
	} else {
		copy(c.window[:n], c.pages)
	}
	had := len(c.pages)
	c.pages = c.window[:n:n]
	if _, err := c.from.ReadAt(c.pages[had:], c.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	c.at += int64(n - had)
	return nil
}

// Memory is the budget shared by the pages of several columns.
type Memory struct{ bytes, left int64 }

// MaxMemory is enough for the columns of a row group: a thousand with pages of 1 MB, including the decompressed data; or twenty
// of ten million numbers, from a writer that makes a column one page.
const MaxMemory = 2 << 30

// NewMemory returns a budget of the given number of bytes.
func NewMemory(bytes int64) *Memory { return &Memory{bytes, bytes} }

func (m *Memory) take(n int) error {
	if m.left -= int64(n); m.left < 0 {
		return fmt.Errorf("the pages of its columns take more than %d MiB together", m.bytes>>20)
	}
	return nil
}

// Column reads the values of a chunk.
type Column[T Value] struct {
	*Chunk
	values     values[T] // of the current page; nil: not read yet
	encoding   Encoding
	data       []byte
	dictionary []T
}

// ColumnOf reads a chunk as values of a type.
func ColumnOf[T Value](c *Chunk) (*Column[T], error) {
	if want := typeOf[T](c.Field.Length > 0); c.Field.Type != want {
		return nil, fmt.Errorf("column %s holds %v and not %v", c.Field.Name, c.Field.Type, want)
	}
	return &Column[T]{Chunk: c}, nil
}

// Next reports whether there are further values, and makes their page the current one.
func (c *Column[T]) Next() (bool, error) {
	for c.inPage == 0 {
		if c.left <= 0 || len(c.pages) == 0 && c.at == c.end {
			return false, nil
		}
		if err := c.page(); err != nil {
			return false, fmt.Errorf("column %s: %w", c.Field.Name, err)
		}
	}
	return true, nil
}

// page reads the next page.
func (c *Column[T]) page() error {
	var h pageHeader
	n, err := c.header(&h)
	if err != nil {
		return fmt.Errorf("a page's header: %w", err)
	}
	size := int(h.CompressedBytes)
	if size < 0 || int64(size) > int64(len(c.pages)-n)+c.end-c.at {
		return errors.New("a page lies beyond the end of its column")
	}
	if err := c.fill(n + size); err != nil {
		return err
	}
	data := c.pages[n : n+size]
	c.pages = c.pages[n+size:]
	switch {
	case h.Type == DictionaryPage && h.Dictionary != nil:
		return c.dictionaryPage(&h, data)
	case h.Type == DataPage && h.Data != nil:
		return c.dataPage(&h, data)
	case h.Type == DataPageV2 && h.DataV2 != nil:
		return c.dataPageV2(&h, data)
	}
	return nil // pages of other types are for indexes
}

// header reads a page's header, which may contain bounds of any length.
func (c *Chunk) header(h *pageHeader) (int, error) {
	for want := 64 << 10; ; want *= 4 {
		if err := c.fill(want); err != nil {
			return 0, err
		}
		*h = pageHeader{}
		n, err := decode(c.pages, h)
		if err == nil || c.at == c.end || want > MaxFooter || !errors.Is(err, errThriftEnds) {
			return n, err
		}
	}
}

// dictionaryPage reads the values that data pages refer to by number.
func (c *Column[T]) dictionaryPage(h *pageHeader, data []byte) error {
	if e := h.Dictionary.Encoding; e != Plain && e != PlainDictionary {
		return fmt.Errorf("a dictionary of encoding %d", e)
	}
	if err := claim(data, int(h.Bytes)); err != nil {
		return err
	}
	if err := c.memory.take(int(h.Bytes)); err != nil {
		return err
	}
	data, err := decompress(c.codec, nil, data, int(h.Bytes))
	if err != nil {
		return err
	}
	if c.codec == Uncompressed {
		data = bytes.Clone(data)
	}
	n := int(h.Dictionary.Values)
	if n < 0 || n > 8*len(data) { // values take at least a bit
		return errValuesEnd
	}
	var zero T
	if err := c.memory.take(n * int(unsafe.Sizeof(zero))); err != nil {
		return err
	}
	from, err := newValues[T](Plain, c.Field.Length, data, nil)
	if err != nil {
		return err
	}
	c.dictionary = make([]T, n)
	return from.read(c.dictionary)
}

func (c *Column[T]) dataPage(h *pageHeader, data []byte) error {
	var err error
	if data, err = c.decompressed(data, int(h.Bytes)); err != nil {
		return err
	}
	d := h.Data
	for _, l := range []struct {
		width    int
		encoding Encoding
		to       *hybrid[int16]
	}{{c.repeat, d.RepetitionEncoding, &c.repetition}, {c.defined, d.DefinitionEncoding, &c.definition}} {
		if l.width == 0 {
			continue
		}
		if l.encoding != RLE {
			return fmt.Errorf("levels of encoding %d", l.encoding)
		}
		var levels []byte
		if levels, data, err = prefixed(data); err != nil {
			return err
		}
		if *l.to, err = newHybrid[int16](levels, l.width); err != nil {
			return err
		}
	}
	return c.begin(int(d.Values), d.Encoding, data)
}

func (c *Column[T]) dataPageV2(h *pageHeader, data []byte) error {
	d := h.DataV2
	repeats, defines := int(d.RepetitionBytes), int(d.DefinitionBytes)
	if repeats < 0 || defines < 0 || repeats+defines > len(data) {
		return errValuesEnd
	}
	var err error
	if c.repetition, err = newHybrid[int16](data[:repeats], c.repeat); err != nil {
		return err
	}
	if c.definition, err = newHybrid[int16](data[repeats:repeats+defines], c.defined); err != nil {
		return err
	}
	data = data[repeats+defines:]
	if !d.Compressed.Valid || d.Compressed.V {
		if data, err = c.decompressed(data, int(h.Bytes)-repeats-defines); err != nil {
			return err
		}
	}
	return c.begin(int(d.Values), d.Encoding, data)
}

// decompressed returns a page's bytes, in memory that the next page reuses.
func (c *Chunk) decompressed(data []byte, size int) ([]byte, error) {
	if err := claim(data, size); err != nil {
		return nil, err
	}
	if c.codec != Uncompressed {
		if err := c.memory.take(max(size-cap(c.buffer), 0)); err != nil {
			return nil, err
		}
	}
	data, err := decompress(c.codec, c.buffer, data, size)
	if err == nil && c.codec != Uncompressed && cap(data) > 0 {
		c.buffer = data
	}
	return data, err
}

// begin makes a page the current one. A page of NULLs has no values, and its value bytes are up to its writer.
func (c *Column[T]) begin(n int, e Encoding, data []byte) error {
	if n < 0 || int64(n) > c.left {
		return errors.New("its pages hold more values than it says")
	}
	c.left -= int64(n)
	c.inPage = n
	c.values, c.encoding, c.data = nil, e, data
	return nil
}

// Read reads the next values of the current page into values, and their levels into definition and repetition, each of which is
// read if the field has such levels. Texts are valid until the next page.
func (c *Column[T]) Read(values []T, definition, repetition []int16) (n, present int, err error) {
	n = min(c.inPage, len(values))
	present = n
	if c.repeat > 0 {
		if err := levels(&c.repetition, repetition[:n], c.Field.MaxRepetition); err != nil {
			return 0, 0, err
		}
	}
	if c.defined > 0 {
		if err := levels(&c.definition, definition[:n], c.Field.MaxDefinition); err != nil {
			return 0, 0, err
		}
		present = 0
		for _, d := range definition[:n] {
			if d == c.Field.MaxDefinition {
				present++
			}
		}
	}
	if present > 0 {
		if err := c.read(values[:present]); err != nil {
			return 0, 0, err
		}
	}
	c.inPage -= n
	return n, present, nil
}

// read reads the next values that are not NULL.
func (c *Column[T]) read(out []T) error {
	if len(out) == 0 {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	return c.values.read(out)
}

// open begins to read the values of the current page.
func (c *Column[T]) open() (err error) {
	if c.values == nil {
		c.values, err = newValues(c.encoding, c.Field.Length, c.data, c.dictionary)
	}
	return err
}

func levels(from *hybrid[int16], to []int16, most int16) error {
	if err := from.read(to); err != nil {
		return err
	}
	for _, l := range to {
		if l > most || l < 0 {
			return errLevel(l, most)
		}
	}
	return nil
}

func errLevel(level, most int16) error {
	return fmt.Errorf("a level of %d, where %d is the highest", level, most)
}
