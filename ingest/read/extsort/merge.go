package extsort

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
)

// batchRecords is the number of merged records per batch, batches how many exist at once.
const (
	batchRecords = 1024
	batches      = 3
)

// batch is merged records in order, and the error after them.
type batch struct {
	keys  []Key
	ends  []int // where the payload of each ends
	arena []byte
	err   error
}

// Merge returns all records in order. It can be called once. A goroutine merges ahead of the caller, and ends with the loop.
func (s *Sorter) Merge() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := s.wait(); err != nil {
			yield(Record{}, err)
			return
		}
		free, full, stop := make(chan *batch, batches), make(chan *batch, batches), make(chan struct{})
		for range batches {
			free <- new(batch)
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(full)
			s.merge(free, full, stop)
		})
		for b := range full {
			start := 0
			for i, k := range b.keys {
				if !yield(Record{k, b.arena[start:b.ends[i]]}, nil) {
					return
				}
				start = b.ends[i]
			}
			if b.err != nil {
				yield(Record{}, b.err)
				return
			}
			free <- b
		}
	}
}

// merge fills batches until the records end or the caller stops.
func (s *Sorter) merge(free <-chan *batch, full chan<- *batch, stop <-chan struct{}) {
	h, err := s.sources()
	for err == nil && len(h) > 0 {
		var b *batch
		select {
		case b = <-free:
		case <-stop:
			return
		}
		b.keys, b.ends, b.arena = b.keys[:0], b.ends[:0], b.arena[:0]
		for len(b.keys) < batchRecords && len(h) > 0 && err == nil {
			top := h[0]
			b.keys, b.arena = append(b.keys, top.at.Key), append(b.arena, top.at.Payload...)
			b.ends = append(b.ends, len(b.arena))
			h, err = h.advance()
		}
		b.err = err
		full <- b // never blocks: there are no more batches than fit
	}
	if err != nil && len(h) == 0 {
		full <- &batch{err: err}
	}
}

// sources returns the runs and the last chunk, each at its first record.
func (s *Sorter) sources() (merging, error) {
	s.fill.sort()
	all := []*source{{chunk: s.fill}}
	for _, f := range s.runs {
		all = append(all, &source{r: bufio.NewReaderSize(f, 256<<10)})
	}
	var h merging
	for _, src := range all {
		ok, err := src.next()
		if err != nil {
			return nil, err
		}
		if ok {
			h = append(h, src)
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h, nil
}

// merging is a heap of sources ordered by their current records.
type merging []*source

// advance moves the first source to its next record.
func (h merging) advance() (merging, error) {
	ok, err := h[0].next()
	if err != nil {
		return h, err
	}
	if !ok {
		h[0] = h[len(h)-1]
		h = h[:len(h)-1]
	}
	h.down(0)
	return h, nil
}

func (h merging) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && before(&h[child].at, &h[least].at) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func before(a, b *Record) bool {
	if a.Key[0] != b.Key[0] {
		return a.Key[0] < b.Key[0]
	}
	return Compare(*a, *b) < 0
}

// source is a run, or the last chunk.
type source struct {
	at    Record
	r     *bufio.Reader
	head  [recordHead]byte
	buf   []byte
	chunk *chunk
	pos   int
}

func (s *source) next() (bool, error) {
	if s.chunk != nil {
		if s.pos == len(s.chunk.order) {
			return false, nil
		}
		p := &s.chunk.index[s.chunk.order[s.pos].at]
		s.at = Record{p.key, s.chunk.payload(p)}
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
