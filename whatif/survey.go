package whatif

import (
	"fmt"

	"straggler/whatif/policy"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// survey holds what must be known about all pools before the first replay.
type survey struct {
	o       *Options
	notes   workload.Notes
	pools   int
	foreign string  // framework of an application that is not Spark's
	needs   []unmet // requirements of the scheduler and of each policy
	without int     // applications whose logs lack something that the scheduler needs
}

// unmet is what pools lack for a scheduler or policy.
type unmet struct {
	lacks error // of some pool
	can   bool  // some pool has everything
}

func (u *unmet) add(lacks error) { u.merge(unmet{lacks: lacks, can: lacks == nil}) }

// merge adds what later pools lack.
func (u *unmet) merge(o unmet) {
	u.can = u.can || o.can
	if o.lacks != nil {
		u.lacks = o.lacks
	}
}

func newSurvey(o *Options) *survey { return &survey{o: o, needs: make([]unmet, 1+len(o.Policies))} }

func (f *survey) add(w *workload.Workload) {
	f.notes.Add(&w.Notes)
	f.pools += len(w.Pools)
	for _, p := range w.Pools {
		for _, a := range p.Applications {
			if a.Framework != "spark" {
				f.foreign = a.Framework
			}
		}
		lacks := f.o.Scheduler.Lacks(p)
		if f.needs[0].add(lacks); lacks != nil {
			f.without += len(p.Applications)
		}
		for n, x := range f.o.Policies {
			f.needs[1+n].add(x.Lacks(p))
		}
	}
}

// merge adds the survey of later pools.
func (f *survey) merge(g *survey) {
	f.notes.Add(&g.notes)
	f.pools += g.pools
	f.without += g.without
	if g.foreign != "" {
		f.foreign = g.foreign
	}
	for n := range min(len(f.needs), len(g.needs)) {
		f.needs[n].merge(g.needs[n])
	}
}

// refused returns an error if no pool has what the scheduler or a policy needs.
func (f *survey) refused() error {
	for n, u := range f.needs {
		switch {
		case u.lacks == nil || u.can:
		case n == 0:
			return fmt.Errorf("scheduler %s: %w: %w", f.o.Scheduler, schedule.ErrLacks, u.lacks)
		default:
			return fmt.Errorf("policy %s: %w: %w", f.o.Policies[n-1].Name, policy.ErrLacks, u.lacks)
		}
	}
	if f.o.Errors != nil && !f.o.brief && allReported(&f.notes) {
		return fmt.Errorf("progress errors: %w: the log holds the progress of all attempts, so that policies see that, and none is made up; leave --progress-error out", policy.ErrLacks)
	}
	return nil
}
