package detect

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Attempts are read once, in the order in which they lie in the store. There most phases lie together, and are worked on as soon as they
// have been read; the attempts of the others wait until the last of their phase has come.

const (
	// blockRows is how many attempts are taken in at once: 1.5 MB.
	blockRows = 16 << 10
	// mostWaiting is how many attempts wait for others of their phase, in some 90 bytes each. Where more would, as in traces in the order of time,
	// phases are put off, and all is read again for some of them at a time. One phase may have more.
	mostWaiting = 8 << 20
	// mostPhases is how many phases' figures are held at once, in some 400 bytes each.
	mostPhases = 1 << 20
	// workers is how many blocks are worked on at once.
	workers = 2
)

// figuresHere writes phase_stats and outliers, but for what follows from the history, and gives the query of the tasks' usage by phase.
func (p *part) figuresHere(ctx context.Context, tx *store.Tx, eng engine.Loader, chunkAttempts int64) (usage string, err error) {
	lastSeen, err := p.lastSeen(ctx, eng)
	if err != nil {
		return "", fmt.Errorf("when incomplete logs end: %w", err)
	}
	if err := eng.Materialize(ctx, "detected_sizes", "SELECT phase_id, count(*) AS n FROM "+p.from("attempts")+" GROUP BY phase_id"); err != nil {
		return "", fmt.Errorf("sizes of phases: %w", err)
	}
	spans, err := split(ctx, eng, "SELECT * FROM detected_sizes", chunkAttempts, mostPhases)
	if err != nil {
		return "", fmt.Errorf("sizes of phases: %w", err)
	}
	var union []string
	for i, s := range spans {
		table := fmt.Sprintf("detected_usage_%d", i)
		union = append(union, "SELECT * FROM "+table)
		if err := p.figuresOf(ctx, tx, eng, s, lastSeen, min(chunkAttempts, mostWaiting), table); err != nil {
			return "", err
		}
	}
	return "SELECT * FROM (" + strings.Join(union, " UNION ALL ") + ") AS u", eng.Drop(ctx, "detected_sizes")
}

// lastSeen is the last time in each log that is incomplete.
func (p *part) lastSeen(ctx context.Context, eng engine.Engine) (map[schema.Key]int64, error) {
	out := make(map[schema.Key]int64)
	type incomplete struct {
		N int64 `col:"n"`
	}
	for r, err := range engine.Read[incomplete](ctx, eng, "SELECT count(*) AS n FROM "+p.from("applications")+" WHERE NOT complete") {
		if err != nil || r.N == 0 {
			return out, err
		}
	}
	type row struct {
		Application schema.Key  `col:"application_id"`
		LastSeen    schema.Time `col:"last_seen"`
	}
	sql := "SELECT b.application_id, max(greatest(b.start_time, b.finish_time)) AS last_seen FROM " + p.from("attempts") + " b JOIN " + p.from("applications") +
		" i ON i.application_id = b.application_id WHERE NOT i.complete GROUP BY b.application_id" +
		" HAVING max(greatest(b.start_time, b.finish_time)) IS NOT NULL"
	for r, err := range engine.Read[row](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		out[r.Application] = int64(r.LastSeen)
	}
	return out, nil
}

// figuresOf works on a span of phases, and keeps the usage of their tasks as a table.
func (p *part) figuresOf(ctx context.Context, tx *store.Tx, eng engine.Loader, s span, lastSeen map[schema.Key]int64, waiting int64, table string) error {
	scan := &phaseScan{eng: eng, times: p.times, sql: attemptsSQL + p.from("attempts"), lastSeen: lastSeen, waiting: waiting, block: blockRows}
	found, err := scan.read(ctx, s)
	if err != nil {
		return fmt.Errorf("figures of phases: %w", err)
	}
	rows := "SELECT phase_id, gang, status = 'skipped' AS skipped FROM " + p.from("phases") + s.where() + " ORDER BY phase_id NULLS LAST"
	known := make([]bool, len(found)) // there is a row of the phase
	if err := appendRows(tx, p, statsOf(engine.Read[phaseRow](ctx, eng, rows), found, known), phaseOfStats); err != nil {
		return fmt.Errorf("phase statistics: %w", err)
	}
	if err := appendRows(tx, p, outliersOf(found, known), phaseOfOutlier); err != nil {
		return fmt.Errorf("outliers: %w", err)
	}
	usage := make([]taskUsage, len(found))
	for i := range found {
		usage[i] = found[i].usage
		if p.times != nil {
			p.timesOf[found[i].stats.PhaseID] = found[i].times
		}
	}
	return engine.Load(ctx, eng, table, func(yield func([]taskUsage, error) bool) { yield(usage, nil) })
}

