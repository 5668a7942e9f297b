package causes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// The statistics of each application are kept as rows of machine_statistics and stage_statistics, with the estimates of the
// model at the time its attempts were attributed. The model dependencies from their sum, in the order of the applications, so a
// new application changes it a little for all others. Attributions are kept while the change is below these tolerances; an
// application in which a share of the tasks exceeds them is attributed again. TestMovedModel measures the effect.
const (
	movedFactor   = 0.01 // of ln(factor) of a machine: 1 % of the time of a task
	movedVariance = 0.1  // of the variance of that in a phase, as a share: 5 % of the standard deviation
	// of a stage's elasticity, and seconds per spilled byte, in standard deviations of what is known of it
	movedWork  = 0.5
	movedSigma = 0.2 // of a stage's scatter, as a share; it contributes a sixth of the scatter of a phase of 20 tasks
	// of the probability that an attempt is slow by itself, and of the variance of its factor, as a share
	movedProbability = 0.1
	movedMean        = 0.02 // of the mean ln(factor) of these
	movedShare       = 0.05 // of the tasks of an application
)

// application holds the statistics of the phases of one application.
type application struct {
	sums  *model.Statistics
	slow  map[machines.Window]int64 // its outliers by high_runtime
	racks map[int64]string          // of its machines; "" unknown

	causes map[schema.Cause]causeTotal // sums of its attributions, if they were computed

	// kept rows, in place of sums and slow, and the model it was attributed under
	before []schema.MachineStatistics
	stages []schema.StageStatistics
}

// numberMachines numbers the machines of the selected attempts and of kept statistics densely in the order of their names, and
// passes the numbers to the engine.
func (r *run) numberMachines(ctx context.Context) error {
	type machine struct {
		Application schema.Key          `col:"application_id"`
		Name        string              `col:"machine"`
		Rack        schema.Null[string] `col:"rack"`
	}
	const perApplication = "SELECT application_id, machine, max(rack) AS rack FROM attempts WHERE machine IS NOT NULL GROUP BY application_id, machine"
	if err := engine.MaterializeParts(ctx, r.eng, "causes_ran", perApplication, r.seen...); err != nil {
		return err
	}
	var ran []machine
	for m, err := range engine.Read[machine](ctx, r.eng, "SELECT application_id, machine, rack FROM causes_ran") {
		if err != nil {
			return err
		}
		ran = append(ran, *m)
	}
	if r.number == nil {
		if err := r.nameMachines(ctx, func(yield func(string, schema.Null[string]) bool) {
			for i := range ran {
				if !yield(ran[i].Name, ran[i].Rack) {
					return
				}
			}
		}); err != nil {
			return err
		}
	}
	for i := range ran {
		k, ok := r.number[ran[i].Name]
		if !ok {
			return fmt.Errorf("machine %q has come meanwhile; try again: %w", ran[i].Name, store.ErrConflict)
		}
		r.application(ran[i].Application).racks[k] = ran[i].Rack.V
	}
	return r.createMachines(ctx)
}

// nameMachines numbers the machines named by attempts and kept statistics.
func (r *run) nameMachines(ctx context.Context, ran func(func(string, schema.Null[string]) bool)) error {
	racks := map[string]string{}
	add := func(name string, rack schema.Null[string]) { racks[name] = max(racks[name], rack.V) }
	for name, rack := range ran {
		add(name, rack)
	}
	for _, a := range r.applications {
		for i := range a.before {
			add(a.before[i].Machine, a.before[i].Rack)
		}
	}
	type machine struct {
		Name string              `col:"machine"`
		Rack schema.Null[string] `col:"rack"`
	}
	for m, err := range engine.Read[machine](ctx, r.eng,
		"SELECT machine, min(rack) AS rack FROM machines WHERE machine IS NOT NULL GROUP BY machine HAVING count(DISTINCT rack) = 1") {
		if err != nil {
			return err
		}
		if rack, ok := racks[m.Name]; ok && rack == "" {
			racks[m.Name] = m.Rack.V
		}
	}
	r.machines, r.number = slices.Sorted(maps.Keys(racks)), make(map[string]int64, len(racks))
	r.racks = make([]string, len(r.machines))
	for k, name := range r.machines {
		r.number[name], r.racks[k] = int64(k), racks[name]
	}
	return nil
}

