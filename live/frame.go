package live

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
	"straggler/whatif/replay"
)

// Frame is what a watcher reports about an application at an instant. Names of JSON fields are those of columns.
type Frame struct {
	Now         schema.Time
	Application *schema.Application
	Ended       bool
	Stages      []Stage    // that are running
	Slow        []SlowTask // slowest first
	Decisions   []Decision // made since the last frame, about running tasks or about machines
	Machines    []Machine  // that are slow
	Errors      []Error    // of estimates so far
	Notes       []string
}

// Stage is a phase that runs.
type Stage struct {
	Phase    schema.Key           `col:"phase_id"`
	Stage    string               `col:"stage"`
	Attempt  int32                `col:"attempt"`
	Name     string               `col:"name"`
	Tasks    int64                `col:"tasks"`
	Done     int                  `col:"done"`
	Running  int                  `col:"running"`
	Waiting  int                  `col:"waiting"`
	MedianS  schema.Null[float64] `col:"median_s"` // of the finished tasks
	ElapsedS float64              `col:"elapsed_s"`
}

// SlowTask is a running attempt that has taken, or almost certainly will take, more than 1.5 × the median of its phase.
type SlowTask struct {
	Attempt    schema.Key           `col:"attempt_id"`
	Stage      string               `col:"stage"`
	StageTry   int32                `col:"stage_attempt"`
	Task       int64                `col:"task"`
	Number     int32                `col:"number"`
	NativeID   string               `col:"native_id"`
	Machine    string               `col:"machine"`
	Executor   string               `col:"executor"`
	ElapsedS   float64              `col:"elapsed_s"`
	MedianS    float64              `col:"median_s"`
	LeftS      float64              `col:"left_s"` // expected, with the ends of the 90 % interval
	LeftLow    float64              `col:"left_low"`
	LeftHigh   float64              `col:"left_high"`
	Basis      Basis                `col:"basis"`
	Size       schema.Null[float64] `col:"size_ratio"` // bytes read so far / those of the median task
	Cause      schema.Cause         `col:"cause"`      // the likely one so far
	Confidence schema.Null[float64] `col:"confidence"`
	Evidence   string               `col:"evidence"`
	Copy       Copy                 `col:"copy"`
}

// Copy is the expected outcome of a copy of a running task.
type Copy struct {
	Helps    Helps                `col:"helps"`
	GainS    schema.Null[float64] `col:"gain_s"` // expected, with the ends of the 95 % interval
	GainLow  schema.Null[float64] `col:"gain_low"`
	GainHigh schema.Null[float64] `col:"gain_high"`
	Wins     schema.Null[float64] `col:"wins"` // the probability that the copy ends first
	Advice   string               `col:"advice"`
}

// Helps reports whether a copy helps.
type Helps string

const (
	Yes     Helps = "yes"
	No      Helps = "no"
	Perhaps Helps = "perhaps"
)

// Decision is what a policy would do now.
type Decision struct {
	At       schema.Time `col:"at"`
	Policy   string      `col:"policy"`
	Verb     replay.Verb `col:"verb"`
	Stage    string      `col:"stage"`
	StageTry int32       `col:"stage_attempt"`
	Task     int64       `col:"task"` // -1: none
	Machine  string      `col:"machine"`
	Copy     *Copy       `col:"copy"`  // for decisions about a slow task
	Tasks    int         `col:"tasks"` // number of tasks that the decision is about: clones of a whole phase are one decision
	Text     string      `col:"text"`
	Of       []int64     // the tasks
}

// Machine is a slow machine.
type Machine struct {
	Machine string               `col:"machine"`
	Factor  float64              `col:"factor"`
	Low     schema.Null[float64] `col:"factor_low"`
	High    schema.Null[float64] `col:"factor_high"`
	Stages  int64                `col:"stages"` // of this application, in which it is slow; 0: only the store says so
	Advice  string               `col:"advice"`
}

// Error is the observed error of estimates of task times.
type Error struct {
	Basis  Basis   `col:"basis"`
	Tasks  int     `col:"tasks"`
	Median float64 `col:"median_error"` // the median of estimate / actual − 1, either way
}

// bases lists them in the order in which their errors are shown.
var bases = []Basis{ByProgress, ByBytes, ByDuration}

// frame builds the frame.
func (w *Watcher) frame(s *State, slow []slowAttempt, decided []replay.Decision) *Frame {
	app := &s.Trace.Applications[0]
	f := &Frame{Now: s.Now, Application: app, Ended: s.Ended, Notes: s.Notes}
	phases := map[schema.Key]*schema.Phase{}
	byNumber := map[int32]*schema.Phase{}
	for i := range s.Trace.Phases {
		p := &s.Trace.Phases[i]
		phases[p.PhaseID] = p
		if x := w.feed.phases[p.PhaseID]; x != nil {
			byNumber[x.number] = p
			if !s.Ended && !x.over && p.Status == schema.RunRunning {
				f.Stages = append(f.Stages, w.stage(p, x, s.Now))
			}
		}
	}
	slices.SortStableFunc(f.Stages, func(a, b Stage) int { return cmp.Compare(a.Phase, b.Phase) })
	copies := map[schema.Key]*Copy{}
	for i := range slow {
		t := w.slowTask(&slow[i], phases[slow[i].row.PhaseID])
		f.Slow = append(f.Slow, t)
	}
	for i := range f.Slow {
		copies[f.Slow[i].Attempt] = &f.Slow[i].Copy
	}
	f.Machines = w.machines()
	master := w.feed.setting("spark.master")
	for i := range f.Machines {
		f.Machines[i].advise(master)
	}
	f.Decisions = w.decisions(decided, byNumber, copies)
	for _, b := range bases {
		if e := w.estimateErrors[b]; e != nil {
			f.Errors = append(f.Errors, Error{b, len(e.logs), math.Expm1(median(e.logs))})
		}
	}
	return f
}