// phaseRow is what the figures of a phase need of its row.
type phaseRow struct {
	PhaseID schema.Key        `col:"phase_id"`
	Gang    schema.Null[bool] `col:"gang"`
	Skipped schema.Null[bool] `col:"skipped"`
}

// statsOf gives the rows of phase_stats for phases in order, and marks those of found that have one.
func statsOf(phases iter.Seq2[*phaseRow, error], found []phaseFigures, known []bool) iter.Seq2[*schema.PhaseStats, error] {
	return func(yield func(*schema.PhaseStats, error) bool) {
		at := 0
		for r, err := range phases {
			if err != nil {
				yield(nil, err)
				return
			}
			for at < len(found) && found[at].stats.PhaseID < r.PhaseID {
				at++
			}
			var figures *phaseFigures
			if at < len(found) && found[at].stats.PhaseID == r.PhaseID {
				known[at], figures = true, &found[at]
			}
			if stats := r.stats(figures); !yield(&stats, nil) {
				return
			}
		}
	}
}

// stats is the row of phase_stats of a phase, from the figures of its attempts, if there are any.
func (r *phaseRow) stats(figures *phaseFigures) schema.PhaseStats {
	stats, notes := schema.PhaseStats{PhaseID: r.PhaseID}, []string{"no attempt in the log", "", ""}
	if r.Skipped.V {
		notes[0] = "skipped, never submitted"
	}
	if figures != nil {
		stats, notes[0], notes[2] = figures.stats, figures.note[0], figures.note[1]
	}
	if r.Gang.V {
		notes[1] = "gang: tasks wait for each other"
	}
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	stats.Note = schema.Null[string]{V: strings.Join(notes, "; "), OK: len(notes) > 0}
	return stats
}

// outliersOf gives the rows of outliers of the phases that are known.
func outliersOf(found []phaseFigures, known []bool) iter.Seq2[*schema.Outlier, error] {
	return func(yield func(*schema.Outlier, error) bool) {
		for i := range found {
			if known[i] && !yieldSlow(found[i].stats.PhaseID, found[i].slow, yield) {
				return
			}
		}
	}
}

// yieldSlow gives the rows of outliers of a phase.
func yieldSlow(phase schema.Key, slow []slowAttempt, yield func(*schema.Outlier, error) bool) bool {
	var o schema.Outlier
	for _, a := range slow {
		o = schema.Outlier{AttemptID: a.id, PhaseID: phase, Rule: slowRules[a.rule],
			Ratio: schema.Null[float64]{V: a.ratio, OK: !math.IsNaN(a.ratio)}, ExcessS: schema.Null[float64]{V: a.excess, OK: !math.IsNaN(a.excess)}}
		if !yield(&o, nil) {
			return false
		}
	}
	return true
}

// phaseScan reads attempts and gives the figures of whole phases.
type phaseScan struct {
	eng      engine.Engine
	sql      string // of the attempts
	lastSeen map[schema.Key]int64
	waiting  int64 // how many attempts may wait for others of their phase
	block    int   // how many are taken in at once
	times    *taskTimes

	sizes  map[schema.Key]int64     // attempts of each phase that is read
	wait   map[schema.Key]*attempts // of phases of which others are to come
	waits  int64
	putOff []phaseSize // phases that are to be read again

	mu    sync.Mutex
	found []phaseFigures
}

// phaseSize is how many attempts a phase has.
type phaseSize struct {
	PhaseID schema.Key `col:"phase_id"`
	N       int64      `col:"n"`
}

// phaseWork is attempts of whole phases: pieces of a block, and phases that have waited.
type phaseWork struct {
	block  *attempts
	pieces [][2]int
	whole  []*attempts
}

