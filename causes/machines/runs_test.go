package machines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"straggler/schema"
)

// runOf makes the parts of a run: three stages, two tasks of each on every machine; slow says how many times its usual time a
// machine takes for a stage, and how many times as long its tasks wait.
func runOf(r *rand.Rand, names []string, slow func(machine, stage int) (factor, waiting float64)) []RunPart {
	var parts []RunPart
	for m, name := range names {
		for stage := range 3 {
			f, w := slow(m, stage)
			usual := 10 * float64(stage+1)
			parts = append(parts, RunPart{Application: 7, Phase: schema.Key(stage), Machine: name, Tasks: 2, UsualS: usual, Within: 0.1,
				MedianS: usual * f * math.Exp(0.08*r.NormFloat64()), WaitS: schema.Some(5 * w), UsualWaitS: schema.Some(5.0)})
		}
	}
	return parts
}

func machineNames(n int, format string) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf(format, i))
	}
	return names
}

func named(rows []schema.MachineHealth) (slow []string) {
	for i := range rows {
		if rows[i].Verdict == schema.Slow {
			slow = append(slow, rows[i].Machine)
		}
	}
	return slow
}

func TestJudgeRun(t *testing.T) {
	usual := func(int, int) (float64, float64) { return 1, 1 }
	for _, c := range []struct {
		name string
		slow func(machine, stage int) (float64, float64)
		want string
	}{
		{"a run as usual", usual, ""},
		{"one machine takes twice the time", func(m, _ int) (float64, float64) { return 1 + float64(m/9), 1 }, "m09"},
		{"in most stages", func(m, s int) (float64, float64) { return 1 + float64(m/9)*float64(min(s, 1)), 1 }, "m09"},
		{"all machines take three times the time", func(int, int) (float64, float64) { return 3, 1 }, ""},
		{"one stage is slow everywhere", func(_, s int) (float64, float64) { return 1 + float64(s), 1 }, ""},
		{"and a machine in it more", func(m, s int) (float64, float64) { return (1 + float64(s)) * (1 + float64(m/9)), 1 }, "m09"},
		{"a machine is faster", func(m, _ int) (float64, float64) { return 1 / (1 + float64(m/9)), 1 }, ""},
	} {
		r := rand.New(rand.NewPCG(1, 16))
		rows := JudgeRun(runOf(r, machineNames(10, "m%02d"), c.slow), nil, 0.05, 0.01).Rows
		if got := strings.Join(named(rows), " "); got != c.want || len(rows) != 10 {
			t.Errorf("%s: %q is called slow of %d, want %q", c.name, got, len(rows), c.want)
		}
		for i := range rows {
			if h := &rows[i]; h.ApplicationID != schema.Some[schema.Key](7) || h.Attempts != 6 || h.Phases != 3 ||
				!(h.FactorLow.V <= h.Factor.V && h.Factor.V <= h.FactorHigh.V) {
				t.Errorf("%s: %+v", c.name, h)
			}
		}
		// Times of all stages k-fold change nothing.
		r = rand.New(rand.NewPCG(1, 16))
		scaled := runOf(r, machineNames(10, "m%02d"), c.slow)
		for i := range scaled {
			scaled[i].MedianS *= 8
			scaled[i].UsualS *= 8
		}
		if again := JudgeRun(scaled, nil, 0.05, 0.01).Rows; strings.Join(named(again), " ") != c.want || again[9].Factor != rows[9].Factor {
			t.Errorf("%s: eight times as long, %v", c.name, named(again))
		}
	}
}

// Of runs as usual, at most one in twenty names a machine, and in practice fewer, since a machine must be worth naming.
func TestJudgeRunFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 16))
	runs, alarms := 400, 0
	for range runs {
		parts := runOf(r, machineNames(20, "m%02d"), func(int, int) (float64, float64) {
			if r.Float64() < 0.02 { // a task slow by itself
				return 3, 1
			}
			return 1, 1
		})
		if len(named(JudgeRun(parts, nil, 0.05, 0.02).Rows)) > 0 {
			alarms++
		}
	}
	if alarms > runs/20 {
		t.Errorf("%d of %d runs without a slow machine name one", alarms, runs)
	}
}

// One attempt, or one machine, is too little; more work than usual is no slowness.
func TestJudgeRunTooLittle(t *testing.T) {
	part := func(machine string, tasks int64, seconds float64) RunPart {
		return RunPart{Application: 1, Phase: 1, Machine: machine, Tasks: tasks, MedianS: seconds, UsualS: 10, Within: 0.05}
	}
	rows := JudgeRun([]RunPart{part("a", 1, 40), part("b", 3, 10), part("c", 3, 10)}, nil, 0.05, 0.01).Rows
	if rows[0].Verdict != schema.UnknownVerdict || !strings.Contains(rows[0].Note.V, "a single attempt") || rows[1].Verdict != schema.Healthy {
		t.Errorf("one attempt: %+v", rows[0])
	}
	rows = JudgeRun([]RunPart{part("a", 5, 40)}, map[string]int64{"a": 2}, 0.05, 0.01).Rows
	if rows[0].Verdict != schema.UnknownVerdict || !strings.Contains(rows[0].Note.V, "only machine") || rows[0].Losses != 2 {
		t.Errorf("one machine: %+v", rows[0])
	}
	parts := []RunPart{part("a", 5, 40), part("b", 5, 10), part("c", 5, 10)}
	parts[0].InputBytes, parts[0].UsualBytes = schema.Some(4e9), schema.Some(1e9)
	if rows := JudgeRun(parts, nil, 0.05, 0.01).Rows; rows[0].Verdict != schema.Healthy {
		t.Errorf("four times the work in four times the time: %+v", rows[0])
	}
	for i := range parts { // seconds are too coarse to say that 2 s are more than 1 s
		parts[i] = part(parts[i].Machine, 2, 1)
		parts[i].UsualS, parts[i].TickS, parts[i].Within = 1, 1, 0
	}
	parts[0].MedianS = 2
	if rows := JudgeRun(parts, nil, 0.05, 0.01).Rows; rows[0].Verdict == schema.Slow {
		t.Errorf("a tick of the clock: %+v", rows[0])
	}
}

// Containers of one physical machine: the one that waits for its disk is named, and not those that are slow with it.
func TestJudgeRunNodes(t *testing.T) {
	names := append(machineNames(4, "host1-container-%d"), machineNames(8, "host2-container-%d")...)
	rows := JudgeRun(runOf(rand.New(rand.NewPCG(3, 16)), names, func(m, _ int) (float64, float64) {
		switch m {
		case 0:
			return 2.5, 6
		case 1:
			return 2.2, 1
		}
		return 1, 1
	}), nil, 0.05, 0.01).Rows
	if got := strings.Join(named(rows), " "); got != "host1-container-0" {
		t.Errorf("%q is called slow", got)
	}
	if h := rows[1]; h.Verdict != schema.UnknownVerdict || h.Node.V != "host1" || !strings.Contains(h.Note.V, "host1-container-0") {
		t.Errorf("its neighbour: %+v", h)
	}
	if h := rows[0]; math.Abs(h.WaitRatio.V-31.0/6) > 1e-9 { // seconds of waiting, and one more
		t.Errorf("waited %v times as long", h.WaitRatio)
	}
}
