package detect

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// The times that later nights compare tasks with are written to a separate table when an execution is detected: the executions
// of a stage are spread over the whole store, and reading a task of some of them from attempts would decompress nearly all of
// its pages.

//go:embed task_times.sql
var taskTimesSQL string

// keepTimes writes task_times of the executions to do, as selected by detected_stages, which may be restricted.
func (p *part) keepTimes(ctx context.Context, tx *store.Tx, eng engine.Engine, stages ...engine.Seen) error {
	err := engine.UseParts(ctx, eng, "detected_times", taskTimesSQL, func(sql string) error {
		return timeRows.write(ctx, p.output(tx, eng), sql)
	}, append(p.seen(span{all: true}), stages...)...)
	if err != nil {
		return fmt.Errorf("what later executions are compared with: %w", err)
	}
	return nil
}

// setStrides marks the new executions of a stage that later ones may be compared with.
func (p *part) setStrides(stage []stageExecution) {
	for i := range stage {
		if e := &stage[i]; comparedLater(e.Place) {
			if of := p.scannedOf(e); of != nil {
				of.stride = uint8(bits.Len64(uint64(longestStride(e.Place))))
			}
		}
	}
}

// keepFromFile writes task_times of the new executions. Executions that others are compared with for longest come first: readers
// skip the rest.
func (p *part) keepFromFile(ctx context.Context, tx *store.Tx) error {
	var kept []uint32 // of p.scanned
	for i := range p.scanned {
		if p.scanned[i].stride > 0 {
			kept = append(kept, uint32(i))
		}
	}
	slices.SortFunc(kept, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.scanned[b].stride, p.scanned[a].stride), cmp.Compare(a, b))
	})
	var tasks taskRows
	var buf []byte
	var rows []schema.TaskTime
	for _, k := range kept {
		e := &p.scanned[k]
		tasks.reset()
		if err := cmp.Or(ctx.Err(), p.file.readTimes(&e.times, &tasks, &buf)); err != nil {
			return err
		}
		rows = rows[:0]
		stride := int64(1) << (e.stride - 1)
		for i, d := range tasks.duration {
			if tasks.mark[i]&timeSucceeded != 0 && d > 0 {
				rows = append(rows, schema.TaskTime{PhaseID: e.id, Stride: stride, Task: tasks.task[i], DurationS: d,
					InputBytes: whole(tasks.bytes[i]), InputRecords: whole(tasks.records[i])})
			}
		}
		if err := store.Append(tx, p.inputOf(e.id), rows); err != nil {
			return err
		}
	}
	return nil
}

// whole returns an integer that was read as a double; NaN is NULL.
func whole(v float64) schema.Null[int64] {
	switch {
	case math.IsNaN(v):
		return schema.Null[int64]{}
	case v >= math.MaxInt64: // which is 2^63 as a double
		return schema.Some[int64](math.MaxInt64)
	}
	return schema.Some(int64(v))
}

// storedRows are tasks of executions that are not part of the run, as stored.
type storedRows struct {
	rows taskRows                // without attempt and mark if none may be a candidate: then all have succeeded
	of   map[schema.Key][][2]int // ranges of the rows of each phase
}

// readStored reads the tasks of the executions whose times are only in the store. For those that others are compared with, it
// reads the tasks of candidates, or all tasks if the candidates are not known yet; for those that may have candidates, it reads
// all attempts.
func (p *part) readStored(ctx context.Context, tx *store.Tx, eng engine.Loader, stages [][]timedExecution) (*storedRows, error) {
	var past, judged []storedPhase
	tasks := int64(0)              // of past
	stride := int64(math.MaxInt64) // the shortest by which executions are compared
	for _, stage := range stages {
		for i := range stage {
			e := &stage[i]
			if e.mayHaveCandidates() {
				stride = min(stride, strideAt(e.place))
			}
			switch {
			case e.scanned != nil:
			case e.mayHaveCandidates():
				judged = append(judged, storedPhase{e.phase, e.stage})
			default:
				past = append(past, storedPhase{e.phase, e.stage})
				tasks += e.tasks
			}
		}
	}
	stored := &storedRows{of: make(map[schema.Key][][2]int, len(past)+len(judged))}
	if len(past)+len(judged) == 0 {
		return stored, nil
	}
	var candidates []candidateTask
	if len(judged) == 0 {
		var err error
		if candidates, err = p.candidateTasks(stages); err != nil || len(candidates) == 0 {
			return stored, err
		}
		tasks = tasksOf(past, candidates)
	}
	stored.rows.grow(int(tasks))
	if err := p.readPast(ctx, eng, past, candidates, stride, stored); err != nil || len(judged) == 0 {
		return stored, err
	}
	r := &stored.rows
	r.attempt, r.mark = make([]int64, r.len()), slices.Repeat([]byte{timeSucceeded}, r.len())
	return stored, p.readJudged(ctx, tx, eng, judged, stored)
}

type storedPhase struct {
	PhaseID schema.Key `col:"phase_id"`
	StageID schema.Key `col:"stage_id"`
}

// loadPhases creates a session table.
func loadPhases(ctx context.Context, eng engine.Loader, name string, phases []storedPhase) error {
	return engine.Load(ctx, eng, name, func(yield func([]storedPhase, error) bool) { yield(phases, nil) })
}

// tasksOf returns the number of rows of some tasks of stages in executions that have each of them once.
func tasksOf(phases []storedPhase, tasks []candidateTask) (n int64) {
	of := make(map[schema.Key]int64)
	for i := range tasks {
		of[tasks[i].StageID]++
	}
	for i := range phases {
		n += of[phases[i].StageID]
	}
	return n
}

