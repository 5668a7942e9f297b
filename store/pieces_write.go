package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"straggler/bucket/location"
	"straggler/schema"
)

// PieceWriter writes a piece. It is not safe for concurrent use.
type PieceWriter struct {
	ctx    context.Context
	to     pieceTarget
	begun  bool
	tables map[string]*tableWriter
	data   *checksumWriter
	bytes  int64
}

// pieceTarget is where a piece is written.
type pieceTarget interface {
	// begin is called before the first file is created.
	begin(ctx context.Context) error
	// files returns where files are written, in a local directory, and the prefix of their names.
	files() (disk fileSystem, dir, prefix string)
	// end moves the files to where the transaction looks for them, and updates their records.
	end(ctx context.Context, p *Piece) error
	// abort removes all files, if possible.
	abort(ctx context.Context)
	// explain adds to an error what to do about it.
	explain(err error) error
}

// NewPiece begins a piece at the location of the pieces of a transaction, a directory or a URL, as seen by this machine.
func NewPiece(ctx context.Context, at string) *PieceWriter {
	w := &PieceWriter{ctx: ctx, tables: make(map[string]*tableWriter)}
	if location.IsURL(at) {
		w.to = &farPiece{at: at, id: rand.Text()}
	} else {
		w.to = &nearPiece{at, rand.Text()}
	}
	return w
}

// begin makes sure that files can be created.
func (w *PieceWriter) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	if err := w.to.begin(w.ctx); err != nil {
		return w.to.explain(err)
	}
	return nil
}

// Append copies rows of one input into the piece.
func (w *PieceWriter) Append(input schema.Key, b schema.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	t := w.tables[b.Table().Name]
	if t == nil {
		disk, dir, prefix := w.to.files()
		t = newTableWriter(w.ctx, disk, dir, prefix, b.Table())
		w.tables[b.Table().Name] = t
	}
	return t.appendAll(input, b)
}

// Write adds to the data of the piece.
func (w *PieceWriter) Write(p []byte) (int, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	if w.data == nil {
		disk, _, _ := w.to.files()
		f, err := disk.Create(w.dataName())
		if err != nil {
			return 0, w.to.explain(err)
		}
		w.data = newChecksumWriter(f)
	}
	n, err := w.data.Write(p)
	w.bytes += int64(n)
	return n, err
}

func (w *PieceWriter) dataName() string {
	_, dir, prefix := w.to.files()
	return filepath.Join(dir, prefix+"messages.data")
}

// Close ends the piece and describes its contents. After an error nothing is left of it.
func (w *PieceWriter) Close() (Piece, error) {
	p, err := w.finish()
	if err != nil {
		w.Abort()
		return Piece{}, w.to.explain(err)
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
		p.Tables = append(p.Tables, TablePiece{Name: t.Name, Columns: columnsDigest(t), Files: tw.done, Rows: rows})
	}
	if w.data != nil {
		data := w.data
		w.data = nil
		if err := data.close(true); err != nil {
			return p, err
		}
		p.Data = &FileRecord{Path: filepath.Base(w.dataName()), Bytes: w.bytes, Checksum: data.checksum()}
	}
	if w.begun {
		err = w.to.end(w.ctx, &p)
	}
	return p, err
}

// Abort removes what was written, if possible.
func (w *PieceWriter) Abort() {
	if w.data != nil {
		w.data.close(false)
	}
	for _, t := range w.tables {
		t.drop()
	}
	if w.begun {
		w.to.abort(w.ctx)
	}
}

// nearPiece is a piece in a directory that is also visible to the process that commits.
type nearPiece struct {
	dir string
	id  string // in the names of its files
}

func (*nearPiece) begin(context.Context) error           { return nil }
func (n *nearPiece) files() (fileSystem, string, string) { return osFS{}, n.dir, n.id + "-" }
func (*nearPiece) end(context.Context, *Piece) error     { return nil }

func (n *nearPiece) abort(context.Context) {
	names, _ := filepath.Glob(filepath.Join(n.dir, n.id+"*"))
	for _, name := range names {
		os.Remove(name)
	}
}

// explain adds what to do about a store that can only be read.
func (*nearPiece) explain(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: this machine cannot write to the store, and what it finds goes there; mount it so that it can: %w", err)
	}
	return fmt.Errorf("store: %w", err)
}
