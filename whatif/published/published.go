package published

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Paper is a paper with the experiments that rebuild its numbers.
type Paper struct {
	Name  string // as in rows and on the command line, in upper or lower case
	Title string
	parts []part
}

// part is an experiment: it adds its rows.
type part func(context.Context, *table) error

// papers lists all of them, in the order of their rows. A part runs on its own and shares nothing with others.
func papers() []Paper {
	return []Paper{latePaper(), mantriPaper(), dollyPaper(), fairPaper(), quincyPaper()}
}

// Names returns the papers' names as used on the command line.
func Names() []string {
	var names []string
	for _, p := range papers() {
		names = append(names, strings.ToLower(p.Name))
	}
	return names
}

// Run rebuilds the experiments of some papers, or of all if none is named, as many at once as there are processors, and returns
// their rows and figures in the order of papers and sections.
func Run(ctx context.Context, names []string, o Options) ([]Row, []Figure, error) {
	if n := swimWindows * dollyJobs; len(o.Arrivals) > 0 && len(o.Arrivals) < n {
		return nil, nil, fmt.Errorf("published: the SWIM file has %d jobs, and %d are needed", len(o.Arrivals), n)
	}
	l := shipped
	l.solved, l.arrivals = &solutions{}, o.Arrivals
	return run(ctx, names, l, o.Watch)
}

// Options of a run.
type Options struct {
	Watch    func(done, of int) // called with the number of finished experiments; may be nil
	Arrivals []float64          // s, of the jobs of a SWIM file, with which Dolly's and FAIR's experiments run too; empty: they do not
}

// run does this with the policies and schedulers of a lab.
func run(ctx context.Context, names []string, l lab, watch func(done, of int)) ([]Row, []Figure, error) {
	var tables []*table
	for _, p := range papers() {
		if len(names) > 0 && !slices.Contains(names, strings.ToLower(p.Name)) {
			continue
		}
		for n, f := range p.parts {
			if l.needs == nil || l.needs(p.Name, n) {
				tables = append(tables, &table{lab: l, paper: p.Name, part: f, number: n})
			}
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
		errs = make([]error, len(tables))
		next = make(chan int)
	)
	for range min(runtime.GOMAXPROCS(0), len(tables)) {
		wg.Go(func() {
			for n := range next {
				if errs[n] = tables[n].run(ctx); errs[n] != nil {
					stop()
				}
				mu.Lock()
				if done++; watch != nil {
					watch(done, len(tables))
				}
				mu.Unlock()
			}
		})
	}
	for n := range slices.Backward(tables) { // the longest are among the last; starting them first leaves nothing to wait for at the end
		next <- n
	}
	close(next)
	wg.Wait()
	return collect(tables, errs)
}

// collect concatenates the rows of all experiments, or returns the first error that did not result from stopping the others.
func collect(tables []*table, errs []error) ([]Row, []Figure, error) {
	var rows []Row
	var curves []Figure
	var failed error
	for n, t := range tables {
		if errs[n] != nil && (failed == nil || isCancel(failed)) {
			failed = fmt.Errorf("published: %s: %w", t.paper, errs[n])
		}
		rows, curves = append(rows, t.rows...), append(curves, t.figures...)
	}
	if failed != nil {
		return nil, nil, failed
	}
	return rows, append(curves, barFigures(rows)...), nil
}

func isCancel(err error) bool { return errors.Is(err, context.Canceled) }

// table collects the rows of an experiment.
type table struct {
	lab
	paper   string
	part    part
	number  int // of the part in its paper
	assumed []string
	rows    []Row
	figures []Figure
}

func (t *table) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	err := t.part(ctx, t)
	for i := range t.rows {
		t.rows[i].Seconds, t.rows[i].part = time.Since(began).Seconds(), t.number
	}
	return err
}
