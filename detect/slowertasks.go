package detect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// On an engine in this process slower_than_usual.sql is worked out here. Each attempt of an execution is one of the earlier ones of up to 64
// tasks of each of the executions after it; SQL makes a row of each such pair, and here the times of a stage's executions lie side by side
// in memory once, where a task finds its own by its number.

// mostTimes is how many earlier attempts are held at once, in 32 bytes each, unless one stage has more.
const mostTimes = 4_000_000

// slowerHere is slower on an engine in this process; timesAtOnce bounds how many earlier attempts are held.
func (p *part) slowerHere(ctx context.Context, tx *store.Tx, eng engine.Loader, timesAtOnce int64) error {
	executions, err := p.readExecutions(ctx, eng)
	if err != nil {
		return fmt.Errorf("what tasks are compared with: %w", err)
	}
	for len(executions) > 0 {
		part := executions[:stagesOf(executions, timesAtOnce)]
		executions = executions[len(part):]
		if err := p.slowerOf(ctx, tx, eng, part); err != nil {
			return err
		}
	}
	return nil
}

// stagesOf is how many of the executions are those of the first stages, as many stages as have no more than so many earlier tasks in all, or one.
func stagesOf(executions []timedExecution, tasks int64) int {
	held, end := int64(0), 0
	for i := range executions {
		if i > 0 && executions[i].StageID != executions[i-1].StageID {
			end = i
		}
		if executions[i].past {
			held += executions[i].Tasks
		}
		if held > tasks && end > 0 {
			return end
		}
	}
	return len(executions)
}

// timedExecution is a row of stages.sql, with what usual.sql says of it, and where its tasks' times are.
type timedExecution struct {
	PhaseID schema.Key `col:"phase_id"`
	StageID schema.Key `col:"stage_id"`
	Place   int64      `col:"place"`
	Tasks   int64      `col:"tasks"`

	Compared     schema.Null[int64]   `col:"compared"`
	UsualS       schema.Null[float64] `col:"usual_s"`
	WithinRun    schema.Null[float64] `col:"within_run"`
	BetweenRuns  schema.Null[float64] `col:"between_runs"`
	UsualBytes   schema.Null[float64] `col:"usual_bytes"`
	UsualRecords schema.Null[float64] `col:"usual_records"`
	TickS        schema.Null[float64] `col:"tick_s"`

	TimesAt schema.Null[int64] `col:"times_at"` // NULL: its attempts are not part of the run, and its times are in the store alone
	Times   schema.Null[int64] `col:"times"`

	slow     bool // it has candidates
	past     bool // others, with candidates, are compared with it
	from, to int  // of pastTasks, by task
	dense    bool // it has each task from 0 on once
}

// readExecutions reads the executions that may have candidates and those that they are compared with, stage by stage, each from the first on.
func (p *part) readExecutions(ctx context.Context, eng engine.Engine) (out []timedExecution, err error) {
	sql := "SELECT s.phase_id, s.stage_id, s.place, s.tasks, u.compared, u.usual_s, u.within_run, u.between_runs, u.usual_bytes, u.usual_records, u.tick_s," +
		" t.times_at, t.times FROM detected_stages s LEFT JOIN detected_usual u ON u.phase_id = s.phase_id LEFT JOIN (" + p.usage + ") AS t ON t.phase_id = s.phase_id" +
		" SEMI JOIN (SELECT d.stage_id FROM detected_stages d JOIN detected_usual h ON h.phase_id = d.phase_id WHERE h.usual_s IS NOT NULL) AS w ON w.stage_id = s.stage_id" +
		" ORDER BY s.stage_id NULLS LAST, s.place NULLS LAST"
	from := 0 // of the present stage
	keep := func() {
		stage := out[from:]
		markPast(stage, func(e *timedExecution) bool { return e.UsualS.OK })
		out = append(out[:from], slices.DeleteFunc(stage, func(e timedExecution) bool { return !e.UsualS.OK && !e.past })...)
		from = len(out)
	}
	for e, err := range engine.Read[timedExecution](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		if len(out) > from && out[from].StageID != e.StageID {
			keep()
		}
		out = append(out, *e)
	}
	keep()
	return out, nil
}

// markPast marks the executions that some of them are compared with, and no others.
func markPast(executions []timedExecution, some func(*timedExecution) bool) {
	for i := range executions {
		executions[i].past = false
	}
	var earlier []*timedExecution
	eachStage(executions, func(stage []timedExecution) {
		for i := range stage {
			if some(&stage[i]) {
				earlier = earlierThan(stage, &stage[i], earlier[:0])
				for _, e := range earlier {
					e.past = true
				}
			}
		}
	})
}

