package store

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"straggler/store/hs2"
)

// Spreader is an engine that can run this program beside the data, many copies at once: what is Go and works on some rows
// at a time goes to them, and only what it finds comes back.
type Spreader interface {
	Engine

	// Spread runs copies of this program on the rows of a query. Its rows are what they found, ordered by key: columns
	// key BIGINT and found STRING. A copy may run more than once on the same rows; what it found last counts.
	// errors.ErrUnsupported is the kind of error of an engine whose machines can not be given w.File.
	Spread(ctx context.Context, w Spread) (*Rows, error)

	// Place is the store's directory as programs on those machines see it.
	Place() (string, error)
}

// Spread is work for copies of this program.
type Spread struct {
	SQL     string   // gives the rows
	Columns []string // of it, that the copies get: numbers, BOOLEAN, or text; the first says which rows stay together
	Order   string   // columns: the order in which a copy gets its rows
	Parts   int      // into which the rows are divided
	Verb    []string // of this program: it reads with ReadSpread and writes with WriteFound
	File    []byte   // what every copy has to know, in a file whose path follows the verb; nil: nothing
}

// Values are written as text between tabs. Base64 keeps whatever is found clear of tabs, line ends and escapes.
const (
	spreadNull   = `\N`
	spreadFormat = `ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' LINES TERMINATED BY '\n' NULL DEFINED AS '\\N'`
)

// WriteFound writes something that a copy found.
func WriteFound(w io.Writer, key int64, found []byte) error {
	_, err := fmt.Fprintf(w, "%d\t%s\n", key, base64.StdEncoding.EncodeToString(found))
	return err
}

// Found gives back what WriteFound was given, from the column found.
func Found(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("store: what a copy of straggler found on the cluster can not be read: %w", err)
	}
	return b, nil
}

// maxSpreadLine bounds a line of the input of a copy.
const maxSpreadLine = 16 << 20

