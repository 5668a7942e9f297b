package ingest

import (
	"context"
	"io"

	"straggler/schema"
)

// Format is one family of logs. A format is a value in the table of package formats and prints its own documentation.
type Format struct {
	Name   string // as --from takes it: spark, jhist, rumen, …
	Doc    string // one line: what it reads
	Detail string // which fields are read, and which columns stay NULL

	// Experimental, unless "", is why the format is experimental: it was never tried on a real file, or its logs cannot name
	// a slow task.
	Experimental string

	// Claim groups the entries of a directory that together are one input, such as the files of a rolling event log.
	// It sees names only. Nil for formats whose inputs are single files.
	Claim func(dir Dir) []Group

	// Sniff decides from the first decompressed bytes whether this is the format.
	Sniff func(h Head) Match

	// Instead returns what an input is that no format recognises, and what to give instead, if it is a text log of the
	// framework's processes; "" for any other input. May be nil.
	Instead func(h Head) string

	// Application identifies the application of an input, by its id and start, from what Sniff saw; "" if that does not say.
	// Inputs of one application are compared with each other, so that a log that exists in two forms is read once.
	Application func(h Head) string

	// Read turns an input into rows. Records that it cannot decode go to out.Reject and never end the read.
	// It returns an error when the input cannot be read any further. Rows emitted until then are kept, so it first emits
	// what it knows, including applications with Complete false. An error for which IsCut is true is the normal end of a
	// log that is still being written.
	Read func(ctx context.Context, in *Input, out *Sink) error
}

// Dir is a directory as formats see it: Names are sorted, and those of sub-directories end in a slash. An archive is a
// directory too. Files that the user named one by one appear as if their directories held nothing else.
type Dir struct {
	Path  string
	Names []string
	List  func(sub string) []string // the Names of a sub-directory; nil where it has none or cannot be read
}

// Group is a set of entries of a directory that are one input, in reading order.
type Group struct {
	Base  string   // the input's base name; the name of the directory where it is ""
	Names []string // relative to the directory; may name files of sub-directories
	Drop  []string // names that belong to the input but hold nothing to read

	// Rewritten reports that the beginning of the log may have been rewritten, so that it is identified with the log of the
	// same Base in the store, whatever that starts with.
	Rewritten bool
}

// HeadBytes is how much of an input the formats may look at.
const HeadBytes = 64 << 10

// Head is what a format may look at to recognise an input: its first file's name and first decompressed bytes.
type Head struct {
	Name  string // base name, without compression suffixes
	Bytes []byte // at most HeadBytes
	Whole bool   // Bytes is all there is

	Columns []string // of a Parquet file, from its footer
}

// Certain is the highest confidence of a match.
const Certain = 3

// Match is the result of Sniff. The most confident match wins; a tie is an error that names both formats.
type Match struct {
	Confidence int    // 0 no, 1 possible, 2 likely, Certain
	Why        string // what it was recognised by, for the summary
}

// Input is one log: a file, a stream, or a group of files.
type Input struct {
	Name  string     // path as the user would write it; source_file of its rows
	Base  string     // last element of the path, without compression suffixes
	Key   schema.Key // see schema.InputKey
	Parts []Part     // in reading order

	// KeepLiterals keeps the literals of queries, which may hold personal data.
	KeepLiterals bool
}

// Part is one file of an input.
type Part struct {
	Name string
	Size int64 // compressed bytes; -1 unknown

	// Open reads it from the start, decompressed, within the limits of size and ratio. Errors of the reader name the file
	// and the byte; a truncated file gives io.ErrUnexpectedEOF after everything that could be read.
	Open func(ctx context.Context) (io.ReadCloser, error)

	// OpenAt gives random access to its decompressed content, for files with an index at their end. If necessary the file
	// is copied to the temporary directory first.
	OpenAt func(ctx context.Context) (File, error)
}

// File is a part that is open for random access.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}