// earlierThan gives the executions of a stage that one of them is compared with: earlier.sql.
func earlierThan(stage []timedExecution, of *timedExecution, out []*timedExecution) []*timedExecution {
	for place := range earlierPlaces(of.Place) {
		if i, found := findPlace(len(stage), place, func(k int) int64 { return stage[k].Place }); found {
			out = append(out, &stage[i])
		}
	}
	return out
}

// chooseOf makes the inputs of some executions those whose rows are read.
func (p *part) chooseOf(ctx context.Context, tx *store.Tx, eng engine.Engine, executions []timedExecution, some func(*timedExecution) bool) error {
	if p.whole {
		return nil
	}
	inputs := slices.Concat(p.inputs, tx.Kept())
	owners, wanted := store.OwnersOf(inputs), make(map[schema.Key]bool)
	for i := range executions {
		if some(&executions[i]) {
			if input, ok := owners.Of("phases", executions[i].PhaseID); ok {
				wanted[input] = true
			}
		}
	}
	return p.choose(ctx, eng, slices.DeleteFunc(inputs, func(in store.InputRecord) bool { return !wanted[schema.Key(in.Key)] }))
}

// eachStage gives the executions stage by stage.
func eachStage(executions []timedExecution, yield func(stage []timedExecution)) {
	for len(executions) > 0 {
		n := 1
		for n < len(executions) && executions[n].StageID == executions[0].StageID {
			n++
		}
		yield(executions[:n])
		executions = executions[n:]
	}
}

// candidate is an attempt of candidates.sql; NaN is unknown.
type candidate struct {
	attempt        schema.Key
	task           int64
	isPartition    bool
	d              float64
	bytes, records float64
}

// slowerOf appends the attempts of some stages' executions that are slow against the history of their stage.
func (p *part) slowerOf(ctx context.Context, tx *store.Tx, eng engine.Loader, executions []timedExecution) error {
	candidates, segments, err := p.readCandidates(ctx, tx, eng, executions)
	if err != nil {
		return fmt.Errorf("candidates: %w", err)
	}
	for _, s := range segments {
		executions[s.execution].slow = true
	}
	markPast(executions, func(e *timedExecution) bool { return e.slow })
	past, err := p.readPast(ctx, tx, eng, executions)
	if err != nil {
		return fmt.Errorf("earlier times: %w", err)
	}
	var found []schema.Outlier
	var earlier []*timedExecution
	for _, s := range segments { // stage by stage, so that its times are in the processor's caches
		own := &executions[s.execution]
		earlier = earlierThan(stageOf(executions, s.execution), own, earlier[:0])
		for i := s.from; i < s.to; i++ {
			if o, ok := past.judge(&candidates[i], own, earlier); ok {
				found = append(found, o)
			}
		}
	}
	slices.SortFunc(found, func(a, b schema.Outlier) int {
		return cmp.Or(cmp.Compare(a.PhaseID, b.PhaseID), cmp.Compare(a.AttemptID, b.AttemptID))
	})
	return appendRows(tx, p, values(found), phaseOfOutlier)
}

// stageOf is the executions of the stage of one of them.
func stageOf(executions []timedExecution, index int) []timedExecution {
	id := executions[index].StageID
	from := sort.Search(len(executions), func(i int) bool { return executions[i].StageID >= id })
	to := sort.Search(len(executions), func(i int) bool { return executions[i].StageID > id })
	return executions[from:to]
}

// segment is rows of an execution that came together.
type segment struct{ execution, from, to int }

// byExecution puts segments in the order of the executions.
func byExecution(segments []segment) {
	slices.SortStableFunc(segments, func(a, b segment) int { return cmp.Compare(a.execution, b.execution) })
}

// indexByPhase finds executions by their phase.
func indexByPhase(executions []timedExecution) map[schema.Key]int {
	index := make(map[schema.Key]int, len(executions))
	for i := range executions {
		index[executions[i].PhaseID] = i
	}
	return index
}

