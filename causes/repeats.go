package causes

import (
	"cmp"
	"context"
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
	phase   schema.Key
	attempt schema.Key
	task    int64
	seconds float64
	ratio   float64 // its input over the median task's; NaN unknown
}

// stageTask is a task of a stage: of one of the stages of that name, or of the same exchanges, in an application, in order, or of
// all of them (0).
type stageTask struct {
	signature uint64
	ordinal   int32
	task      int64 // anyTask where the numbers of tasks say nothing
}

const anyTask = -1

type skewCount struct {
	phases  int64
	seconds float64
	ratios  float64
	known   int64   // executions whose ratio is known
	ratio   float64 // the largest of the last execution; NaN unknown
	last    schema.Key
	worst   schema.Key // the execution in which it took longest
	most    float64
}

// maxRepeats bounds the memory for skewed tasks; those of phases with larger keys are only attributed.
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
		e := skewEvent{p.ID, b.Tasks[at].Attempt, b.Tasks[at].Index, rows[i].Seconds, math.NaN()}
		if m := b.Regression.Mid[fit.ByBytes]; m > 0 {
			e.ratio = b.X[fit.ByBytes][at] / m
		}
		out = append(out, e)
	}
	return out
}

// rows are the events as they are kept.
func (x *attributed) skewedRows() []schema.SkewedTask {
	rows := make([]schema.SkewedTask, len(x.skewed))
	for i, e := range x.skewed {
		rows[i] = schema.SkewedTask{AttemptID: e.attempt, PhaseID: e.phase, Task: e.task, Seconds: e.seconds}
		if !math.IsNaN(e.ratio) {
			rows[i].Ratio = schema.Some(e.ratio)
		}
	}
	return rows
}

// readSkewed reads the events of phases whose results are kept.
func (r *run) readSkewed(ctx context.Context) error {
	if r.part.whole {
		return nil
	}
	for s, err := range engine.Read[schema.SkewedTask](ctx, r.eng, "SELECT * FROM skewed_tasks") {
		if err != nil {
			return err
		}
		if p := r.phase(s.PhaseID); p != nil && p.work == nothing && p.kept {
			r.repeats.events = append(r.repeats.events, skewEvent{s.PhaseID, s.AttemptID, s.Task, s.Seconds, s.Ratio.Or(math.NaN())})
		}
	}
	return nil
}

// sort puts the events in the order in which all phases at once give them.
func (r *repeats) sort() {
	slices.SortFunc(r.events, func(a, b skewEvent) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.attempt, b.attempt))
	})
	r.events = r.events[:min(len(r.events), maxRepeats)]
}

func (c *skewCount) add(e *skewEvent) {
	if c.last != e.phase {
		c.last, c.ratio = e.phase, math.NaN()
		c.phases++
	}
	switch {
	case math.IsNaN(e.ratio):
	case math.IsNaN(c.ratio):
		c.ratios, c.ratio = c.ratios+e.ratio, e.ratio
		c.known++
	case e.ratio > c.ratio:
		c.ratios, c.ratio = c.ratios+e.ratio-c.ratio, e.ratio
	}
	c.seconds += e.seconds
	if c.worst == 0 || e.seconds > c.most {
		c.most, c.worst = e.seconds, e.phase
	}
}

// occurrence says which stage a phase is: programs run stages of the same name several times, and what is skewed in the
// second of them to-day is to be compared with the second of yesterday.
type occurrence struct {
	signature uint64
	ordinal   int32
}

// occurrences numbers the stages of a name, or of the same exchanges, within each application, in order of their keys; submissions of one
// stage share a number. It counts the executions too, by stage and by name (ordinal 0), and gives the stages of which adaptive
// execution put partitions together, or split them, in any execution.
func (r *run) occurrences(reads map[schema.Key]exchangeRead) (of map[schema.Key]occurrence, executions map[occurrence]int64, merged map[uint64]bool) {
	type name struct {
		application schema.Key
		signature   uint64
	}
	type stage struct {
		name
		native string
	}
	of, executions, merged = make(map[schema.Key]occurrence, len(r.phases)), map[occurrence]int64{}, map[uint64]bool{}
	last, seen := map[name]int32{}, map[stage]int32{}
	for i := range r.phases {
		p := &r.phases[i]
		sig := p.signature
		if e := reads[p.ID]; e.signature() != 0 {
			sig = e.signature()
			merged[sig] = merged[sig] || e.merged
		}
		n := name{p.Application, sig}
		s := stage{n, p.Native}
		k, again := seen[s]
		if !again {
			last[n]++
			k = last[n]
			seen[s] = k
		}
		of[p.ID] = occurrence{sig, k}
		if p.Number == 0 && p.Attempts > 0 {
			executions[occurrence{sig, k}]++
			executions[occurrence{sig, 0}]++
		}
	}
	return of, executions, merged
}

// counted counts the events by stage, or by name where the task is skewed in most stages of the name.
func (r *run) counted(reads map[schema.Key]exchangeRead) (map[stageTask]*skewCount, map[occurrence]int64) {
	of, executions, merged := r.occurrences(reads)
	counts := map[stageTask]*skewCount{}
	count := func(k stageTask, e *skewEvent) {
		if counts[k] == nil {
			counts[k] = &skewCount{}
		}
		counts[k].add(e)
	}
	for i := range r.repeats.events {
		e := &r.repeats.events[i]
		o, task := of[e.phase], e.task
		if merged[o.signature] {
			task = anyTask
		}
		count(stageTask{o.signature, o.ordinal, task}, e)
		count(stageTask{o.signature, 0, task}, e)
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
	if err := r.readSkewed(ctx); err != nil {
		return err
	}
	r.repeats.sort()
	reads, err := r.exchanges(ctx)
	if err != nil {
		return err
	}
	counts, executions := r.counted(reads)
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b stageTask) int {
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.task, b.task))
	})
	rows := make([]schema.SkewRepeat, 0, len(keys))
	for _, k := range keys {
		c := counts[k]
		p := r.phase(c.worst)
		row := schema.SkewRepeat{Program: p.Program, Stage: p.Name, Kind: p.Kind, Seconds: c.seconds, Skewed: c.phases,
			Executions: max(executions[occurrence{k.signature, k.ordinal}], c.phases), PhaseID: c.worst}
		if k.task != anyTask {
			row.Task = schema.Some(k.task)
		}
		if e := reads[c.worst]; e.signature() != 0 {
			row.Exchange = schema.Some(e.keys)
		}
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