// ReadSpread reads the rows that a copy is given. row is valid until the next call; a NULL is "" with ok false.
func ReadSpread(r io.Reader, columns int, row func(fields []Field) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxSpreadLine)
	fields := make([]Field, 0, columns)
	n := 0
	for in.Scan() {
		n++
		fields = fields[:0]
		for text := range strings.SplitSeq(in.Text(), "\t") {
			f := Field{text, text != spreadNull}
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

// Field is a value of a row that a copy is given.
type Field struct {
	Text string
	OK   bool // not NULL
}

// Int is the value of an integer.
func (f Field) Int() (int64, error) { return strconv.ParseInt(f.Text, 10, 64) }

// Float is the value of a DOUBLE.
func (f Field) Float() (float64, error) { return strconv.ParseFloat(f.Text, 64) }

// Bool is the value of a BOOLEAN.
func (f Field) Bool() (bool, error) { return strconv.ParseBool(f.Text) }

func (e *sparkSQL) Spread(ctx context.Context, w Spread) (*Rows, error) {
	if e.o.Locked {
		return nil, fmt.Errorf("store: %w: a locked engine runs no programs", ErrStatement)
	}
	command, err := e.command(w.Verb)
	if err != nil {
		return nil, err
	}
	held := io.Closer(nil)
	if w.File != nil {
		file, closer, err := e.share(ctx, w.File)
		if err != nil {
			return nil, err
		}
		command, held = command+" "+shellText(file), closer
	}
	sql := spreadSQL(&w, command)
	var rows *Rows
	err = e.surviving(ctx, w.SQL, func() (err error) {
		rows, err = e.start(ctx, sql)
		return err
	})
	if err != nil {
		if held != nil {
			held.Close()
		}
		return nil, e.spreadError(err)
	}
	if held != nil {
		rows.source = &heldSource{rows.source, held}
	}
	return rows, nil
}

// spreadSQL is the statement that has the copies run. What they find goes through an exchange of its own: without it they
// would run once for the sample that Spark sorts by and once more for the rows. It comes back sorted in many pieces; one
// piece of half a gigabyte is more than a task of Spark can hand over.
func spreadSQL(w *Spread, command string) string {
	columns, parts := strings.Join(w.Columns, ", "), max(1, w.Parts)
	return fmt.Sprintf(`SELECT CAST(key AS BIGINT) AS key, found FROM (
SELECT /*+ REPARTITION(%d) */ key, found FROM (
SELECT TRANSFORM (%s) %s USING %s AS (key STRING, found STRING) %s FROM (
SELECT /*+ REPARTITION(%d, %s) */ %s FROM (%s) AS given SORT BY %s
) AS parts
) AS all_found
) AS spread ORDER BY key NULLS LAST`, parts, columns, spreadFormat, sparkText(command), spreadFormat, parts, w.Columns[0], columns, trimSpark(w.SQL), w.Order)
}

// command is this program on the cluster's machines, for their shell.
func (e *sparkSQL) command(verb []string) (string, error) {
	binary := e.server.binary
	if binary == "" {
		own, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("store: %w; name this program on the cluster's machines with ?binary=PATH", err)
		}
		binary = own
	}
	words := []string{shellText(binary)}
	for _, w := range verb {
		words = append(words, shellText(w))
	}
	return strings.Join(words, " "), nil
}

func shellText(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// share puts something into a file of the store, where the cluster sees it, until it is closed.
func (e *sparkSQL) share(ctx context.Context, data []byte) (file string, closer io.Closer, err error) {
	at, err := e.Place()
	if err != nil {
		return "", nil, err
	}
	if _, local := e.s.at.(*directory); !local {
		return "", nil, fmt.Errorf("store: %s is no directory that the cluster's programs can read a file from: %w", at, errors.ErrUnsupported)
	}
	unlock, err := e.s.at.begin(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("store: %w", err)
	}
	dir, lock, err := e.s.staging.enter()
	unlock()
	if err != nil {
		return "", nil, fmt.Errorf("store: %w", err)
	}
	shared := &sharedFile{e.s, dir, lock}
	if err := os.WriteFile(path.Join(dir, "known"), data, 0o666); err != nil {
		return "", nil, errors.Join(fmt.Errorf("store: %w", err), shared.Close())
	}
	return path.Join(at, "staging", filepath.Base(dir), "known"), shared, nil
}

func (e *sparkSQL) Place() (string, error) {
	at := strings.TrimPrefix(strings.TrimPrefix(e.server.store, "file://"), "file:")
	switch {
	case at == "":
		return e.s.at.show(""), nil
	case strings.HasPrefix(at, "/"):
		return at, nil
	}
	return "", fmt.Errorf("store: %s is no directory that programs can open: %w", at, errors.ErrUnsupported)
}

// sharedFile is a staging directory that goes when it is closed.
type sharedFile struct {
	s    *Store
	dir  string
	lock io.Closer
}

func (f *sharedFile) Close() error { return errors.Join(f.s.fs.RemoveAll(f.dir), f.lock.Close()) }

// heldSource closes something with the rows.
type heldSource struct {
	source
	held io.Closer
}

func (h *heldSource) close() error {
	err := h.source.close()
	if h.held != nil {
		err = errors.Join(err, h.held.Close())
		h.held = nil
	}
	return err
}

// spreadError says why copies of this program could not work.
func (e *sparkSQL) spreadError(err error) error {
	var refused *hs2.StatementError
	if !errors.As(err, &refused) {
		return err
	}
	binary := e.server.binary
	if binary == "" {
		binary, _ = os.Executable()
	}
	if strings.Contains(refused.Text, "exited with status 127") || strings.Contains(refused.Text, "exited with status 126") {
		return fmt.Errorf("store: %w: its cluster's machines have no program %s: put straggler where all of them see it and add ?binary=PATH to the address of the server (%w)", ErrServer, binary, err)
	}
	if _, said, ok := strings.Cut(refused.Text, "straggler: "); ok {
		said, _, _ = strings.Cut(said, "\n")
		return fmt.Errorf("store: straggler on the cluster: %s (%w)", said, err)
	}
	return err
}
