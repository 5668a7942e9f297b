package causes

import (
	"cmp"
	"context"
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

// stageTask is a task of a stage.
type stageTask struct {
	stage int64 // of stageNumbers
	task  int64 // anyTask where the numbers of tasks say nothing
}

const anyTask = -1

type skewCount struct {
	stageTask
	all     int32 // count of the same task in all stages of the name; that of all itself
	phases  int64
	seconds float64
	ratios  float64
	known   int64   // executions whose ratio is known
	ratio   float64 // the largest of the last execution; NaN unknown
	last    schema.Key
	worst   *phaseRow // the execution in which it took longest
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
	from := len(r.repeats.events)
	for s, err := range engine.Read[schema.SkewedTask](ctx, r.eng, "SELECT * FROM skewed_tasks") {
		if err != nil {
			return err
		}
		r.repeats.events = append(r.repeats.events, skewEvent{s.PhaseID, s.AttemptID, s.Task, s.Seconds, s.Ratio.Or(math.NaN())})
	}
	kept := r.repeats.events[from:]
	n, last, stands := 0, schema.Key(0), false
	for i := range kept {
		if phase := kept[i].phase; i == 0 || phase != last {
			p := r.phase(phase)
			last, stands = phase, p != nil && p.work == nothing && p.kept
		}
		if stands {
			kept[n] = kept[i]
			n++
		}
	}
	r.repeats.events = r.repeats.events[:from+n]
	return nil
}

// compare puts events in the order in which all phases at once give them.
func (e skewEvent) compare(o skewEvent) int {
	return cmp.Or(cmp.Compare(e.phase, o.phase), cmp.Compare(e.attempt, o.attempt))
}

// sort puts all events in order.
func (r *repeats) sort() {
	slices.SortFunc(r.events, skewEvent.compare)
	r.events = r.events[:min(len(r.events), maxRepeats)]
}

// add counts an event of a phase.
func (c *skewCount) add(e *skewEvent, p *phaseRow) {
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

// stageExecutions is a stage: the ordinal is which of the stages of a name, or of the same exchanges, in an application, or 0 for all of
// them. Programs run stages of the same name several times, and what is skewed in the second of them to-day is to be compared with the second
// of yesterday.
type stageExecutions struct {
	signature  uint64
	ordinal    int32
	all        int64 // number of the stage of ordinal 0
	executions int64
}

// stageNumbers says which stage each phase is.
type stageNumbers struct {
	stages []stageExecutions
	of     []int64         // of each of run.phases
	merged map[uint64]bool // signatures of stages of which adaptive execution put partitions together, or split them, in any execution
}

// stageNumbers numbers the stages of a name, or of the same exchanges, within each application, in order of their keys; submissions of one
// stage share a number. It counts the executions too.
func (r *run) stageNumbers(reads map[schema.Key]exchangeRead) *stageNumbers {
	type submission struct {
		signature uint64
		native    string
	}
	type stages struct {
		numbers     []int64 // by ordinal
		application schema.Key
		last        int // ordinal in this application
	}
	out := &stageNumbers{of: make([]int64, len(r.phases)), merged: map[uint64]bool{}}
	bySignature := map[uint64]*stages{}
	add := func(s *stages, signature uint64) {
		n := int64(len(out.stages))
		s.numbers = append(s.numbers, n)
		out.stages = append(out.stages, stageExecutions{signature: signature, ordinal: int32(len(s.numbers) - 1), all: s.numbers[0]})
	}
	seen := map[submission]int64{} // of one application
	application := schema.Key(0)
	for _, i := range r.byApplication() {
		p := &r.phases[i]
		if p.Application != application {
			application = p.Application
			clear(seen)
		}
		signature := p.signature
		if e := reads[p.ID]; e.signature() != 0 {
			signature = e.signature()
			out.merged[signature] = out.merged[signature] || e.merged
		}
		n, again := seen[submission{signature, p.Native}]
		if !again {
			s := bySignature[signature]
			if s == nil {
				s = &stages{}
				bySignature[signature] = s
				add(s, signature)
			}
			if s.application != application {
				s.application, s.last = application, 0
			}
			if s.last++; s.last == len(s.numbers) {
				add(s, signature)
			}
			n = s.numbers[s.last]
			seen[submission{signature, p.Native}] = n
		}
		out.of[i] = n
		if p.Number == 0 && p.Attempts > 0 {
			out.stages[n].executions++
			out.stages[out.stages[n].all].executions++
		}
	}
	return out
}

// ranks are the places of the stages in order of signature and ordinal.
func (s *stageNumbers) ranks() []int {
	order, ranks := make([]int, len(s.stages)), make([]int, len(s.stages))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &s.stages[i], &s.stages[j]
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.ordinal, b.ordinal))
	})
	for rank, i := range order {
		ranks[i] = rank
	}
	return ranks
}

