package policy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// Histories worked out by hand from the rules.

// onePhase returns a job of one phase on machines of one slot each; tasks take the seconds given.
func onePhase(machines int, seconds ...float64) *scenario.Cluster {
	c := &scenario.Cluster{Machines: scenario.Uniform(machines, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}}}}}
	for _, s := range seconds {
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: s})
	}
	return c
}

// events returns the copies that a policy starts and the attempts that are killed, as "copy TASK at SECONDS".
func events(t *testing.T, rows *workload.Rows, p policy.Policy, sigma float64) (events []string, took float64) {
	t.Helper()
	var spans []replay.Span
	var s replay.Sim
	out := s.Run(workload.Build(rows).Pools[0], replay.Options{Policy: p.New(), Seed: 1, Sigma: sigma, Watch: func(x replay.Span) { spans = append(spans, x) }})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	for _, x := range spans {
		if x.Number > 0 {
			events = append(events, fmt.Sprintf("copy %d at %.1f", x.Task, x.Start.Seconds()))
		}
		if x.Killed {
			events = append(events, fmt.Sprintf("kill %d.%d at %.1f", x.Task, x.Number, x.End.Seconds()))
		}
	}
	slices.Sort(events)
	return events, float64(out.Jobs[0].Took) / 1e6
}

func byName(t testing.TB, name string) policy.Policy {
	t.Helper()
	p, err := policy.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Spark 3.x: 8 tasks on 9 machines; quantile 0.75 means 6 must have succeeded. They end at 10 … 15 s, so at 15 s the median
// is 12.5 s and T = 18.75 s. Task 6 (20 s) and 7 (60 s) are past T at the check of 18.8 s: the first one at which
// elapsed exceeds 18.75 s. Copies take 10 … 20 s, those of the others, so 6 ends by itself at 20 s and 7 with its copy.
func TestSparkHistory(t *testing.T) {
	rows := onePhase(9, 10, 11, 12, 13, 14, 15, 20, 60).Rows()
	got, took := events(t, rows, byName(t, "spark3"), 0)
	if !slices.Contains(got, "copy 6 at 18.8") || !slices.Contains(got, "copy 7 at 18.8") || !slices.Contains(got, "kill 6.1 at 20.0") {
		t.Errorf("spark3 does %q", got)
	}
	if took < 28.8 || took > 38.8 {
		t.Errorf("spark3 takes %g s, want a copy of 10 to 20 s after 18.8 s", took)
	}

	// Spark 4.x: quantile 0.9 of 8 is 7, which the task of 20 s completes; median 13, T = 39 s.
	got, _ = events(t, rows, byName(t, "spark4"), 0)
	if !slices.Contains(got, "copy 7 at 39.1") || len(got) != 2 {
		t.Errorf("spark4 does %q, want a copy of 7 at 39.1 s and a kill", got)
	}

	// Nothing is copied before the quantile, and 100 ms is the least T.
	got, _ = events(t, onePhase(3, 0.01, 0.012, 5).Rows(), set(t, byName(t, "spark3"), "quantile", "0.5"), 0)
	if !slices.Contains(got, "copy 2 at 0.2") {
		t.Errorf("tasks of milliseconds: %q, want a copy at the first check after 100 ms", got)
	}
}

// A single task has no others to be compared with. With a threshold, stages that fit one executor are copied after it.
func TestSparkThreshold(t *testing.T) {
	got, _ := events(t, onePhase(3, 60).Rows(), byName(t, "spark3"), 0)
	expect(t, "one task", got, nil)
	c := onePhase(1, 60)
	c.Machines = scenario.Uniform(2, 2)
	got, _ = events(t, c.Rows(), set(t, byName(t, "spark3"), "task_duration_threshold", "7"), 0)
	expect(t, "one task with a threshold of 7 s", got, []string{"copy 0 at 7.1", "kill 0.1 at 60.0"})
	c = onePhase(1, 60, 60, 60)
	c.Machines = scenario.Uniform(2, 2)
	got, _ = events(t, c.Rows(), set(t, byName(t, "spark3"), "task_duration_threshold", "7"), 0)
	expect(t, "more tasks than an executor has slots", got, nil)
}

// The efficiency rule of Spark 3.4: a task past T that has reported reading as fast as the others is spared until 2 T.
func TestSparkEfficiency(t *testing.T) {
	rows := onePhase(9, 20, 20, 20, 20, 20, 20, 100).Rows()
	for i := range rows.Attempts {
		rows.Attempts[i].Records = 1000
	}
	rows.Attempts[6].Records = 5000 // skewed: five times the data in five times the time
	got, _ := events(t, rows, byName(t, "spark3"), 0)
	if len(got) == 0 || got[0] != "copy 6 at 60.1" {
		t.Errorf("a skewed task: %q, want its copy after 2 T = 60 s", got)
	}
	rows.Attempts[6].Records = 1000 // slow: the same data
	got, _ = events(t, rows, byName(t, "spark3"), 0)
	if len(got) == 0 || got[0] != "copy 6 at 30.1" {
		t.Errorf("a slow task: %q, want its copy after T = 30 s", got)
	}
}

// A slow task is marked at the first check after T even when other tasks end between the checks, whatever the rule of
// efficiency makes of it.
func TestSparkBetweenChecks(t *testing.T) {
	rows := onePhase(12, 20.01, 20.02, 20.03, 20.04, 20.05, 20.06, 29.97, 30.07, 30.08, 100).Rows()
	for i := range rows.Attempts {
		rows.Attempts[i].Records = 1000
	}
	p := set(t, byName(t, "spark3"), "quantile", "0.6")
	with, _ := events(t, rows, p, 0)
	without, _ := events(t, rows, set(t, p, "efficiency", "0"), 0)
	if len(with) == 0 || with[len(with)-1] != without[len(without)-1] || !slices.Contains(with, "copy 9 at 30.1") {
		t.Errorf("with the rule %q, without %q, want a copy of 9 at 30.1 s in both", with, without)
	}
}

// The settings that the log carries win over the defaults of its version.
func TestSparkSettings(t *testing.T) {
	rows := onePhase(9, 10, 10, 10, 10, 60).Rows()
	rows.Applications[0].FrameworkVersion = schema.Some("4.0.1")
	// Machines of the application, so that the pool is the application's own.
	for i := range rows.Machines {
		rows.Machines[i].ApplicationID = schema.Some(rows.Applications[0].ApplicationID)
	}
	got, _ := events(t, rows, byName(t, "spark"), 0)
	if len(got) == 0 || got[0] != "copy 4 at 30.1" {
		t.Errorf("version 4: %q, want a copy after 3 × 10 s", got)
	}
	rows.Settings = []schema.Setting{{ApplicationID: rows.Applications[0].ApplicationID, Name: "spark.speculation.multiplier", Value: "2"}}
	got, _ = events(t, rows, byName(t, "spark"), 0)
	if len(got) == 0 || got[0] != "copy 4 at 20.1" {
		t.Errorf("multiplier 2 in the log: %q, want a copy after 2 × 10 s", got)
	}
}

// MRv2: 21 tasks, 20 of 30 s and one of 300 s. After the first 5 % (all 20 at once, at 30 s) the mean of the completed is
// 30 s; the scan at 30 or 31 s finds estimatedEnd = 300 s, estimatedNew = 30 s, value = 300 − (31 + 30) > 0.
func TestMRv2History(t *testing.T) {
	seconds := slices.Repeat([]float64{30}, 20)
	rows := onePhase(22, append(seconds, 300)...).Rows()
	got, took := events(t, rows, byName(t, "mrv2"), 0)
	if len(got) != 2 || got[0] != "copy 20 at 30.0" && got[0] != "copy 20 at 31.0" {
		t.Fatalf("mrv2 does %q", got)
	}
	if took > 61.1 {
		t.Errorf("takes %g s, want at most 61 s and a bit", took)
	}

	// Two slow tasks: the one that ends later is copied first, the other in the scan 15 s later.
	rows = onePhase(24, append(slices.Clone(seconds), 200, 300)...).Rows()
	got, _ = events(t, rows, byName(t, "mrv2"), 0)
	var at [2]float64
	for _, e := range got {
		for i := range at {
			var s float64
			if n, _ := fmt.Sscanf(e, fmt.Sprintf("copy %d at %%f", 20+i), &s); n == 1 {
				at[i] = s
			}
		}
	}
	if at[1] == 0 || math.Abs(at[0]-at[1]-15) > 1e-6 {
		t.Errorf("two slow tasks: %q, want the longer first and the other 15 s later", got)
	}

	// Nothing to gain: the slow task ends before a copy could.
	got, _ = events(t, onePhase(24, append(slices.Clone(seconds), 55)...).Rows(), byName(t, "mrv2"), 0)
	expect(t, "a task of 55 s", got, nil)
}

// The arithmetic of MRv2's rules.
func TestMRv2Rules(t *testing.T) {
	for _, x := range []struct{ end, now, fresh, want float64 }{
		{100, 50, 30, 20}, {100, 50, 60, 0}, {40, 50, 1, 0}, {50, 50, 0, 0},
	} {
		if got := policy.SpeculationValue(x.end, x.now, x.fresh); got != x.want {
			t.Errorf("value(%g, %g, %g) = %g, want %g", x.end, x.now, x.fresh, got, x.want)
		}
	}
	if got := policy.LegacyRuntime(10, 0); got != 1e5 { // progress 0 counts as 1e-4
		t.Errorf("runtime without progress: %g", got)
	}
}

// The exponentially smoothed estimators agree with the legacy one where progress is linear.
func TestMRv2Estimators(t *testing.T) {
	rows := onePhase(22, append(slices.Repeat([]float64{30}, 20), 300)...).Rows()
	for _, estimator := range []string{"smooth", "simple"} {
		got, _ := events(t, rows, set(t, byName(t, "mrv2"), "estimator", estimator), 0)
		if len(got) != 2 {
			t.Errorf("%s: %q, want one copy", estimator, got)
		}
	}
}

// Hadoop 0.20: with three tasks done of four the average is 0.75 + p/4. The slow task of 600 s has run a minute at 60 s
// with a score of 0.1: average 0.775, threshold 0.575: copied at once. A task that is past 0.8 never is.
func TestHadoopHistory(t *testing.T) {
	got, _ := events(t, onePhase(5, 20, 20, 20, 600).Rows(), byName(t, "hadoop"), 0)
	expect(t, "a slow task", got, []string{"copy 3 at 60.0", "kill 3.0 at 80.0"})
	got, _ = events(t, onePhase(5, 20, 20, 20, 70).Rows(), byName(t, "hadoop"), 0)
	expect(t, "a task at 0.86 after a minute", got, nil)
	// Task 3 is launched at 50 s. At 60 s, when a slot becomes free, it is at 0.05 and the average at (2 + 60/62 + 0.05)/4 = 0.75.
	got, _ = events(t, onePhase(3, 50, 60, 62, 200).Rows(), byName(t, "hadoop"), 0)
	expect(t, "the minute counts from the start of the job", got, []string{"copy 3 at 60.0", "kill 3.0 at 122.0"})
	// The log's own copy of task 2 is part of task 2, which is counted once: from 60 s to 100 s the average is (1 + 2t/100 + t/120)/4,
	// less than 0.2 above task 3, which is at t/120.
	rows := onePhase(6, 60, 100, 100, 120).Rows()
	copied := rows.Attempts[slices.IndexFunc(rows.Attempts, func(a workload.LoggedAttempt) bool { return a.Task == 2 })]
	copied.ID, copied.Number, copied.Machine, copied.Copy, copied.Ending = 99, 1, 5, true, workload.Killed
	copied.Start += 10e6
	rows.Attempts = append(rows.Attempts, copied)
	got, _ = events(t, rows, byName(t, "hadoop"), 0)
	expect(t, "a task that the log copies", got, []string{"kill 2.0 at 100.0"})
	// On two machines of two slots the last two of eight tasks take 600 s, one on each machine, which then has a free slot. Two
	// tasks on two machines are one on each, so that no machine takes a copy. Of four machines, two have none of them.
	pair := onePhase(2, 20, 20, 20, 20, 600, 600, 20, 20)
	pair.Machines = scenario.Uniform(2, 2)
	got, _ = events(t, pair.Rows(), byName(t, "hadoop"), 0)
	expect(t, "machines that run their share of the last tasks", got, nil)
	got, _ = events(t, pair.Rows(), set(t, byName(t, "hadoop"), "spread", "false"), 0)
	expect(t, "the same without the limit", got, []string{"copy 4 at 60.0", "copy 5 at 60.0", "kill 4.1 at 620.0", "kill 5.1 at 620.0"})
	pair.Machines = scenario.Uniform(4, 2)
	got, _ = events(t, pair.Rows(), byName(t, "hadoop"), 0)
	expect(t, "with idle machines", got, []string{"copy 4 at 60.0", "copy 5 at 60.0", "kill 4.1 at 600.0", "kill 5.1 at 600.0"})
	got, _ = events(t, onePhase(4, 20, 20, 20, 600, 600, 600, 600, 600).Rows(), byName(t, "hadoop"), 0)
	for _, e := range got {
		var task int
		var at float64
		if n, _ := fmt.Sscanf(e, "copy %d at %f", &task, &at); n == 2 && at < 600 {
			t.Errorf("copied %d at %g s, with no free slot", task, at)
		}
	}
}

// MapReduce copies what still runs when the share has finished; Dryad what runs longer than the 75th percentile.
func TestTailHistories(t *testing.T) {
	rows := onePhase(9, 10, 20, 30, 40, 100, 200).Rows()
	got, _ := events(t, rows, set(t, byName(t, "mapreduce"), "share", "0.6"), 0)
	if !slices.Contains(got, "copy 4 at 40.0") || !slices.Contains(got, "copy 5 at 40.0") {
		t.Errorf("mapreduce does %q, want copies of 4 and 5 when 4 of 6 have finished", got)
	}
	got, _ = events(t, rows, byName(t, "dryad"), 0)
	// At 20 s the finished are 10, 20 (p75 20 s): at that instant the others pass it.
	if !slices.Contains(got, "copy 3 at 10.0") {
		t.Errorf("dryad does %q, want copies as soon as the others exceed the first task's 10 s", got)
	}
}

// Mantri leaves a task alone that is long because it has more data, and restarts or copies one that is just slow.
func TestMantriData(t *testing.T) {
	c := onePhase(8, 20, 20, 20, 20, 20, 20, 100)
	tasks := c.Jobs[0].Phases[0].Tasks
	for i := range tasks {
		tasks[i].Bytes = 64 << 20
	}
	tasks[6].Bytes *= 5
	got, _ := events(t, c.Rows(), byName(t, "mantri"), 0)
	expect(t, "five times the data", got, nil)
	tasks[6].Bytes = 64 << 20
	got, took := events(t, c.Rows(), byName(t, "mantri"), 0)
	if len(got) == 0 || took > 60 {
		t.Errorf("the same data, five times slower: %q in %g s", got, took)
	}
}

// Dolly clones a small job in full when it starts and leaves alone one that does not fit its budget.
func TestDollyAdmission(t *testing.T) {
	small := onePhase(100, 10, 10, 50)
	small.Machines = scenario.Uniform(100, 2)
	got, _ := events(t, small.Rows(), byName(t, "dolly"), 0)
	// p = 0.1, n = 3: 1 − 0.95^{1/3} = 0.01695, ln / ln 0.1 = 1.77: two clones; budget 10 of 200 slots, 6 are asked for.
	expect(t, "three tasks", got[:3], []string{"copy 0 at 0.0", "copy 1 at 0.0", "copy 2 at 0.0"})
	large := onePhase(100, slices.Repeat([]float64{10}, 12)...)
	got, _ = events(t, large.Rows(), byName(t, "dolly"), 0)
	expect(t, "twelve tasks on 100 slots", got, nil)
}

// A task that is over gives its slots of the budget back: of two jobs of three tasks, each of which is cloned with six of the
// ten slots, the second comes when two tasks of the first are over, and one that has five times the data is not.
func TestDollyBudgetReturns(t *testing.T) {
	c := &scenario.Cluster{Machines: scenario.Uniform(100, 2)}
	for _, at := range []float64{0, 20} {
		j := scenario.Job{Arrival: at, Phases: []scenario.Phase{{}}}
		for k := range 3 {
			j.Phases[0].Tasks = append(j.Phases[0].Tasks, scenario.Task{Seconds: 10, Bytes: 1e6})
			if at == 0 && k == 2 {
				j.Phases[0].Tasks[k] = scenario.Task{Seconds: 50, Bytes: 5e6}
			}
		}
		c.Jobs = append(c.Jobs, j)
	}
	got, _ := events(t, c.Rows(), byName(t, "dolly"), 0)
	later := slices.DeleteFunc(got, func(e string) bool { return !strings.HasSuffix(e, "at 20.0") })
	if len(later) != 3 {
		t.Errorf("the second job has the copies %q, want three", later)
	}
}

// First come first served, a job that does not fit takes the budget of twelve slots in part, for three of its tasks with four
// clones, and as these end its next ones have it: a small job that comes then finds none, where under admission it has all of
// it.
func TestDollyFirstComeGoesOn(t *testing.T) {
	c := &scenario.Cluster{Machines: scenario.Uniform(30, 4)}
	for n, at := range []float64{0, 25} {
		j := scenario.Job{Arrival: at, Phases: []scenario.Phase{{}}}
		for k := range []int{500, 2}[n] {
			j.Phases[0].Tasks = append(j.Phases[0].Tasks, scenario.Task{Seconds: 10 + 0.01*float64(k), Bytes: 1e6})
		}
		c.Jobs = append(c.Jobs, j)
	}
	// copies of at least as many tasks of the first, of the second
	for admission, want := range map[string][2]int{"fcfs": {9, 0}, "admission": {0, 2}} {
		p := set(t, set(t, set(t, byName(t, "dolly"), "budget", "0.1"), "ceiling", "100"), "admission", admission)
		cloned := [2]map[int32]bool{{}, {}}
		pool := workload.Build(c.Rows()).Pools[0]
		(&replay.Sim{}).Run(pool, replay.Options{Policy: p.New(), Watch: func(x replay.Span) {
			if x.Number > 0 {
				cloned[pool.JobOf(x.Phase)][x.Task] = true
			}
		}})
		if len(cloned[0]) < want[0] || want[0] == 0 && len(cloned[0]) > 0 || len(cloned[1]) != want[1] {
			t.Errorf("%s: %d tasks of the large job have copies, and %d of the small one, want %v", admission, len(cloned[0]), len(cloned[1]), want)
		}
	}
}

// Blacklisting avoids a machine that keeps causing stragglers.
func TestBlacklistHistory(t *testing.T) {
	c := &scenario.Cluster{Machines: scenario.Uniform(5, 2)}
	c.Machines[2].Factor = 8
	for range 40 {
		j := scenario.Job{Arrival: 100 * float64(len(c.Jobs)), Phases: []scenario.Phase{{}}}
		for range 10 {
			j.Phases[0].Tasks = append(j.Phases[0].Tasks, scenario.Task{Seconds: 10})
		}
		c.Jobs = append(c.Jobs, j)
	}
	p := workload.Build(c.Rows()).Pools[0]
	var s replay.Sim
	starts := map[bool]int{}
	s.Run(p, replay.Options{Policy: byName(t, "blacklist").New(), Watch: func(x replay.Span) {
		if x.Machine == 2 {
			starts[x.Start > 310*replay.Second]++
		}
	}})
	if starts[false] == 0 || starts[true] > starts[false] {
		t.Errorf("%d tasks start on the bad machine in the first window, %d in the twelve after it", starts[false], starts[true])
	}
}

// DOLLY §2.1.2: the prediction is the mean of the window before and of the long-term average. Machine 4 runs six tasks in each
// window of five minutes; two stragglers of them in the fifth window make (2/6 + 2/30)/2 = 0.20, three 0.30, of which only the
// second is above 0.25.
func TestBlacklistRemembers(t *testing.T) {
	for stragglers, avoided := range map[int]bool{2: false, 3: true} {
		c := &scenario.Cluster{Machines: scenario.Uniform(5, 2)}
		for n := range 18 {
			j := scenario.Job{Arrival: 100 * float64(n), Phases: []scenario.Phase{{}}}
			for k := range 10 {
				task := scenario.Task{Seconds: 10, Bytes: 1e6}
				if k == 4 && n >= 12 && n < 12+stragglers {
					task.Seconds = 80
				}
				j.Phases[0].Tasks = append(j.Phases[0].Tasks, task)
			}
			c.Jobs = append(c.Jobs, j)
		}
		used := 0
		(&replay.Sim{}).Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: byName(t, "blacklist").New(), Watch: func(x replay.Span) {
			if x.Machine == 4 && x.Start >= 1500*replay.Second {
				used++
			}
		}})
		if (used == 0) != avoided {
			t.Errorf("after %d stragglers of six tasks %d start on the machine, avoided: want %v", stragglers, used, avoided)
		}
	}
}

