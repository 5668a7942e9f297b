package workload

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
)

// observe sums up the statistics of the pool's phases, which depend on each other only by the length of windows.
func (d *draft) observe(windowS float64) *model.Statistics {
	s, f, fitter := model.NewStatistics(), phaseModel{draft: d}, model.Fitter{WindowS: windowS}
	for i := range d.Phases {
		f.load(i)
		if o, ok := fitter.Fit(&f.phase); ok {
			s.Add(f.phase.Signature, &o)
		}
	}
	return s
}

// windowS returns the length of the model's windows for what the attempts span.
func (r *Rows) windowS() float64 {
	if r.First == 0 && r.Last == 0 { // the attempts are all here
		r.First, r.Last = Forever, NoTime
		for i := range r.Attempts {
			if a := &r.Attempts[i]; a.Start != NoTime {
				r.First, r.Last = min(r.First, a.Start), max(r.Last, a.Start, a.Finish)
			}
		}
	}
	return model.WindowS((float64(r.Last) - float64(r.First)) / 1e6)
}

// signature returns a hash that the executions of a stage share.
func (r *Rows) signature(p *schema.Phase) uint64 {
	if r.programs == nil {
		r.programs = map[schema.Key]string{}
		names := map[schema.Key]string{}
		for i := range r.Applications {
			names[r.Applications[i].ApplicationID] = r.Applications[i].Name.Or("")
		}
		for i := range r.Jobs {
			r.programs[r.Jobs[i].JobID] = names[r.Jobs[i].ApplicationID]
		}
	}
	return model.Signature(r.programs[p.JobID], p.Kind, p.Name.Or(""))
}

// warm marks the attempts of cold executors, as executors.sql of package causes does.
func (r *Rows) warm() {
	apps := make(map[schema.Key]schema.Key, len(r.Phases))
	jobs := make(map[schema.Key]schema.Key, len(r.Jobs))
	for i := range r.Jobs {
		jobs[r.Jobs[i].JobID] = r.Jobs[i].ApplicationID
	}
	for i := range r.Phases {
		apps[r.Phases[i].PhaseID] = jobs[r.Phases[i].JobID]
	}
	known := func(a *LoggedAttempt) bool { return a.Executor >= 0 && a.Start != NoTime && a.Finish != NoTime }
	var executors fit.Executors[int32]
	for i := range r.Attempts {
		if a := &r.Attempts[i]; known(a) {
			executors.Add(apps[a.Phase], a.Executor, schema.Time(a.Start), schema.Time(a.Finish))
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.cold = known(a) && executors.Cold(apps[a.Phase], a.Executor, schema.Time(a.Start))
	}
}

// task converts an attempt for the model.
func (r *Rows) task(a *LoggedAttempt) fit.Task {
	m := &a.Measured
	t := fit.Task{
		Attempt: a.ID, Phase: a.Phase, Index: a.Task, Machine: int64(a.Machine), Duration: math.NaN(), Cold: a.cold,
		Succeeded: a.Ending == Succeeded, Cut: a.Ending == Killed || a.Ending == Unended, Excess: math.NaN(),
		Bytes: count(a.Bytes), Records: count(a.Records), Away: math.NaN(),
		Remote: float64(m.Remote), Written: float64(m.Written), Spill: float64(m.Spill), CPU: float64(m.CPU),
		Wait: float64(m.Wait), GC: float64(m.GC), Delay: float64(m.Delay), Convert: float64(m.Convert),
	}
	if a.Start != NoTime {
		t.Start = schema.Some(schema.Time(a.Start))
		if a.Finish != NoTime && a.Finish >= a.Start {
			t.Duration = float64(a.Finish-a.Start) / 1e6
		}
	}
	switch a.Local {
	case Near:
		t.Away = 0
	case Far:
		t.Away = 1
	}
	return t
}

func count(n int64) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}
