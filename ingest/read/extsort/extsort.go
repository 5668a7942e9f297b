// Package extsort sorts more records than memory holds: it orders traces whose shards are in any order by job, task and time.
//
//  1. Add fills a chunk in memory; a full one is sorted (sort.go) and spilled to a temporary file while the next one fills.
//  2. merge.go returns all records in order, from the spilled runs and the last chunk.
//
// Start with extsort.go.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"straggler/tempfile"
)

// Key orders records by its parts in turn. Records with equal keys are ordered by their payload, so that the order does not
// depend on the order in which they were added.
type Key [4]int64

// Record is a key and its payload. A merged record's payload is valid until the next one.
type Record struct {
	Key     Key
	Payload []byte
}

// Compare orders records.
func Compare(a, b Record) int {
	if a.Key != b.Key {
		return compareKeys(&a.Key, &b.Key)
	}
	return bytes.Compare(a.Payload, b.Payload)
}

func compareKeys(a, b *Key) int {
	for i := range a {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}

// Sorter accepts records in any order. It is not safe for concurrent use. Close removes its files.
type Sorter struct {
	dir   string
	limit int // bytes of a chunk

	fill     *chunk
	spare    *chunk
	spilling chan spilled // nil, or receives the result of the goroutine that writes a chunk
	runs     []*os.File
}

// chunk is records in memory.
type chunk struct {
	arena []byte
	index []span
	order []place // of the index, once sorted
	spare []place // scratch for sorting
}

type span struct {
	key    Key
	offset int
	size   int
}

// spilled is a chunk that was written, and may be reused.
type spilled struct {
	chunk *chunk
	run   *os.File
	err   error
}

// spanBytes is the memory of a record besides its payload: a span, and twice a place.
const spanBytes = 48 + 2*16

// maxPayload bounds a record; traces have lines of a few hundred bytes.
const maxPayload = 16 << 20

// ErrTooLarge is returned when a payload is over 16 MiB.
var ErrTooLarge = errors.New("record is too large to sort")

// New returns a sorter that holds about limit bytes and keeps its runs in dir ("" = the system's temporary directory).
func New(dir string, limit int) *Sorter {
	return &Sorter{dir: dir, limit: max(limit, 1<<16) / 2, fill: new(chunk)} // one fills while the other is written
}

// Add adds a record; payload is copied.
func (s *Sorter) Add(key Key, payload []byte) error {
	if len(payload) > maxPayload {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(payload))
	}
	c := s.fill
	c.index = append(c.index, span{key, len(c.arena), len(payload)})
	c.arena = append(c.arena, payload...)
	if len(c.arena)+spanBytes*len(c.index) < s.limit {
		return nil
	}
	return s.spill()
}

// spill starts a goroutine that writes the chunk as a run. It ends before the next one is spilled, merged, or the sorter
// closed.
func (s *Sorter) spill() error {
	if err := s.wait(); err != nil {
		return err
	}
	full, done := s.fill, make(chan spilled, 1)
	if s.fill, s.spare = s.spare, nil; s.fill == nil {
		s.fill = new(chunk)
	}
	s.spilling = done
	go func() {
		full.sort()
		f, err := full.write(s.dir)
		done <- spilled{full, f, err}
	}()
	return nil
}

// wait waits for the chunk that is being written.
func (s *Sorter) wait() error {
	if s.spilling == nil {
		return nil
	}
	done := <-s.spilling
	s.spilling = nil
	if done.run != nil {
		s.runs = append(s.runs, done.run)
	}
	done.chunk.arena, done.chunk.index = done.chunk.arena[:0], done.chunk.index[:0]
	s.spare = done.chunk
	return done.err
}

func (c *chunk) payload(p *span) []byte { return c.arena[p.offset : p.offset+p.size] }

// write writes the chunk to a file and returns it.
func (c *chunk) write(dir string) (*os.File, error) {
	f, err := tempfile.File(dir, "sort")
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	var head [recordHead]byte
	for _, o := range c.order {
		p := &c.index[o.at]
		for i, k := range p.key {
			binary.LittleEndian.PutUint64(head[8*i:], uint64(k))
		}
		binary.LittleEndian.PutUint32(head[32:], uint32(p.size))
		w.Write(head[:])
		w.Write(c.payload(p))
	}
	if err := w.Flush(); err != nil {
		return f, fmt.Errorf("sorting needs temporary space: %w", err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

const recordHead = 36

// Close releases what the sorter holds.
func (s *Sorter) Close() error {
	s.wait() // the result no longer matters
	var errs []error
	for _, f := range s.runs {
		errs = append(errs, f.Close())
	}
	s.runs, s.fill, s.spare = nil, nil, nil
	return errors.Join(errs...)
}
