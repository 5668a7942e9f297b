package policy_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"straggler/cputime"
	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// phaseOf returns the log of one phase of n tasks that took the first free of 10 000 slots on 1 000 machines, one task in fifty
// unlucky.
func phaseOf(n int) *workload.Pool {
	const slots = 10
	r := rand.New(rand.NewPCG(7, 7))
	rows := &workload.Rows{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}}, Jobs: []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: schema.Some(schema.Time(0))}},
		Phases: []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", SubmitTime: schema.Some(schema.Time(0))}},
	}
	var free slotHeap
	for m := range int32(1000) {
		name := fmt.Sprintf("m%04d", m)
		rows.Intern(name)
		rows.Machines = append(rows.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(slots))})
		rows.Factors = append(rows.Factors, 1)
		for range slots {
			free = append(free, freeSlot{0, m})
		}
	}
	for task := range n {
		took := 60 + 60*r.Float64()
		if r.IntN(50) == 0 {
			took *= 3 + r.ExpFloat64()
		}
		x := &free[0]
		rows.Attempts = append(rows.Attempts, workload.LoggedAttempt{
			ID: schema.Key(10 + task), Phase: 3, Task: int64(task), Start: x.at, Finish: x.at + int64(took*1e6),
			Bytes: int64(48<<20 + r.IntN(32<<20)), Records: -1, Machine: x.machine, Executor: -1,
		})
		x.at += int64(took * 1e6)
		heap.Fix(&free, 0)
	}
	return workload.Build(rows).Pools[0]
}

// slotHeap is slots by when they are free.
type slotHeap []freeSlot

type freeSlot struct {
	at      int64
	machine int32
}

func (h slotHeap) Len() int           { return len(h) }
func (h slotHeap) Less(a, b int) bool { return h[a].at < h[b].at }
func (h slotHeap) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *slotHeap) Push(any)          {}
func (h *slotHeap) Pop() any          { return nil }

// BenchmarkOnePhase is the growth of each policy with the size of a phase: ns/task must not grow, and stay within 3 times
// that of none.
func BenchmarkOnePhase(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		var p *workload.Pool
		for _, spec := range policy.Specs() {
			if spec.Ideal {
				continue
			}
			pol, err := policy.ByName(spec.Name)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", spec.Name, n), func(b *testing.B) {
				if p == nil {
					p = phaseOf(n)
				}
				s := timed(b, p, options(pol, p, 1), pol.New)
				if spec.Name == "mantri" {
					b.ReportMetric(carriedOut(b, s, p, options(pol, p, 1)), "cpu-ns/task-carried-out")
				}
			})
		}
		b.Run(fmt.Sprintf("longest-first/%d", n), func(b *testing.B) {
			if p == nil {
				p = phaseOf(n)
			}
			timed(b, p, replay.Options{}, func() replay.Policy { return longestFirst{} })
		})
	}
}

// carriedOut returns what a policy's decisions cost by themselves, in ns of processor time a task: a replay without its looks. No
// policy that decides as this one does can take less.
func carriedOut(b *testing.B, s *replay.Sim, p *workload.Pool, o replay.Options) float64 {
	l := &looks{Policy: o.Policy, b: b}
	o.Policy = l
	before := cputime.Used().Seconds()
	s.Run(p, o)
	return (cputime.Used().Seconds() - before - l.took) * 1e9 / float64(p.NumTasks())
}

// looks is a policy and the processor time that its looks took. It must not look at every end: reading the clock takes time.
type looks struct {
	replay.Policy
	b    *testing.B
	took float64
}

func (l *looks) Look(v *replay.View, do *replay.Actions) replay.Again {
	before := cputime.Used().Seconds()
	defer func() { l.took += cputime.Used().Seconds() - before }()
	return l.Policy.Look(v, do)
}

// longestFirst is what Mantri's order of tasks costs by itself: their memory is read out of order.
type longestFirst struct{}

func (longestFirst) Look(_ *replay.View, do *replay.Actions) replay.Again {
	do.LongestFirst()
	return replay.Again{}
}

func timed(b *testing.B, p *workload.Pool, o replay.Options, pol func() replay.Policy) *replay.Sim {
	var s replay.Sim
	run := func() int32 {
		o.Policy = pol()
		return s.Run(p, o).Jobs[0].Copies
	}
	copies := run()
	before := cputime.Used().Seconds()
	for b.Loop() {
		run()
	}
	b.ReportMetric((cputime.Used().Seconds()-before)*1e9/float64(b.N)/float64(p.NumTasks()), "cpu-ns/task")
	b.ReportMetric(float64(copies)/float64(p.NumTasks()), "copies/task")
	return &s
}
