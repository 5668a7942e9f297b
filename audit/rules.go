package audit

import (
	"fmt"
	"math"
	"slices"

	"straggler/audit/measure"
)

// Rule is a measure that can get worse: a row of Rules, whose thresholds straggler.yaml can change.
type Rule struct {
	Name      string
	Doc       string   // what it compares
	Why       string   // why one should care, and what to look at
	Unit      string   // of the value: s, slot s, ratio, share
	Severity  Severity // unless the configuration says otherwise
	MinChange float64  // least increase as a fraction of the normal value; 0 where only the absolute counts
	MinAbs    float64  // least increase in the unit
	// least increase as a share of the normal time of the run, of its slot time for slot s; for ratios and shares, of the slot
	// time that the stage has
	MinShare float64
	Stage    bool // compared for each stage
	Work     bool // grows with the work of the night
	By       Scope
	of       func(v, scale measure.Values) point
}

// Scope is what a rule makes one comparison for.
type Scope int

const (
	once       Scope = iota // each application, or each stage where Rule.Stage
	PerCause                // each cause of an application
	PerMachine              // each machine
	exact                   // each application, exactly, without statistics
)

// point is a value, and its position on a scale on which the variance between runs is about the same everywhere.
type point struct {
	value float64 // in the rule's unit
	y     float64 // transformed
	w     float64 // variance of y that the tasks of one run alone let expect, up to a factor common to the pool; 1: unknown
	speed bool    // y moves with the speed of the whole run
	ok    bool

	work   float64 // of the night: bytes, or tasks where inputs are not known; 0: unknown
	sizing float64 // variance of y by what is not known of how time grows with work
	clock  float64 // variance of y by the resolution of the log's clock
}

// RuleNamed finds a rule.
func RuleNamed(name string) (Rule, bool) {
	for _, r := range Rules() {
		if r.Name == name {
			return r, true
		}
	}
	return Rule{}, false
}

// Rules returns the table of rules, in the order in which findings are shown.
func Rules() []Rule {
	return []Rule{
		{Name: "run_time", Unit: "s", Severity: Error, MinChange: 0.10, MinAbs: 1, Work: true, of: logOf("time_s", 0.1),
			Doc: "completion time of the application",
			Why: "This is what its users wait for. The findings about stages and causes show where the time was spent."},
		{Name: "task_time", Unit: "slot s", Severity: Error, MinChange: 0.15, MinAbs: 2, Work: true, of: logOf("slot_s", 0.1),
			Doc: "sum of the durations of all tasks, without waiting for each other or for slots: it grows when a run is slow as a whole",
			Why: "Tasks took longer than in earlier runs, in all or some stages, even if none is slower than the others of its stage. The findings about machines, their kind, and the history in the report show what the slow tasks have in common."},
		{Name: "lost_time", Unit: "slot s", Severity: Error, MinChange: 0.15, MinAbs: 2, Work: true, MinShare: 0.0005, of: excess,
			Doc: "time lost to slow tasks in the whole application: duration above the median of the stage, summed over all tasks",
			Why: "Slots were occupied longer than by the median task of the stage, whether or not the job waited for them."},
		{Name: "cause_time", Unit: "slot s", Severity: Warning, MinChange: 0.25, MinAbs: 5, Work: true, MinShare: 0.0005, By: PerCause,
			Doc: "seconds of excess of outliers due to one cause",
			Why: "The remedy depends on the cause: straggler help causes explains each."},
		{Name: "bad_machine", Unit: "ratio", Severity: Error, MinAbs: 0.2, MinShare: 0.0005, By: PerMachine,
			Doc: "a machine that is slow or flaky and was not in any earlier run, compared with earlier runs or with the other machines",
			Why: "A machine takes longer for the same work than it should. Look at its disk and its neighbours, or drain it."},
		{Name: "recurring_machine", Unit: "runs", Severity: Warning, MinAbs: 3, By: PerMachine,
			Doc: "runs, of the last machine_runs, in which a machine was slow, whether or not it is tonight",
			Why: "A machine that is slow now and then is never new, and costs time in every run in which it is. While bad_machine names it, it has that finding alone; one spell that bad_machine has named is not repeated here. Drain it, or look at its disks, memory, cooling and neighbours; --as json lists what is known of it in each run. A machine that was slow in one run is no finding. The least number of runs is min_absolute, the window machine_runs. The false discovery rate is held over these findings alone, by Fisher's exact test against the other machines in the same runs."},
		{Name: "failed_attempts", Unit: "share", Severity: Error, MinAbs: 0.01, of: share("failed", "attempts"),
			Doc: "share of the attempts that failed or were lost with their machine",
			Why: "Failures cost a second attempt each, and four of one task the whole job."},
		{Name: "recomputed_attempts", Unit: "share", Severity: Error, MinAbs: 0.01, of: share("recomputed", "attempts"),
			Doc: "share of the attempts that recompute a lost output",
			Why: "Lost outputs stop every task that reads them. Look at the machines that lost them."},
		{Name: "log_complete", Severity: Warning, By: exact,
			Doc: "the log is complete: it has an end, and every record could be read",
			Why: "Missing records cannot be judged; a log without its end means that the driver died, or that the file was read too early. Compared exactly, without statistics."},
		{Name: "plan_changed", Severity: Note, By: exact,
			Doc: "a query of Spark SQL has the same plan as in the previous run",
			Why: "A broadcast became a shuffle, statistics are gone, or a filter no longer reaches the files. Other rules measure the cost; this one names the change, and for a broadcast whether its threshold changed, its inputs, or neither, which leaves Spark's estimate. It fails a build only if the configuration makes it a warning. Compared exactly, without statistics."},
		{Name: "stage_time", Unit: "s", Severity: Warning, MinChange: 0.15, MinAbs: 1, Stage: true, Work: true, MinShare: 0.02, of: logOf("time_s", 0.1),
			Doc: "time from the start of a stage to its end, relative to the speed of the whole run",
			Why: "It has more work, fewer slots, or slower tasks: compare its tasks and its median."},
		{Name: "stage_lost_time", Unit: "slot s", Severity: Error, MinChange: 0.10, MinAbs: 1, Stage: true, Work: true, MinShare: 0.0005, of: stageExcess,
			Doc: "time lost to slow tasks in one stage, relative to the median of its tasks: duration above the median, summed over its tasks",
			Why: "The stage has more stragglers, or worse ones. The likely cause names what grew most."},
		{Name: "stage_late", Unit: "s", Severity: Warning, MinChange: 0.20, MinAbs: 1, Stage: true, Work: true, MinShare: 0.02, of: lost,
			Doc: "how much earlier the stage would have ended had no task taken longer than the median",
			Why: "The job waited for this long if the stage was on its critical path."},
		{Name: "slowdown_ratio", Unit: "ratio", Severity: Warning, MinChange: 0.25, MinAbs: 0.5, Stage: true, MinShare: 0.02, of: logOf("slowdown_ratio", 0),
			Doc: "median progress rate of a stage divided by its slowest",
			Why: "One task is much slower than the others relative to its input."},
		{Name: "outlier_share", Unit: "share", Severity: Warning, MinAbs: 0.05, Stage: true, MinShare: 0.02, of: share("outliers", "tasks"),
			Doc: "share of a stage's tasks that take longer than 1.5 × the median",
			Why: "Many tasks are slow, not one: machines, network or data, not chance."},
		{Name: "input_skew", Unit: "ratio", Severity: Warning, MinChange: 0.25, MinAbs: 0.5, Stage: true, MinShare: 0.02, of: logOf("input_skew", 0),
			Doc: "largest input of a stage's tasks divided by the median input",
			Why: "One key or one file has grown. Partition on another column, salt the key, or split the file."},
	}
}

