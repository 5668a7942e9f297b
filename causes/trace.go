package causes

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
)

// Attribute splits the excess of the outliers of a trace in memory. Rows are in the order of phases and attempts; the seconds
// of an attempt sum to its excess.
func Attribute(t *schema.Trace, outliers []schema.Outlier, windowS float64) []schema.Attribution {
	rows, _ := Analyse(t, outliers, windowS)
	return rows
}

// Analyse is like Attribute and also returns the model of the trace's phases.
func Analyse(t *schema.Trace, outliers []schema.Outlier, windowS float64) ([]schema.Attribution, *model.Model) {
	phases, names := phasesOf(t, outliers)
	l := model.NewLearner(windowS, names, racksOf(t, names))
	for i := range phases {
		l.Observe(&phases[i])
	}
	m := l.Model()
	a := NewAttributor(m)
	a.losses, a.collections = lossesOf(t), collectionsOf(t, names)
	var rows []schema.Attribution
	for i := range phases {
		rows = a.Attribute(&phases[i], rows)
	}
	return rows, m
}

// phasesOf groups the attempts with a duration by phase, in the order of their keys, and numbers the machines in the order of
// their names.
func phasesOf(t *schema.Trace, outliers []schema.Outlier) ([]fit.Phase, []string) {
	names := machineNames(t)
	number := make(map[string]int64, len(names))
	for i, n := range names {
		number[n] = int64(i)
	}
	excess := make(map[schema.Key]schema.Outlier, len(outliers))
	for _, o := range outliers {
		if seen, ok := excess[o.AttemptID]; o.ExcessS.OK && (!ok || seen.Rule != schema.RecomputeRule) &&
			(o.Rule == schema.HighRuntime || o.Rule == schema.RecomputeRule) {
			excess[o.AttemptID] = o
		}
	}
	programs := make(map[schema.Key]string)
	for i := range t.Applications {
		if a := &t.Applications[i]; a.Name.OK {
			programs[a.ApplicationID] = a.Name.V
		}
	}
	jobs := make(map[schema.Key]schema.Key)
	for i := range t.Jobs {
		jobs[t.Jobs[i].JobID] = t.Jobs[i].ApplicationID
	}
	phases := make([]fit.Phase, len(t.Phases))
	for i := range t.Phases {
		p := &t.Phases[i]
		phases[i].ID = p.PhaseID
		if program, ok := programs[jobs[p.JobID]]; ok {
			phases[i].Signature = signature(program, p.Kind, p.Name.Or(""))
		}
	}
	slices.SortFunc(phases, func(a, b fit.Phase) int { return cmp.Compare(a.ID, b.ID) })
	at := make(map[schema.Key]int, len(phases))
	for i := range phases {
		at[phases[i].ID] = i
	}
	executors := executorsOf(t)
	for i := range t.Attempts {
		a := &t.Attempts[i]
		k, ok := at[a.PhaseID]
		if !ok || !a.DurationS.OK {
			continue
		}
		task := fit.TaskOf(a, func(name string) int64 { return number[name] })
		task.Recompute = false
		task.Cold = a.StartTime.OK && executors.Cold(a.ApplicationID, a.Executor.V, a.StartTime.V)
		if o, ok := excess[a.AttemptID]; ok {
			task.Recompute, task.Slow, task.Excess = o.Rule == schema.RecomputeRule, o.Rule == schema.HighRuntime, o.ExcessS.V
		}
		phases[k].Tasks = append(phases[k].Tasks, task)
	}
	var s sorter
	for i := range phases {
		s.byKey(phases[i].Tasks)
	}
	return phases, names
}

// executorsOf does what executors.sql does, on a trace in memory.
func executorsOf(t *schema.Trace) (e fit.Executors[string]) {
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Executor.OK && a.FinishTime.OK && a.StartTime.OK {
			e.Add(a.ApplicationID, a.Executor.V, a.StartTime.V, a.FinishTime.V)
		}
	}
	return e
}

func machineNames(t *schema.Trace) []string {
	seen := make(map[string]bool)
	var names []string
	for i := range t.Attempts {
		if m := t.Attempts[i].Machine; m.OK && !seen[m.V] {
			seen[m.V] = true
			names = append(names, m.V)
		}
	}
	slices.Sort(names)
	return names
}

// racksOf returns the rack of each machine according to its attempts, or else according to the list of machines; "" if unknown.
func racksOf(t *schema.Trace, names []string) []string {
	of, several := map[string]string{}, map[string]bool{}
	for i := range t.Machines {
		if m := &t.Machines[i]; m.Rack.OK {
			rack, seen := of[m.Machine]
			several[m.Machine] = several[m.Machine] || seen && rack != m.Rack.V
			of[m.Machine] = m.Rack.V
		}
	}
	logged := map[string]string{}
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Machine.OK && a.Rack.OK {
			logged[a.Machine.V] = max(logged[a.Machine.V], a.Rack.V)
		}
	}
	racks := make([]string, len(names))
	for i, n := range names {
		if racks[i] = logged[n]; racks[i] == "" && !several[n] {
			racks[i] = of[n]
		}
	}
	return racks
}

// signature identifies a stage by program, kind and name, which its executions share.
func signature(program, kind, name string) uint64 {
	var d xxhash.Digest
	d.Reset()
	for _, s := range [...]string{program, "/", kind, "/", name} {
		d.WriteString(s)
	}
	return d.Sum64()
}

// signatureOf returns the signature of names joined by slashes.
func signatureOf(names string) uint64 { return xxhash.Sum64String(names) }

// lossesOf returns the outputs that were lost and recomputed.
func lossesOf(t *schema.Trace) *losses {
	m := &losses{}
	ends := make(map[schema.Key]schema.Time)
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Recompute && a.FinishTime.OK {
			ends[a.AttemptID] = a.FinishTime.V
		}
	}
	readers := make(map[schema.Key][]schema.Key)
	for _, e := range t.Edges {
		readers[e.FromPhase] = append(readers[e.FromPhase], e.ToPhase)
	}
	for i := range t.Losses {
		l := &t.Losses[i]
		if !l.RecomputedBy.OK {
			continue
		}
		o := lostOutput{l.Task, l.Machine.V, l.Time.V, l.DetectedBy.V, ends[l.RecomputedBy.V]}
		m.add(l.RecomputedBy.V, o)
		for _, reader := range readers[l.PhaseID] {
			m.addGap(reader, o.time, o.restored)
		}
	}
	m.joinGaps()
	return m
}
