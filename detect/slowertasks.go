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

// mostTimes is how many earlier attempts are held at once, in 32 bytes each, unless one stage has more: half a gigabyte. All attempts are
// read twice for each such part of the stages.
const mostTimes = 16_000_000

// slowerHere is slower on an engine in this process; timesAtOnce bounds how many earlier attempts are held.
func (p *part) slowerHere(ctx context.Context, tx *store.Tx, eng engine.Engine, timesAtOnce int64) error {
	executions, err := readExecutions(ctx, eng)
	if err != nil {
		return err
	}
	if err := p.withEarlier(ctx, tx, eng, executions); err != nil {
		return fmt.Errorf("what tasks are compared with: %w", err)
	}
	err = eng.Materialize(ctx, "detected_past", "SELECT phase_id, stage_id FROM detected_stages s SEMI JOIN ("+
		"SELECT q.earlier_phase FROM detected_earlier q JOIN detected_usual u ON u.phase_id = q.phase_id WHERE u.usual_s IS NOT NULL"+
		") AS e ON e.earlier_phase = s.phase_id")
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
	Tasks   int64      `col:"tasks"`

	Compared     schema.Null[int64]   `col:"compared"`
	UsualS       schema.Null[float64] `col:"usual_s"`
	WithinRun    schema.Null[float64] `col:"within_run"`
	BetweenRuns  schema.Null[float64] `col:"between_runs"`
	UsualBytes   schema.Null[float64] `col:"usual_bytes"`
	UsualRecords schema.Null[float64] `col:"usual_records"`
	TickS        schema.Null[float64] `col:"tick_s"`

	past     bool // others are compared with it
	from, to int  // of pastTasks, by task
}

// readExecutions reads the executions of the stages that something has changed of, stage by stage, each from the first on.
func readExecutions(ctx context.Context, eng engine.Engine) (out []timedExecution, err error) {
	sql := "SELECT s.phase_id, s.stage_id, s.tasks, u.compared, u.usual_s, u.within_run, u.between_runs, u.usual_bytes, u.usual_records, u.tick_s" +
		" FROM detected_stages s LEFT JOIN detected_usual u ON u.phase_id = s.phase_id ORDER BY s.stage_id NULLS LAST, s.place NULLS LAST"
	for e, err := range engine.Read[timedExecution](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		out = append(out, *e)
	}
	var earlier []*timedExecution
	eachStage(out, func(stage []timedExecution) {
		for i := range stage {
			if stage[i].UsualS.OK {
				earlier = earlierThan(stage, i, earlier[:0])
				for _, e := range earlier {
					e.past = true
				}
			}
		}
	})
	return out, nil
}

// earlierThan gives the executions that the one at an index of its stage is compared with: earlier.sql.
func earlierThan(stage []timedExecution, index int, out []*timedExecution) []*timedExecution {
	stride := (index + 63) / 64
	for k := range min(64, index) {
		if h := index - 1 - k*stride; h >= 0 {
			out = append(out, &stage[h])
		}
	}
	return out
}

