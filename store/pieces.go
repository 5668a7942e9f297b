package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/bucket/location"
	"straggler/schema"
)

// Pieces are files that programs on other machines write for a transaction of this process: in a directory of their own under
// staging or, in a bucket, as objects of the tables with the id of the transaction's writer as prefix. Every program uses
// unique file names, so that a program started twice for the same work, or still running when it should not be, does no harm.
// The transaction commits the pieces passed to AddPiece and removes the others when it ends; what it cannot remove then is
// removed by the cleaning of a later writer.

// Piece describes what one program wrote. It is sent as JSON to the process that commits it.
type Piece struct {
	Tables []TablePiece `json:"tables,omitempty"`
	Data   *FileRecord  `json:"data,omitempty"` // bytes for the process that commits, which are not part of the store; Rows is 0
}

// TablePiece describes the rows of one table of a piece. Paths are relative to the directory of pieces, or names of objects in
// the store.
type TablePiece struct {
	Name    string            `json:"name"`
	Columns string            `json:"columns"` // digest of the columns that the program knows
	Files   []FileRecord      `json:"files"`
	Rows    map[KeyText]int64 `json:"rows"` // by input
}

// columnsDigest distinguishes versions of a table.
func columnsDigest(t *schema.Table) string {
	return checksumText(xxhash.Sum64String(strings.Join(columnTexts(t), "\n")))
}

// AddressOf returns the address of a file of the store at an address, a path or a URL; the parameters of a URL stay at its end.
func AddressOf(where, name string) string {
	if !location.IsURL(where) {
		return path.Join(where, name)
	}
	where, query, has := strings.Cut(where, "?")
	where = strings.TrimRight(where, "/") + "/" + name
	if has {
		where += "?" + query
	}
	return where
}

// pieces is the location of the pieces of a transaction.
type pieces interface {
	// open creates the location and returns its name in the store. It is called once.
	open(ctx context.Context) (string, error)
	// adopt checks a file of a piece, and returns its path in the form that writers use.
	adopt(t *schema.Table, f FileRecord) (string, error)
	// fetch copies the data of pieces to a directory of this machine.
	fetch(ctx context.Context, data []*FileRecord) (dir string, err error)
	// check checks that adopted files exist, just before they are committed.
	check(ctx context.Context) error
	// stored reports whether a path of adopt is already in the store instead of the staging directory.
	stored(path string) bool
	// end removes files that were not committed.
	end(ctx context.Context, named map[string]bool) error
}

// Pieces creates the location for the pieces of the transaction and returns its name in the store, from which AddressOf makes
// the address for NewPiece.
func (tx *Tx) Pieces() (string, error) {
	if tx.pieces != nil {
		return tx.piecesName, nil
	}
	var at pieces
	switch b := tx.s.at.(type) {
	case *objectStore:
		at = newBucketPieces(b, tx.writer, filepath.Join(tx.staging, piecesDir))
	default:
		at = dirPieces{tx.s.fs, tx.staging}
	}
	name, err := at.open(tx.ctx)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	tx.pieces, tx.piecesName = at, name
	return name, nil
}

// AddPiece appends the rows of a piece to the transaction. Every piece must be added only once.
func (tx *Tx) AddPiece(p *Piece) error {
	for i := range p.Tables {
		t := schema.ByName(p.Tables[i].Name)
		if t == nil {
			return fmt.Errorf("store: %w: a piece has rows of %q, which is not a table", ErrDamaged, p.Tables[i].Name)
		}
		if p.Tables[i].Columns != columnsDigest(t) {
			return fmt.Errorf("store: %w: a machine of the cluster has written other columns of %s than this straggler knows: install the same version on all machines", ErrDamaged, t.Name)
		}
		w, err := tx.writerOf(t)
		if err != nil {
			return err
		}
		for _, f := range p.Tables[i].Files {
			if f.Path, err = tx.pieces.adopt(t, f); err != nil {
				err = fmt.Errorf("store: %w", err)
				tx.fail(err)
				return err
			}
			w.adopt(f)
		}
		for input, n := range p.Tables[i].Rows {
			w.adoptRows(schema.Key(input), n)
		}
	}
	return nil
}

