package table

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// Rows are what is encoded; *engine.Rows are some. Values are as Rows.Value of store gives them.
type Rows interface {
	Columns() []engine.Column
	Next() bool
	Value(column int) any
	Err() error
}

// Options say how much to show. Programs want all of it, which is the zero Options.
type Options struct {
	MaxRows  int  // rows that are written as text, 0 for all; the others are counted
	MaxWidth int  // characters of a line of text, 0 for any; columns that do not fit are cut
	Terminal bool // the writer is a terminal: nothing that it could take for a command gets through
}

// Encoding is a way to write rows.
type Encoding struct {
	Name       string // as --as takes it
	Doc        string
	Extensions []string // of files that are meant to hold it
	Binary     bool     // not for a terminal
	Write      func(w io.Writer, rows Rows, o Options) (written int64, err error)
}

// Encodings lists them all; the first is for people.
func Encodings() []Encoding {
	return []Encoding{
		{Name: "table", Doc: "columns in line, for people", Extensions: []string{".txt"}, Write: writeText},
		{Name: "csv", Doc: "RFC 4180 with a header; nothing between commas is NULL, \"\" an empty text", Extensions: []string{".csv"}, Write: writeCSV},
		{Name: "json", Doc: "an array of objects, one a line; NaN and infinities are null", Extensions: []string{".json"}, Write: writeJSON},
		{Name: "jsonl", Doc: "the same objects, one a line, without the array", Extensions: []string{".jsonl", ".ndjson"}, Write: writeJSONLines},
		{Name: "md", Doc: "a Markdown table", Extensions: []string{".md"}, Write: writeMarkdown},
		{Name: "parquet", Doc: "Parquet with zstd", Extensions: []string{".parquet"}, Binary: true, Write: writeParquet},
	}
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

// ForFile finds the encoding that a file name asks for by its extension.
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

// uniqueNames are the names of the columns; one that comes twice gets its place behind it, because readers of most
// encodings keep only one of two.
func uniqueNames(rows Rows) []string {
	var names []string
	for i, c := range rows.Columns() {
		name := c.Name
		for slices.Contains(names, name) {
			name = fmt.Sprintf("%s_%d", name, i+1)
		}
		names = append(names, name)
	}
	return names
}

// Fixed are rows that are all there, such as a list of files. Values are what Rows.Value may give.
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
