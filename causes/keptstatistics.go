package causes

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Of applications whose results are kept the statistics stay rows, as they are read: there are some hundred of each
// application, and the model needs each once. Only those of an application that is attributed again become sums.

// before are rows that are kept, of any application, a chunk at a time.
type before struct {
	machines [][]schema.MachineStatistics
	stages   [][]schema.StageStatistics
}

// readMachines reads what applications of inputs that have not changed say of machines, and readStages what they say of stages.
func (r *run) readMachines(ctx context.Context) (err error) {
	r.before.machines, err = readKept[schema.MachineStatistics](ctx, r, "SELECT * FROM machine_statistics")
	return err
}

func (r *run) readStages(ctx context.Context) (err error) {
	r.before.stages, err = readKept[schema.StageStatistics](ctx, r, "SELECT * FROM stage_statistics")
	return err
}

// readKept reads the rows of a table, where some are kept. They stay where they are put: a slice that grows would copy all of
// them time and again.
func readKept[R any](ctx context.Context, r *run, sql string) (chunks [][]R, err error) {
	if len(r.part.kept) == 0 {
		return nil, nil
	}
	var rows []R
	for s, err := range engine.Read[R](ctx, r.eng, sql) {
		if err != nil {
			return nil, err
		}
		if len(rows) == cap(rows) {
			chunks, rows = append(chunks, rows), make([]R, 0, 4096)
		}
		rows = append(rows, *s)
	}
	return append(chunks, rows), nil
}

// giveStatistics gives each application of an input that has not changed its rows, in the order in which they are merged.
func (r *run) giveStatistics() {
	kept := store.OwnersOf(r.part.kept)
	stands := func(key schema.Key) *application {
		if _, ok := kept.Of("applications", key); !ok {
			return nil
		}
		return r.application(key)
	}
	for rows := range eachOf(r.before.machines, func(s *schema.MachineStatistics) schema.Key { return s.ApplicationID }) {
		if a := stands(rows[0].ApplicationID); a != nil {
			a.before = joinedRows(a.before, rows)
		}
	}
	for rows := range eachOf(r.before.stages, func(s *schema.StageStatistics) schema.Key { return s.ApplicationID }) {
		if a := stands(rows[0].ApplicationID); a != nil {
			a.stages = joinedRows(a.stages, rows)
		}
	}
	r.before = before{}
	for _, a := range r.applications {
		a.sortRows()
	}
}

// sortRows puts an application's rows in the order in which they are merged.
func (a *application) sortRows() {
	sortRows(a.before, func(s, t *schema.MachineStatistics) int {
		return cmp.Or(cmp.Compare(s.Machine, t.Machine), cmp.Compare(s.WindowStart.V, t.WindowStart.V))
	})
	sortRows(a.stages, func(s, t *schema.StageStatistics) int { return cmp.Compare(uint64(s.Signature), uint64(t.Signature)) })
}

// sortRows puts rows in order, in which they mostly are.
func sortRows[R any](rows []R, compare func(s, t *R) int) {
	for i := 1; i < len(rows); i++ {
		if compare(&rows[i-1], &rows[i]) > 0 {
			slices.SortStableFunc(rows, func(s, t R) int { return compare(&s, &t) })
			return
		}
	}
}

// eachOf gives rows that lie together and have the same key.
func eachOf[R any](chunks [][]R, key func(*R) schema.Key) iter.Seq[[]R] {
	return func(yield func([]R) bool) {
		for _, rows := range chunks {
			for n := 0; len(rows) > 0; rows = rows[n:] {
				for n = 1; n < len(rows) && key(&rows[n]) == key(&rows[0]); n++ {
				}
				if !yield(rows[:n:n]) {
					return
				}
			}
		}
	}
}

// joinedRows are the rows of an application. They mostly lie together, and need not be copied then.
func joinedRows[R any](some, more []R) []R {
	if len(some) == 0 {
		return more
	}
	return append(some, more...)
}

// mergeRows merges rows as Merge does the sums that take makes of them: the machines' numbers are in the order of their names.
func (r *run) mergeRows(l *model.Learner, a *application) {
	for i := range a.stages {
		t := stageSums(&a.stages[i])
		l.MergeStage(uint64(a.stages[i].Signature), &t)
	}
	for i := range a.before {
		if s := &a.before[i]; s.WindowStart.OK && s.Phases > 0 {
			l.MergeWindow(r.windowOf(s), windowSums(s))
		}
	}
	for i := range a.before {
		if s := &a.before[i]; s.CPUPhases > 0 {
			t := cpuSums(s)
			l.MergeCPU(r.number[s.Machine], &t)
		}
	}
}

// take makes sums of an application's rows, which may be added to and written then.
func (r *run) take(a *application) {
	for i := range a.before {
		s := &a.before[i]
		k := r.number[s.Machine]
		if rack := a.racks[k]; s.Rack.V >= rack {
			a.racks[k] = s.Rack.V
		}
		if s.CPUPhases > 0 {
			a.sums.CPU[k] = cpuSums(s)
		}
		if s.WindowStart.OK && s.Phases > 0 {
			a.sums.Windows[r.windowOf(s)] = windowSums(s)
		}
	}
	for i := range a.stages {
		a.sums.Stages[uint64(a.stages[i].Signature)] = stageSums(&a.stages[i])
	}
	a.before, a.stages = nil, nil
}

// takeMoved makes sums of the rows of applications that are attributed again.
func (r *run) takeMoved() {
	for key, a := range r.applications {
		if r.part.work[r.part.inputOf("applications", key)] == again {
			r.take(a)
		}
	}
}

// windowOf is the machine and the window of a row that has one.
func (r *run) windowOf(s *schema.MachineStatistics) machines.Window {
	return machines.Window{Machine: r.number[s.Machine], Number: fit.WindowOf(s.WindowStart, r.o.WindowS)}
}

func windowSums(s *schema.MachineStatistics) machines.SufficientStats {
	return machines.SufficientStats{W: s.Weight, WZ: s.Weighted, WZZ: s.Squared, Phases: s.Phases, Attempts: s.Attempts,
		Over: [5]int64{s.Over110, s.Over125, s.Over150, s.Over200, s.Over300},
		Top:  [3]machines.Observation{{Z: s.First, W: s.FirstWeight}, {Z: s.Second, W: s.SecondWeight}, {Z: s.Third, W: s.ThirdWeight}}}
}

func cpuSums(s *schema.MachineStatistics) machines.SufficientStats {
	return machines.SufficientStats{W: s.CPUWeight, WZ: s.CPUWeighted, WZZ: s.CPUSquared, Phases: s.CPUPhases, Attempts: s.CPUPhases}
}

func stageSums(s *schema.StageStatistics) model.StageStatistics {
	return model.StageStatistics{
		Stage:    model.Stage{N: s.Tasks, LogSigma: s.LogSigma, ElasticityW: s.ElasticityWeight, Elasticity: s.Elasticity, SpillW: s.SpillWeight, Spill: s.Spill},
		Outliers: fit.OutlierCounts{N: s.Known, Slow: s.Alone, Sum: s.AloneFactor, Sum2: s.AloneSquared, CPUKnown: s.AloneCPUKnown, Computing: s.AloneComputing},
		Starts:   fit.StartCounts{Starts: s.Starts, Slow: s.SlowStarts}}
}
