package audit

import (
	"math"

	"straggler/audit/measure"
	"straggler/stats"
)

// usual holds the history of a stage.
type usual struct {
	time, cpu, wait float64 // medians over the nights of the medians of tasks; NaN: unknown
	bytes           float64
	work            float64 // of a task tonight over what is usual, at least 1
	longest         float64 // that 99 of 100 tasks stay below: median over the nights
	past            []*measure.Stage
}

func usualOf(past []*measure.Stage, tonight *measure.Stage) usual {
	of := func(value func(measure.Values) (float64, bool)) float64 {
		var v []float64
		for _, s := range past {
			if x, ok := value(s.Values); ok {
				v = append(v, x)
			}
		}
		return stats.Median(v)
	}
	named := func(name string) func(measure.Values) (float64, bool) {
		return func(v measure.Values) (float64, bool) { x, ok := v[name]; return x, ok }
	}
	perTask := func(v measure.Values) (float64, bool) {
		return v["input_bytes"] / v["tasks"], v["input_bytes"] > 0 && v["tasks"] > 0
	}
	u := usual{time: of(named("median_s")), cpu: of(named("cpu_s")), wait: of(named("wait_s")), bytes: of(named("moved_bytes")), work: 1, past: past}
	var longest []float64
	for _, s := range past {
		if len(s.Sketch) == len(sketched) {
			longest = append(longest, s.Sketch[p99])
		}
	}
	u.longest = stats.Median(longest)
	if w, ok := perTask(tonight.Values); ok {
		if was := of(perTask); was > 0 {
			u.work = max(1, w/was)
		}
	}
	return u
}

func (u *usual) part(q measure.Part) part {
	expected := u.time * u.work
	p := part{waits: 1, tasks: float64(q.Tasks), usual: expected, ratio: max(q.MedianS, 1e-3*expected) / expected, extra: q.MedianS - expected,
		cpu: math.NaN(), cpuUsual: u.cpu, bytes: u.bytes}
	if q.Wait.OK && !math.IsNaN(u.wait) {
		p.staging, p.waits = q.Wait.V-u.wait, (max(q.Wait.V, 0)+1)/(u.wait*u.work+1) // of a second or less, clocks say little
	}
	if q.CPUSeconds.OK {
		p.cpu = q.CPUSeconds.V - u.cpu
	}
	return p
}

// chance returns the probability that half of n tasks take at least a multiple of the usual time, estimated from the share of
// such tasks in the history, at least 1/(N + 1), so that a single slow task does not make its machine slow. beyond extends that
// by a tail beyond the slowest task of the history.
func (u *usual) chance(ratio float64, n int64) (rank, beyond float64) {
	slower, tasks, most := 0.0, 0.0, 1.1
	for _, s := range u.past {
		slower += s.Values["tasks"] * above(s.Sketch, ratio*u.time)
		tasks += s.Values["tasks"]
		most = max(most, s.Values["max_s"]/u.time)
	}
	p := min(1, (slower+1)/(tasks+1))
	rank = stats.BinomialSurvival((n+1)/2, n, p)
	if ratio > most {
		p = math.Pow(math.Log(most)/math.Log(ratio), tailIndex) / (tasks + 1)
	}
	return rank, stats.BinomialSurvival((n+1)/2, n, p)
}

// sketched are the quantiles of a sketch.
var sketched = [...]float64{0, 0.25, 0.5, 0.75, 0.9, p99: 0.99, 6: 1}

const p99 = 5

// above returns the share of a sketch's tasks that took at least x: its quantiles joined by straight lines.
func above(sketch []float64, x float64) float64 {
	at := sketched
	if len(sketch) != len(at) || x <= sketch[0] {
		return 1
	}
	for i := 1; i < len(at); i++ {
		if x <= sketch[i] {
			f := 1.0
			if sketch[i] > sketch[i-1] {
				f = (x - sketch[i-1]) / (sketch[i] - sketch[i-1])
			}
			return 1 - at[i-1] - f*(at[i]-at[i-1])
		}
	}
	return 0
}

// slow returns the duration above which a task of tonight is slow: 1.5 × the usual duration for its work, and longer than nearly
// all tasks of the history, since some stages have such tasks every night.
func (u *usual) slow() float64 { return u.work * max(1.5*u.time, u.longest) }

// part compares the tasks of one stage on one machine with the history of the stage. Times are medians per task.
type part struct {
	stage          int // of the run
	tasks          float64
	usual, ratio   float64 // usual time; tonight's over it
	extra          float64 // time more than usual
	staging, waits float64 // of it, waiting for input; how many times as long as usual that was, 1 where the log does not say
	cpu, cpuUsual  float64 // processor time more than usual, and usual; NaN: unknown
	bytes          float64 // read and written by a task; 0: unknown
}

func (p *part) slow() bool { return p.ratio >= slowPart && p.extra > 0 }

// slowPart is the least ratio to the usual time that counts as slow: in the logs used for testing, with a clock of whole
// seconds, 99 % of the parts of normal nights are below it.
const slowPart = 1.2
