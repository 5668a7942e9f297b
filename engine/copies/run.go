package copies

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// ErrTwice is returned when two pieces have the same key, of which the cluster should have dropped one.
var ErrTwice = errors.New("the cluster gave the work of two copies on the same rows")

// Run has copies do a job, whose verb gets the flag --pieces with the location of pieces. Rows are added to the transaction in
// the order of the pieces' first keys. Messages are passed to each, which must not keep them, in the order of their keys; each
// is nil if copies send none. errors.ErrUnsupported is returned, before anything is run, if the machines cannot write to the
// store.
func Run(ctx context.Context, tx *store.Tx, eng engine.RemoteRunner, job engine.RemoteJob, each func(key schema.Key, message []byte) error) error {
	where, err := eng.StoreAddress()
	if err != nil {
		return err
	}
	place, err := tx.Pieces()
	if err != nil {
		return err
	}
	job.Verb = append(slices.Clone(job.Verb), "--pieces", store.AddressOf(where, place))
	lines, err := collect(ctx, eng, job)
	if err != nil {
		return err
	}
	pieces := make([]*store.Piece, len(lines))
	for i := range lines {
		pieces[i] = &lines[i].piece
	}
	if err := tx.FetchData(ctx, pieces); err != nil {
		return err
	}
	all := messages{tx: tx}
	defer all.close()
	for i := range lines {
		if err := tx.AddPiece(pieces[i]); err != nil {
			return err
		}
		if pieces[i].Data != nil {
			all.waiting = append(all.waiting, lines[i])
		}
	}
	return all.read(ctx, each)
}

// line is what a copy printed.
type line struct {
	first schema.Key // of what it wrote
	piece store.Piece
}

// collect runs the copies and returns their lines, by first key.
func collect(ctx context.Context, eng engine.RemoteRunner, job engine.RemoteJob) (lines []line, err error) {
	rows, err := eng.RunRemote(ctx, job)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		l := line{}
		l.first, _ = rows.Value(0).(int64)
		text, _ := rows.Value(1).(string)
		data, err := engine.DecodeOutput(text)
		if err == nil {
			err = json.Unmarshal(data, &l.piece)
		}
		if err != nil {
			return nil, fmt.Errorf("the output of a copy on the cluster cannot be read: %w", err)
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.first, b.first) })
	for i := 1; i < len(lines); i++ {
		if lines[i].first == lines[i-1].first {
			return nil, fmt.Errorf("%w: both begin with key %d", ErrTwice, lines[i].first)
		}
	}
	return lines, rows.Err()
}

// messages merges the messages of all pieces, each sorted by key, with a heap by next key. A piece is opened when the merge
// reaches its first key, so if copies have disjoint ranges of keys only one is open at a time.
type messages struct {
	tx      *store.Tx
	waiting []line // by first key
	open    []*pieceMessages
}

// pieceMessages are the remaining messages of a piece.
type pieceMessages struct {
	data *store.PieceData
	key  schema.Key // of the next
	text []byte
}

func (m *messages) Len() int           { return len(m.open) }
func (m *messages) Less(i, j int) bool { return m.open[i].key < m.open[j].key }
func (m *messages) Swap(i, j int)      { m.open[i], m.open[j] = m.open[j], m.open[i] }
func (m *messages) Push(x any)         { m.open = append(m.open, x.(*pieceMessages)) }
func (m *messages) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}

// advance opens the pieces that may contain the next message.
func (m *messages) advance() error {
	for len(m.waiting) > 0 && (len(m.open) == 0 || m.waiting[0].first <= m.open[0].key) {
		data, err := m.tx.OpenData(&m.waiting[0].piece)
		if err != nil {
			return err
		}
		m.waiting = m.waiting[1:]
		s := &pieceMessages{data: data}
		if err := s.next(); err != nil {
			return errors.Join(err, data.Close())
		}
		heap.Push(m, s)
	}
	return nil
}

// read passes on all messages in the order of their keys.
func (m *messages) read(ctx context.Context, each func(schema.Key, []byte) error) error {
	for before := schema.Key(math.MinInt64); ; {
		if err := m.advance(); err != nil {
			return err
		}
		if len(m.open) == 0 {
			return nil
		}
		s := m.open[0]
		if s.key <= before {
			return fmt.Errorf("%w: key %d", ErrTwice, s.key)
		}
		before = s.key
		err := cmp.Or(ctx.Err(), s.read())
		if err == nil {
			err = each(s.key, s.text)
		}
		if err != nil {
			return err
		}
		switch err := s.next(); {
		case err == io.EOF:
			if err := s.data.Close(); err != nil {
				return err
			}
			heap.Pop(m)
		case err != nil:
			return err
		default:
			heap.Fix(m, 0)
		}
	}
}

// close closes what was not read to its end.
func (m *messages) close() {
	for _, s := range m.open {
		s.data.Close()
	}
}

// next reads the key of the next message; io.EOF is returned after the last.
func (s *pieceMessages) next() (err error) {
	s.key, err = binary.ReadVarint(s.data)
	return err
}

// maxMessage bounds a message: that of a phase of some hundred thousand tasks on as many machines.
const maxMessage = 1 << 30

// read reads the next message.
func (s *pieceMessages) read() error {
	n, err := binary.ReadUvarint(s.data)
	if err == nil && n > maxMessage {
		err = errors.New("it is too long")
	}
	if err == nil {
		s.text = slices.Grow(s.text[:0], int(n))[:n]
		_, err = io.ReadFull(s.data, s.text)
	}
	if err != nil {
		return fmt.Errorf("the message of a copy about key %d: %w", s.key, err)
	}
	return nil
}
