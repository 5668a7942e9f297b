package causes

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"straggler/causes/fit"
	"straggler/engine"
	"straggler/schema"
)

// chunk is a series of phases that are read and processed together.
type chunk struct {
	phases   []*phaseRow
	attempts int64
	room     int64 // the most attempts of any chunk, in either pass
}

func (c *chunk) low() schema.Key  { return c.phases[0].ID }
func (c *chunk) high() schema.Key { return c.phases[len(c.phases)-1].ID }

// chunks divides the phases to learn from, or the phases with outliers or earlier runs, in order, into chunks of about
// ChunkAttempts attempts.
func (r *run) chunks(outliersOnly bool, attempts int64) []chunk {
	var out []chunk
	var c chunk
	var all, most int64
	for i := range r.phases {
		p := &r.phases[i]
		if p.work != nothing {
			all += p.Attempts
		}
		if p.Attempts == 0 || outliersOnly && !p.outliers && p.usual == nil || !outliersOnly && p.work != learnt {
			continue
		}
		if c.attempts > 0 && c.attempts+p.Attempts > attempts {
			out = append(out, c)
			c = chunk{}
		}
		c.phases = append(c.phases, p)
		c.attempts += p.Attempts
		most = max(most, c.attempts)
	}
	if c.attempts > 0 {
		out = append(out, c)
	}
	for i := range out {
		out[i].room = max(most, min(all, attempts))
	}
	return out
}

// partOfChunk is the number of attempts whose results are held in memory, in two buffers: a tenth of a chunk, with enough
// phases for all workers.
const partOfChunk = 25_000

// inParts calls work with a few phases at a time.
func inParts(phases []fit.Phase, work func([]fit.Phase) error) error {
	for len(phases) > 0 {
		n, attempts := 0, 0
		for n < len(phases) && attempts < partOfChunk {
			attempts += len(phases[n].Tasks)
			n++
		}
		if err := work(phases[:n]); err != nil {
			return err
		}
		phases = phases[n:]
	}
	return nil
}

// stream reads the phases chunk by chunk, in order, and passes them to work, which must not keep them. The next chunk is read
// concurrently.
func (r *run) stream(ctx context.Context, outliersOnly bool, work func([]fit.Phase) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	type read struct {
		phases []fit.Phase
		memory []fit.Task
		err    error
	}
	ready, done := make(chan read), make(chan struct{})
	if r.memory == nil {
		r.memory = make(chan []fit.Task, 2)
		r.memory <- nil
		r.memory <- nil
	}
	go func() {
		defer close(done)
		defer close(ready)
		for _, c := range r.chunks(outliersOnly, r.o.ChunkAttempts) {
			var next read
			select {
			case next.memory = <-r.memory:
				next.phases, next.memory, next.err = r.read(ctx, &c, outliersOnly, next.memory)
			case <-ctx.Done():
				return
			}
			select {
			case ready <- next:
			case <-ctx.Done():
				return
			}
			if next.err != nil {
				return
			}
		}
	}()
	var err error
	for c := range ready {
		if err = c.err; err == nil {
			err = inParts(c.phases, work)
		}
		if err != nil {
			break
		}
		r.memory <- c.memory
	}
	cancel()
	<-done
	if err == nil { // a reader that was stopped reports no error of its own
		err = outer.Err()
	}
	return err
}

// read reads the attempts of a chunk and sorts them by phase. Rows come in any order, and rows of other phases may come
// between; within a phase they are put in the order of their keys, so that every run sums alike. The tasks are stored in
// memory, which is replaced by a larger slice if it is too small.
func (r *run) read(ctx context.Context, c *chunk, outliers bool, memory []fit.Task) ([]fit.Phase, []fit.Task, error) {
	tasks := memory
	if int64(cap(tasks)) < c.attempts {
		tasks = make([]fit.Task, c.attempts, max(c.attempts, c.room))
	}
	tasks = tasks[:c.attempts]
	phases := make([]fit.Phase, len(c.phases))
	index := make(map[schema.Key]int, len(c.phases))
	at := int64(0)
	for i, p := range c.phases {
		phases[i] = fit.Phase{ID: p.ID, Signature: p.signature, Tasks: tasks[at:at:min(at+p.Attempts, int64(len(tasks)))]}
		index[p.ID] = i
		at += p.Attempts
	}
	last, lastIndex := schema.Key(0), -1
	rows := taskRange{attempts: r.attempts(), low: c.low(), high: c.high(), outliers: outliers, timed: outliers && r.history, blank: r.blank}
	for t, err := range engine.Read[fit.Task](ctx, r.eng, rows.sql()) {
		if err != nil {
			return nil, tasks, err
		}
		if t.Phase != last || lastIndex < 0 {
			i, ok := index[t.Phase]
			if !ok {
				continue
			}
			last, lastIndex = t.Phase, i
		}
		p := &phases[lastIndex]
		p.Tasks = append(p.Tasks, *t)
	}
	var sorter sorter
	for i := range phases {
		sorter.byKey(phases[i].Tasks)
	}
	return phases, tasks, nil
}

// sorter sorts tasks by key: it sorts pairs of key and index, which are smaller to move.
type sorter struct {
	order []keyed
	tasks []fit.Task
}

type keyed struct {
	key   schema.Key
	place int32
}

func (s *sorter) byKey(tasks []fit.Task) {
	sorted := true
	for i := 1; i < len(tasks) && sorted; i++ {
		sorted = tasks[i-1].Attempt < tasks[i].Attempt
	}
	if sorted {
		return
	}
	s.order = s.order[:0]
	for i := range tasks {
		s.order = append(s.order, keyed{tasks[i].Attempt, int32(i)})
	}
	slices.SortFunc(s.order, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	s.tasks = append(s.tasks[:0], tasks...)
	for i, k := range s.order {
		tasks[i] = s.tasks[k.place]
	}
}

func (r *run) workers() int {
	if r.o.Workers > 0 {
		return r.o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// parallel calls f for every i under n, on all workers; a worker runs one call at a time.
func (r *run) parallel(n int, f func(worker, i int)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := 0
	const batch = 16
	for w := range r.workers() {
		wg.Go(func() {
			for {
				mu.Lock()
				from := next
				next += batch
				mu.Unlock()
				if from >= n {
					return
				}
				for i := from; i < min(n, from+batch); i++ {
					f(w, i)
				}
			}
		})
	}
	wg.Wait()
}