// readCandidates reads the candidates of some stages' executions: those of the part from the file of its times, the others from the store.
func (p *part) readCandidates(ctx context.Context, tx *store.Tx, eng engine.Engine, executions []timedExecution) (out []candidate, segments []segment, err error) {
	var buf []byte
	for i := range executions {
		e := &executions[i]
		if !e.UsualS.OK || !e.TimesAt.OK {
			continue
		}
		from := len(out)
		err := p.times.read(e.TimesAt.V, e.Times.V, &buf, func(r timeRow) {
			if r.duration > 1.5*e.UsualS.V && r.mark&timeRecompute == 0 {
				out = append(out, candidate{r.attempt, r.task, r.mark&timeNoPartition == 0, r.duration, r.bytes, r.records})
			}
		})
		if err != nil {
			return nil, nil, err
		}
		if len(out) > from {
			segments = append(segments, segment{i, from, len(out)})
		}
	}
	elsewhere := func(e *timedExecution) bool { return e.UsualS.OK && !e.TimesAt.OK }
	if !anyOf(executions, elsewhere) {
		return out, segments, nil
	}
	if err := p.chooseOf(ctx, tx, eng, executions, elsewhere); err != nil {
		return nil, nil, err
	}
	type row struct {
		AttemptID    schema.Key           `col:"attempt_id"`
		PhaseID      schema.Key           `col:"phase_id"`
		Task         int64                `col:"task"`
		D            float64              `col:"d"`
		InputBytes   schema.Null[float64] `col:"input_bytes"`
		InputRecords schema.Null[float64] `col:"input_records"`
		IsPartition  bool                 `col:"is_partition"`
	}
	usual := "SELECT u.* FROM detected_usual u SEMI JOIN (SELECT phase_id FROM detected_stages WHERE " + betweenStages(executions) +
		") AS s ON s.phase_id = u.phase_id"
	seen := append(p.seen(span{all: true}), engine.Seen{Table: "detected_usual", SQL: usual})
	columns := "SELECT attempt_id, phase_id, task, d, CAST(input_bytes AS DOUBLE) AS input_bytes, CAST(input_records AS DOUBLE) AS input_records, is_partition"
	index, last := indexByPhase(executions), schema.Key(0)
	for r, err := range engine.ReadParts[row](ctx, eng, "detected_candidates", columns+" FROM ("+candidatesSQL+") AS c", seen...) {
		if err != nil {
			return nil, nil, err
		}
		if last == 0 || r.PhaseID != last {
			last = r.PhaseID
			segments = append(segments, segment{index[last], len(out), len(out)})
		}
		out = append(out, candidate{r.AttemptID, r.Task, r.IsPartition, r.D, orNaN(r.InputBytes), orNaN(r.InputRecords)})
		segments[len(segments)-1].to++
	}
	byExecution(segments)
	return out, segments, nil
}

// betweenStages restricts rows with a stage_id to the stages of some executions.
func betweenStages(executions []timedExecution) string {
	return fmt.Sprintf("stage_id BETWEEN %d AND %d", executions[0].StageID, executions[len(executions)-1].StageID)
}

// pastTasks are the earlier times of some stages' tasks, and what they read; NaN is unknown. Those of an execution lie together, by task.
type pastTasks struct {
	task                    []int64
	seconds, bytes, records []float64

	// Kept from one use to the next.
	of, placed   []int
	tasks        []int64
	times, input []float64
}

// anyOf says whether one of some executions is such.
func anyOf(executions []timedExecution, such func(*timedExecution) bool) bool {
	for i := range executions {
		if such(&executions[i]) {
			return true
		}
	}
	return false
}

// readPast reads the tasks of the executions that others are compared with: those of the part from the file of its times, the others from the store.
func (p *part) readPast(ctx context.Context, tx *store.Tx, eng engine.Loader, executions []timedExecution) (*pastTasks, error) {
	tasks := int64(0)
	for i := range executions {
		if executions[i].past {
			tasks += executions[i].Tasks
		}
	}
	past := &pastTasks{}
	past.grow(int(tasks))
	var segments []segment
	var buf []byte
	for i := range executions {
		e := &executions[i]
		if !e.past || !e.TimesAt.OK {
			continue
		}
		from := len(past.task)
		err := p.times.read(e.TimesAt.V, e.Times.V, &buf, func(r timeRow) {
			if r.mark&timeSucceeded != 0 && r.duration > 0 {
				past.add(r.task, r.duration, r.bytes, r.records)
			}
		})
		if err != nil {
			return nil, err
		}
		segments = append(segments, segment{i, from, len(past.task)})
	}
	elsewhere := func(e *timedExecution) bool { return e.past && !e.TimesAt.OK }
	if anyOf(executions, elsewhere) {
		if err := p.chooseOf(ctx, tx, eng, executions, elsewhere); err != nil {
			return nil, err
		}
		of, err := past.readElsewhere(ctx, eng, p.from("attempts"), executions, elsewhere)
		if err != nil {
			return nil, err
		}
		segments = append(segments, of...)
	}
	past.orderAll(executions, segments)
	return past, nil
}

