package causes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// repeats is every verdict of data_skew, an attempt once.
type repeats struct {
	events []skewEvent
}

type skewEvent struct {
	phase     schema.Key
	signature uint64
	task      int64
	seconds   float64
	ratio     float64 // its input over the median task's; NaN unknown
}

// stageTask is a task of a stage: of one of the stages of that name in an application, in order, or of all of them (0).
type stageTask struct {
	signature uint64
	ordinal   int32
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

// skewed lists the verdicts of data_skew among the rows of the prepared phase.
func (a *Attributor) skewed(p *fit.Phase, rows []schema.Attribution) (out []skewEvent) {
	if p.Signature == 0 {
		return nil
	}
	b := a.phase
	at := 0 // rows come in the order of the tasks
	for i := range rows {
		if rows[i].Rank != 1 || rows[i].Cause != schema.DataSkew {
			continue
		}
		for b.Tasks[at].Attempt != rows[i].AttemptID {
			at++
		}
		e := skewEvent{p.ID, p.Signature, b.Tasks[at].Index, rows[i].Seconds, math.NaN()}
		if m := b.Regression.Mid[fit.ByBytes]; m > 0 {
			e.ratio = b.X[fit.ByBytes][at] / m
		}
		out = append(out, e)
	}
	return out
}

// add keeps the verdicts of a phase.
func (r *repeats) add(events []skewEvent) {
	r.events = append(r.events, events[:min(len(events), maxRepeats-len(r.events))]...)
}

func (c *skewCount) add(e *skewEvent) {
	if c.last != e.phase {
		c.last = e.phase
		c.phases++
		if !math.IsNaN(e.ratio) {
			c.ratios += e.ratio
			c.known++
		}
	}
	c.seconds += e.seconds
	if e.seconds > c.most {
		c.most, c.worst = e.seconds, e.phase
	}
}

// occurrence says which stage a phase is: programs run stages of the same name several times, and what is skewed in the
// second of them to-day is to be compared with the second of yesterday.
type occurrence struct {
	signature uint64
	ordinal   int32
}

// occurrences numbers the stages of a name within each application, in order of their keys; submissions of one stage
// share a number. It counts the executions too, by stage and by name (ordinal 0).
func (r *run) occurrences() (of map[schema.Key]occurrence, executions map[occurrence]int64) {
	type name struct {
		application schema.Key
		signature   uint64
	}
	type stage struct {
		name
		native string
	}
	of, executions = make(map[schema.Key]occurrence, len(r.phases)), map[occurrence]int64{}
	last, seen := map[name]int32{}, map[stage]int32{}
	for i := range r.phases {
		p := &r.phases[i]
		n := name{p.Application, p.signature}
		s := stage{n, p.Native}
		k, again := seen[s]
		if !again {
			last[n]++
			k = last[n]
			seen[s] = k
		}
		of[p.ID] = occurrence{p.signature, k}
		if p.Number == 0 && p.Attempts > 0 {
			executions[occurrence{p.signature, k}]++
			executions[occurrence{p.signature, 0}]++
		}
	}
	return of, executions
}

// counted counts the events by stage, or by name where the task is skewed in most stages of the name.
func (r *run) counted() (map[stageTask]*skewCount, map[occurrence]int64) {
	of, executions := r.occurrences()
	counts := map[stageTask]*skewCount{}
	count := func(k stageTask, e *skewEvent) {
		if counts[k] == nil {
			counts[k] = &skewCount{}
		}
		counts[k].add(e)
	}
	for i := range r.repeats.events {
		e := &r.repeats.events[i]
		o := of[e.phase]
		count(stageTask{o.signature, o.ordinal, e.task}, e)
		count(stageTask{o.signature, 0, e.task}, e)
	}
	for k := range counts {
		all := stageTask{k.signature, 0, k.task}
		if k.ordinal == 0 {
			continue
		}
		if c := counts[all]; c != nil && (2*c.phases > executions[occurrence{k.signature, 0}] || executions[occurrence{k.signature, k.ordinal}] < 2) {
			delete(counts, k) // all of the name say more
		}
	}
	for k := range counts { // what is told by stage is not told by name too
		if k.ordinal != 0 {
			delete(counts, stageTask{k.signature, 0, k.task})
		}
	}
	return counts, executions
}

// skewRepeats writes skew_repeats.
func (r *run) skewRepeats(ctx context.Context, tx *store.Tx) error {
	counts, executions := r.counted()
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b stageTask) int {
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.task, b.task))
	})
	names, err := r.stageNames(ctx, counts)
	if err != nil {
		return err
	}
	rows := make([]schema.SkewRepeat, 0, len(keys))
	for _, k := range keys {
		c, n := counts[k], names[k.signature]
		row := schema.SkewRepeat{Program: n.Program, Stage: n.Stage, Kind: n.Kind, Task: k.task, Seconds: c.seconds, Skewed: c.phases,
			Executions: max(executions[occurrence{k.signature, k.ordinal}], c.phases), PhaseID: c.worst}
		if k.ordinal > 0 {
			row.Ordinal = schema.Some(k.ordinal)
		}
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
func (r *run) stageNames(ctx context.Context, counts map[stageTask]*skewCount) (map[uint64]stageName, error) {
	of := map[schema.Key]uint64{}
	for k, c := range counts {
		of[c.worst] = k.signature
	}
	names := map[uint64]stageName{}
	if len(of) == 0 {
		return names, nil
	}
	const sql = `SELECT p.phase_id, a.name AS program, p.name AS stage, p.kind
FROM phases p JOIN jobs j ON j.job_id = p.job_id JOIN applications a ON a.application_id = j.application_id`
	for n, err := range engine.Read[stageName](ctx, r.eng, sql) {
		if err != nil {
			return nil, fmt.Errorf("names of stages: %w", err)
		}
		if signature, ok := of[n.Phase]; ok {
			names[signature] = *n
		}
	}
	return names, nil
}
