// Package published takes the papers' clusters and workloads, rebuilt from the numbers that the papers give, and gives
// each published number beside ours.
//
//  1. published.go lists the papers and runs their experiments; row.go says what comes of one number.
//  2. late.go, mantri.go, placement.go, recompute.go, … are the experiments, in the order of the papers' sections.
//  3. passing.tsv is the record of the numbers that are met, record.go holds a run against it.
//  4. page.go and markdown.go write a run for people.
//
// The traces that the papers used are not public. What had to be assumed stands in a row's note; nothing was chosen to
// meet a number. The tolerance says how far apart they may be: 0 for numbers that follow from a definition.
//
// Start with published.go.
package published

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// Paper is a paper with the experiments that rebuild its numbers.
type Paper struct {
	Name  string // as rows and the command line have it, in capitals and in small letters
	Title string
	parts []part
}

// part is an experiment: it adds its rows.
type part func(context.Context, *table) error

// Papers are all of them, in the order of their rows. A part runs on its own and shares nothing with others.
func Papers() []Paper {
	return []Paper{latePaper(), mantriPaper(), dollyPaper(), fairPaper(), quincyPaper()}
}

// Names are the papers' names as the command line has them.
func Names() []string {
	var names []string
	for _, p := range Papers() {
		names = append(names, strings.ToLower(p.Name))
	}
	return names
}

// Run rebuilds the experiments of some papers, of all when none is named, as many at once as there are processors, and
// gives their rows in the order of papers and sections. watch is told how many experiments are over; nil is nobody.
func Run(ctx context.Context, names []string, watch func(done, of int)) ([]Row, error) {
	var tables []*table
	for _, p := range Papers() {
		if len(names) > 0 && !slices.Contains(names, strings.ToLower(p.Name)) {
			continue
		}
		for _, f := range p.parts {
			tables = append(tables, &table{paper: p.Name, part: f})
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
	for n := range tables {
		next <- n
	}
	close(next)
	wg.Wait()
	return collect(tables, errs)
}

// collect puts the rows of all experiments together, or gives the first error that was not the end of the others.
func collect(tables []*table, errs []error) ([]Row, error) {
	var rows []Row
	var failed error
	for n, t := range tables {
		if errs[n] != nil && (failed == nil || isCancel(failed)) {
			failed = fmt.Errorf("published: %s: %w", t.paper, errs[n])
		}
		rows = append(rows, t.rows...)
	}
	if failed != nil {
		return nil, failed
	}
	return rows, nil
}

func isCancel(err error) bool { return errors.Is(err, context.Canceled) }

// table collects the rows of an experiment.
type table struct {
	paper string
	part  part
	rows  []Row
}

func (t *table) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	err := t.part(ctx, t)
	for i := range t.rows {
		t.rows[i].Seconds = time.Since(began).Seconds()
	}
	return err
}

// named is a policy of the table with options, given as name, value, name, value, …
func named(name string, options ...string) (policy.Policy, error) {
	p, err := policy.ByName(name)
	for n := 0; err == nil && n < len(options); n += 2 {
		p, err = p.With(options[n], options[n+1])
	}
	return p, err
}

// outcome is the sum of a replay over jobs.
type outcome struct {
	jobs         []float64 // completion times, seconds
	copies, wins float64
	waste, slots float64 // seconds
}

// mean is the mean completion time.
func (o *outcome) mean() float64 {
	sum := 0.0
	for _, j := range o.jobs {
		sum += j
	}
	return sum / float64(len(o.jobs))
}

// play replays a cluster under a policy.
func play(ctx context.Context, w *workload.Workload, p policy.Policy, seed int64, sigma float64) (*outcome, error) {
	out := &outcome{}
	var s replay.Sim
	for _, pool := range w.Pools {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := replay.Options{Policy: p.New(), Seed: seed, Sigma: sigma}
		if f := p.Durations(nil); f != nil {
			o.Took = f(pool)
		}
		r := s.Run(pool, o)
		if err := r.Err(); err != nil {
			return nil, err
		}
		for _, j := range r.Jobs {
			out.jobs = append(out.jobs, float64(j.Took)/1e6)
			out.copies += float64(j.Copies)
			out.wins += float64(j.Wins)
			out.waste += float64(j.Waste) / 1e6
			out.slots += float64(j.Slots) / 1e6
		}
	}
	return out, nil
}

func build(c *scenario.Cluster) *workload.Workload { return workload.Build(c.Rows()) }

// moments are the mean and the standard deviation of a sample.
func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(max(len(v)-1, 1)))
}
