package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// Pieces are files that programs on other machines write for a transaction of this process, in a directory of its own under
// staging. Every program gives its files names that no other has, so that one that was started twice for the same work, or
// is still running when it should not be, disturbs nobody. The transaction commits those of the programs that it is told of by
// AddPiece; the others go with its staging directory, or with the next writer's cleaning.

// Piece is what one program wrote. It goes through JSON to the process that commits it.
type Piece struct {
	Tables []TablePiece `json:"tables,omitempty"`
	Data   *FileRecord  `json:"data,omitempty"` // bytes for the process that commits, which are no part of the store; Rows is 0
}

// TablePiece is the rows of one table of a piece. The paths of the files are names in the directory of the pieces.
type TablePiece struct {
	Name  string            `json:"name"`
	Files []FileRecord      `json:"files"`
	Rows  map[KeyText]int64 `json:"rows"` // by input
}

// piecesDir is the directory of pieces under a transaction's staging directory.
const piecesDir = "pieces"

// PiecesDir makes the directory for the pieces of the transaction and gives its path relative to the store. Everybody may write
// there and remove only what is his own, because the programs may run as another user than this process.
// errors.ErrUnsupported is returned of a store in a bucket.
func (tx *Tx) PiecesDir() (string, error) {
	if _, local := tx.s.at.(*directory); !local {
		return "", fmt.Errorf("store: %s is no directory that other programs can write a file to: %w", tx.s.Where(), errors.ErrUnsupported)
	}
	dir := filepath.Join(tx.staging, piecesDir)
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		err = os.Chmod(dir, 0o777|os.ModeSticky)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("store: %w", err)
	}
	return path.Join("staging", filepath.Base(tx.staging), piecesDir), nil
}

// AddPiece takes the rows of a piece into the transaction, after those of the pieces before. Every piece is added once.
func (tx *Tx) AddPiece(p *Piece) error {
	for i := range p.Tables {
		t := schema.ByName(p.Tables[i].Name)
		if t == nil {
			return fmt.Errorf("store: %w: a piece has rows of %q, which is no table", ErrDamaged, p.Tables[i].Name)
		}
		w, err := tx.writerOf(t)
		if err != nil {
			return err
		}
		for _, f := range p.Tables[i].Files {
			if err := tx.checkPiece(&f); err != nil {
				tx.fail(err)
				return err
			}
			f.Path = path.Join(piecesDir, f.Path)
			w.adopt(f)
		}
		for input, n := range p.Tables[i].Rows {
			w.adoptRows(schema.Key(input), n)
		}
	}
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

// OpenData opens the data of a piece.
func (tx *Tx) OpenData(p *Piece) (*PieceData, error) {
	if p.Data == nil {
		return nil, fmt.Errorf("store: %w: a piece has no data", ErrDamaged)
	}
	if err := tx.checkPiece(p.Data); err != nil {
		return nil, err
	}
	name := filepath.Join(tx.staging, piecesDir, p.Data.Path)
	f, err := tx.s.fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	d := &PieceData{f: f, fs: tx.s.fs, name: name, sum: xxhash.New(), want: p.Data.Checksum}
	d.Reader = bufio.NewReaderSize(d.checked(f), 64<<10)
	return d, nil
}

// checked is a reader whose end is an error when the checksum is wrong.
func (d *PieceData) checked(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		d.sum.Write(p[:n])
		if got := fmt.Sprintf("%016x", d.sum.Sum64()); err == io.EOF && got != d.want {
			err = fmt.Errorf("store: %s: %w: its checksum is wrong", d.name, ErrDamaged)
		}
		return n, err
	})
}

// Close closes the data and removes it.
func (d *PieceData) Close() error { return errors.Join(d.f.Close(), d.fs.Remove(d.name)) }

// checkPiece sees that a file of a piece is one, and lies here as the program left it there.
func (tx *Tx) checkPiece(f *FileRecord) error {
	if f.Path == "" || f.Path != path.Base(f.Path) || strings.HasPrefix(f.Path, ".") {
		return fmt.Errorf("store: %w: a piece names a file %q outside its directory", ErrDamaged, f.Path)
	}
	name := filepath.Join(tx.staging, piecesDir, f.Path)
	switch info, err := tx.s.fs.Lstat(name); {
	case err != nil:
		return fmt.Errorf("store: a file that a machine of the cluster has written is not here; do all machines see the same directory? %w", err)
	case !info.Mode().IsRegular() || info.Size() != f.Bytes:
		return fmt.Errorf("store: %s: %w: it has %d bytes here and %d on the machine of the cluster that wrote it; do all machines see the same directory?",
			name, ErrDamaged, info.Size(), f.Bytes)
	}
	return nil
}

// PieceWriter writes a piece. It is not safe for concurrent use.
type PieceWriter struct {
	ctx    context.Context
	dir    string
	id     string // in the names of its files
	tables map[string]*tableWriter
	data   *checksumWriter
	bytes  int64
}

// NewPiece begins a piece in the directory of the pieces of a transaction, as this machine sees it.
func NewPiece(ctx context.Context, dir string) *PieceWriter {
	return &PieceWriter{ctx: ctx, dir: dir, id: rand.Text(), tables: make(map[string]*tableWriter)}
}

// Append copies rows of one input into the piece.
func (w *PieceWriter) Append(input schema.Key, b schema.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	t := w.tables[b.Table().Name]
	if t == nil {
		t = newTableWriter(w.ctx, osFS{}, w.dir, w.id+"-", b.Table())
		w.tables[b.Table().Name] = t
	}
	return t.appendAll(input, b)
}

// cannotWrite says what to do about a store that can only be read.
func cannotWrite(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: this machine cannot write to the store, and what it finds goes there; mount it so that it can: %w", err)
	}
	return fmt.Errorf("store: %w", err)
}

// Write adds to the data of the piece.
func (w *PieceWriter) Write(p []byte) (int, error) {
	if w.data == nil {
		f, err := osFS{}.Create(w.dataName())
		if err != nil {
			return 0, cannotWrite(err)
		}
		w.data = newChecksumWriter(f)
	}
	n, err := w.data.Write(p)
	w.bytes += int64(n)
	return n, err
}

func (w *PieceWriter) dataName() string { return filepath.Join(w.dir, w.id+".data") }

// Close ends the piece and says what is in it. After an error nothing is left of it.
func (w *PieceWriter) Close() (Piece, error) {
	p, err := w.finish()
	if err != nil {
		w.Abort()
		return Piece{}, cannotWrite(err)
	}
	return p, nil
}

func (w *PieceWriter) finish() (p Piece, err error) {
	for _, t := range schema.Tables() {
		tw := w.tables[t.Name]
		if tw == nil {
			continue
		}
		if err := tw.finish(); err != nil {
			return p, err
		}
		rows := make(map[KeyText]int64)
		for input, n := range tw.rows {
			rows[KeyText(input)] = n
		}
		p.Tables = append(p.Tables, TablePiece{t.Name, tw.done, rows})
	}
	if w.data != nil {
		data := w.data
		w.data = nil
		if err := data.close(true); err != nil {
			return p, err
		}
		p.Data = &FileRecord{Path: filepath.Base(w.dataName()), Bytes: w.bytes, Checksum: data.checksum()}
	}
	return p, nil
}

// Abort removes what was written, as far as that can be done.
func (w *PieceWriter) Abort() {
	if w.data != nil {
		w.data.close(false)
	}
	for _, t := range w.tables {
		t.drop()
	}
	names, _ := filepath.Glob(filepath.Join(w.dir, w.id+"*"))
	for _, name := range names {
		os.Remove(name)
	}
}