// createMachines creates the table causes_machines of the machines of the selected attempts.
func (r *run) createMachines(ctx context.Context) error {
	const local = "SELECT machine, row_number() OVER (ORDER BY machine NULLS LAST) - 1 AS number FROM (SELECT DISTINCT machine FROM causes_ran) AS m"
	if err := r.eng.Materialize(ctx, "causes_local", local); err != nil {
		return err
	}
	type machine struct {
		Name   string `col:"machine"`
		Number int64  `col:"number"`
	}
	var pairs []string
	same := true
	for m, err := range engine.Read[machine](ctx, r.eng, "SELECT machine, number FROM causes_local") {
		if err != nil {
			return err
		}
		k := r.number[m.Name]
		same = same && k == m.Number
		pairs = append(pairs, "("+strconv.FormatInt(m.Number, 10)+", "+strconv.FormatInt(k, 10)+")")
	}
	sql := "SELECT machine, number FROM causes_local"
	if !same { // by number, since a name may contain anything
		sql = "SELECT l.machine, CAST(v.k AS BIGINT) AS number FROM causes_local l JOIN (VALUES " + strings.Join(pairs, ", ") + ") AS v(n, k) ON v.n = l.number"
	}
	return r.eng.Materialize(ctx, "causes_machines", sql)
}

// application returns the statistics of an application.
func (r *run) application(key schema.Key) *application {
	a := r.applications[key]
	if a == nil {
		a = &application{sums: model.NewStatistics(), slow: map[machines.Window]int64{}, racks: map[int64]string{}, causes: map[schema.Cause]causeTotal{}}
		r.applications[key] = a
	}
	return a
}

// merge builds the model of all applications.
func (r *run) merge() {
	l := model.NewLearner(r.o.WindowS, r.machines, r.racks)
	for _, key := range slices.Sorted(maps.Keys(r.applications)) {
		a := r.applications[key]
		l.Merge(a.sums)
		r.mergeRows(l, a)
	}
	r.model = l.Model()
}

// findMoved finds the inputs with an application whose estimates have changed since it was attributed.
func (r *run) findMoved() {
	p := &r.part
	if p.whole {
		return
	}
	var kept []*application
	var inputs []schema.Key // of each
	for key, a := range r.applications {
		if input := p.inputOf("applications", key); p.work[input] == nothing && (p.chosen == nil || p.chosen[input]) {
			kept, inputs = append(kept, a), append(inputs, input)
		}
	}
	found := make([]bool, len(kept))
	r.parallel(len(kept), func(_, i int) { found[i] = r.moved(kept[i]) })
	moved := map[schema.Key]bool{}
	for i, input := range inputs {
		if found[i] {
			moved[input] = true
		}
	}
	for _, in := range p.kept {
		if moved[schema.Key(in.Key)] {
			p.moved = append(p.moved, in)
			p.work[schema.Key(in.Key)] = again
		}
	}
}

// moved reports whether the estimates for the machines and stages of an application have changed.
func (r *run) moved(a *application) bool {
	var attempts, tasks tally
	for i := range a.before {
		s := &a.before[i]
		attempts.add(float64(s.Attempts), s.Phases > 0 && r.machineMoved(s))
	}
	for i := range a.stages {
		s := &a.stages[i]
		now := r.under(uint64(s.Signature), stageSums(s).Stage)
		if !within(s.AloneProbability, now.AloneProbability, movedProbability) || !near(s.AloneMean, now.AloneMean, movedMean) ||
			!within(s.AloneVariance, now.AloneVariance, movedProbability) || !near(s.ComputingShare, now.ComputingShare, movedProbability) ||
			!near(s.SlowStart, now.SlowStart, movedProbability) ||
			!within(s.MachinesVariance+machines.PhasePrior.Spike, now.MachinesVariance+machines.PhasePrior.Spike, movedVariance) {
			return true // all attempts were attributed with these
		}
		tasks.add(s.Tasks, stageMoved(s, &now))
	}
	return attempts.share() > movedShare || tasks.share() > movedShare
}

