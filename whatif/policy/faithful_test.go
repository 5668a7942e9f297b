package policy_test

import (
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// What the sources say, where it is easily missed.

// phases returns the phases of one job, by the seconds of their tasks.
func phases(machines []scenario.Machine, seconds ...[]float64) *scenario.Cluster {
	c := &scenario.Cluster{Machines: machines, Jobs: []scenario.Job{{}}}
	for _, tasks := range seconds {
		p := scenario.Phase{Kind: "map"}
		for _, s := range tasks {
			p.Tasks = append(p.Tasks, scenario.Task{Seconds: s})
		}
		c.Jobs[0].Phases = append(c.Jobs[0].Phases, p)
	}
	return c
}

// DOLLY §3.2: a downstream phase never has more clones than its upstream phase. With p = 0.1, ten tasks want three clones and
// one task two, so that the ten tasks after the one have two.
func TestDollyUpstreamClones(t *testing.T) {
	ten := slices.Repeat([]float64{10}, 10)
	c := phases(scenario.Uniform(100, 4), ten, []float64{10}, ten)
	c.Jobs[0].Phases[1].After, c.Jobs[0].Phases[2].After = []int{0}, []int{1}
	dolly := set(t, byName(t, "dolly"), "budget", "0.5")
	out := (&replay.Sim{}).Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: dolly.New()})
	if got := out.Jobs[0].Copies; got != 20+1+10 {
		t.Errorf("%d clones beside the originals, want 20, 1 and 10", got)
	}
}

// DOLLY §3.2: the ceiling avoids cloning in heavily loaded periods, whatever room preemption makes in the budget.
func TestDollyPreemptBelowCeiling(t *testing.T) {
	c := &scenario.Cluster{Machines: scenario.Uniform(100, 1)}
	for _, x := range []struct {
		at    float64
		tasks int
	}{{0, 78}, {1, 2}, {2, 2}} { // 78 of 100 slots; then there is no room for four under 80 %
		j := scenario.Job{Arrival: x.at, Phases: []scenario.Phase{{}}}
		for range x.tasks {
			j.Phases[0].Tasks = append(j.Phases[0].Tasks, scenario.Task{Seconds: 100})
		}
		c.Jobs = append(c.Jobs, j)
	}
	got, _ := events(t, c.Rows(), set(t, byName(t, "dolly"), "admission", "preempt"), 0)
	expect(t, "78 of 100 slots in use", got, nil)
}

// DOLLY §5.1: the scheduler treats every clone as if it were another task, so that they start before the tasks of later jobs.
func TestDollyClonesInLine(t *testing.T) {
	c := phases(scenario.Uniform(4, 1), []float64{10, 50})
	c.Jobs = append(c.Jobs, scenario.Job{Phases: phases(nil, slices.Repeat([]float64{10}, 20)).Jobs[0].Phases})
	got, _ := events(t, c.Rows(), set(t, set(t, byName(t, "dolly"), "budget", "1"), "ceiling", "9"), 0)
	if len(got) < 2 || got[0] != "copy 0 at 0.0" || got[1] != "copy 1 at 0.0" {
		t.Errorf("the clones of the first job start as %q, want at once", got)
	}
}

// LATE §4: a node's progress is that of all tasks on it. Machine 0 runs the straggler and has done most of its phase; the other
// phase makes machine 1 the node of most progress, which alone may take the copy.
func TestLATENodeOfAllPhases(t *testing.T) {
	c := phases(scenario.Uniform(4, 2), []float64{20, 20, 20, 20, 300}, []float64{70, 70})
	got, _ := events(t, c.Rows(), set(t, byName(t, "late"), "slow_node", "1"), 0)
	if !slices.Contains(got, "copy 4 at 60.0") {
		t.Errorf("late does %q, want a copy of the straggler at 60 s", got)
	}
}

// DefaultSpeculator: one scan may copy a map and a reduce.
func TestMRv2BothKinds(t *testing.T) {
	tasks := append(slices.Repeat([]float64{30}, 20), 300)
	c := phases(scenario.Uniform(50, 1), tasks, tasks)
	c.Jobs[0].Phases[1].Kind = "reduce"
	got, _ := events(t, c.Rows(), byName(t, "mrv2"), 0)
	var copies []string
	for _, e := range got {
		if strings.HasPrefix(e, "copy") {
			copies = append(copies, e)
		}
	}
	if len(copies) != 2 || copies[0] != copies[1] {
		t.Errorf("copies %q, want two in one scan", copies)
	}
}

