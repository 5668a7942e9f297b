package causes

import (
	"fmt"
	"strconv"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// From tasks to verdicts: two thousand machines with two or three tasks in each of eight phases, with three tasks in a
// hundred slow by themselves. If no machine is bad, none is named; with forty bad ones most are, and at most one in twenty of
// those named is healthy. A verdict that disagrees with the interval says why.
func TestFalseDiscoveriesFromTasks(t *testing.T) {
	for _, bad := range []int{0, 40} {
		var named, wrong int
		for seed := range uint64(3) {
			rows, speed := slowCluster(11+seed, bad)
			for _, r := range rows {
				if r.Verdict != schema.Slow && r.Verdict != schema.Flaky {
					continue
				}
				named++
				if speed[r.number] == 1 {
					wrong++
				}
				if r.FactorLow.V <= r.Generation.V && !r.Note.OK {
					t.Errorf("machine %d is %s with a factor of %.2f to %.2f in a generation of %.2f, and no word why", r.number, r.Verdict,
						r.FactorLow.V, r.FactorHigh.V, r.Generation.V)
				}
			}
		}
		t.Logf("%d bad: %d named of three clusters, %d of them healthy", bad, named, wrong)
		if wrong*20 > named || named-wrong < 3*bad*3/4 {
			t.Errorf("%d bad: %d named, %d of them healthy", bad, named, wrong)
		}
	}
}

// slowCluster judges two thousand machines, some of which take 1.8 times as long.
func slowCluster(seed uint64, bad int) (rows []numbered, speed []float64) {
	c := causestest.New(seed, 2000)
	c.Slots = 1
	for k := range bad {
		c.Speed[k*37] = 1.8
	}
	l := model.NewLearner(3600, nil, nil)
	for range 8 {
		c.Now = 1_700_000_000_000_000 // all in one window
		l.Observe(c.Phase(5000, 10, nil, func(_ *fit.Task, body *float64) {
			if c.Rng.Float64() < 0.03 {
				*body *= 2 + 3*c.Rng.Float64()
			}
		}))
	}
	m := l.Model()
	h := machines.Health{Factors: &m.Machines, FalseDiscoveryRate: 0.05, OutlierProbability: m.Outliers.Probability}
	return byNumber(&h), c.Speed
}

type numbered struct {
	schema.MachineHealth
	number int64
}

func byNumber(h *machines.Health) (out []numbered) {
	h.Factors.Names = nil
	for k := range h.Factors.Machines {
		h.Factors.Names = append(h.Factors.Names, fmt.Sprint(k))
	}
	for _, r := range h.Rows() {
		n, _ := strconv.ParseInt(r.Machine, 10, 64)
		out = append(out, numbered{r, n})
	}
	return out
}
