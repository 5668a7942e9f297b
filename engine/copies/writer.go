package copies

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Assignment is what a copy is to do.
type Assignment struct {
	Step   string
	Pieces string    // where its results go, a directory or a URL
	File   string    // with what all copies of the step read
	In     io.Reader // its share of the rows
	Out    io.Writer // for the line about its piece
}

// Writer writes the results of a copy. Keys must ascend.
type Writer struct {
	piece *store.PieceWriter
	first schema.Key
	last  schema.Key
	any   bool
	head  []byte
}

// NewWriter begins the piece of a copy.
func NewWriter(ctx context.Context, pieces string) *Writer {
	return &Writer{piece: store.NewPiece(ctx, pieces)}
}

// Append writes rows about a key, under the key of the input that they are computed from; 0: none.
func Append[R any](w *Writer, key, input schema.Key, rows []R) error {
	return w.Append(key, input, schema.BatchOf(rows))
}

// Append does the same for code that treats all tables alike.
func (w *Writer) Append(key, input schema.Key, rows schema.Batch) error {
	if rows.Len() == 0 {
		return nil
	}
	if err := w.at(key); err != nil {
		return err
	}
	return w.piece.Append(input, rows)
}

// Message writes a message about a key for the committing process; one per key.
func (w *Writer) Message(key schema.Key, message []byte) error {
	if err := w.at(key); err != nil {
		return err
	}
	w.head = binary.AppendUvarint(binary.AppendVarint(w.head[:0], key), uint64(len(message)))
	if _, err := w.piece.Write(w.head); err != nil {
		return err
	}
	_, err := w.piece.Write(message)
	return err
}

func (w *Writer) at(key schema.Key) error {
	if w.any && key < w.last {
		return fmt.Errorf("key %d comes after key %d: the rows are not sorted", key, w.last)
	}
	if !w.any {
		w.first, w.any = key, true
	}
	w.last = key
	return nil
}

// Close completes the piece and prints a line about it, unless it is empty. After an error of the work, the piece is removed
// and nothing is printed.
func (w *Writer) Close(out io.Writer, failed error) error {
	if failed != nil {
		w.piece.Abort()
		return failed
	}
	piece, err := w.piece.Close()
	if err != nil || !w.any {
		return err
	}
	data, err := json.Marshal(piece)
	if err != nil {
		return err
	}
	return engine.WriteOutput(out, w.first, data)
}

// ReadFile reads the job's File, whose path follows the verb of a copy.
func ReadFile(ctx context.Context, file string) ([]byte, error) {
	data, err := store.ReadStaged(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("a copy on this machine cannot read its input file; can the machine read the store? %w", err)
	}
	return data, nil
}