func (w *Watcher) stage(p *schema.Phase, x *watchedPhase, now schema.Time) Stage {
	v := w.feed.to.View(x.number)
	st := Stage{Phase: p.PhaseID, Stage: p.NativeID, Attempt: p.Attempt, Name: p.Name.V, Tasks: int64(v.Tasks()),
		Done: v.Succeeded(), Running: len(v.Running()), Waiting: v.Waiting(), ElapsedS: max(now.Sub(w.feed.origin+schema.Time(v.Released())), 0)}
	x.pace.add(v, w.factor)
	if m := median(x.pace.took); m == m {
		st.MedianS = schema.Some(m)
	}
	return st
}

func (w *Watcher) slowTask(x *slowAttempt, p *schema.Phase) SlowTask {
	a := x.row
	t := SlowTask{Attempt: a.AttemptID, Stage: p.NativeID, StageTry: p.Attempt, Task: a.Task, Number: a.Number, NativeID: a.NativeID,
		Machine: a.Machine.V, Executor: a.Executor.V, ElapsedS: x.elapsed, MedianS: x.median, Basis: x.guess.basis,
		LeftS: x.guess.mid() - x.elapsed, LeftLow: x.guess.at(0.05) - x.elapsed, LeftHigh: x.guess.at(0.95) - x.elapsed}
	if mid := median(x.x.phase.pace.bytes); mid > 0 && a.InputBytes.Or(0) > 0 {
		t.Size = schema.Some(float64(a.InputBytes.V) / mid)
	}
	w.why(&t)
	mean, low, high, wins := x.x.phase.pace.gain(&x.guess, x.elapsed, 0)
	t.Copy = Copy{Helps: Perhaps, GainS: known(mean), GainLow: known(low), GainHigh: known(high), Wins: known(wins)}
	unreported := median(x.x.phase.pace.bytes) > 0 && x.x.samples[1].bytes == 0
	t.advise(unreported)
	return t
}

func known(x float64) schema.Null[float64] {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return schema.Null[float64]{}
	}
	return schema.Some(x)
}

// manyTasks is the number of tasks from which a policy's decisions at one instant are shown as one: it copies a phase, not a
// task.
const manyTasks = 5

// decisions returns the decisions worth showing: about tasks that still run, and about machines.
func (w *Watcher) decisions(decided []replay.Decision, phases map[int32]*schema.Phase, copies map[schema.Key]*Copy) []Decision {
	attempts := w.runningAttempts()
	var out []Decision
	for from := 0; from < len(decided); {
		d := decided[from]
		same := from + 1
		for same < len(decided) && decided[same].Policy == d.Policy && decided[same].Phase == d.Phase && decided[same].At == d.At &&
			decided[same].Verb == d.Verb {
			same++
		}
		about := decided[from:same]
		from = same
		x := Decision{At: w.feed.origin + schema.Time(d.At), Policy: w.names[d.Policy], Verb: d.Verb, Task: -1, Machine: d.Machine}
		if d.Verb == replay.AvoidMachine {
			x.describe()
			out = append(out, x)
			continue
		}
		p := phases[d.Phase]
		if p == nil {
			continue
		}
		x.Stage, x.StageTry = p.NativeID, p.Attempt
		v := w.feed.to.View(d.Phase)
		about = slices.DeleteFunc(slices.Clone(about), func(d replay.Decision) bool { return v.Finished(d.Task) })
		if len(about) > manyTasks {
			x.Tasks, x.Of = len(about), nil
			for _, d := range about {
				x.Of = append(x.Of, w.feed.phases[p.PhaseID].tasks[d.Task])
			}
			x.describe()
			out = append(out, x)
			continue
		}
		for _, d := range about {
			if id, runs := attempts[taskOf{d.Phase, d.Task}]; runs {
				x.Tasks, x.Machine, x.Copy = 1, d.Machine, copies[id]
				x.Task = w.feed.phases[p.PhaseID].tasks[d.Task]
				x.Of = []int64{x.Task}
				x.describe()
				out = append(out, x)
			}
		}
	}
	return out
}

// taskOf is a task by the policies' numbers.
type taskOf struct{ phase, task int32 }

// runningAttempts returns the first attempts of tasks that run.
func (w *Watcher) runningAttempts() map[taskOf]schema.Key {
	out := map[taskOf]schema.Key{}
	for k, x := range w.feed.attempts {
		if x.ended {
			continue
		}
		at := taskOf{x.phase.number, x.task}
		if old, ok := out[at]; !ok || w.feed.attempts[old].number > x.number {
			out[at] = k
		}
	}
	return out
}

// machines returns the slow machines, the slowest first.
func (w *Watcher) machines() []Machine {
	byName := map[string]Machine{}
	for m, f := range w.prior {
		if _, ok := w.factors[m]; ok {
			byName[m] = Machine{Machine: m, Factor: f}
		}
	}
	for i := range w.health {
		h := &w.health[i]
		if _, slow := w.factors[h.Machine]; slow && h.Verdict == schema.Slow && h.Factor.OK {
			byName[h.Machine] = Machine{Machine: h.Machine, Factor: h.Factor.V, Low: h.FactorLow, High: h.FactorHigh, Stages: h.Phases}
		}
	}
	var out []Machine
	for _, m := range byName {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(b.Factor, a.Factor), cmp.Compare(a.Machine, b.Machine))
	})
	return out
}