// read gives the figures of a span of phases, in their order.
func (s *phaseScan) read(ctx context.Context, sp span) ([]phaseFigures, error) {
	s.sizes = make(map[schema.Key]int64)
	for r, err := range engine.Read[phaseSize](ctx, s.eng, "SELECT * FROM detected_sizes"+sp.where()) {
		if err != nil {
			return nil, err
		}
		s.sizes[r.PhaseID] = r.N
	}
	if err := s.pass(ctx, s.sql+sp.where()); err != nil {
		return nil, err
	}
	slices.SortFunc(s.putOff, func(a, b phaseSize) int { return cmp.Compare(a.PhaseID, b.PhaseID) })
	for again := s.putOff; len(again) > 0; {
		clear(s.sizes)
		n, held := 0, int64(0)
		for ; n < len(again) && (n == 0 || held+again[n].N <= s.waiting); n++ {
			s.sizes[again[n].PhaseID] = again[n].N
			held += again[n].N
		}
		s.waiting = max(s.waiting, held) // of a phase that has more
		if err := s.pass(ctx, s.sql+span{low: again[0].PhaseID, high: again[n-1].PhaseID}.where()); err != nil {
			return nil, err
		}
		again = again[n:]
	}
	slices.SortFunc(s.found, func(a, b phaseFigures) int { return cmp.Compare(a.stats.PhaseID, b.stats.PhaseID) })
	return s.found, nil
}

// pass reads attempts once and works on those of the phases in sizes.
func (s *phaseScan) pass(ctx context.Context, sql string) error {
	s.wait, s.waits = make(map[schema.Key]*attempts), 0
	work, free := make(chan phaseWork, workers), sync.Pool{New: func() any { return new(attempts) }}
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			f := figurer{lastSeen: s.lastSeen, keepsTimes: s.times != nil}
			for w := range work {
				found, err := f.all(w, s.times)
				if err != nil {
					return err
				}
				s.done(found)
				w.block.reset()
				free.Put(w.block)
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(work)
		block := free.Get().(*attempts)
		send := func() error {
			w := s.take(block)
			select {
			case work <- w:
			case <-ctx.Done():
				return ctx.Err()
			}
			block = free.Get().(*attempts)
			return nil
		}
		for b, err := range engine.ReadVectors(ctx, s.eng, sql) {
			if err != nil {
				return err
			}
			if block.read(b); block.len() >= s.block {
				if err := send(); err != nil {
					return err
				}
			}
		}
		return send()
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if len(s.wait) > 0 {
		return fmt.Errorf("%w: attempts have come or gone; try again", store.ErrConflict)
	}
	return nil
}

// take finds the whole phases of a block, and keeps the attempts of the others.
func (s *phaseScan) take(block *attempts) phaseWork {
	w := phaseWork{block: block}
	for from, to := 0, 0; from < block.len(); from = to {
		phase := block.phase[from]
		for to = from + 1; to < block.len() && block.phase[to] == phase; to++ {
		}
		n, wanted := s.sizes[phase]
		if !wanted {
			continue // put off, or done
		}
		if int64(to-from) == n {
			w.pieces = append(w.pieces, [2]int{from, to})
			continue
		}
		a := s.wait[phase]
		if a == nil {
			a = new(attempts)
			s.wait[phase] = a
		}
		a.add(block.slice(from, to))
		s.waits += int64(to - from)
		if int64(a.len()) == n {
			w.whole = append(w.whole, a)
			s.waits -= n
			delete(s.wait, phase)
		}
	}
	if s.waits > s.waiting {
		s.putOffSome()
	}
	return w
}

// putOffSome puts off the phases that most attempts are still to come of, until half as many wait as may.
func (s *phaseScan) putOffSome() {
	var missing []phaseSize
	for phase, a := range s.wait {
		missing = append(missing, phaseSize{phase, s.sizes[phase] - int64(a.len())})
	}
	slices.SortFunc(missing, func(a, b phaseSize) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.PhaseID, b.PhaseID)) })
	for _, m := range missing {
		if s.waits <= s.waiting/2 {
			break
		}
		s.putOff = append(s.putOff, phaseSize{m.PhaseID, s.sizes[m.PhaseID]})
		s.waits -= int64(s.wait[m.PhaseID].len())
		delete(s.wait, m.PhaseID)
		delete(s.sizes, m.PhaseID)
	}
}

// all works out the figures of some phases, and keeps the times of their tasks.
func (f *figurer) all(w phaseWork, times *taskTimes) ([]phaseFigures, error) {
	out := make([]phaseFigures, 0, len(w.pieces)+len(w.whole))
	f.slow, f.times = nil, f.times[:0]
	for _, p := range w.pieces {
		piece := w.block.slice(p[0], p[1])
		out = append(out, f.figures(piece.phase[0], &piece))
	}
	for _, a := range w.whole {
		out = append(out, f.figures(a.phase[0], a))
	}
	if !f.keepsTimes {
		return out, nil
	}
	at, err := times.append(f.times)
	for i := range out {
		out[i].times.at += at
	}
	return out, err
}

func (s *phaseScan) done(found []phaseFigures) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, found...)
}
