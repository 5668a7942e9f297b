package replay_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// longFirst asks for the longest tasks first, and notes which were started.
type longFirst struct{ started []int32 }

func (l *longFirst) Look(v *replay.View, do *replay.Actions) replay.Again {
	do.LongestFirst()
	l.started = append(l.started[:0], v.Started()...)
	return replay.Again{End: true}
}

// Tasks start in descending order of their data, those of equal data in the order of the log, and take as long as there.
func TestLongestFirst(t *testing.T) {
	for _, tasks := range []int{2, 40, 5000} { // few are sorted by comparison, many by their digits
		r := rand.New(rand.NewPCG(uint64(tasks), 2))
		c := scenario.Cluster{Machines: scenario.Uniform(1, 5), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}}}}}
		for range tasks {
			bytes := []int64{-1, 0, 5, 1 << 20, 1<<20 + r.Int64N(1<<24), 1 << 40}[r.IntN(6)]
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: 1 + r.Float64(), Bytes: bytes})
		}
		p := workload.Build(c.Rows()).Pools[0]
		var want []int32
		for a := range p.Attempts {
			want = append(want, p.Attempts[a].Task)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(p.Tasks[b].Bytes, p.Tasks[a].Bytes) })
		var s replay.Sim
		l := &longFirst{}
		took := map[int32]int64{}
		s.Run(p, replay.Options{Policy: l, Watch: func(x replay.Span) { took[x.Task] = int64(x.End - x.Start) }})
		if !slices.Equal(l.started, want) {
			t.Errorf("%d tasks do not start in the order of their data", tasks)
		}
		for a := range p.Attempts {
			if at := &p.Attempts[a]; took[at.Task] != at.Dur {
				t.Errorf("task %d takes %d µs, in the log %d", at.Task, took[at.Task], at.Dur)
			}
		}
	}
}