// TaskSetManager: a task past spark.speculation.task.duration.threshold is copied however fast it reads.
func TestSparkThresholdIgnoresEfficiency(t *testing.T) {
	c := phases(scenario.Uniform(2, 3), []float64{10, 60, 60})
	rows := c.Rows()
	for i := range rows.Attempts {
		rows.Attempts[i].Records = 100 * (rows.Attempts[i].Finish - rows.Attempts[i].Start) / 1e6
	}
	p := set(t, set(t, byName(t, "spark3"), "quantile", "0.9"), "task_duration_threshold", "25")
	got, _ := events(t, rows, p, 0)
	if !slices.Contains(got, "copy 1 at 25.1") || !slices.Contains(got, "copy 2 at 25.1") {
		t.Errorf("spark does %q, want copies of 1 and 2 at the first check after 25 s", got)
	}
}

// TaskSetManager: a copy runs on no host that had an attempt of the task, one that failed included.
func TestSparkAvoidsHostsOfFailedAttempts(t *testing.T) {
	rows := &workload.Rows{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: schema.Some(schema.Time(0))}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, SubmitTime: schema.Some(schema.Time(0))}},
	}
	for m := range 8 {
		name := string(rune('a' + m))
		rows.Intern(name)
		rows.Machines = append(rows.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(1))})
	}
	attempt := func(task int64, number, machine int32, from, to int64, ending workload.Ending) {
		rows.Attempts = append(rows.Attempts, workload.LoggedAttempt{
			ID: schema.Key(10 + len(rows.Attempts)), Phase: 3, Task: task, Number: number, Start: from * 1e6, Finish: to * 1e6,
			Bytes: -1, Records: -1, Machine: machine, Executor: -1, Ending: ending,
		})
	}
	attempt(0, 0, 0, 0, 5, workload.Failed)
	attempt(0, 1, 1, 5, 200, workload.Succeeded)
	for n := range int32(5) {
		attempt(int64(1+n), 0, 2+n, 0, 20, workload.Succeeded)
	}
	p := workload.Build(rows).Pools[0]
	copies := 0
	for seed := range int64(40) {
		(&replay.Sim{}).Run(p, replay.Options{Policy: byName(t, "spark3").New(), Seed: seed, Watch: func(x replay.Span) {
			if x.Number > 0 {
				copies++
				if x.Machine == 0 {
					t.Errorf("seed %d: the copy runs where the task failed", seed)
				}
			}
		}})
	}
	if copies != 40 {
		t.Errorf("%d copies in 40 replays", copies)
	}
}

// MANTRI pseudocode 1 decides when there is a slot: a duplicate that was worth it when it was asked for, and is not by the
// time of a free slot, is not made. Task 6 reports nothing for 8 s and then is as fast as the others.
func TestMantriWeighsAgain(t *testing.T) {
	c := phases(scenario.Uniform(3, 1), []float64{20, 20, 20, 20, 20, 20, 40, 25, 60, 20, 20, 20})
	for n := range c.Jobs[0].Phases[0].Tasks {
		c.Jobs[0].Phases[0].Tasks[n].Reports = []workload.Point{{At: 0.999, Score: 0.999}}
	}
	c.Jobs[0].Phases[0].Tasks[6].Reports = []workload.Point{{At: 0.2, Score: 0.01}, {At: 0.21, Score: 0.5}, {At: 0.999, Score: 0.999}}
	p := set(t, set(t, byName(t, "mantri"), "restart", "false"), "longest", "false")
	got, _ := events(t, c.Rows(), p, 0)
	for _, e := range got {
		if strings.HasPrefix(e, "copy 6 ") {
			t.Errorf("mantri does %q, want no copy of task 6, which has caught up by the time of a free slot", got)
		}
	}
}

// MANTRI pseudocode 1, 'while slots are available': a restart is made in place, with the slot of the attempt that it kills and
// while no other is free (§5.1, the third time line of figure 9), a duplicate takes the next slot that comes free, and once no
// task waits nothing is killed for it: a report after a slot is free, every 2 s, it is duplicated. Task 3 takes ten times as
// long as the others.
func TestMantriRestartsInPlace(t *testing.T) {
	tasks := slices.Repeat([]float64{20}, 12)
	tasks[3] = 200
	rows := func(tasks []float64) *workload.Rows {
		c := phases(scenario.Uniform(3, 1), tasks)
		for n := range c.Jobs[0].Phases[0].Tasks {
			if x := &c.Jobs[0].Phases[0].Tasks[n]; x.Seconds > 20 {
				x.Luck = 10
			}
		}
		return c.Rows()
	}
	mantri := set(t, byName(t, "mantri"), "longest", "false")
	got, _ := events(t, rows(tasks), mantri, 0)
	expect(t, "restarts, while tasks wait", got, []string{"copy 3 at 23.0", "kill 3.0 at 23.0"})
	got, _ = events(t, rows(tasks), set(t, mantri, "restart", "false"), 0)
	expect(t, "duplicates, while tasks wait", got, []string{"copy 3 at 40.0", "kill 3.0 at 60.0"})
	got, _ = events(t, rows(tasks[:6]), mantri, 0)
	expect(t, "no task waits", got, []string{"copy 3 at 41.0", "kill 3.0 at 61.0"})
}