// readPast reads tasks of executions that others are compared with: the given ones, or all without tasks.
func (p *part) readPast(ctx context.Context, eng engine.Loader, phases []storedPhase, tasks []candidateTask, stride int64, to *storedRows) error {
	if len(phases) == 0 {
		return nil
	}
	if err := loadPhases(ctx, eng, "detected_past", phases); err != nil {
		return err
	}
	from := ""
	if len(tasks) > 0 {
		if err := engine.Load(ctx, eng, "detected_tasks", func(yield func([]candidateTask, error) bool) { yield(tasks, nil) }); err != nil {
			return err
		}
		from = " SEMI JOIN detected_tasks c ON c.stage_id = e.stage_id AND c.task = b.task"
	}
	sql := fmt.Sprintf("SELECT b.phase_id, b.task, b.duration_s, b.input_bytes, b.input_records FROM task_times b JOIN detected_past e ON e.phase_id = b.phase_id%s"+
		" WHERE b.stride >= %d", from, stride)
	for b, err := range engine.GatherVectors(ctx, eng, sql) {
		if err != nil {
			return err
		}
		to.add(b)
	}
	return nil
}

// readJudged reads the attempts of executions that may have candidates.
func (p *part) readJudged(ctx context.Context, tx *store.Tx, eng engine.Loader, phases []storedPhase, to *storedRows) error {
	chosen := p.chosen
	if err := p.chooseStored(ctx, tx, eng, phases); err != nil {
		return err
	}
	if err := loadPhases(ctx, eng, "detected_judged", phases); err != nil {
		return err
	}
	// take decides which durations are kept: the engine needs longer for that than for the rest of a row.
	sql := fmt.Sprintf("SELECT b.phase_id, b.task, b.duration_s, b.input_bytes, b.input_records, b.attempt_id,"+
		" CAST(CASE b.status WHEN 'success' THEN %d ELSE 0 END + CASE WHEN b.recompute IS NOT FALSE THEN %d ELSE 0 END +"+
		" CASE WHEN CAST(floor(b.quality / 16) AS BIGINT) %% 2 <> 0 THEN %d ELSE 0 END AS INTEGER) AS mark"+
		" FROM %s b SEMI JOIN detected_judged e ON e.phase_id = b.phase_id WHERE b.status IN ('success', 'killed')",
		timeSucceeded, timeRecompute, timeNoPartition, p.from("attempts"))
	for b, err := range engine.ReadVectors(ctx, eng, sql) {
		if err != nil {
			return err
		}
		to.add(b)
		to.rows.attempt = append(to.rows.attempt, b.Columns[5].Int64s[:b.Len]...)
		for _, m := range b.Columns[6].Int32s[:b.Len] {
			to.rows.mark = append(to.rows.mark, byte(m))
		}
	}
	return p.choose(ctx, eng, chosen)
}

// add appends rows of phase, task, duration and input.
func (s *storedRows) add(b *engine.Batch) {
	rows := &s.rows
	for from, to, ids := 0, 0, b.Columns[0].Int64s[:b.Len]; from < len(ids); from = to {
		for to = from + 1; to < len(ids) && ids[to] == ids[from]; to++ {
		}
		phase, at := schema.Key(ids[from]), rows.len()
		s.of[phase] = append(s.of[phase], [2]int{at + from, at + to})
	}
	rows.task = append(rows.task, b.Columns[1].Int64s[:b.Len]...)
	rows.duration = appendKnown(rows.duration, b.Columns[2].Float64s, &b.Columns[2], b.Len, math.NaN())
	rows.bytes, rows.records = appendWhole(rows.bytes, &b.Columns[3], b.Len), appendWhole(rows.records, &b.Columns[4], b.Len)
}

// candidateTask is a task of which some attempt of the run may be slow. Candidates whose task is not a partition are not
// listed, because they are compared with the median task of their stage.
type candidateTask struct {
	StageID schema.Key `col:"stage_id"`
	Task    int64      `col:"task"`
}

// candidateTasks returns those of the executions whose times are in the file.
func (p *part) candidateTasks(stages [][]timedExecution) (out []candidateTask, err error) {
	var buf []byte
	for _, stage := range stages {
		first := len(out)
		for k := range stage {
			e := &stage[k]
			if e.scanned == nil || !e.mayHaveCandidates() {
				continue
			}
			rows, err := p.file.readPacked(&e.scanned.times, &buf)
			if err != nil {
				return nil, err
			}
			for i := range rows.rows {
				if mark := rows.mark(i); e.isCandidate(rows.duration.at(i), mark) && mark&timeNoPartition == 0 {
					out = append(out, candidateTask{e.stage, rows.task.at(i)})
				}
			}
		}
		of := out[first:]
		slices.SortFunc(of, func(a, b candidateTask) int { return cmp.Compare(a.Task, b.Task) })
		out = out[:first+len(slices.Compact(of))]
	}
	return out, nil
}

// chooseStored selects the inputs of executions that are not part of the run as those whose rows are read.
func (p *part) chooseStored(ctx context.Context, tx *store.Tx, eng engine.Engine, phases []storedPhase) error {
	if p.whole {
		return nil
	}
	inputs := slices.Concat(p.inputs, tx.Kept())
	owners, wanted := store.OwnersOf(inputs), make(map[schema.Key]bool)
	for _, e := range phases {
		if input, ok := owners.Of("phases", e.PhaseID); ok {
			wanted[input] = true
		}
	}
	return p.choose(ctx, eng, slices.DeleteFunc(inputs, func(in store.InputRecord) bool { return !wanted[schema.Key(in.Key)] }))
}
