package detect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"straggler/schema"
	"straggler/store"
)

// Attempts are read once, in the order in which they are stored. The attempts of most phases are adjacent there, and are
// processed as soon as they have been read; those of the others wait until the last of their phase has been read.

const (
	// mostWaiting bounds the attempts that wait for others of their phase in other row groups, at about 90 bytes each. If more
	// would, as in traces in the order of time, phases are postponed, and all is read again for some of them at a time. A single
	// phase may have more.
	mostWaiting = 4 << 20
	// workers is the number of row groups processed at once.
	workers = 2
)

// scannedPhase is a phase whose attempts are read. One for each phase is in memory, whatever the store's size.
type scannedPhase struct {
	id            schema.Key
	times         phaseTimes // after its slow attempts, in the file
	slow          int64      // bytes of its slow attempts
	attempts      uint32     // a phase is held in memory as a whole, so it has fewer than 2^32
	stride        uint8      // its tasks go to task_times, with a stride of 1 << (stride - 1); 0: they do not
	gang, skipped bool
	wanted        bool // to be processed in this pass, or by a later one if it is postponed
}

// phaseScan reads attempts and returns the figures of whole phases.
type phaseScan struct {
	from     attemptFiles
	lastSeen map[schema.Key]int64
	phases   []scannedPhase // by id, with wanted set for those with attempts
	file     *phaseFile
	times    bool  // times of tasks are kept in the file
	waiting  int64 // number of attempts that may wait for others of their phase

	wait      map[int]*attempts // of phases with attempts still to be read
	waits     int64
	postponed map[int]bool // in this pass
	again     []int        // phases that the first pass postponed
}

// phaseWork is a row group, and then the figures of the phases whose last attempts are in it.
type phaseWork struct {
	group    *attemptGroup
	before   <-chan struct{} // closed once the incomplete phases of the row group before have been gathered
	gathered chan struct{}   // closed once its own have been
	found    []phaseFigures
	done     chan struct{} // receives a value once the figures are computed

	parts map[int]*attempts // of phases of which it does not have all attempts, or not one after another
	order []int             // in which these phases begin
}

// read passes the figures of the phases to emit, some at a time, in an order determined by that of the attempts. They are valid
// until emit returns.
func (s *phaseScan) read(ctx context.Context, emit func([]phaseFigures) error) error {
	s.postponed = make(map[int]bool)
	if err := s.pass(ctx, span{all: true}, emit); err != nil {
		return err
	}
	s.again = slices.Sorted(maps.Keys(s.postponed))
	for i := range s.phases {
		s.phases[i].wanted = false
	}
	for again := s.again; len(again) > 0; {
		n, held := 0, int64(0)
		for ; n < len(again) && (n == 0 || held+int64(s.phases[again[n]].attempts) <= s.waiting); n++ {
			s.phases[again[n]].wanted = true
			held += int64(s.phases[again[n]].attempts)
		}
		s.waiting = max(s.waiting, held) // for a phase that has more
		clear(s.postponed)
		if err := s.pass(ctx, span{low: s.phases[again[0]].id, high: s.phases[again[n-1]].id}, emit); err != nil {
			return err
		}
		for _, i := range again[:n] {
			s.phases[i].wanted = false
		}
		again = again[n:]
	}
	return nil
}

// pass reads attempts once and processes those of the wanted phases. Each worker reads a row group and processes it, so that
// reading is not a third task on two cores.
func (s *phaseScan) pass(ctx context.Context, phases span, emit func([]phaseFigures) error) error {
	s.wait, s.waits = make(map[int]*attempts), 0
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	inOrder := make(chan *phaseWork, 2*workers)
	group.Go(func() error {
		defer close(inOrder)
		return share(ctx, &s.from, phases, workInOrder(inOrder), s.worker)
	})
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

// workInOrder returns a function that makes work of row groups and passes it on to those that collect the results.
func workInOrder(inOrder chan<- *phaseWork) func(context.Context, *attemptGroup) (*phaseWork, bool) {
	gathered := make(chan struct{})
	close(gathered)
	return func(ctx context.Context, g *attemptGroup) (*phaseWork, bool) {
		w := &phaseWork{group: g, before: gathered, gathered: make(chan struct{}), done: make(chan struct{}, 1), parts: make(map[int]*attempts)}
		gathered = w.gathered
		select {
		case inOrder <- w:
			return w, true
		case <-ctx.Done():
			return nil, false
		}
	}
}

func (s *phaseScan) worker(ctx context.Context) func(*phaseWork) error {
	f, r := figurer{lastSeen: s.lastSeen}, newAttemptReader()
	return func(w *phaseWork) error {
		if err := f.work(ctx, w, r, s); err != nil {
			return err
		}
		w.done <- struct{}{}
		return nil
	}
}

// collect passes on the results, in the order of the row groups.
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
	}
}

