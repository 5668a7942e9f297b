package published

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/simulate"
	"straggler/whatif/workload"
)

// lab provides experiments with the policies and schedulers under test: the shipped ones, or mutants of them.
type lab struct {
	policy    func(name string, options ...string) (policy.Policy, error)
	scheduler func(choice, than string) string  // instead of a choice that is compared with another
	solved    *solutions                        // results computed so far, shared with other labs
	needs     func(paper string, part int) bool // whether an experiment runs; nil: all do
	arrivals  []float64                         // s, of a SWIM file's jobs; empty: only drawn ones are used
}

var shipped = lab{policy: named, scheduler: func(choice, _ string) string { return choice }}

// named returns a policy of the table with options, given as name, value, name, value, …
func named(name string, options ...string) (policy.Policy, error) {
	p, err := policy.ByName(name)
	for n := 0; err == nil && n < len(options); n += 2 {
		p, err = p.With(options[n], options[n+1])
	}
	return p, err
}

// solutions are the values that experiments calibrate and compare with, under names that contain everything that they depend
// on: they are the same in all labs, and so computed once for all of them.
type solutions struct {
	mu sync.Mutex
	by map[string]func() (any, error)
}

// solved returns the value with a name, computed by solve for the first caller.
func solved[T any](s *solutions, name string, solve func() (T, error)) (T, error) {
	s.mu.Lock()
	once, known := s.by[name]
	if !known {
		if s.by == nil {
			s.by = map[string]func() (any, error){}
		}
		once = sync.OnceValues(func() (any, error) { return solve() })
		s.by[name] = once
	}
	s.mu.Unlock()
	out, err := once()
	if err != nil {
		var none T
		return none, err
	}
	return out.(T), nil
}

// signature returns a policy as part of the name of a solution.
func signature(p policy.Policy) string { return p.Name + p.Parameters() }

// errStuck is returned for a plan that the engine cannot replay under a scheduler.
var errStuck = errors.New("published: the log's own order, and there is no log")

// outcome is the result of a replay, by job and in total.
type outcome struct {
	jobs         []float64 // completion times, seconds
	copies, wins float64
	waste, slots float64 // seconds
	moved        float64 // bytes read from other machines
	spans        []replay.Span
	losses       []replay.LossOutcome // by job
}

// mean returns the mean completion time.
func (o *outcome) mean() float64 { m, _ := moments(o.jobs); return m }

// sims reuse the memory of replays.
var sims = sync.Pool{New: func() any { return new(replay.Sim) }}

// play replays a pool under a scheduler and a policy. With spans it records what ran where.
func play(ctx context.Context, pool *workload.Pool, scheduler string, p policy.Policy, seed int64, sigma float64, spans bool) (*outcome, error) {
	chosen, err := schedule.Choose([]string{scheduler})
	if err != nil {
		return nil, err
	}
	if !chosen[0].Other() {
		return nil, errStuck
	}
	out := &outcome{}
	pool = chosen[0].Pool(pool)
	o := replay.Options{Policy: p.New(), Scheduler: chosen[0].New(), Seed: seed, Sigma: sigma, Stop: func() bool { return ctx.Err() != nil }}
	if o.Protector = p.Protector(pool); o.Protector != nil {
		// the pool is not from a log, so nothing is changed
	} else if f := p.Durations(nil); f != nil {
		o.Took = f(pool)
	}
	if spans {
		o.Watch = func(x replay.Span) { out.spans = append(out.spans, x) }
	}
	s := sims.Get().(*replay.Sim)
	defer sims.Put(s)
	r := s.Run(pool, o)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for _, j := range r.Jobs {
		out.jobs, out.losses = append(out.jobs, float64(j.Took)/1e6), append(out.losses, j.Losses)
		out.copies += float64(j.Copies)
		out.wins += float64(j.Wins)
		out.waste += float64(j.Waste) / 1e6
		out.slots += float64(j.Slots) / 1e6
		out.moved += float64(j.Read[workload.OffRack]+j.Read[workload.RackLocal]) + j.Fetched[workload.OffRack] + j.Fetched[workload.RackLocal]
	}
	return out, nil
}

// ran is the result of a workload by scheduler: the rows of its seeds.
type ran map[string][]*simulate.Result

// simulated runs a workload file, whose first scheduler is the one that the others are compared with.
func (t *table) simulated(ctx context.Context, text string) (ran, error) {
	w, err := simulate.Parse("workload", []byte(text))
	if err != nil {
		return nil, err
	}
	return t.simulate(ctx, text, w)
}

// simulate runs the workload in the file with that name.
func (t *table) simulate(ctx context.Context, name string, w *workload.File) (ran, error) {
	out := ran{}
	for n, s := range w.Schedulers {
		one := *w
		if one.Schedulers = []string{s}; n > 0 {
			one.Schedulers[0] = t.scheduler(s, w.Schedulers[0])
		}
		var err error
		out[s], err = solved(t.solved, fmt.Sprint(one.Schedulers, one.Seeds, name), func() (results []*simulate.Result, err error) {
			_, err = simulate.Run(ctx, &one, simulate.Options{Workers: 1, Each: func(r *simulate.Result) error {
				kept := *r
				kept.Samples = nil
				results = append(results, &kept)
				return nil
			}})
			return results, err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mean returns the mean of a figure over the seeds of a scheduler.
func (r ran) mean(scheduler string, of func(*simulate.Result) float64) float64 {
	sum := 0.0
	for _, x := range r[scheduler] {
		sum += of(x)
	}
	return sum / float64(len(r[scheduler]))
}

func makespan(x *simulate.Result) float64  { return x.Run.MakespanS }
func nodeLocal(x *simulate.Result) float64 { return x.Run.NodeLocal.V }
func rackLocal(x *simulate.Result) float64 { return x.Run.RackLocal.V }
