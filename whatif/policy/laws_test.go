package policy_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/published"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// Laws that every policy of the table obeys on every generated trace.

// all returns the policies of the table with options that let them act on small clusters too.
func all(t testing.TB) []policy.Policy {
	t.Helper()
	var out []policy.Policy
	for _, spec := range policy.Specs() {
		p, err := policy.ByName(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
		if spec.Name == "dolly" {
			for _, admission := range []string{"admission", "preempt", "fcfs"} {
				q := set(t, set(t, set(t, p, "budget", "0.5"), "ceiling", "2"), "admission", admission)
				out = append(out, q)
			}
		}
	}
	return out
}

func set(t testing.TB, p policy.Policy, option, value string) policy.Policy {
	t.Helper()
	p, err := p.With(option, value)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// idler looks at everything, all the time, and does nothing.
type idler struct{ seen float64 }

func (i *idler) Look(v *replay.View, _ *replay.Actions) replay.Again {
	running := v.Running()
	for n := range running {
		i.seen += v.Progress(&running[n])
	}
	return replay.Again{At: v.Now() + 500*replay.Millisecond, End: true}
}

// Law 6 of the design: a policy that does nothing equals none to the microsecond.
func TestIdlerIsNone(t *testing.T) {
	var s replay.Sim
	for seed := range uint64(20) {
		for _, p := range cluster(seed, 10, 5).Pools {
			none := slices.Clone(s.Run(p, replay.Options{}).Jobs)
			idle := s.Run(p, replay.Options{Policy: &idler{}, Sigma: 0.2}).Jobs
			if !slices.Equal(none, idle) {
				t.Fatalf("seed %d: none %v, a policy that does nothing %v", seed, none, idle)
			}
		}
	}
}

// Every job ends; a policy that made no copies wasted nothing; nothing ran twice on a slot at once; and a pool never gave
// more slot time than it has.
func TestInvariants(t *testing.T) {
	var s replay.Sim
	copies := map[string]int32{}
	for seed := range uint64(12) {
		w := cluster(seed, 12, 6)
		for _, pol := range all(t) {
			for i, p := range w.Pools {
				var spans []replay.Span
				o := options(pol, p, int64(seed))
				o.Watch = func(x replay.Span) { spans = append(spans, x) }
				out := s.Run(p, o)
				if err := out.Err(); err != nil {
					t.Fatalf("%s seed %d pool %d: %v", pol.Name, seed, i, err)
				}
				for j, job := range out.Jobs {
					copies[pol.Name] += job.Copies
					if job.Copies == 0 && (job.Waste != 0 || job.Wins != 0 || job.Kills != 0) {
						t.Errorf("%s seed %d job %d: no copies, but %+v", pol.Name, seed, j, job)
					}
					if job.Waste > job.Slots || job.Wins > job.Copies {
						t.Errorf("%s seed %d job %d: %+v", pol.Name, seed, j, job)
					}
				}
				checkSlots(t, pol.Name, spans)
			}
		}
	}
	for _, name := range []string{"hadoop", "mapreduce", "dryad", "late", "late-early", "mantri", "dolly", "spark", "spark3", "spark4", "mrv2", "mrv2-intended"} {
		if copies[name] == 0 {
			t.Errorf("%s never made a copy, so that the laws say nothing about it", name)
		}
	}
}

func options(pol policy.Policy, p *workload.Pool, seed int64) replay.Options {
	o := replay.Options{Policy: pol.New(), Seed: seed, Sigma: 0.1}
	if f := pol.Durations(nil); f != nil {
		o.Took = f(p)
	}
	return o
}

func checkSlots(t *testing.T, name string, spans []replay.Span) {
	t.Helper()
	slices.SortFunc(spans, func(a, b replay.Span) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	for n := 1; n < len(spans); n++ {
		if a, b := spans[n-1], spans[n]; a.Slot == b.Slot && b.Start < a.End {
			t.Fatalf("%s: slot %d runs %+v and %+v", name, a.Slot, a, b)
		}
	}
}

// Law 7: the same seed gives the same bytes, and what ran before in the same simulator does not matter.
func TestSameSeedSameOutcome(t *testing.T) {
	var used replay.Sim
	for _, pol := range all(t) {
		for seed := range int64(3) {
			p := cluster(uint64(seed)+40, 8, 6).Pools[0]
			a := slices.Clone(used.Run(p, options(pol, p, seed)).Jobs)
			var fresh replay.Sim
			if b := fresh.Run(p, options(pol, p, seed)).Jobs; !slices.Equal(a, b) {
				t.Errorf("%s seed %d: %v, then %v", pol.Name, seed, a, b)
			}
		}
	}
}

// scaled returns the policies with every option in seconds doubled.
func scaled(t testing.TB, p policy.Policy) policy.Policy {
	for _, o := range p.Options() {
		if o.Unit == "s" && o.Default != "log" {
			x := 0.0
			if _, err := fmt.Sscan(o.Default, &x); err != nil {
				t.Fatal(err)
			}
			p = set(t, p, o.Name, fmt.Sprint(2*x))
		}
	}
	return p
}

// Law 3: doubling all times, those in the options included, doubles all completion times, up to the rounding of copies
// to microseconds.
func TestDoubling(t *testing.T) {
	var s, s2 replay.Sim
	for _, name := range []string{"none", "hadoop", "mapreduce", "dryad", "late", "dolly", "spark3", "spark4", "noskew", "choptail", "medianrate"} {
		pol, err := policy.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(40) {
			c := random(seed, 1, 6)
			p := workload.Build(c.Rows()).Pools[0]
			for j := range c.Jobs {
				c.Jobs[j].Arrival *= 2
				for ph := range c.Jobs[j].Phases {
					for n := range c.Jobs[j].Phases[ph].Tasks {
						c.Jobs[j].Phases[ph].Tasks[n].Seconds *= 2
					}
				}
			}
			q := workload.Build(c.Rows()).Pools[0]
			one, two := s.Run(p, options(pol, p, 1)).Jobs, s2.Run(q, options(scaled(t, pol), q, 1)).Jobs
			for j := range one {
				if d := math.Abs(float64(two[j].Took) - 2*float64(one[j].Took)); d > 50+1e-6*float64(one[j].Took) || one[j].Copies != two[j].Copies {
					t.Errorf("%s seed %d job %d: %d µs and %d copies, doubled %d µs and %d", name, seed, j, one[j].Took, one[j].Copies, two[j].Took, two[j].Copies)
				}
			}
		}
	}
}

// No policy beats a clairvoyant: on tiny instances of one phase, the optimal schedule (found by trying all of them) of
// the shortest attempt that each task ever could have, original or one of its copies.
func TestOptimumBounds(t *testing.T) {
	var s replay.Sim
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := scenario.Cluster{Machines: scenario.Uniform(2+r.IntN(2), 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
		n := 3 + r.IntN(5)
		for range n {
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: 50, Luck: 1 + 4*r.Float64()*r.Float64(), Bytes: 1})
		}
		p := workload.Build(c.Rows()).Pools[0]
		// A copy draws its ratio from the other tasks, and work is the same for all: no attempt is shorter than the
		// shortest task.
		least := math.Inf(1)
		var longest, work float64
		for _, task := range c.Jobs[0].Phases[0].Tasks {
			least = min(least, task.Seconds*task.Luck)
			longest, work = max(longest, task.Seconds*task.Luck), work+task.Seconds*task.Luck
		}
		best := make([]float64, n)
		for i, task := range c.Jobs[0].Phases[0].Tasks {
			best[i] = min(task.Seconds*task.Luck, least)
		}
		bound := published.Optimum(best, len(c.Machines))
		for _, pol := range all(t) {
			if pol.Ideal {
				continue
			}
			out := s.Run(p, options(pol, p, int64(seed)))
			took := float64(out.Jobs[0].Took) / 1e6
			if took < bound-1e-5 {
				t.Errorf("%s seed %d: %g s, the optimum is %g s", pol.Name, seed, took, bound)
			}
			if used := float64(out.Jobs[0].Slots) / 1e6 / float64(len(c.Machines)); took < used-1e-5 {
				t.Errorf("%s seed %d: %g s, but %g s of work a slot", pol.Name, seed, took, used)
			}
			if pol.Name == "none" && (took < max(work/float64(len(c.Machines)), longest)-1e-5 || took > work/float64(len(c.Machines))+longest) {
				t.Errorf("seed %d: none takes %g s, outside of MANTRI §3.1: max(%g, %g) … their sum", seed, took, work/float64(len(c.Machines)), longest)
			}
		}
	}
}

// Law 6: no policy is handed the future. What tasks that have not started at an instant will take, and for policies that
// are told no progress also what running ones still take, changes nothing of what is done until then.
func TestPoisonedFuture(t *testing.T) {
	for _, pol := range all(t) {
		if pol.Ideal || pol.Name == "spark" || pol.Name == "spark3" || pol.Name == "spark4" {
			pol = quiet(t, pol)
		}
		if pol.Ideal {
			continue
		}
		for seed := range uint64(8) {
			p := cluster(seed, 8, 6).Pools[0]
			for _, at := range []replay.Time{100 * replay.Second, 700 * replay.Second, 2500 * replay.Second} {
				poison(t, pol, p, int64(seed), at)
			}
		}
	}
}

// quiet turns off the one rule of Spark that looks at progress.
func quiet(t *testing.T, p policy.Policy) policy.Policy {
	if p.Ideal {
		return p
	}
	return set(t, p, "efficiency", "0")
}

func poison(t *testing.T, pol policy.Policy, p *workload.Pool, seed int64, at replay.Time) {
	t.Helper()
	record := func(took []int64) (spans []replay.Span) {
		var s replay.Sim
		o := options(pol, p, seed)
		o.Took = took
		o.Watch = func(x replay.Span) { spans = append(spans, x) }
		s.Run(p, o)
		return spans
	}
	clean := p.Durations()
	before := record(clean)
	poisoned := slices.Clone(clean)
	for _, x := range before {
		if a := x.Observed(); a >= 0 && (x.Start > at || !pol.Progress && x.End > at) {
			poisoned[a] = 3*poisoned[a] + int64(at)
		}
	}
	after := record(poisoned)
	if a, b := until(before, at), until(after, at); !slices.Equal(a, b) {
		t.Fatalf("%s seed %d: what happens after %g s changes what was done before:\n%v\n%v", pol.Name, seed, at.Seconds(), a, b)
	}
}

// until lists what had been started and killed by an instant.
func until(spans []replay.Span, at replay.Time) []string {
	var out []string
	for _, x := range spans {
		if x.Start <= at {
			out = append(out, fmt.Sprintf("start %d/%d.%d on %d at %d", x.Phase, x.Task, x.Number, x.Slot, x.Start))
		}
		if x.Killed && x.End <= at {
			out = append(out, fmt.Sprintf("kill %d/%d.%d at %d", x.Phase, x.Task, x.Number, x.End))
		}
	}
	slices.Sort(out)
	return out
}