// withEarlier makes the inputs of the executions that others are compared with part of the rows that are read, next to the part's own.
func (p *part) withEarlier(ctx context.Context, tx *store.Tx, eng engine.Engine, executions []timedExecution) error {
	if p.whole {
		return nil
	}
	inputs := slices.Concat(p.inputs, tx.Kept())
	owners, wanted := store.OwnersOf(inputs), make(map[schema.Key]bool)
	for i := range executions {
		if e := &executions[i]; e.past || e.UsualS.OK {
			if input, ok := owners.Of("phases", e.PhaseID); ok {
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

// candidate is a row of candidates.sql.
type candidate struct {
	AttemptID    schema.Key           `col:"attempt_id"`
	PhaseID      schema.Key           `col:"phase_id"`
	Task         int64                `col:"task"`
	D            float64              `col:"d"`
	InputBytes   schema.Null[float64] `col:"input_bytes"`
	InputRecords schema.Null[float64] `col:"input_records"`
	IsPartition  bool                 `col:"is_partition"`
}

// slowerOf appends the attempts of some stages' executions that are slow against the history of their stage.
func (p *part) slowerOf(ctx context.Context, tx *store.Tx, eng engine.Engine, executions []timedExecution) error {
	past, err := readPast(ctx, eng, p.from("attempts"), executions)
	if err != nil {
		return fmt.Errorf("earlier times: %w", err)
	}
	type place struct {
		stage []timedExecution
		index int
	}
	at := make(map[schema.Key]place)
	eachStage(executions, func(stage []timedExecution) {
		for i := range stage {
			if stage[i].UsualS.OK {
				at[stage[i].PhaseID] = place{stage, i}
			}
		}
	})
	usual := "SELECT u.* FROM detected_usual u SEMI JOIN (SELECT phase_id FROM detected_stages WHERE " + betweenStages(executions) +
		") AS s ON s.phase_id = u.phase_id"
	seen := append(p.seen(span{all: true}), engine.Seen{Table: "detected_usual", SQL: usual})
	columns := "SELECT attempt_id, phase_id, task, d, CAST(input_bytes AS DOUBLE) AS input_bytes, CAST(input_records AS DOUBLE) AS input_records, is_partition"
	var found []schema.Outlier
	err = engine.UseParts(ctx, eng, "detected_candidates", columns+" FROM ("+candidatesSQL+") AS c", func(sql string) error {
		var own *timedExecution
		var earlier []*timedExecution
		for c, err := range engine.Read[candidate](ctx, eng, sql) {
			if err != nil {
				return err
			}
			if own == nil || own.PhaseID != c.PhaseID {
				here := at[c.PhaseID]
				own, earlier = &here.stage[here.index], earlierThan(here.stage, here.index, earlier[:0])
			}
			if o, ok := past.judge(c, own, earlier); ok {
				found = append(found, o)
			}
		}
		return nil
	}, seen...)
	if err != nil {
		return fmt.Errorf("candidates: %w", err)
	}
	slices.SortFunc(found, func(a, b schema.Outlier) int {
		return cmp.Or(cmp.Compare(a.PhaseID, b.PhaseID), cmp.Compare(a.AttemptID, b.AttemptID))
	})
	return appendRows(tx, p, values(found), phaseOfOutlier)
}

// betweenStages restricts rows with a stage_id to the stages of some executions.
func betweenStages(executions []timedExecution) string {
	return fmt.Sprintf("stage_id BETWEEN %d AND %d", executions[0].StageID, executions[len(executions)-1].StageID)
}

// pastTasks are the earlier times of some stages' tasks, and what they read; NaN is unknown. Those of an execution lie together, by task.
type pastTasks struct {
	task                    []int64
	seconds, bytes, records []float64

	of    []int     // the tasks that a candidate is compared with
	times []float64 // theirs, and
	input []float64 // their inputs
}

// readPast reads the tasks of the executions that others are compared with.
func readPast(ctx context.Context, eng engine.Engine, attempts string, executions []timedExecution) (*pastTasks, error) {
	type row struct {
		PhaseID      schema.Key           `col:"phase_id"`
		Task         int64                `col:"task"`
		DurationS    float64              `col:"duration_s"`
		InputBytes   schema.Null[float64] `col:"input_bytes"`
		InputRecords schema.Null[float64] `col:"input_records"`
	}
	type segment struct{ execution, from, to int } // rows of an execution that came together
	var segments []segment
	index, tasks := make(map[schema.Key]int, len(executions)), int64(0)
	for i := range executions {
		index[executions[i].PhaseID] = i
		if executions[i].past {
			tasks += executions[i].Tasks
		}
	}
	p := &pastTasks{}
	p.grow(int(tasks))
	sql := "SELECT b.phase_id, b.task, b.duration_s, CAST(b.input_bytes AS DOUBLE) AS input_bytes, CAST(b.input_records AS DOUBLE) AS input_records" +
		" FROM " + attempts + " b SEMI JOIN (SELECT phase_id FROM detected_past WHERE " + betweenStages(executions) + ") AS e ON e.phase_id = b.phase_id" +
		" WHERE b.status = 'success' AND b.duration_s > 0 AND b.duration_s <= 1e15"
	at, last := -1, schema.Key(0)
	for r, err := range engine.Read[row](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		if at < 0 || r.PhaseID != last {
			at, last = len(segments), r.PhaseID
			segments = append(segments, segment{index[last], len(p.task), len(p.task)})
		}
		p.add(r.Task, r.DurationS, orNaN(r.InputBytes), orNaN(r.InputRecords))
		segments[at].to++
	}
	slices.SortStableFunc(segments, func(a, b segment) int { return cmp.Compare(a.execution, b.execution) })
	for len(segments) > 0 {
		n := 1
		for n < len(segments) && segments[n].execution == segments[0].execution {
			n++
		}
		e := &executions[segments[0].execution]
		e.from, e.to = segments[0].from, segments[0].to
		if n > 1 || !slices.IsSorted(p.task[e.from:e.to]) {
			var rows []int
			for _, s := range segments[:n] {
				for i := s.from; i < s.to; i++ {
					rows = append(rows, i)
				}
			}
			slices.SortFunc(rows, func(a, b int) int { return cmp.Or(cmp.Compare(p.task[a], p.task[b]), cmp.Compare(a, b)) })
			e.from = len(p.task)
			for _, i := range rows {
				p.add(p.task[i], p.seconds[i], p.bytes[i], p.records[i])
			}
			e.to = len(p.task)
		}
		segments = segments[n:]
	}
	return p, nil
}

func (p *pastTasks) grow(n int) {
	p.task = slices.Grow(p.task, n)
	p.seconds, p.bytes, p.records = slices.Grow(p.seconds, n), slices.Grow(p.bytes, n), slices.Grow(p.records, n)
}

func (p *pastTasks) add(task int64, seconds, bytes, records float64) {
	p.task = append(p.task, task)
	p.seconds, p.bytes, p.records = append(p.seconds, seconds), append(p.bytes, bytes), append(p.records, records)
}

// find gathers the rows of a task in some executions. Most executions have every task once, so that its number is its place.
func (p *pastTasks) find(task int64, in []*timedExecution) []int {
	p.of = p.of[:0]
	for _, e := range in {
		i := e.from
		if n := e.to - e.from; 0 <= task && task < int64(n) && p.task[i+int(task)] == task && (task == 0 || p.task[i+int(task)-1] < task) {
			i += int(task)
		} else {
			i += sort.Search(n, func(k int) bool { return p.task[e.from+k] >= task })
		}
		for ; i < e.to && p.task[i] == task; i++ {
			p.of = append(p.of, i)
		}
	}
	return p.of
}

// judge says whether a candidate is slow against its own history, else that of its stage; slower_than_usual.sql has the formulas.
func (p *pastTasks) judge(c *candidate, own *timedExecution, earlier []*timedExecution) (schema.Outlier, bool) {
	var same []int
	if c.IsPartition {
		same = p.find(c.Task, earlier)
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
			if 1.5*t < c.D {
				shorter++
			}
		}
		// What is usual is at least the 25th percentile and so the time at the rank below it: most candidates need no sorting.
		if shorter <= (len(same)-1)/4 {
			return schema.Outlier{}, false
		}
		slices.Sort(p.times)
		p10, p25 := quantileOf(p.times, 0.1), quantileOf(p.times, 0.25)
		own := max(math.Log(p25/p10)/0.6071, 0.01)
		usual, sd = min(quantileOf(p.times, 0.5), p25*math.Exp(0.6745*own)), own*math.Sqrt(1+1/n)
	} else if own.WithinRun.OK && own.BetweenRuns.OK {
		sd = math.Sqrt(own.WithinRun.V*own.WithinRun.V + own.BetweenRuns.V*own.BetweenRuns.V*(1+1/n))
	}
	factor, ticks := max(1.5, math.Exp((2.33+3.73/(n-1)+5.72/((n-1)*(n-1)))*sd)), 2*own.TickS.V
	if c.D <= usual*factor || c.D <= usual+ticks {
		return schema.Outlier{}, false
	}
	usualBytes, usualRecords := own.UsualBytes, own.UsualRecords
	if byTask {
		usualBytes, usualRecords = p.median(p.bytes, same), p.median(p.records, same)
	}
	work := 1.0
	if r := ratioOf(c.InputBytes, usualBytes); r.OK {
		work = max(work, r.V)
	} else if r := ratioOf(c.InputRecords, usualRecords); r.OK {
		work = max(work, r.V)
	}
	if c.D <= usual*work*factor || c.D <= usual*work+ticks {
		return schema.Outlier{}, false
	}
	return schema.Outlier{AttemptID: c.AttemptID, PhaseID: c.PhaseID, Rule: schema.SlowerThanUsual,
		Ratio: schema.Some(c.D / usual), ExcessS: schema.Some(c.D - usual)}, true
}

// median is that of the known inputs of some rows.
func (p *pastTasks) median(of []float64, rows []int) schema.Null[float64] {
	p.input = p.input[:0]
	for _, i := range rows {
		if !math.IsNaN(of[i]) {
			p.input = append(p.input, of[i])
		}
	}
	if len(p.input) == 0 {
		return schema.Null[float64]{}
	}
	slices.Sort(p.input)
	return schema.Some(quantileOf(p.input, 0.5))
}

// quantileOf is SQL's percentile_cont of sorted values: between two ranks it is linear.
func quantileOf(sorted []float64, q float64) float64 {
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := rank - float64(low)
	return sorted[low]*(1-part) + sorted[low+1]*part
}

// ratioOf is NULL where a value is unknown, or the second 0.
func ratioOf(a, b schema.Null[float64]) schema.Null[float64] {
	if !a.OK || !b.OK || b.V == 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(a.V / b.V)
}

func orNaN(v schema.Null[float64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return v.V
}
