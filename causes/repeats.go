package causes

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"straggler/causes/fit"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// repeats holds the events that skew_repeats are counted from.
type repeats struct {
	events  []skewEvent // every verdict of data_skew in the phases processed, one per attempt
	kept    []skewEvent // those of earlier runs, of all phases
	reads   map[schema.Key]exchangeRead
	numbers *stageNumbers

	executions executions
}

type skewEvent struct {
	phase   schema.Key
	attempt schema.Key
	task    int64
	seconds float64
	ratio   float64 // its input over the median task's; NaN unknown
}

// stageTask is a task of a stage.
type stageTask struct {
	stage int64 // of stageNumbers
	task  int64 // anyTask where the numbers of tasks say nothing
}

const anyTask = -1

type skewCount struct {
	stageTask
	phases  int64
	seconds float64
	ratios  float64
	known   int64   // executions whose ratio is known
	ratio   float64 // the largest of the last execution; NaN unknown
	last    schema.Key
	worst   *execution // the execution in which it took longest
	most    float64
}

// maxRepeats bounds the memory for skewed tasks; beyond it, phases with larger keys are attributed but not counted. Tests lower
// it.
var maxRepeats = 1 << 20

// skewed lists the verdicts of data_skew among the rows of the prepared phase.
func (a *Attributor) skewed(p *fit.Phase, rows []schema.Attribution) (out []skewEvent) {
	if p.Signature == 0 {
		return nil
	}
	b := a.phase
	at := 0 // rows are in the order of the tasks
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

// skewedRows converts the events to rows of skewed_tasks.
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

// readSkewed reads the events found by earlier runs.
func (r *run) readSkewed(ctx context.Context) error {
	if r.part.whole {
		return nil
	}
	for s, err := range engine.Read[schema.SkewedTask](ctx, r.eng, "SELECT * FROM skewed_tasks") {
		if err != nil {
			return err
		}
		r.repeats.kept = append(r.repeats.kept, skewEvent{s.PhaseID, s.AttemptID, s.Task, s.Seconds, s.Ratio.Or(math.NaN())})
	}
	return nil
}

// takeKept adds the events of phases whose results are kept, and sorts all events.
func (r *run) takeKept() {
	r.repeats.events = slices.Grow(r.repeats.events, len(r.repeats.kept))
	kept := store.OwnersOf(r.part.kept)
	last, stands := schema.Key(0), false
	for i := range r.repeats.kept {
		e := &r.repeats.kept[i]
		if i == 0 || e.phase != last {
			input, ok := kept.Of("phases", e.phase)
			last, stands = e.phase, ok && r.part.work[input] == nothing
		}
		if stands {
			r.repeats.events = append(r.repeats.events, *e)
		}
	}
	r.repeats.kept = nil
	r.repeats.sort()
}

// numberStages reads the exchanges of phases and numbers their stages.
func (r *run) numberStages(ctx context.Context) (err error) {
	if r.repeats.reads, err = r.exchanges(ctx); err == nil {
		r.repeats.numbers = r.repeats.executions.number(r.repeats.reads)
	}
	return err
}

// compare orders events as a run over all phases would find them.
func (e skewEvent) compare(o skewEvent) int {
	return cmp.Or(cmp.Compare(e.phase, o.phase), cmp.Compare(e.attempt, o.attempt))
}

// add takes the events of a phase. Events beyond maxRepeats are dropped from time to time to bound memory.
func (r *repeats) add(events []skewEvent) {
	if r.events = append(r.events, events...); len(r.events) > 2*maxRepeats {
		r.sort()
	}
}

// sort sorts all events, up to maxRepeats. Each run of causes wrote sorted events; these lists are merged pairwise until one is
// left.
func (r *repeats) sort() {
	room := make([]skewEvent, 0, len(r.events))
	for {
		rest, lists := r.events, 0
		for room = room[:0]; len(rest) > 0; lists++ {
			a := inOrder(rest)
			b := inOrder(rest[a:])
			room = merged(room, rest[:a], rest[a:a+b])
			rest = rest[a+b:]
		}
		r.events, room = room, r.events
		if lists <= 1 {
			break
		}
	}
	r.events = r.events[:min(len(r.events), maxRepeats)]
}

// inOrder returns the length of the sorted prefix.
func inOrder(events []skewEvent) int {
	for i := 1; i < len(events); i++ {
		if events[i-1].compare(events[i]) > 0 {
			return i
		}
	}
	return len(events)
}

// merged appends the merge of two sorted lists.
func merged(to, a, b []skewEvent) []skewEvent {
	for len(a) > 0 && len(b) > 0 {
		if a[0].compare(b[0]) <= 0 {
			to, a = append(to, a[0]), a[1:]
		} else {
			to, b = append(to, b[0]), b[1:]
		}
	}
	return append(append(to, a...), b...)
}

// add counts an event of a phase.
func (c *skewCount) add(e *skewEvent, p *execution) {
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
	if c.worst == nil || e.seconds > c.most {
		c.most, c.worst = e.seconds, p
	}
}

// counted counts the events by stage, or by stage name where the task is skewed in most stages of that name, sorted by
// signature, ordinal and task.
func (r *run) counted() []*skewCount {
	s, events := r.repeats.numbers, r.repeats.events
	of, ran := make([]stageTask, len(events)), make([]*execution, len(events))
	all, at := r.repeats.executions.all, 0
	for i := range events {
		for all[at].phase < events[i].phase { // every event has an execution
			at++
		}
		if of[i], ran[i] = (stageTask{s.of[at], events[i].task}), &all[at]; s.merged[s.stages[s.of[at]].signature] {
			of[i].task = anyTask
		}
	}
	named := slices.Clone(of)
	for i := range named {
		named[i].stage = s.stages[of[i].stage].all
	}
	var byStage, byName []skewCount
	var first []int32
	var both sync.WaitGroup
	both.Go(func() { byStage, first = s.count(events, of, ran) })
	both.Go(func() { byName, _ = s.count(events, named, ran) })
	both.Wait()
	dropped := make([]bool, len(byName))
	kept := make([]*skewCount, 0, len(byStage))
	for i := range byStage {
		c := &byStage[i]
		of, _ := slices.BinarySearchFunc(byName, named[first[i]], func(c skewCount, k stageTask) int { return c.compare(k) })
		if 2*byName[of].phases > s.stages[byName[of].stage].executions || s.stages[c.stage].executions < 2 {
			continue // the count over all stages of the name says more
		}
		kept, dropped[of] = append(kept, c), true // a task reported by stage is not reported by name too
	}
	for i := range byName {
		if !dropped[i] {
			kept = append(kept, &byName[i])
		}
	}
	rank := s.ranks()
	slices.SortFunc(kept, func(a, b *skewCount) int {
		return cmp.Or(cmp.Compare(rank[a.stage], rank[b.stage]), cmp.Compare(a.task, b.task))
	})
	return kept
}

// count counts events by stage and task, in that order, and returns the first event of each count.
func (s *stageNumbers) count(events []skewEvent, of []stageTask, ran []*execution) (counts []skewCount, first []int32) {
	order := s.order(of)
	for k, i := range order {
		if k == 0 || of[i] != of[order[k-1]] {
			first = append(first, i)
		}
	}
	counts = make([]skewCount, len(first))
	n := -1
	for k, i := range order {
		if k == 0 || of[i] != of[order[k-1]] {
			n++
			counts[n].stageTask = of[i]
		}
		counts[n].add(&events[i], ran[i])
	}
	return counts, first
}

// order returns the indices of the events sorted by stage and task; the sort is stable.
func (s *stageNumbers) order(of []stageTask) []int32 {
	order := make([]int32, len(of))
	least, most := int64(anyTask), int64(anyTask)
	for i := range of {
		order[i] = int32(i)
		least, most = min(least, of[i].task), max(most, of[i].task)
	}
	if least == anyTask && most < int64(16*len(of)+1024) { // as numbers of tasks mostly are
		order = sortByKey(order, int(most)+2, func(i int32) int64 { return of[i].task - anyTask })
	} else {
		slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(of[i].task, of[j].task) })
	}
	return sortByKey(order, len(s.stages), func(i int32) int64 { return of[i].stage })
}