// byApplication gives the places of the phases by application, those of one in order of their keys.
func (r *run) byApplication() []int32 {
	order := make([]int32, len(r.phases))
	for i := range order {
		order[i] = int32(i)
	}
	byApplication := func(i, j int32) int { return cmp.Compare(r.phases[i].Application, r.phases[j].Application) }
	if !slices.IsSortedFunc(order, byApplication) { // keys of phases mostly are in the order of those of their applications
		slices.SortStableFunc(order, byApplication)
	}
	return order
}

// counted counts the events by stage, or by name where the task is skewed in most stages of the name, in order of signature, ordinal and task.
func (r *run) counted(reads map[schema.Key]exchangeRead) ([]*skewCount, *stageNumbers) {
	s := r.stageNumbers(reads)
	var counts []skewCount
	places := make(map[stageTask]int32, len(r.repeats.events))
	var place func(stageTask) int32
	place = func(k stageTask) int32 {
		n, ok := places[k]
		if !ok {
			n = int32(len(counts))
			places[k] = n
			counts = append(counts, skewCount{stageTask: k, all: n})
			if all := s.stages[k.stage].all; all != k.stage {
				of := place(stageTask{all, k.task})
				counts[n].all = of
			}
		}
		return n
	}
	at := 0
	for i := range r.repeats.events {
		e := &r.repeats.events[i]
		for r.phases[at].ID < e.phase {
			at++
		}
		k := stageTask{s.of[at], e.task}
		if s.merged[s.stages[k.stage].signature] {
			k.task = anyTask
		}
		n := place(k)
		counts[n].add(e, &r.phases[at])
		counts[counts[n].all].add(e, &r.phases[at])
	}
	dropped := make([]bool, len(counts))
	for i := range counts {
		c := &counts[i]
		if c.all == int32(i) {
			continue
		}
		all := &counts[c.all]
		if 2*all.phases > s.stages[all.stage].executions || s.stages[c.stage].executions < 2 {
			dropped[i] = true // all of the name say more
		} else {
			dropped[c.all] = true // what is told by stage is not told by name too
		}
	}
	kept := make([]*skewCount, 0, len(counts))
	for i := range counts {
		if !dropped[i] {
			kept = append(kept, &counts[i])
		}
	}
	rank := s.ranks()
	slices.SortFunc(kept, func(a, b *skewCount) int {
		return cmp.Or(cmp.Compare(rank[a.stage], rank[b.stage]), cmp.Compare(a.task, b.task))
	})
	return kept, s
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
	counts, numbers := r.counted(reads)
	rows := make([]schema.SkewRepeat, 0, len(counts))
	for _, c := range counts {
		p, stage := c.worst, &numbers.stages[c.stage]
		row := schema.SkewRepeat{Program: p.Program, Stage: p.Name, Kind: p.Kind, Seconds: c.seconds, Skewed: c.phases,
			Executions: max(stage.executions, c.phases), PhaseID: p.ID}
		if c.task != anyTask {
			row.Task = schema.Some(c.task)
		}
		if e := reads[p.ID]; e.signature() != 0 {
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
