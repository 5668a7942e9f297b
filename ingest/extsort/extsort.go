// Package extsort sorts more records than memory holds: traces whose shards come in any order are put in order by job,
// task and time with it.
//
//  1. Add fills a chunk in memory; a full one is sorted and spilled to a temporary file.
//  2. Merge gives all records in order, from the spilled runs and the last chunk.
//
// Start with extsort.go; there is no other file.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Key orders records: by its parts in turn. Records of equal keys are ordered by their payload, so that the order does
// not depend on the order in which they were added.
type Key [4]int64

// Record is a key and what goes with it. A merged record's payload is valid until the next one.
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

// Sorter takes records in any order. It is not safe for concurrent use. Close removes its files.
type Sorter struct {
	dir   string
	limit int // bytes of a chunk

	arena []byte
	index []span
	runs  []*os.File
}

type span struct {
	key    Key
	offset int
	size   int
}

// spanBytes is what a record costs beside its payload.
const spanBytes = 48

// maxPayload bounds a record; traces have lines of some hundred bytes.
const maxPayload = 16 << 20

// ErrTooLarge is a payload over 16 MiB.
var ErrTooLarge = errors.New("record is too large to sort")

// New makes a sorter that holds about limit bytes and keeps its runs in dir ("" = the system's temporary directory).
func New(dir string, limit int) *Sorter {
	return &Sorter{dir: dir, limit: max(limit, 1<<16)}
}

// Add takes a record; payload is copied.
func (s *Sorter) Add(key Key, payload []byte) error {
	if len(payload) > maxPayload {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(payload))
	}
	s.index = append(s.index, span{key, len(s.arena), len(payload)})
	s.arena = append(s.arena, payload...)
	if len(s.arena)+spanBytes*len(s.index) < s.limit {
		return nil
	}
	return s.spill()
}

func (s *Sorter) sort() {
	slices.SortFunc(s.index, func(a, b span) int {
		if a.key != b.key {
			return compareKeys(&a.key, &b.key)
		}
		return bytes.Compare(s.record(a).Payload, s.record(b).Payload)
	})
}

func (s *Sorter) record(p span) Record {
	return Record{p.key, s.arena[p.offset : p.offset+p.size]}
}

// spill writes the chunk as a run. The file has no name any more once it is open, so that nothing is left behind by a
// process that dies.
func (s *Sorter) spill() error {
	s.sort()
	f, err := os.CreateTemp(s.dir, "straggler-sort-*")
	if err != nil {
		return err
	}
	os.Remove(f.Name())
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var head [recordHead]byte
	for _, p := range s.index {
		r := s.record(p)
		for i, k := range r.Key {
			binary.LittleEndian.PutUint64(head[8*i:], uint64(k))
		}
		binary.LittleEndian.PutUint32(head[32:], uint32(p.size))
		w.Write(head[:])
		w.Write(r.Payload)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting needs temporary space: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.arena, s.index = s.arena[:0], s.index[:0]
	return nil
}

const recordHead = 36

// Merge gives all records in order. It can be called once.
func (s *Sorter) Merge() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s.sort()
		h := make(mergeHeap, 0, len(s.runs)+1)
		if len(s.index) > 0 {
			h = append(h, &source{sorter: s})
		}
		for _, f := range s.runs {
			h = append(h, &source{r: bufio.NewReaderSize(f, 256<<10)})
		}
		for i := 0; i < len(h); {
			ok, err := h[i].next()
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !ok {
				h = slices.Delete(h, i, i+1)
				continue
			}
			i++
		}
		heap.Init(&h)
		for len(h) > 0 {
			if !yield(h[0].at, nil) {
				return
			}
			ok, err := h[0].next()
			switch {
			case err != nil:
				yield(Record{}, err)
				return
			case ok:
				heap.Fix(&h, 0)
			default:
				heap.Pop(&h)
			}
		}
	}
}

// Close frees what the sorter holds.
func (s *Sorter) Close() error {
	var errs []error
	for _, f := range s.runs {
		errs = append(errs, f.Close())
	}
	s.runs, s.arena, s.index = nil, nil, nil
	return errors.Join(errs...)
}

// source is a run, or the last chunk.
type source struct {
	at     Record
	r      *bufio.Reader
	head   [recordHead]byte
	buf    []byte
	sorter *Sorter
	pos    int
}

func (s *source) next() (bool, error) {
	if s.sorter != nil {
		if s.pos == len(s.sorter.index) {
			return false, nil
		}
		s.at = s.sorter.record(s.sorter.index[s.pos])
		s.pos++
		return true, nil
	}
	head := s.head[:]
	if _, err := io.ReadFull(s.r, head); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("reading a sorted run back: %w", err)
	}
	for i := range s.at.Key {
		s.at.Key[i] = int64(binary.LittleEndian.Uint64(head[8*i:]))
	}
	n := int(binary.LittleEndian.Uint32(head[32:]))
	s.buf = slices.Grow(s.buf[:0], n)[:n]
	s.at.Payload = s.buf
	if _, err := io.ReadFull(s.r, s.buf); err != nil {
		return false, fmt.Errorf("reading a sorted run back: %w", err)
	}
	return true, nil
}

type mergeHeap []*source

func (h mergeHeap) Len() int           { return len(h) }
func (h mergeHeap) Less(a, b int) bool { return Compare(h[a].at, h[b].at) < 0 }
func (h mergeHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *mergeHeap) Push(x any)        { *h = append(*h, x.(*source)) }
func (h *mergeHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