// work reads a row group and computes the figures of the phases whose last attempts are in it.
func (f *figurer) work(ctx context.Context, w *phaseWork, r *attemptReader, s *phaseScan) error {
	defer w.group.close()
	err := r.read(ctx, w.group, s.from.rows, func(block *attempts) error {
		f.block(block, w, s)
		return f.write(s)
	})
	if err != nil {
		return err
	}
	select {
	case <-w.before:
	case <-ctx.Done():
		return ctx.Err()
	}
	whole := s.gather(w)
	close(w.gathered)
	for _, p := range whole {
		f.keep(p.phase, p.attempts, w, s)
	}
	return f.write(s)
}

// block computes the figures of the whole phases of a block, and keeps the attempts of the others.
func (f *figurer) block(block *attempts, w *phaseWork, s *phaseScan) {
	for from, to := 0, 0; from < block.len(); from = to {
		to = block.run(from)
		if len(block.input) > 0 && !w.group.has(schema.Key(block.input[from])) {
			continue
		}
		i, found := f.finder.find(s.phases, block.phase[from])
		if !found || !s.phases[i].wanted {
			continue // of a phase that has no row, is postponed, or is done
		}
		rows, n := block.slice(from, to), int(s.phases[i].attempts)
		if to-from == n {
			f.keep(i, &rows, w, s)
			continue
		}
		part := w.parts[i]
		if part == nil {
			part = new(attempts)
			w.parts[i], w.order = part, append(w.order, i)
		}
		if part.add(rows); part.len() == n {
			delete(w.parts, i)
			f.keep(i, part, w, s)
		}
	}
}

type wholePhase struct {
	phase    int
	attempts *attempts
}

// gather keeps the attempts of a row group's incomplete phases, and returns the phases that are complete now.
func (s *phaseScan) gather(w *phaseWork) (whole []wholePhase) {
	for _, i := range w.order {
		part := w.parts[i]
		if part == nil || s.postponed[i] {
			continue
		}
		a, n := s.wait[i], int(s.phases[i].attempts)
		if a == nil {
			a = new(attempts)
			a.grow(n)
			s.wait[i] = a
		}
		a.add(*part)
		s.waits += int64(part.len())
		if a.len() == n {
			whole = append(whole, wholePhase{i, a})
			s.waits -= int64(n)
			delete(s.wait, i)
		}
	}
	w.parts = nil
	if s.waits > s.waiting {
		s.postpone()
	}
	return whole
}

// postpone postpones the phases with the most attempts still to be read, until half the allowed number wait.
func (s *phaseScan) postpone() {
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
		s.postponed[m.phase] = true
		s.waits -= int64(s.wait[m.phase].len())
		delete(s.wait, m.phase)
	}
}

// keep computes the figures of a phase; nothing that is in the file stays in memory.
func (f *figurer) keep(phase int, a *attempts, w *phaseWork, s *phaseScan) {
	of := &s.phases[phase]
	f.slow = f.slow[:0]
	out := f.figures(of.id, a)
	from := len(f.kept)
	f.kept = appendSlow(f.kept, out.slow)
	of.slow, out.slow = int64(len(f.kept)-from), nil
	of.times.at = int64(len(f.kept))
	if s.times {
		rows := f.rows.ofAttempts(a)
		of.times = phaseTimes{at: of.times.at, rows: uint32(rows.len()), longestS: rows.longest()}
		f.kept, of.times.widths = rows.appendTo(f.kept)
	}
	f.keptOf = append(f.keptOf, phase)
	w.found = append(w.found, out)
}

// write writes to the file what has been kept.
func (f *figurer) write(s *phaseScan) error {
	at, err := s.file.append(f.kept)
	for _, i := range f.keptOf {
		s.phases[i].times.at += at
	}
	f.kept, f.keptOf = f.kept[:0], f.keptOf[:0]
	return err
}
