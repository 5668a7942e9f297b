package engine

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// RemoteRunner is an engine that can run copies of this program beside the data, for Go code that processes rows in groups.
// Only the output of the copies comes back.
type RemoteRunner interface {
	Engine

	// RunRemote runs copies of this program on the rows of a query. Its rows are their output, ordered by key: columns key
	// BIGINT and output STRING. A copy may run more than once on the same rows; the output of one of these runs is returned.
	// All output passes through one machine of the cluster, so it should be limited to names and counts (see engine/copies).
	// errors.ErrUnsupported is returned by an engine whose machines cannot read the job's File with store.ReadStaged.
	RunRemote(ctx context.Context, job RemoteJob) (*Rows, error)

	// StoreAddress is the store's directory or URL as programs on those machines see it. errors.ErrUnsupported is returned if
	// they cannot, or must not, write to it.
	StoreAddress() (string, error)
}

// RemoteJob is work for copies of this program.
type RemoteJob struct {
	SQL string // gives the rows
	// columns that the copies read: numbers, BOOLEAN, or text; rows with the same first column stay together
	Columns    []string
	Order      string   // columns by which the rows of a copy are sorted
	Partitions int      // into which the rows are divided
	Verb       []string // verb of this program, which reads with ReadRemoteRows and writes with WriteOutput
	File       []byte   // input common to all copies, in a file whose path follows the verb; nil: none
}

// Copies read and write lines of tab-separated values.
const (
	RemoteSeparator = "\t"
	RemoteNull      = `\N`
)

// WriteOutput writes output of a copy. It is encoded as Base64, free of tabs, line ends and escapes.
func WriteOutput(w io.Writer, key int64, output []byte) error {
	_, err := fmt.Fprintf(w, "%d%s%s\n", key, RemoteSeparator, base64.StdEncoding.EncodeToString(output))
	return err
}

// DecodeOutput decodes the column output, written by WriteOutput.
func DecodeOutput(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the output of a copy of straggler on the cluster cannot be read: %w", err)
	}
	return b, nil
}

// maxRemoteLine bounds a line of the input of a copy.
const maxRemoteLine = 16 << 20

// ReadRemoteRows reads the input rows of a copy. Fields are valid until the next call.
func ReadRemoteRows(r io.Reader, columns int, row func(fields []RemoteField) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxRemoteLine)
	fields := make([]RemoteField, 0, columns)
	n := 0
	for in.Scan() {
		n++
		fields = fields[:0]
		for text := range strings.SplitSeq(in.Text(), RemoteSeparator) {
			f := RemoteField{text, text != RemoteNull}
			if !f.OK {
				f.Text = ""
			}
			fields = append(fields, f)
		}
		if len(fields) != columns {
			return fmt.Errorf("line %d of the rows has %d columns, not %d", n, len(fields), columns)
		}
		if err := row(fields); err != nil {
			return fmt.Errorf("line %d of the rows: %w", n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("line %d of the rows: %w", n+1, err)
	}
	return nil
}

// RemoteField is a value of an input row of a copy.
type RemoteField struct {
	Text string
	OK   bool // not NULL
}

// RemoteText returns SQL that escapes a text column so that a copy can read it from a line; RemoteField.TextOf restores the text.
// NULL stays NULL.
func RemoteText(column string) string {
	for _, e := range remoteEscapes {
		column = fmt.Sprintf("replace(%s, chr(%d), concat(chr(92), '%c'))", column, e.char, e.letter)
	}
	return column
}

// remoteEscapes are the characters that would end a value or a line, after the escape character itself.
var remoteEscapes = []struct{ char, letter byte }{{'\\', 's'}, {'\t', 't'}, {'\n', 'n'}, {'\r', 'r'}}

// TextOf returns the value of a column escaped by RemoteText.
func (f RemoteField) TextOf() (string, error) {
	if !strings.Contains(f.Text, `\`) {
		return strings.Clone(f.Text), nil
	}
	var out strings.Builder
	for i := 0; i < len(f.Text); i++ {
		if f.Text[i] != '\\' {
			out.WriteByte(f.Text[i])
			continue
		}
		i++
		k := slices.IndexFunc(remoteEscapes, func(e struct{ char, letter byte }) bool { return i < len(f.Text) && e.letter == f.Text[i] })
		if k < 0 {
			return "", fmt.Errorf("%q has an invalid escape", f.Text)
		}
		out.WriteByte(remoteEscapes[k].char)
	}
	return out.String(), nil
}

// Int returns the value of an integer.
func (f RemoteField) Int() (int64, error) { return strconv.ParseInt(f.Text, 10, 64) }

// Float returns the value of a DOUBLE.
func (f RemoteField) Float() (float64, error) { return strconv.ParseFloat(f.Text, 64) }

// Bool returns the value of a BOOLEAN.
func (f RemoteField) Bool() (bool, error) { return strconv.ParseBool(f.Text) }