// Tasks whose bytes say nothing of how long they take, such as reduces of a few bytes or none, are not held against a rate
// per byte: tasks that are all alike are left alone, and a slow one is not.
func TestMantriWithoutInput(t *testing.T) {
	c := onePhase(25, slices.Repeat([]float64{100}, 20)...)
	for n := range c.Jobs[0].Phases[0].Tasks {
		c.Jobs[0].Phases[0].Tasks[n].Bytes = int64(69 * (n % 2))
		c.Jobs[0].Phases[0].Tasks[n].Seconds += float64(n)
	}
	got, _ := events(t, c.Rows(), byName(t, "mantri"), 0.03)
	expect(t, "reduces of 0 and 69 bytes", got, nil)
	c.Jobs[0].Phases[0].Tasks[7].Luck = 8
	if got, took := events(t, c.Rows(), byName(t, "mantri"), 0.03); took > 400 || !slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "copy 7 ") }) {
		t.Errorf("one of them eight times slower: %q in %g s", got, took)
	}
}

// All tasks of a phase that fits into the idle slots start at its release, so that no attempt ends for long. LATE copies at its
// least age. Hadoop's average progress after t seconds is (4·t/300 + t/3000)/5, which exceeds the fifth task's t/3000 by 0.2
// from 83.4 s on; machines ask every 3 s from 60 s on.
func TestOneWave(t *testing.T) {
	rows := onePhase(8, 300, 300, 300, 300, 3000).Rows()
	for name, want := range map[string]string{"late": "copy 4 at 60.0", "late-early": "copy 4 at 60.0", "hadoop": "copy 4 at 84.0"} {
		if got, _ := events(t, rows, byName(t, name), 0); !slices.Contains(got, want) {
			t.Errorf("%s does %q, want %q", name, got, want)
		}
	}
}

// On four machines the last task of the second job waits until the first job leaves a slot at 20 s. None of its phase has waited
// since, and the one task that is done took 10 s: Dryad then copies the task that has run since 0 s, in the slot that is left at
// 22 s, although no attempt of the phase ends before 40 s.
func TestLastLaunchedInSlotOfAnother(t *testing.T) {
	c := onePhase(4, 20, 22)
	c.Jobs = append(c.Jobs, onePhase(4, 10, 40, 30, 300).Jobs...)
	if got, _ := events(t, c.Rows(), byName(t, "dryad"), 0); !slices.Contains(got, "copy 1 at 22.0") {
		t.Errorf("dryad does %q", got)
	}
}