// tally counts the changed share of a total.
type tally struct{ moved, all float64 }

func (t *tally) add(n float64, moved bool) {
	t.all += n
	if moved {
		t.moved += n
	}
}

func (t *tally) share() float64 { return t.moved / max(1, t.all) }

// machineMoved reports whether the estimate for a machine in a window has changed. The variance is compared including that
// between phases.
func (r *run) machineMoved(s *schema.MachineStatistics) bool {
	now := *s
	r.known(&now, r.number[s.Machine])
	return now.WithRack != s.WithRack || now.KnownFactor.OK != s.KnownFactor.OK || !near(now.KnownFactor.V, s.KnownFactor.V, movedFactor) ||
		!within(now.KnownVariance.V+machines.PhasePrior.Spike, s.KnownVariance.V+machines.PhasePrior.Spike, movedVariance)
}

// stageMoved does the same for a stage.
func stageMoved(s, now *schema.StageStatistics) bool {
	return !near(s.WorkPrior, now.WorkPrior, movedWork/math.Sqrt(s.WorkPrecision)) || (s.SpillPrecision > 0) != (now.SpillPrecision > 0) ||
		s.SpillPrecision > 0 && !near(s.SpillPrior, now.SpillPrior, movedWork/math.Sqrt(s.SpillPrecision)) || !within(s.SigmaPrior, now.SigmaPrior, movedSigma)
}

// near reports whether two figures differ by at most a tolerance.
func near(a, b, most float64) bool { return math.Abs(a-b) <= most }

// within reports whether two figures differ by at most a share.
func within(a, b, most float64) bool { return math.Abs(a-b) <= most*max(math.Abs(a), math.Abs(b)) }

// known fills in the estimate for a machine in a window as used by one of the phases that the row sums up, which is left out of
// it.
func (r *run) known(s *schema.MachineStatistics, machine int64) {
	w := machines.Window{Machine: machine, Number: fit.WindowOf(s.WindowStart, r.o.WindowS)}
	own := machines.SufficientStats{}
	if n := float64(s.Phases); n > 0 { // an average one of them
		own = machines.SufficientStats{W: s.Weight / n, WZ: s.Weighted / n, WZZ: s.Squared / n, Phases: 1}
	}
	s.KnownFactor, s.KnownVariance = schema.Null[float64]{}, schema.Null[float64]{}
	if r.model.Machines.Of(machine).Phases > own.Phases {
		mean, variance := r.model.Machines.Prior(w, own)
		s.KnownFactor, s.KnownVariance = schema.Some(mean), schema.Some(variance)
	}
	_, _, _, s.WithRack = r.model.Machines.SlowRack(machine)
}

// under returns the estimate for a stage without the contribution of the application itself.
func (r *run) under(signature uint64, own model.Stage) (s schema.StageStatistics) {
	p := r.model.Priors(signature, own)
	s.WorkPrior, s.WorkPrecision, s.SpillPrior, s.SpillPrecision, s.SigmaPrior = p.Work.Mean, p.Work.Precision, p.Spill.Mean, p.Spill.Precision, p.Sigma.Mean
	o := r.model.Outliers
	s.AloneProbability, s.AloneMean, s.AloneVariance, s.MachinesVariance = o.Probability, o.Mean, o.Variance, r.model.Machines.Population.Spike
	s.ComputingShare, s.SlowStart = o.Computing, r.model.SlowStart
	return s
}

