package audit

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"straggler/engine/enginetest"
	"straggler/stats"
)

// All runs of a FlowBench workflow are in one store, and each is compared with those that started earlier, disturbed or not.
// A task counts as slowed if it took longer than 1.5 × its median over the normal runs, because labels say on which machines
// a fault was injected and not whether it had an effect. Nine in ten slowed tasks of disturbed runs are found, and of all
// tasks of normal runs at most two in a hundred are flagged, by any rule.
//
// Machines are judged by run: none is named in a normal run, and a named one is bad by its label or by its effect, the median
// ratio of its tasks to the same tasks in normal runs, since containers that share a disk with a disturbed one are slow too.
//
// Uses the small workflow; STRAGGLER_FLOWBENCH=all uses both.
func TestFlowBenchHistory(t *testing.T) {
	t.Parallel()
	workflows := []string{"eht_imaging"}
	if os.Getenv("STRAGGLER_FLOWBENCH") == "all" {
		workflows = append(workflows, "1000-genome")
	}
	for _, w := range workflows {
		flowBenchHistory(t, workflow(t, w))
	}
}

// flowMachine is a machine in a run.
type flowMachine struct {
	Run     string `col:"run"`
	Machine string `col:"machine"`
}

// flowTask is a task of a run.
type flowTask struct {
	Run      string  `col:"run"`
	Machine  string  `col:"machine"`
	Kind     string  `col:"kind"`
	Task     string  `col:"task"`
	Seconds  float64 `col:"duration_s"`
	ByPhase  bool    `col:"by_phase"`
	Against  bool    `col:"against_history"`
	Verdicts int64   `col:"rules"`
}

const flowTasksSQL = `SELECT i.native_id AS run, a.machine, p.kind, a.native_id AS task, a.duration_s, coalesce(o.by_phase, FALSE) AS by_phase,
  coalesce(o.against_history, FALSE) AS against_history, coalesce(o.rules, 0) AS rules
FROM attempts a JOIN applications i ON i.application_id = a.application_id JOIN phases p ON p.phase_id = a.phase_id
  LEFT JOIN (SELECT attempt_id, count(*) AS rules, bool_or(rule <> 'slower_than_usual') AS by_phase, bool_or(rule = 'slower_than_usual') AS against_history
             FROM outliers GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
WHERE a.duration_s > 0 ORDER BY a.attempt_id`

const flowMachinesSQL = `SELECT i.native_id AS run, h.machine FROM machine_health h JOIN applications i ON i.application_id = h.application_id
WHERE h.verdict = 'slow' ORDER BY i.native_id, h.machine`

func flowBenchHistory(t *testing.T, dir string) {
	truth, _, _ := flowTruth(t, dir)
	tasks, named := judgedRuns(t, filepath.Join(dir, "run"))
	usual := map[string][]float64{}
	for _, x := range tasks {
		if truth[x.Run].experiment == "normal" {
			usual[x.Task] = append(usual[x.Task], x.Seconds)
		}
	}
	medians := map[string]float64{}
	for name, v := range usual {
		slices.Sort(v)
		medians[name] = stats.Median(v)
	}
	var slowed, found, before, normal, accused, accusedBefore int
	for _, x := range tasks {
		m := medians[x.Task]
		switch {
		case truth[x.Run].experiment == "normal":
			normal++
			if x.Verdicts > 0 {
				accused++
			}
			if x.ByPhase {
				accusedBefore++
			}
		case m > 0 && x.Seconds > 1.5*m:
			slowed++
			if x.Verdicts > 0 {
				found++
			}
			if x.ByPhase {
				before++
			}
		}
	}
	percent := func(a, b int) float64 { return 100 * float64(a) / float64(b) }
	t.Logf("%s: of %d tasks slowed by more than 1.5 × %.1f %% are found (%.1f %% within their phases alone); of %d tasks of normal runs %.2f %% are called slow (%.2f %%)",
		filepath.Base(dir), slowed, percent(found, slowed), percent(before, slowed), normal, percent(accused, normal), percent(accusedBefore, normal))
	if found*100 < 90*slowed || accused*100 > 2*normal {
		t.Error("less than 90 % found, or more than 2 % accused")
	}
	onMachine := map[flowMachine][]float64{}
	for _, x := range tasks {
		if x.Kind == "compute" && medians[x.Task] > 0 {
			m := flowMachine{x.Run, x.Machine}
			onMachine[m] = append(onMachine[m], x.Seconds/medians[x.Task])
		}
	}
	const effect = 1.3
	var clean, labels, bad, slow, slowNamed int
	for _, m := range named {
		label := slices.Contains(truth[m.Run].bad, m.Machine)
		switch {
		case truth[m.Run].experiment == "normal":
			clean++
		case label || stats.Median(onMachine[m]) > effect:
			bad++
		}
		if label {
			labels++
		}
	}
	for m, ratios := range onMachine {
		if slices.Contains(truth[m.Run].bad, m.Machine) && stats.Median(ratios) > 1.5 {
			slow++
			if slices.Contains(named, m) {
				slowNamed++
			}
		}
	}
	t.Logf("%s: %d machines are called slow in their run, %d of them in normal runs; %.1f %% are bad by label or effect, %.1f %% by label; of %d disturbed machines whose tasks take more than 1.5 ×, %.1f %% are named",
		filepath.Base(dir), len(named), clean, percent(bad, len(named)), percent(labels, len(named)), slow, percent(slowNamed, slow))
	if clean > 0 || bad*100 < 96*len(named) || len(named) == 0 {
		t.Error("a machine of a normal run is called slow, or more than 4 % wrongly")
	}
}

// judgedRuns returns the tasks of all runs of a directory, in one store, and the machines that are called slow in a run.
func judgedRuns(t *testing.T, dir string) (tasks []flowTask, named []flowMachine) {
	t.Helper()
	eng, done := analysed(t, dir, 0)
	defer done()
	return enginetest.ReadAll[flowTask](t, eng, flowTasksSQL), enginetest.ReadAll[flowMachine](t, eng, flowMachinesSQL)
}
