package workload_test

import (
	"math"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// raced returns the log of a phase on three machines, the last of them twice as slow, with attempts that lost against copies.
func raced() *workload.Pool {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	t := &schema.Trace{Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}}}
	id := schema.Key(1000)
	for j := range schema.Key(6) {
		t.Jobs = append(t.Jobs, schema.Job{JobID: 10 + j, ApplicationID: 1, SubmitTime: at(float64(100 * j)), FinishTime: at(float64(100*j) + 80)})
		t.Phases = append(t.Phases, schema.Phase{PhaseID: 20 + j, JobID: 10 + j, Kind: "map"})
		add := func(task int64, machine string, from, till float64, status schema.AttemptStatus) {
			t.Attempts = append(t.Attempts, schema.Attempt{AttemptID: id, PhaseID: 20 + j, JobID: 10 + j, ApplicationID: 1, Task: task, Status: status,
				Machine: schema.Some(machine), StartTime: at(float64(100*j) + from), FinishTime: at(float64(100*j) + till),
				InputBytes: schema.Some(int64(1+task) << 20)})
			id++
		}
		for n := range int64(9) {
			took := (10 + float64(n) + float64(j%3)) * []float64{1, 1, 2}[n%3]
			add(n, []string{"a", "b", "c"}[n%3], 0, took, schema.Success)
		}
		add(9, "c", 0, 45.005, schema.Killed) // the copy on a ended 5 ms before it was gone
		add(9, "a", 20, 45, schema.Success)
	}
	return workload.Build(workloadtest.FromTrace(t)).Pools[0]
}

// A draw moves what is uncertain by as much as the model says, leaves the pool as it was, and is the same for the same seed.
func TestDraw(t *testing.T) {
	p := raced()
	slow := p.Machines[slices.IndexFunc(p.Machines, func(m workload.Machine) bool { return m.Name == "c" })]
	if !(slow.Factor > 1.5) || !(slow.SD > 0) {
		t.Fatalf("the slow machine: %+v", slow)
	}
	factor, work := p.Machines[0].Factor, p.Tasks[0].Work
	var s workload.Sample
	var sum, squares float64
	const seeds = 2000
	for seed := range int64(seeds) {
		q := s.Draw(p, seed+1)
		z := math.Log(float64(q.Machines[0].Factor / factor))
		sum += z
		squares += z * z
	}
	// pairs of seeds cancel
	if sd := math.Sqrt(squares / seeds); math.Abs(sd/float64(p.Machines[0].SD)-1) > 0.1 || math.Abs(sum) > 1e-3 {
		t.Errorf("ln(factor) was drawn with a standard deviation of %.4f about %g, want %.4f about 0", sd, sum/seeds, p.Machines[0].SD)
	}
	if p.Machines[0].Factor != factor || p.Tasks[0].Work != work {
		t.Error("a draw changed the pool")
	}
	var other workload.Sample
	a, b := s.Draw(p, 7), other.Draw(p, 7)
	if !slices.Equal(a.Ratios, b.Ratios) || !slices.Equal(a.Attempts, b.Attempts) {
		t.Error("two draws of one seed differ")
	}
	// What a task took is not uncertain: it is still its work × its ratio × the factor of its machine.
	for n := range a.Tasks {
		x := &a.Tasks[n]
		if x.Ratio < 0 {
			continue
		}
		at := p.RatioOf[p.Phases[x.Phase].FirstRatio+x.Ratio]
		took := float64(x.Work) * float64(a.Ratios[p.Phases[x.Phase].FirstRatio+x.Ratio]) * float64(a.Machines[p.Slots[p.Attempts[at].Slot].Machine].At(0))
		if want := float64(p.Attempts[at].Dur) / 1e6; math.Abs(took/want-1) > 1e-4 {
			t.Errorf("task %d took %g s, and the draw says %g", n, want, took)
		}
	}
}

// An attempt that lost would have taken longer than it ran.
func TestLosersOutlive(t *testing.T) {
	p := raced()
	if len(p.Losers) != 6 {
		t.Fatalf("%d attempts lost, want 6", len(p.Losers))
	}
	var s workload.Sample
	seen := map[int64]bool{}
	for seed := range int64(50) {
		q := s.Draw(p, seed)
		for _, a := range p.Losers {
			if q.Attempts[a].Dur <= p.Attempts[a].Dur || !q.Attempts[a].Ok || p.Attempts[a].Ok {
				t.Fatalf("seed %d: a loser takes %d µs, and ran %d", seed, q.Attempts[a].Dur, p.Attempts[a].Dur)
			}
			seen[q.Attempts[a].Dur] = true
		}
	}
	calm := raced()
	calm.Losers = nil
	kept := slices.Clone(calm.Attempts)
	s.Draw(calm, 1)
	calm.Attempts[0].Dur, kept[0].Dur = 1, 1
	s.Draw(p, 1)
	if !slices.Equal(calm.Attempts, kept) {
		t.Error("the draw of one pool wrote into another")
	}
	if len(seen) < 20 {
		t.Errorf("only %d durations in 50 draws of 6 losers", len(seen))
	}
}

// Another run scatters as the phase does: attempts by its sigma, and all of a machine together.
func TestAgain(t *testing.T) {
	p := raced()
	var all, means moments
	const seeds = 3000
	for seed := range int64(seeds) {
		took := p.Again(seed)
		mean := 0.0
		for a := range took {
			z := math.Log(float64(took[a]) / float64(p.Attempts[a].Dur))
			all.add(z)
			mean += z / float64(len(took))
		}
		means.add(mean)
	}
	sigma := float64(p.Phases[0].Sigma)
	if want := math.Sqrt(sigma*sigma + 0.03*0.03 + 0.04*0.04); math.Abs(all.sd()/want-1) > 0.2 { // phases differ in sigma
		t.Errorf("attempts differ by %.3f, want about %.3f", all.sd(), want)
	}
	if least := 0.03 / math.Sqrt(3); means.sd() < least { // three machines; independent attempts alone would come to less
		t.Errorf("runs differ by %.4f as a whole, want at least %.4f", means.sd(), least)
	}
}

type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }
func (m *moments) sd() float64   { return math.Sqrt(m.squares/m.n - m.sum/m.n*m.sum/m.n) }

// Five tasks of which three took half a minute and two a quarter of an hour have an enormous scatter; another run of them does
// not last for days.
func TestAnotherRunOfFewUnlikeTasks(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	tr := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "nextflow"}},
		Jobs:         []schema.Job{{JobID: 1, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(910)}},
		Phases:       []schema.Phase{{PhaseID: 1, JobID: 1, Kind: "process"}},
	}
	for i, took := range []float64{33, 39, 35, 908, 910} {
		tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: schema.Key(1 + i), PhaseID: 1, JobID: 1, ApplicationID: 1, Task: int64(i),
			Status: schema.Success, StartTime: at(0), FinishTime: at(took)})
	}
	p := workload.Build(workloadtest.FromTrace(tr)).Pools[0]
	most, least := int64(0), int64(math.MaxInt64)
	for seed := range int64(200) {
		took := p.Again(seed)
		most, least = max(most, slices.Max(took)), min(least, slices.Max(took))
	}
	if most > 10*910e6 || least >= 910e6 {
		t.Errorf("the longest task takes %d to %d s in other runs", least/1e6, most/1e6)
	}
}