// writeStatistics writes the statistics of the applications that were processed.
func (r *run) writeStatistics(tx *store.Tx) error {
	if r.part.whole {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(r.applications)) {
		input := r.part.inputOf("applications", key)
		if r.part.work[input] == nothing {
			continue
		}
		a := r.applications[key]
		if err := store.Append(tx, input, r.machineRows(key, a)); err != nil {
			return err
		}
		if err := store.Append(tx, input, r.stageRows(key, a)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) machineRows(key schema.Key, a *application) []schema.MachineStatistics {
	windows := map[int64][]int64{}
	for w := range a.sums.Windows {
		windows[w.Machine] = append(windows[w.Machine], w.Number)
	}
	for w := range a.slow {
		if _, ok := a.sums.Windows[w]; !ok {
			windows[w.Machine] = append(windows[w.Machine], w.Number)
		}
	}
	for k := range a.racks {
		windows[k] = windows[k][:len(windows[k]):len(windows[k])]
	}
	var rows []schema.MachineStatistics
	for _, k := range slices.Sorted(maps.Keys(windows)) {
		s := schema.MachineStatistics{ApplicationID: key, Machine: r.machines[k]}
		if rack := a.racks[k]; rack != "" {
			s.Rack = schema.Some(rack)
		}
		from := len(rows)
		slices.Sort(windows[k])
		for _, n := range windows[k] {
			s.WindowStart = schema.Some(schema.Time(n) * schema.Time(r.o.WindowS*1e6))
			t := a.sums.Windows[machines.Window{Machine: k, Number: n}]
			s.Attempts, s.Phases, s.Outliers = t.Attempts, t.Phases, a.slow[machines.Window{Machine: k, Number: n}]
			s.Weight, s.Weighted, s.Squared = t.W, t.WZ, t.WZZ
			s.Over110, s.Over125, s.Over150, s.Over200, s.Over300 = t.Over[0], t.Over[1], t.Over[2], t.Over[3], t.Over[4]
			s.First, s.FirstWeight, s.Second, s.SecondWeight, s.Third, s.ThirdWeight = t.Top[0].Z, t.Top[0].W, t.Top[1].Z, t.Top[1].W, t.Top[2].Z, t.Top[2].W
			r.known(&s, k)
			rows = append(rows, s)
		}
		if len(windows[k]) == 0 {
			rows = append(rows, s)
		}
		c := a.sums.CPU[k]
		rows[from].CPUPhases, rows[from].CPUWeight, rows[from].CPUWeighted, rows[from].CPUSquared = c.Phases, c.W, c.WZ, c.WZZ
	}
	return rows
}

func (r *run) stageRows(key schema.Key, a *application) []schema.StageStatistics {
	rows := make([]schema.StageStatistics, 0, len(a.sums.Stages))
	for _, signature := range slices.Sorted(maps.Keys(a.sums.Stages)) {
		t := a.sums.Stages[signature]
		s := r.under(signature, t.Stage)
		s.ApplicationID, s.Signature = key, int64(signature)
		s.Tasks, s.LogSigma, s.ElasticityWeight, s.Elasticity, s.SpillWeight, s.Spill = t.N, t.LogSigma, t.ElasticityW, t.Elasticity, t.SpillW, t.Spill
		s.Known, s.Alone, s.AloneFactor, s.AloneSquared = t.Outliers.N, t.Outliers.Slow, t.Outliers.Sum, t.Outliers.Sum2
		s.AloneCPUKnown, s.AloneComputing = t.Outliers.CPUKnown, t.Outliers.Computing
		s.Starts, s.SlowStarts = t.Starts.Starts, t.Starts.Slow
		rows = append(rows, s)
	}
	return rows
}

// slowHere counts the outliers of all applications by machine and window.
func (r *run) slowHere() map[machines.Window]int64 {
	out := map[machines.Window]int64{}
	for _, a := range r.applications {
		for w, n := range a.slow {
			out[w] += n
		}
		for i := range a.before {
			if s := &a.before[i]; s.WindowStart.OK && s.Outliers > 0 {
				out[r.windowOf(s)] += s.Outliers
			}
		}
	}
	return out
}