// MANTRI §5.5: t_new has a location factor. A task that takes twice as long as the others is restarted where reading from
// elsewhere costs nothing, and is left alone where it doubles the time.
func TestMantriLocationFactor(t *testing.T) {
	c := phases(scenario.Uniform(3, 1), []float64{20, 20, 20, 40, 20, 20, 20, 20, 20, 20, 20, 20})
	p := workload.Build(c.Rows()).Pools[0]
	for _, x := range []struct {
		far  float32
		want int32
	}{{1, 1}, {2, 0}} {
		p.Phases[0].Far = x.far
		out := (&replay.Sim{}).Run(p, replay.Options{Policy: set(t, byName(t, "mantri"), "longest", "false").New()})
		if got := out.Jobs[0].Copies; got != x.want {
			t.Errorf("reading from elsewhere takes %g times as long: %d restarts and duplicates, want %d", x.far, got, x.want)
		}
	}
}

// A reduce that began before its maps were over tells nothing of how long it takes: it is left alone until they are, here at
// 100 s. One of those that begin at 20 s needs 200 s after that, the others 10.
func TestMantriLeavesBlockedAlone(t *testing.T) {
	rows := &workload.Rows{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "mapreduce"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: schema.Some(schema.Time(0))}},
		Phases: []schema.Phase{
			{PhaseID: 3, JobID: 2, Kind: "map", SubmitTime: schema.Some(schema.Time(0))},
			{PhaseID: 4, JobID: 2, Kind: "reduce", SubmitTime: schema.Some(schema.Time(20e6))},
		},
		Edges: []schema.Edge{{JobID: 2, FromPhase: 3, ToPhase: 4}},
	}
	for m := range 8 {
		name := string(rune('a' + m))
		rows.Intern(name)
		rows.Machines = append(rows.Machines, schema.Machine{Machine: name, Slots: schema.Some(int64(1))})
	}
	attempt := func(phase schema.Key, task int64, machine int32, from, to int64) {
		rows.Attempts = append(rows.Attempts, workload.LoggedAttempt{
			ID: schema.Key(10 + len(rows.Attempts)), Phase: phase, Task: task, Start: from * 1e6, Finish: to * 1e6, Bytes: -1, Records: -1, Machine: machine, Executor: -1,
		})
	}
	attempt(3, 0, 0, 0, 100)
	attempt(3, 1, 1, 0, 100)
	for n := range int32(6) {
		end := int64(110)
		if n == 0 {
			end = 300
		}
		attempt(4, int64(n), 2+n, 20, end)
		attempt(4, int64(6+n), 2+n, end, end+10)
	}
	got := 0
	(&replay.Sim{}).Run(workload.Build(rows).Pools[0], replay.Options{Policy: byName(t, "mantri").New(), Watch: func(x replay.Span) {
		at := x.Start
		if x.Killed {
			at = x.End
		}
		if x.Killed || x.Number > 0 {
			got++
			if at < replay.Seconds(100) {
				t.Errorf("an attempt of task %d is killed or copied at %g s", x.Task, at.Seconds())
			}
		}
	}})
	if got == 0 {
		t.Error("nothing is killed or copied once the maps are over")
	}
}

