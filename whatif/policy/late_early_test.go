package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// While tasks wait LATE does the same, to the microsecond, whether it estimates the time left of every attempt at every look or
// of those only whose bounds do not rule them out: with few and many copies allowed, thresholds that most or few rates are
// under, durations that rise and fall over the phase, errors of progress small and large, attempts that fail, and copies of the
// log's own.
func TestLateBounds(t *testing.T) {
	told, not, copied, counted := 0, 0, 0, 0
	var s replay.Sim
	for seed := range uint64(36) {
		r := rand.New(rand.NewPCG(seed, 11))
		c := onePhase(20 + r.IntN(60))
		trend := []float64{-0.8, 0, 1.5}[seed%3]
		const tasks = 500
		for n := range tasks {
			task := scenario.Task{Seconds: (30 + 60*r.Float64()) * (1 + trend*float64(n)/tasks)}
			if r.IntN(10) == 0 {
				task.Luck = 1.5 + 4*r.Float64()
			}
			if seed%4 == 3 && r.IntN(20) == 0 {
				task.Reports = []workload.Point{{At: 0.3, Score: 0.6}, {At: 0.7, Score: 0.9}}
			}
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, task)
		}
		rows := c.Rows()
		if seed%2 == 0 { // some fail, some have a copy in the log
			for n := range rows.Attempts {
				a := &rows.Attempts[n]
				switch r.IntN(12) {
				case 0:
					again := *a
					again.ID, again.Number = a.ID+1_000_000, 1
					again.Start, again.Finish = a.Finish, a.Finish+(a.Finish-a.Start)/2
					a.Ending = workload.Failed
					rows.Attempts = append(rows.Attempts, again)
				case 1:
					copied := *a
					copied.ID, copied.Number, copied.Copy = a.ID+2_000_000, 1, true
					copied.Start = a.Start + (a.Finish-a.Start)/8
					copied.Finish = a.Start + (a.Finish-a.Start)/4
					copied.Ending = workload.Killed
					rows.Attempts = append(rows.Attempts, copied)
				}
			}
		}
		l := policy.LATE{Cap: []float64{0.02, 0.1, 0.9}[seed/3%3], SlowNode: 0.25, SlowTask: []float64{0.05, 0.25, 0.6, 1}[seed%4], Age: float64(10 * (seed % 5)), Heartbeat: 1, Early: true, Phases: 1}
		p := workload.Build(rows).Pools[0]
		var did [2][]replay.Span
		bounding := policy.NewBounding(l)
		for n, pol := range []replay.Policy{bounding, policy.NewEstimating(l)} {
			s.Run(p, replay.Options{Policy: pol, Seed: int64(seed), Sigma: []float64{0.03, 0.3, 0.8}[seed/2%3], Watch: func(x replay.Span) {
				did[n] = append(did[n], x)
				if n == 0 && x.Number > 0 {
					copied++
				}
			}})
		}
		if !slices.Equal(did[0], did[1]) {
			t.Errorf("seed %d: what LATE does depends on which attempts it estimates", seed)
		}
		if bounding.Wrong > 0 {
			t.Errorf("seed %d: at %d of %d looks a rate is not slow that is by an earlier count", seed, bounding.Wrong, bounding.Counted)
		}
		told, not, counted = told+bounding.Decided, not+bounding.Undecided, counted+bounding.Counted
	}
	t.Logf("%d looks at which bounds told enough, %d at which they did not, %d that an earlier count serves, %d copies", told, not, counted, copied)
	if told == 0 || not == 0 || copied == 0 || counted == 0 {
		t.Error("the law says nothing")
	}
}
