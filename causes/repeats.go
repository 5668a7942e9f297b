package causes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"straggler/schema"
	"straggler/store"
)

// repeats counts, for each stage and task, the executions in which the task's input made it slow.
type repeats struct {
	tasks map[stageTask]*skewCount
}

type stageTask struct {
	signature uint64
	task      int64
}

type skewCount struct {
	phases  int64
	seconds float64
	ratios  float64
	known   int64 // executions whose ratio is known
	last    schema.Key
	worst   schema.Key // the execution in which it took longest
	most    float64
}

// maxRepeats bounds the memory for skewed tasks; what comes later is only attributed.
const maxRepeats = 1 << 20

// inputRatios gives, for the verdicts of data_skew among the rows of the prepared phase, the attempt's input over the
// median task's.
func (a *Attributor) inputRatios(rows []schema.Attribution) map[schema.Key]float64 {
	var out map[schema.Key]float64
	b := &a.bench
	for i := range rows {
		if rows[i].Rank != 1 || rows[i].Cause != schema.DataSkew {
			continue
		}
		if out == nil {
			out = map[schema.Key]float64{}
			for j := range b.tasks {
				if m := b.fit.mid[byBytes]; m > 0 && b.tasks[j].Outlier() {
					out[b.tasks[j].Attempt] = b.x[byBytes][j] / m
				}
			}
		}
	}
	return out
}

// add counts the verdicts of data_skew of a phase, a task once.
func (r *repeats) add(p *Phase, rows []schema.Attribution, ratios map[schema.Key]float64) {
	if p.Signature == 0 {
		return
	}
	var task map[schema.Key]int64
	for i := range rows {
		a := &rows[i]
		if a.Rank != 1 || a.Cause != schema.DataSkew {
			continue
		}
		if task == nil {
			task = make(map[schema.Key]int64, len(p.Tasks))
			for j := range p.Tasks {
				task[p.Tasks[j].Attempt] = p.Tasks[j].Index
			}
		}
		r.count(stageTask{p.Signature, task[a.AttemptID]}, a, ratios)
	}
}

func (r *repeats) count(k stageTask, a *schema.Attribution, ratios map[schema.Key]float64) {
	c := r.tasks[k]
	if c == nil {
		if len(r.tasks) >= maxRepeats {
			return
		}
		if r.tasks == nil {
			r.tasks = map[stageTask]*skewCount{}
		}
		c = &skewCount{}
		r.tasks[k] = c
	}
	if c.last != a.PhaseID {
		c.last = a.PhaseID
		c.phases++
		if x, ok := ratios[a.AttemptID]; ok {
			c.ratios += x
			c.known++
		}
	}
	c.seconds += a.Seconds
	if a.Seconds > c.most {
		c.most, c.worst = a.Seconds, a.PhaseID
	}
}

// skewRepeats writes skew_repeats.
func (r *run) skewRepeats(ctx context.Context, tx *store.Tx) error {
	executions := map[uint64]int64{}
	for i := range r.phases {
		if p := &r.phases[i]; p.Number == 0 && p.Attempts > 0 {
			executions[p.signature]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(r.repeats.tasks), func(a, b stageTask) int {
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.task, b.task))
	})
	names, err := r.stageNames(ctx, keys)
	if err != nil {
		return err
	}
	rows := make([]schema.SkewRepeat, 0, len(keys))
	for _, k := range keys {
		c, n := r.repeats.tasks[k], names[k.signature]
		row := schema.SkewRepeat{Program: n.Program, Stage: n.Stage, Kind: n.Kind, Task: k.task, Seconds: c.seconds, Skewed: c.phases,
			Executions: max(executions[k.signature], c.phases), PhaseID: c.worst}
		if c.known > 0 {
			row.Ratio = schema.Some(c.ratios / float64(c.known))
		}
		if row.Executions > 1 {
			row.Repeats = schema.Some(2*row.Skewed > row.Executions)
		}
		rows = append(rows, row)
	}
	return store.Append(tx, 0, rows)
}

type stageName struct {
	Phase   schema.Key          `col:"phase_id"`
	Program schema.Null[string] `col:"program"`
	Stage   schema.Null[string] `col:"stage"`
	Kind    string              `col:"kind"`
}

// stageNames reads the names of the stages that have skewed tasks, from one of their phases each.
func (r *run) stageNames(ctx context.Context, keys []stageTask) (map[uint64]stageName, error) {
	of := map[schema.Key]uint64{}
	for _, k := range keys {
		of[r.repeats.tasks[k].worst] = k.signature
	}
	names := map[uint64]stageName{}
	if len(of) == 0 {
		return names, nil
	}
	const sql = `SELECT p.phase_id, a.name AS program, p.name AS stage, p.kind
FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id`
	for n, err := range store.Read[stageName](ctx, r.eng, sql) {
		if err != nil {
			return nil, fmt.Errorf("names of stages: %w", err)
		}
		if signature, ok := of[n.Phase]; ok {
			names[signature] = *n
		}
	}
	return names, nil
}
