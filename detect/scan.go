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

// Attempts are read once, in the order in which they are stored. The attempts of most phases are adjacent there, and are
// processed as soon as they have been read; those of the others wait until the last of their phase has been read.

const (
	// blockRows is the number of attempts in a block: 1.5 MB.
	blockRows = 16 << 10
	// mostWaiting bounds the attempts that wait for others of their phase, at about 90 bytes each. If more would, as in traces
	// in the order of time, phases are postponed, and all is read again for some of them at a time. A single phase may have
	// more.
	mostWaiting = 4 << 20
	// workers is the number of blocks processed at once.
	workers = 2
)

// scannedPhase is a phase whose attempts are read. One for each phase is in memory, whatever the store's size.
type scannedPhase struct {
	id            schema.Key
	times         phaseTimes // after its slow attempts, in the file
	attempts      uint32     // a phase is held in memory as a whole, so it has fewer than 2^32
	slow          uint32     // rows of outliers
	stride        uint8      // its tasks go to task_times, with a stride of 1 << (stride - 1); 0: they do not
	gang, skipped bool
	wanted        bool // still to be processed
}

// phaseScan reads attempts and returns the figures of whole phases.
type phaseScan struct {
	eng      engine.Engine
	sql      string // of the attempts
	lastSeen map[schema.Key]int64
	phases   []scannedPhase // by id, with wanted set for those with attempts
	file     *phaseFile
	times    bool  // times of tasks are kept in the file
	waiting  int64 // number of attempts that may wait for others of their phase
	rows     int   // attempts per block

	finder phaseFinder
	wait   map[int]*attempts // of phases with attempts still to be read
	waits  int64
	putOff []int // phases that are to be read again
	free   sync.Pool
}

// phaseWork is attempts of whole phases: pieces of a block, and phases that have waited; and then the figures of these phases.
type phaseWork struct {
	block  attempts
	pieces []blockPiece
	whole  []wholePhase
	found  []phaseFigures
	done   chan struct{} // receives a value once the figures are computed
}

type blockPiece struct{ phase, from, to int }

type wholePhase struct {
	phase    int
	attempts *attempts
}

// read returns the figures of the phases, some at a time, in an order determined by that of the attempts. They are valid until
// emit returns.
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
		s.waiting = max(s.waiting, held) // for a phase that has more
		some := span{low: s.phases[again[0]].id, high: s.phases[again[n-1]].id}
		if err := s.pass(ctx, s.sql+some.where(), emit); err != nil {
			return err
		}
		again = again[n:]
	}
	return nil
}

// pass reads attempts once and processes those of the wanted phases. Each worker reads a block, one worker at a time, and then
// processes it, so that reading is not a third task on two cores.
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

// block reads attempts and returns them as work; nil if there are no more.
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

// collect passes on the results, in the order in which the work was created.
func (s *phaseScan) collect(ctx context.Context, work <-chan *phaseWork, emit func([]phaseFigures) error) error {
	for {
		var w *phaseWork
		select {
		case w = <-work:
		case <-ctx.Done():
		}
		if w == nil {
			return nil // there is no more, or the group has the error
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
			continue // of a phase that has no row, is postponed, or is done
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

// putOffSome postpones the phases with the most attempts still to be read, until half the allowed number wait.
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

// all computes the figures of some phases, and writes what is needed later to the file.
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

// keep computes the figures of a phase; nothing that is in the file stays in memory.
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