// readElsewhere reads the tasks of some executions from the store.
func (p *pastTasks) readElsewhere(ctx context.Context, eng engine.Loader, attempts string, executions []timedExecution,
	elsewhere func(*timedExecution) bool) (segments []segment, err error) {
	type phase struct {
		PhaseID schema.Key `col:"phase_id"`
	}
	var phases []phase
	for i := range executions {
		if elsewhere(&executions[i]) {
			phases = append(phases, phase{executions[i].PhaseID})
		}
	}
	if err := engine.Load(ctx, eng, "detected_past", func(yield func([]phase, error) bool) { yield(phases, nil) }); err != nil {
		return nil, err
	}
	index := indexByPhase(executions)
	sql := "SELECT b.phase_id, b.task, b.duration_s, b.input_bytes, b.input_records FROM " + attempts + " b SEMI JOIN detected_past e ON e.phase_id = b.phase_id" +
		" WHERE b.status = 'success' AND b.duration_s > 0 AND b.duration_s <= 1e15"
	last := schema.Key(0)
	for b, err := range engine.ReadVectors(ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		for _, phase := range b.Columns[0].Int64s[:b.Len] {
			if n := len(segments); n == 0 || phase != int64(last) {
				last = schema.Key(phase)
				from := len(p.task)
				if n > 0 {
					from = segments[n-1].to
				}
				segments = append(segments, segment{index[last], from, from})
			}
			segments[len(segments)-1].to++
		}
		p.task = append(p.task, b.Columns[1].Int64s[:b.Len]...)
		p.seconds = append(p.seconds, b.Columns[2].Float64s[:b.Len]...)
		p.bytes, p.records = appendWhole(p.bytes, &b.Columns[3], b.Len), appendWhole(p.records, &b.Columns[4], b.Len)
	}
	return segments, nil
}

// orderAll puts the tasks of each execution in order and together.
func (p *pastTasks) orderAll(executions []timedExecution, segments []segment) {
	byExecution(segments)
	for len(segments) > 0 {
		n := 1
		for n < len(segments) && segments[n].execution == segments[0].execution {
			n++
		}
		e := &executions[segments[0].execution]
		e.from, e.to = p.order(segments[:n])
		e.dense = isDense(p.task[e.from:e.to])
		segments = segments[n:]
	}
}

// order puts the rows of an execution's segments in the order of their tasks and together: where they are, or after all others where
// there are several segments.
func (p *pastTasks) order(segments []segment) (from, to int) {
	p.of = p.of[:0]
	for _, s := range segments {
		for i := s.from; i < s.to; i++ {
			p.of = append(p.of, i)
		}
	}
	from, to = segments[0].from, segments[0].to
	if len(segments) > 1 {
		from, to = len(p.task), len(p.task)+len(p.of)
		p.grow(len(p.of))
		p.task, p.seconds, p.bytes, p.records = p.task[:to], p.seconds[:to], p.bytes[:to], p.records[:to]
	} else if slices.IsSorted(p.task[from:to]) {
		return from, to
	}
	rows := p.byTask(p.of)
	p.tasks = p.tasks[:0]
	for _, i := range rows {
		p.tasks = append(p.tasks, p.task[i])
	}
	copy(p.task[from:to], p.tasks)
	for _, column := range [][]float64{p.seconds, p.bytes, p.records} {
		p.times = p.times[:0]
		for _, i := range rows {
			p.times = append(p.times, column[i])
		}
		copy(column[from:to], p.times)
	}
	return from, to
}

// byTask sorts rows by their task, in one step where there is each task from 0 on once.
func (p *pastTasks) byTask(rows []int) []int {
	p.placed = slices.Grow(p.placed[:0], len(rows))[:len(rows)]
	for i := range p.placed {
		p.placed[i] = -1
	}
	for _, i := range rows {
		t := p.task[i]
		if t < 0 || t >= int64(len(rows)) || p.placed[t] >= 0 {
			slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(p.task[a], p.task[b]) })
			return rows
		}
		p.placed[t] = i
	}
	return p.placed
}