// MANTRI pseudocode 1 and §5.4, a rule each.
func TestMantriRules(t *testing.T) {
	plain := set(t, byName(t, "mantri"), "longest", "false")
	tasks := slices.Repeat([]float64{20}, 30)

	// t_rem > E(t_new) + Δ: 3 s after its start, with Δ = 2 s, a task of 24 s needs 21 s more and one of 27 s 24 s; E(t_new) is
	// 20.7 and 21.2 s, with the running tasks.
	tasks[3] = 24
	got, _ := events(t, phases(scenario.Uniform(3, 1), tasks).Rows(), plain, 0)
	expect(t, "a task of 24 s among tasks of 20 s", got, nil)
	tasks[3] = 27
	got, _ = events(t, phases(scenario.Uniform(3, 1), tasks).Rows(), plain, 0)
	expect(t, "a task of 27 s", got, []string{"copy 3 at 23.0", "kill 3.0 at 23.0"})
	tasks[3] = 20

	// All attempts report little until they end, so that all seem to need longer than those that are done.
	for n := range tasks {
		tasks[n] += float64(n % 7)
	}
	tasks[3] = 200
	late := phases(scenario.Uniform(12, 1), tasks)
	late.Jobs[0].Phases[0].Tasks[3].Luck = 10
	for n := range late.Jobs[0].Phases[0].Tasks {
		late.Jobs[0].Phases[0].Tasks[n].Reports = []workload.Point{{At: 0.95, Score: 0.1}}
	}
	p := workload.Build(late.Rows()).Pools[0]
	run := func(pol policy.Policy) (spans []replay.Span) {
		(&replay.Sim{}).Run(p, replay.Options{
			Policy: pol.New(), Watch: func(x replay.Span) { spans = append(spans, x) },
			Stop: func() bool { return true }, // asked after thousands of instants: without γ this would not end
		})
		return spans
	}
	most := int32(0)
	for _, x := range run(set(t, plain, "duplicate", "false")) {
		most = max(most, x.Number)
	}
	if most != 3 {
		t.Errorf("a task is restarted %d times at most, want γ, which is 3", most)
	}

	// Of the copies of a task that have run for Δ all but the fastest α are killed, whether the task is over or not.
	spans := run(set(t, plain, "restart", "false"))
	pruned := 0
	for _, x := range spans {
		for _, y := range spans {
			if x.Killed && !y.Killed && y.Task == x.Task && x.End < y.End {
				pruned++
			}
		}
	}
	if pruned == 0 {
		t.Error("no copy is killed while its task runs on")
	}

	// Tasks begin in descending order of their data.
	sized := phases(scenario.Uniform(1, 1), []float64{5, 5, 5, 5})
	for n := range sized.Jobs[0].Phases[0].Tasks {
		sized.Jobs[0].Phases[0].Tasks[n].Bytes = int64([]int{2, 4, 1, 3}[n])
	}
	p = workload.Build(sized.Rows()).Pools[0]
	var order []int32
	for _, x := range run(byName(t, "mantri")) {
		order = append(order, x.Task)
	}
	if !slices.Equal(order, []int32{1, 3, 0, 2}) {
		t.Errorf("tasks of 2, 4, 1 and 3 bytes begin in the order %v", order)
	}
}

// MANTRI §5.1: no task runs in more than three copies, here where α lets nine run on, slots are free, and every attempt seems
// to need far longer than those that are done.
func TestMantriThreeCopies(t *testing.T) {
	c := phases(scenario.Uniform(40, 1), slices.Repeat([]float64{20}, 12))
	for n := range c.Jobs[0].Phases[0].Tasks {
		x := &c.Jobs[0].Phases[0].Tasks[n]
		if x.Reports = []workload.Point{{At: 0.95, Score: 0.1}}; n < 3 {
			x.Seconds = 200
		}
	}
	var spans []replay.Span
	(&replay.Sim{}).Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: set(t, byName(t, "mantri"), "alpha", "9").New(), Watch: func(x replay.Span) { spans = append(spans, x) }})
	most := 0
	for _, x := range spans {
		n := 0
		for _, y := range spans {
			if y.Task == x.Task && y.Start <= x.Start && x.Start < y.End {
				n++
			}
		}
		most = max(most, n)
	}
	if most != 3 {
		t.Errorf("a task runs in %d copies at once at most, want 3", most)
	}
}

// MANTRI §5.1: a task is not duplicated again within Δ. Five tasks of 4 s make Δ 0.4 s, until eight of 48.8 s are done and make
// it 4.88 s. Task 14 seems to need a minute from its first report on. There is a slot for a duplicate of it at 48 s; of the two
// the slower is killed (α is 1) a period later, and another period later, at 49.1 s when Δ has grown, nothing but the rule is
// in the way of the next duplicate.
func TestMantriNoSecondDuplicateWithinDelta(t *testing.T) {
	// whoever reports so seems to need little, but for the first second
	soon := []workload.Point{{At: 0.02, Score: 0.0005}, {At: 0.03, Score: 0.9}}
	c := phases(scenario.Uniform(10, 1), slices.Concat(slices.Repeat([]float64{48.8}, 8), []float64{48}, slices.Repeat([]float64{4}, 5), []float64{1000}))
	for n := range c.Jobs[0].Phases[0].Tasks {
		c.Jobs[0].Phases[0].Tasks[n].Reports = soon
	}
	c.Jobs[0].Phases[0].Tasks[14].Reports = []workload.Point{{At: 0.02, Score: 0.3}, {At: 0.99, Score: 0.95}}
	mantri := set(t, set(t, set(t, byName(t, "mantri"), "longest", "false"), "restart", "false"), "alpha", "1")
	got, _ := events(t, c.Rows(), mantri, 0)
	expect(t, "no second duplicate before 48.3 s + 4.88 s", got, []string{"copy 14 at 48.3", "copy 14 at 54.0", "kill 14.0 at 58.8", "kill 14.1 at 48.7"})
}