// timed reports whether the rule compares times, which slow machines can explain.
func (c *comparison) timed() bool {
	return c.rule.Unit == "s" || c.rule.Unit == "slot s" || c.rule.Name == "outlier_share"
}

func (s Severity) Check() error {
	if slices.Contains(severities(), s) {
		return nil
	}
	return fmt.Errorf("severity %q: it is error, warning, note or off", string(s))
}

// Severity is the effect of a finding on the build: error and warning fail it, note does not, off disables the rule.
type Severity string

const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
	Off     Severity = "off"
)

// severities lists the severities, gravest first.
func severities() []Severity { return []Severity{Error, Warning, Note, Off} }

// logOf compares the logarithm, on which runs that are slower by a factor scatter alike whatever they measure. The
// constant keeps small absolute changes of values near zero small.
func logOf(name string, c float64) func(v, _ measure.Values) point {
	return func(v, _ measure.Values) point {
		x, ok := v[name]
		if !ok || x < 0 || x+c <= 0 {
			return point{}
		}
		return point{value: x, y: math.Log(x + c), w: 1, speed: name == "time_s", ok: true, clock: clock(v, x+c)}
	}
}

// lost returns the delay of the end of a stage. It depends on a single task, so its variance is large.
func lost(v, scale measure.Values) point {
	x, ok := v["lost_s"]
	c := max(0.05, 0.05*scale["time_s"])
	if !ok || x < 0 {
		return point{}
	}
	return point{value: x, y: math.Log(x + c), w: 1, speed: true, ok: true, clock: clock(v, x+c)}
}

// stageExcess returns the excess of a stage in units of its median, since stage_time finds stages that are slower as a whole.
func stageExcess(v, scale measure.Values) point {
	m := v["median_s"]
	p := excess(v, measure.Values{"slot_s": scale["slot_s"] / max(scale["median_s"], 1e-9) * m})
	if m <= 0 || !p.ok {
		return point{}
	}
	p.y, p.speed = p.y-math.Log(m), false
	return p
}

// excess returns the time lost to slow tasks. If the slow tasks of a run were a random sample, the variance of the sum of their
// excesses e would be about Σe² (a Poisson bootstrap of them), and that of its logarithm Σe² / (Σe)². For stages whose slow tasks
// are the same every night the variance is smaller by a factor, which is estimated from the pool of stages.
func excess(v, scale measure.Values) point {
	e, ok := v["excess_s"]
	sq, ok2 := v["excess_sq"]
	c := 0.005 * scale["slot_s"]
	if !ok || !ok2 || e < 0 || e+c <= 0 {
		return point{}
	}
	return point{value: e, y: math.Log(e + c), w: max(sq, c*c) / ((e + c) * (e + c)), speed: true, ok: true, clock: max(1, v["tasks"]) * clock(v, e+c)}
}

// clock returns the variance of the logarithm of a time that is due to a clock of whole seconds: a time is the difference of two
// rounded instants, each with variance 1/12 s².
func clock(v measure.Values, time float64) float64 {
	tick := v["tick_s"]
	return tick * tick / 6 / (time * time)
}

// share compares a count out of another: the angle whose sine squared it is, whose variance is 1/4n whatever the share
// (Anscombe 1948).
func share(part, whole string) func(v, _ measure.Values) point {
	return func(v, _ measure.Values) point {
		k, ok := v[part]
		n, ok2 := v[whole]
		if !ok || !ok2 || n <= 0 || k < 0 || k > n {
			return point{}
		}
		return point{value: k / n, y: math.Asin(math.Sqrt((k + 0.375) / (n + 0.75))), w: 1 / (4*n + 2), ok: true}
	}
}
