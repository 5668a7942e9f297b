package detect

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Attempts are read once, in the order in which they lie in the store. There most phases lie together, and are worked on as
// soon as they have been read; the attempts of the others wait until the last of their phase has come.

const (
	// blockRows is how many attempts are taken in at once: 1.5 MB.
	blockRows = 16 << 10
	// mostWaiting is how many attempts wait for others of their phase, in some 90 bytes each. Where more would, as in traces in
	// the order of time, phases are put off, and all is read again for some of them at a time. One phase may have more.
	mostWaiting = 4 << 20
	// workers is how many blocks are worked on at once.
	workers = 2
)

// scannedPhase is a phase whose attempts are read. There is one of each phase in memory, whatever the store's size.
type scannedPhase struct {
	id            schema.Key
	times         phaseTimes // behind its slow attempts, in the file
	attempts      uint32     // a phase is held in memory as a whole, and so has fewer than 2^32
	slow          uint32     // rows of outliers
	stride        uint8      // task_times is to have its tasks, with a stride of 1 << (stride - 1); 0: it is not
	gang, skipped bool
	wanted        bool // it is still to be worked on
}

// phaseScan reads attempts and gives the figures of whole phases.
type phaseScan struct {
	eng      engine.Engine
	sql      string // of the attempts
	lastSeen map[schema.Key]int64
	phases   []scannedPhase // by id, those with attempts wanted
	file     *phaseFile
	times    bool  // of tasks are kept in the file
	waiting  int64 // how many attempts may wait for others of their phase
	rows     int   // how many are taken in at once

	finder phaseFinder
	wait   map[int]*attempts // of phases of which others are to come
	waits  int64
	putOff []int // phases that are to be read again
	free   sync.Pool
}

// phaseWork is attempts of whole phases: pieces of a block, and phases that have waited; then the figures of these phases.
type phaseWork struct {
	block  attempts
	pieces []blockPiece
	whole  []wholePhase
	found  []phaseFigures
	done   chan struct{} // takes a value once they are found
}

type blockPiece struct{ phase, from, to int }

type wholePhase struct {
	phase    int
	attempts *attempts
}

// read gives the figures of the phases, some at a time, in an order that follows from that of the attempts. They are valid
// until emit returns.
func (s *phaseScan) read(ctx context.Context, emit func([]phaseFigures) error) error {
	s.free.New = func() any { return &phaseWork{done: make(chan struct{}, 1)} }
	if err := s.pass(ctx, s.sql, emit); err != nil {
		return err
	}
	slices.Sort(s.putOff)
	for again := s.putOff; len(again) > 0; {
		n, held := 0, int64(0)
		for ; n < len(again) && (n == 0 || held+int64(s.phases[again[n]].attempts) <= s.waiting); n++ {
			s.phases[again[n]].wanted = true
			held += int64(s.phases[again[n]].attempts)
		}
		s.waiting = max(s.waiting, held) // of a phase that has more
		some := span{low: s.phases[again[0]].id, high: s.phases[again[n-1]].id}
		if err := s.pass(ctx, s.sql+some.where(), emit); err != nil {
			return err
		}
		again = again[n:]
	}
	return nil
}

