package table

import (
	"io"
	"path/filepath"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// Rows is the input of an encoding, such as *engine.Rows, whose Value defines the types of values.
type Rows interface {
	Columns() []engine.Column
	Next() bool
	Value(column int) any
	Err() error
}

// Options limit what is shown to people; the zero Options limit nothing, for programs.
type Options struct {
	MaxRows  int  // rows written as text, 0 for all; the others are counted
	MaxWidth int  // characters of a line of text, 0 for any; columns that do not fit are cut
	Terminal bool // the writer is a terminal: control characters are escaped
}

// Encoding is a file format for rows.
type Encoding struct {
	Name       string // for --as
	Doc        string
	Extensions []string // of its files
	Binary     bool     // not for a terminal
	Write      func(w io.Writer, rows Rows, o Options) (written int64, err error)
}

// Named finds an encoding by its name.
func Named(name string) (Encoding, bool) {
	for _, e := range Encodings() {
		if e.Name == name {
			return e, true
		}
	}
	return Encoding{}, false
}

// ForFile finds the encoding by the extension of a file name.
func ForFile(name string) (Encoding, bool) {
	ext := strings.ToLower(filepath.Ext(name))
	for _, e := range Encodings() {
		for _, x := range e.Extensions {
			if x == ext {
				return e, true
			}
		}
	}
	return Encoding{}, false
}

// Encodings lists the encodings; the first is for people.
func Encodings() []Encoding {
	return []Encoding{
		{Name: "table", Doc: "aligned columns, for people", Extensions: []string{".txt"}, Write: writeText},
		{Name: "csv", Doc: "RFC 4180 with a header; nothing between commas is NULL, \"\" an empty text", Extensions: []string{".csv"}, Write: writeCSV},
		{Name: "json", Doc: "an array of objects, one per line; NaN and infinities are null", Extensions: []string{".json"}, Write: writeJSON},
		{Name: "jsonl", Doc: "the same objects, one per line, without the array", Extensions: []string{".jsonl", ".ndjson"}, Write: writeJSONLines},
		{Name: "md", Doc: "a Markdown table", Extensions: []string{".md"}, Write: writeMarkdown},
		{Name: "parquet", Doc: "Parquet with zstd", Extensions: []string{".parquet"}, Binary: true, Write: writeParquet},
	}
}

// Fixed are rows in memory, such as a list of files.
type Fixed struct {
	columns []engine.Column
	values  [][]any
	next    int
}

// NewFixed begins a table; a column is text unless a type follows its name after a space, as in "rows BIGINT".
func NewFixed(columns ...string) *Fixed {
	f := &Fixed{}
	for _, c := range columns {
		name, typ, ok := strings.Cut(c, " ")
		if !ok {
			typ = string(schema.String)
		}
		f.columns = append(f.columns, engine.Column{Name: name, Type: schema.Type(typ), Native: typ})
	}
	return f
}

// Add adds a row.
func (f *Fixed) Add(values ...any) { f.values = append(f.values, values) }

func (f *Fixed) Columns() []engine.Column { return f.columns }
func (f *Fixed) Next() bool               { f.next++; return f.next <= len(f.values) }
func (f *Fixed) Value(column int) any     { return f.values[f.next-1][column] }
func (f *Fixed) Err() error               { return nil }
