package ingest

import (
	"context"
	"io"

	"straggler/schema"
)

// Format is one family of logs. A format is a value in the table of formats.go and prints its own documentation.
type Format struct {
	Name   string // as --from takes it: spark, jhist, rumen, …
	Doc    string // one line: what it reads
	Detail string // what is read from where, which columns stay NULL

	// Experimental says why the format is: it was never tried on a real file, or its logs cannot name a slow task.
	Experimental string

	// Claim groups the entries of a directory that together are one input, such as the files of a rolling event log.
	// It sees names only. Nil for formats whose inputs are single files.
	Claim func(dir Dir) []Group

	// Sniff says from the first bytes, decompressed, whether this is the format and by what sign.
	Sniff func(h Head) Match

	// Read turns an input into rows. Records that it cannot decode go to out.Reject and never end the read.
	// It returns an error when the input as a whole cannot be read further; rows emitted until then stay, so it emits
	// what it knows first, applications with Complete false among it. An error that IsCut is an ordinary end of a log
	// that is still written.
	Read func(ctx context.Context, in *Input, out *Sink) error
}

// Dir is a directory as a walk sees it: Names are sorted, sub-directories end in a slash. An archive is a directory
// too, and files that were named one by one are seen as if their directories held nothing else.
type Dir struct {
	Path  string
	Names []string
	List  func(sub string) []string // the Names of a sub-directory; nil where it has none or cannot be read
}

// Group is a set of entries of a directory that are one input, in reading order.
type Group struct {
	Base  string   // the input's base name; the name of the directory where it is ""
	Names []string // relative to the directory; may name files of sub-directories
	Drop  []string // names that belong to the input and hold nothing to read

	// Rewritten says that the log's beginning may have been written anew, so that it is the one of the same Base in the
	// store whatever that starts with.
	Rewritten bool
}

// HeadBytes is how much of an input the formats may look at.
const HeadBytes = 64 << 10

// Head is what a format may look at to recognise an input: its first file's name and first decompressed bytes.
type Head struct {
	Name  string // base name, without compression suffixes
	Bytes []byte // at most HeadBytes
	Whole bool   // Bytes is all there is

	Columns []string // of a Parquet file, which says them at its end
}

// Match is an answer to 'is this yours?'. The most confident answer wins; a tie is an error that names both.
type Match struct {
	Confidence int    // 0 no, 1 possible, 2 likely, 3 certain
	Why        string // the sign it was recognised by, for the summary
}

// Input is one log: a file, a stream, or a group of files.
type Input struct {
	Name  string     // path as the user would write it; source_file of its rows
	Base  string     // last element of the path, without compression suffixes
	Key   schema.Key // see schema.InputKey
	Parts []Part     // in reading order

	// KeepLiterals says to keep the literals of queries, which may hold personal data.
	KeepLiterals bool
}

// Part is one file of an input.
type Part struct {
	Name string
	Size int64 // compressed bytes; -1 unknown

	// Open reads it from the start, decompressed, within the limits of size and ratio. The errors of the reader name
	// the file and the byte; a cut stream gives io.ErrUnexpectedEOF after all that could be read.
	Open func(ctx context.Context) (io.ReadCloser, error)

	// OpenAt reads it in any order, decompressed, for files that have an index at their end. A file that cannot be
	// read so as it is gets copied to the temporary directory first.
	OpenAt func(ctx context.Context) (File, error)
}

// File is a part that is open for reading in any order.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}