// pass reads attempts once and works on those of the phases that are wanted. Each worker reads a block, which only one of them
// does at a time, and then works on it, so that reading is not a third task on two cores.
func (s *phaseScan) pass(ctx context.Context, sql string, emit func([]phaseFigures) error) error {
	s.wait, s.waits = make(map[int]*attempts), 0
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	next, stop := iter.Pull2(engine.ReadVectors(ctx, s.eng, sql))
	defer stop()
	inOrder := make(chan *phaseWork, 2*workers)
	var reading sync.Mutex
	ended := false
	read := func() (*phaseWork, error) {
		reading.Lock()
		defer reading.Unlock()
		if ended {
			return nil, nil
		}
		w, err := s.block(next)
		if w == nil || err != nil {
			ended = true
			close(inOrder)
			return nil, err
		}
		select {
		case inOrder <- w:
			return w, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for range workers {
		group.Go(func() error {
			f := figurer{lastSeen: s.lastSeen}
			for {
				w, err := read()
				if w == nil || err != nil {
					return err
				}
				if err := f.all(w, s); err != nil {
					return err
				}
				w.done <- struct{}{}
			}
		})
	}
	failed := s.collect(ctx, inOrder, emit)
	if failed != nil {
		cancel()
	}
	if err := group.Wait(); failed == nil {
		failed = err
	}
	if failed == nil && len(s.wait) > 0 {
		failed = fmt.Errorf("%w: attempts have come or gone; try again", store.ErrConflict)
	}
	return failed
}

// block reads attempts and makes work of them; nil where there are no more.
func (s *phaseScan) block(next func() (*engine.Batch, error, bool)) (*phaseWork, error) {
	w := s.free.Get().(*phaseWork)
	for w.block.len() < s.rows {
		b, err, more := next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		w.block.read(b)
	}
	if w.block.len() == 0 {
		return nil, nil
	}
	s.take(w)
	return w, nil
}

// collect gives what is found, in the order in which the work was made.
func (s *phaseScan) collect(ctx context.Context, work <-chan *phaseWork, emit func([]phaseFigures) error) error {
	for {
		var w *phaseWork
		select {
		case w = <-work:
		case <-ctx.Done():
		}
		if w == nil {
			return nil // there is no more, or the group says why
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil
		}
		if err := emit(w.found); err != nil {
			return err
		}
		w.reset()
		s.free.Put(w)
	}
}

func (w *phaseWork) reset() {
	w.block.reset()
	clear(w.whole)
	w.pieces, w.whole, w.found = w.pieces[:0], w.whole[:0], w.found[:0]
}

// take finds the whole phases of a block, and keeps the attempts of the others.
func (s *phaseScan) take(w *phaseWork) {
	block := &w.block
	for from, to := 0, 0; from < block.len(); from = to {
		phase := block.phase[from]
		for to = from + 1; to < block.len() && block.phase[to] == phase; to++ {
		}
		i, found := s.finder.find(s.phases, phase)
		if !found || !s.phases[i].wanted {
			continue // of a phase that has no row, that is put off, or done
		}
		n := int(s.phases[i].attempts)
		if to-from == n {
			w.pieces = append(w.pieces, blockPiece{i, from, to})
			s.phases[i].wanted = false
			continue
		}
		a := s.wait[i]
		if a == nil {
			a = new(attempts)
			a.grow(n)
			s.wait[i] = a
		}
		a.add(block.slice(from, to))
		s.waits += int64(to - from)
		if a.len() == n {
			w.whole = append(w.whole, wholePhase{i, a})
			s.phases[i].wanted = false
			s.waits -= int64(n)
			delete(s.wait, i)
		}
	}
	if s.waits > s.waiting {
		s.putOffSome()
	}
}

// putOffSome puts off the phases that most attempts are still to come of, until half as many wait as may.
func (s *phaseScan) putOffSome() {
	type missing struct{ phase, attempts int }
	var waiting []missing
	for i, a := range s.wait {
		waiting = append(waiting, missing{i, int(s.phases[i].attempts) - a.len()})
	}
	slices.SortFunc(waiting, func(a, b missing) int {
		return cmp.Or(cmp.Compare(b.attempts, a.attempts), cmp.Compare(a.phase, b.phase))
	})
	for _, m := range waiting {
		if s.waits <= s.waiting/2 {
			break
		}
		s.putOff = append(s.putOff, m.phase)
		s.phases[m.phase].wanted = false
		s.waits -= int64(s.wait[m.phase].len())
		delete(s.wait, m.phase)
	}
}

// all works out the figures of some phases, and puts what is needed later into the file.
func (f *figurer) all(w *phaseWork, s *phaseScan) error {
	f.kept = f.kept[:0]
	for _, p := range w.pieces {
		piece := w.block.slice(p.from, p.to)
		w.found = append(w.found, f.keep(&piece, &s.phases[p.phase], s.times))
	}
	for _, p := range w.whole {
		w.found = append(w.found, f.keep(p.attempts, &s.phases[p.phase], s.times))
	}
	at, err := s.file.append(f.kept)
	for _, p := range w.pieces {
		s.phases[p.phase].times.at += at
	}
	for _, p := range w.whole {
		s.phases[p.phase].times.at += at
	}
	return err
}

// keep works out the figures of a phase, of which nothing is in memory that is in the file.
func (f *figurer) keep(a *attempts, of *scannedPhase, times bool) phaseFigures {
	f.slow = f.slow[:0]
	out := f.figures(of.id, a)
	f.kept = appendSlow(f.kept, out.slow)
	of.slow, out.slow = uint32(len(out.slow)), nil
	of.times.at = int64(len(f.kept))
	if times {
		rows := f.rows.ofAttempts(a)
		of.times = phaseTimes{at: of.times.at, rows: uint32(rows.len()), longestS: rows.longest()}
		f.kept, of.times.widths = rows.appendTo(f.kept)
	}
	return out
}