// sortByKey sorts indices by keys from 0 to keys - 1, stably, by counting.
func sortByKey(places []int32, keys int, key func(int32) int64) []int32 {
	starts, out := make([]int32, keys+1), make([]int32, len(places))
	for _, i := range places {
		starts[key(i)+1]++
	}
	for k := range keys {
		starts[k+1] += starts[k]
	}
	for _, i := range places {
		k := key(i)
		out[starts[k]] = i
		starts[k]++
	}
	return out
}

// compare orders tasks by stage and number.
func (k stageTask) compare(o stageTask) int {
	return cmp.Or(cmp.Compare(k.stage, o.stage), cmp.Compare(k.task, o.task))
}

// skewRepeats writes skew_repeats.
func (r *run) skewRepeats(tx *store.Tx) error {
	r.takeKept()
	counts := r.counted()
	rows := make([]schema.SkewRepeat, 0, len(counts))
	for _, c := range counts {
		names, stage := r.repeats.executions.stages[c.worst.stage], &r.repeats.numbers.stages[c.stage]
		row := schema.SkewRepeat{Program: names.program, Stage: names.name, Kind: names.kind, Seconds: c.seconds, Skewed: c.phases,
			Executions: max(stage.executions, c.phases), PhaseID: c.worst.phase}
		if c.task != anyTask {
			row.Task = schema.Some(c.task)
		}
		if e := r.repeats.reads[c.worst.phase]; e.signature() != 0 {
			row.Exchange = schema.Some(e.keys)
		}
		if stage.ordinal > 0 {
			row.Ordinal = schema.Some(stage.ordinal)
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