// isDense says that tasks are 0, 1, 2 and so on.
func isDense(tasks []int64) bool {
	for i, t := range tasks {
		if t != int64(i) {
			return false
		}
	}
	return true
}

func (p *pastTasks) grow(n int) {
	p.task = slices.Grow(p.task, n)
	p.seconds, p.bytes, p.records = slices.Grow(p.seconds, n), slices.Grow(p.bytes, n), slices.Grow(p.records, n)
}

func (p *pastTasks) add(task int64, seconds, bytes, records float64) {
	p.task = append(p.task, task)
	p.seconds, p.bytes, p.records = append(p.seconds, seconds), append(p.bytes, bytes), append(p.records, records)
}

// find gathers the rows of a task in some executions.
func (p *pastTasks) find(task int64, in []*timedExecution) []int {
	p.of = p.of[:0]
	for _, e := range in {
		n := e.to - e.from
		if e.dense {
			if 0 <= task && task < int64(n) {
				p.of = append(p.of, e.from+int(task))
			}
			continue
		}
		for i := e.from + sort.Search(n, func(k int) bool { return p.task[e.from+k] >= task }); i < e.to && p.task[i] == task; i++ {
			p.of = append(p.of, i)
		}
	}
	return p.of
}

// judge says whether a candidate is slow against its own history, else that of its stage; slower_than_usual.sql has the formulas.
func (p *pastTasks) judge(c *candidate, own *timedExecution, earlier []*timedExecution) (schema.Outlier, bool) {
	var same []int
	if c.isPartition {
		same = p.find(c.task, earlier)
	}
	byTask := len(same) >= 3
	n, usual, sd := float64(own.Compared.V), own.UsualS.V, 0.0
	if byTask {
		n = float64(len(same))
		p.times = p.times[:0]
		shorter := 0
		for _, i := range same {
			t := p.seconds[i]
			p.times = append(p.times, t)
			if 1.5*t < c.d {
				shorter++
			}
		}
		// What is usual is at least the 25th percentile and so the time at the rank below it: most candidates need no sorting.
		if shorter <= (len(same)-1)/4 {
			return schema.Outlier{}, false
		}
		var q [3]schema.Null[float64]
		quantiles(p.times, []float64{0.1, 0.25, 0.5}, q[:])
		p10, p25 := q[0].V, q[1].V
		spread := max(math.Log(p25/p10)/0.6071, 0.01)
		usual, sd = min(q[2].V, p25*math.Exp(0.6745*spread)), spread*math.Sqrt(1+1/n)
	} else if own.WithinRun.OK && own.BetweenRuns.OK {
		sd = math.Sqrt(own.WithinRun.V*own.WithinRun.V + own.BetweenRuns.V*own.BetweenRuns.V*(1+1/n))
	}
	factor, ticks := max(1.5, math.Exp((2.33+3.73/(n-1)+5.72/((n-1)*(n-1)))*sd)), 2*own.TickS.V
	if c.d <= usual*factor || c.d <= usual+ticks {
		return schema.Outlier{}, false
	}
	usualBytes, usualRecords := own.UsualBytes, own.UsualRecords
	if byTask {
		usualBytes, usualRecords = p.median(p.bytes, same), p.median(p.records, same)
	}
	work := 1.0
	if r := ratioOf(c.bytes, usualBytes); r.OK {
		work = max(work, r.V)
	} else if r := ratioOf(c.records, usualRecords); r.OK {
		work = max(work, r.V)
	}
	if c.d <= usual*work*factor || c.d <= usual*work+ticks {
		return schema.Outlier{}, false
	}
	return schema.Outlier{AttemptID: c.attempt, PhaseID: own.PhaseID, Rule: schema.SlowerThanUsual,
		Ratio: schema.Some(c.d / usual), ExcessS: schema.Some(c.d - usual)}, true
}

// median is that of the known inputs of some rows.
func (p *pastTasks) median(of []float64, rows []int) schema.Null[float64] {
	p.input = p.input[:0]
	for _, i := range rows {
		if !math.IsNaN(of[i]) {
			p.input = append(p.input, of[i])
		}
	}
	return median(p.input)
}

// ratioOf is NULL where a value is unknown, or the second 0.
func ratioOf(a float64, b schema.Null[float64]) schema.Null[float64] {
	return schema.Null[float64]{V: a / b.V, OK: !math.IsNaN(a) && b.OK && b.V != 0}
}

func orNaN(v schema.Null[float64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return v.V
}