// FetchData fetches the data of pieces for OpenData.
func (tx *Tx) FetchData(ctx context.Context, ps []*Piece) error {
	var data []*FileRecord
	for _, p := range ps {
		if p.Data != nil {
			data = append(data, p.Data)
		}
	}
	if len(data) == 0 {
		return nil
	}
	dir, err := tx.pieces.fetch(ctx, data)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	tx.piecesData = dir
	return nil
}

// PieceData is the data of a piece. Its checksum is checked at its end.
type PieceData struct {
	*bufio.Reader
	f    io.Closer
	fs   fileSystem
	name string
	sum  hash.Hash64
	want string
}

// dataBuffer is how much of the data of a piece is read at once: thousands may be open together.
const dataBuffer = 16 << 10

// OpenData opens the data of a piece, which has been fetched.
func (tx *Tx) OpenData(p *Piece) (*PieceData, error) {
	if p.Data == nil {
		return nil, fmt.Errorf("store: %w: a piece has no data", ErrDamaged)
	}
	name := filepath.Join(tx.piecesData, p.Data.Path)
	f, err := tx.s.fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	d := &PieceData{f: f, fs: tx.s.fs, name: name, sum: xxhash.New(), want: p.Data.Checksum}
	d.Reader = bufio.NewReaderSize(d.checked(f), dataBuffer)
	return d, nil
}

// checked returns a reader that returns an error at its end if the checksum is wrong.
func (d *PieceData) checked(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		d.sum.Write(p[:n])
		if got := checksumText(d.sum.Sum64()); err == io.EOF && got != d.want {
			err = fmt.Errorf("store: %s: %w: its checksum is wrong", d.name, ErrDamaged)
		}
		return n, err
	})
}

// Close closes the data and removes it.
func (d *PieceData) Close() error { return errors.Join(d.f.Close(), d.fs.Remove(d.name)) }

// piecesDir is the directory of pieces under a transaction's staging directory.
const piecesDir = "pieces"

// dirPieces are pieces in a directory that other machines see too.
type dirPieces struct {
	fs      fileSystem
	staging string // directory of the transaction
}

func (d dirPieces) open(context.Context) (string, error) {
	return path.Join("staging", filepath.Base(d.staging), piecesDir), makeShared(filepath.Join(d.staging, piecesDir))
}

// makeShared creates a directory in which all users may write but remove only their own files, because the programs may run as
// another user than this process.
func makeShared(dir string) error {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	return os.Chmod(dir, 0o777|os.ModeSticky)
}

func (d dirPieces) adopt(_ *schema.Table, f FileRecord) (string, error) {
	return path.Join(piecesDir, f.Path), d.see(&f)
}

func (d dirPieces) fetch(_ context.Context, data []*FileRecord) (string, error) {
	for _, f := range data {
		if err := d.see(f); err != nil {
			return "", err
		}
	}
	return filepath.Join(d.staging, piecesDir), nil
}

// see checks that the name of a file of a piece is valid, and that it is here as the program left it.
func (d dirPieces) see(f *FileRecord) error {
	if !bareName(f.Path) {
		return fmt.Errorf("%w: a piece names a file %q outside its directory", ErrDamaged, f.Path)
	}
	name := filepath.Join(d.staging, piecesDir, f.Path)
	switch info, err := d.fs.Lstat(name); {
	case err != nil:
		return fmt.Errorf("a file that a machine of the cluster has written is not here; do all machines see the same directory? %w", err)
	case !info.Mode().IsRegular() || info.Size() != f.Bytes:
		return fmt.Errorf("%s: %w: it has %d bytes here and %d on the machine of the cluster that wrote it; do all machines see the same directory?",
			name, ErrDamaged, info.Size(), f.Bytes)
	}
	return nil
}

// bareName reports whether a name is a plain file name without a directory.
func bareName(name string) bool {
	return name != "" && name == path.Base(name) && !strings.HasPrefix(name, ".")
}

func (dirPieces) check(context.Context) error                { return nil }
func (dirPieces) stored(string) bool                         { return false }
func (dirPieces) end(context.Context, map[string]bool) error { return nil } // they are removed with the staging directory
