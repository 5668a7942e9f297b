package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// Options of a simulation.
type Options struct {
	From    workload.Source
	Workers int                   // 0: one a core
	Done    func(runs, of int)    // is called after every run; may be nil
	Each    func(r *Result) error // is called with every run, in order; may be nil. A run's jobs and samples are not kept
}

// Summary is what a simulation gave.
type Summary struct {
	Workload *workload.File
	Runs     []Result // without jobs and samples
	Of       int      // runs that were asked for; more than there are when it was interrupted
}

// unit is one run.
type unit struct {
	n         int
	scheduler schedule.Scheduler
	policy    policy.Policy
	seed      int64
	result    *Result
	err       error
}

// Run replays a workload under each of its schedulers, policies and seeds. When the context ends, what has been finished
// in order is in the summary, and the error is the context's.
func Run(ctx context.Context, w *workload.File, o Options) (*Summary, error) {
	units, err := units(w)
	if err != nil {
		return nil, err
	}
	s := &Summary{Workload: w, Of: len(units)}
	in, err := w.Load(ctx, o.From)
	if err != nil {
		return s, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	err = each(ctx, w, in, units, o, func(r *Result) error {
		if o.Each != nil {
			if err := o.Each(r); err != nil {
				return err
			}
		}
		kept := *r
		kept.Jobs, kept.Samples = nil, nil
		s.Runs = append(s.Runs, kept)
		if o.Done != nil {
			o.Done(len(s.Runs), len(units))
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("simulate: %w", err)
	}
	return s, err
}

// units returns the runs of a workload: those of a seed together, so that its jobs are drawn once.
func units(w *workload.File) ([]*unit, error) {
	schedulers, err := schedulersOf(w)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", workload.ErrFile, err)
	}
	policies, err := policiesOf(w)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", workload.ErrFile, err)
	}
	var out []*unit
	for seed := range int64(w.Seeds) {
		for _, sched := range schedulers {
			for _, pol := range policies {
				out = append(out, &unit{n: len(out), scheduler: sched, policy: pol, seed: seed + 1})
			}
		}
	}
	return out, nil
}

// seedPool is the pool of a seed, made by whoever needs it first and dropped by whoever needs it last.
type seedPool struct {
	once  sync.Once
	pool  *workload.Pool
	err   error
	users int
	lock  sync.Mutex
}

// each replays units, several at once, and hands their results to do in order.
func each(ctx context.Context, w *workload.File, in *workload.Loaded, units []*unit, o Options, do func(*Result) error) error {
	pools := map[int64]*seedPool{}
	for _, u := range units {
		if pools[u.seed] == nil {
			pools[u.seed] = &seedPool{}
		}
		pools[u.seed].users++
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	next, done := make(chan *unit), make([]chan struct{}, len(units))
	for n := range done {
		done[n] = make(chan struct{})
	}
	tokens := make(chan struct{}, 2*o.Workers) // results held in memory
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	for range o.Workers {
		wait.Go(func() {
			var sim replay.Sim
			for u := range next {
				u.result, u.err = play(work, w, &sim, u, pools[u.seed], in)
				close(done[u.n])
			}
		})
	}
	wait.Go(func() {
		defer close(next)
		for _, u := range units {
			select {
			case tokens <- struct{}{}:
			case <-work.Done():
				return
			}
			select {
			case next <- u:
			case <-work.Done():
				return
			}
		}
	})
	for n, u := range units {
		select {
		case <-done[n]:
		case <-ctx.Done():
			return ctx.Err()
		}
		<-tokens
		if u.err != nil {
			return u.err
		}
		if err := do(u.result); err != nil {
			return err
		}
		u.result = nil
	}
	return nil
}

// errStopped is a replay that was given up.
var errStopped = errors.New("interrupted")

// play runs a unit.
func play(ctx context.Context, w *workload.File, sim *replay.Sim, u *unit, of *seedPool, in *workload.Loaded) (*Result, error) {
	of.once.Do(func() {
		var plan *workload.Plan
		if plan, of.err = in.Plan(u.seed); of.err == nil {
			of.pool, of.err = plan.Build()
		}
	})
	if of.err != nil {
		return nil, of.err
	}
	p := u.scheduler.Pool(of.pool)
	t := newTally(w, u, p)
	out := sim.Run(p, replay.Options{
		Policy: u.policy.New(), Scheduler: u.scheduler.New(), Protector: u.policy.Protector(p), Seed: u.seed, Sigma: w.Sigma,
		Stop: func() bool { return ctx.Err() != nil }, Sample: t.sample, Every: t.every,
	})
	if ctx.Err() != nil {
		return nil, errors.Join(errStopped, ctx.Err())
	}
	if err := out.Err(); err != nil {
		return nil, fmt.Errorf("scheduler %s, policy %s, seed %d: %w", u.scheduler, u.policy.Name, u.seed, err)
	}
	t.sum(sim, out)
	of.lock.Lock()
	defer of.lock.Unlock()
	if of.users--; of.users == 0 {
		of.pool = nil
	}
	return t.Result, nil
}
