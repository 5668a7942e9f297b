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

// The statistics of applications whose results are kept remain rows as read: there are about a hundred per application, and the
// model needs each of them once. Only those of an application that is attributed again are converted to sums.

// before holds kept rows of all applications, in chunks.
type before struct {
	machines [][]schema.MachineStatistics
	stages   [][]schema.StageStatistics
}

// readMachines and readStages read the statistics of machines and of stages for the applications of unchanged inputs.
func (r *run) readMachines(ctx context.Context) (err error) {
	r.before.machines, err = readKept[schema.MachineStatistics](ctx, r, "SELECT * FROM machine_statistics")
	return err
}

func (r *run) readStages(ctx context.Context) (err error) {
	r.before.stages, err = readKept[schema.StageStatistics](ctx, r, "SELECT * FROM stage_statistics")
	return err
}

// readKept reads the rows of a table if any are kept. They are stored in chunks, because a growing slice would copy all of them
// repeatedly.
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

// assignStatistics assigns the rows to the applications of unchanged inputs, in the order in which they are merged.
func (r *run) assignStatistics() {
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

// sortRows sorts rows that are mostly sorted.
func sortRows[R any](rows []R, compare func(s, t *R) int) {
	for i := 1; i < len(rows); i++ {
		if compare(&rows[i-1], &rows[i]) > 0 {
			slices.SortStableFunc(rows, func(s, t R) int { return compare(&s, &t) })
			return
		}
	}
}

// eachOf yields the runs of adjacent rows with the same key.
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

// joinedRows returns the rows of an application as one slice. They are mostly contiguous, and then they are not copied.
func joinedRows[R any](some, more []R) []R {
	if len(some) == 0 {
		return more
	}
	return append(some, more...)
}

// mergeRows has the same result as merging the sums that take makes of the rows: machines are numbered in the order of their
// names.
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

// take converts the rows of an application to sums, to which can be added and which can be written.
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

// takeMoved converts the rows of the applications that are attributed again.
func (r *run) takeMoved() {
	for key, a := range r.applications {
		if r.part.work[r.part.inputOf("applications", key)] == again {
			r.take(a)
		}
	}
}

// windowOf returns the machine and window of a row, if it has one.
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
		Stage: model.Stage{N: s.Tasks, LogSigma: s.LogSigma, ElasticityW: s.ElasticityWeight, Elasticity: s.Elasticity,
			SpillW: s.SpillWeight, Spill: s.Spill},
		Outliers: fit.OutlierCounts{N: s.Known, Slow: s.Alone, Sum: s.AloneFactor, Sum2: s.AloneSquared, CPUKnown: s.AloneCPUKnown,
			Computing: s.AloneComputing},
		Starts: fit.StartCounts{Starts: s.Starts, Slow: s.SlowStarts}}
}
