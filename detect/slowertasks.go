package detect

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// On an engine in this process slower_than_usual.sql is worked out here. Each attempt of an execution is one of the earlier ones of up to 64
// tasks of each of the executions after it; SQL makes a row of each such pair, and here the times of a stage's executions lie side by side
// in memory once, where a task finds its own by its number.

// mostTimes is how many earlier attempts are held at once, in up to 41 bytes each, unless one stage has more.
const mostTimes = 4_000_000

// slowerHere is slower on an engine in this process; timesAtOnce bounds how many earlier attempts are held.
func (p *part) slowerHere(ctx context.Context, tx *store.Tx, eng engine.Loader, timesAtOnce int64) error {
	for executions := p.timed; len(executions) > 0; {
		some := executions[:stagesOf(executions, timesAtOnce)]
		executions = executions[len(some):]
		if err := p.slowerOf(ctx, tx, eng, some); err != nil {
			return err
		}
	}
	return nil
}

// stagesOf is how many of the executions are those of the first stages, as many stages as have no more than so many earlier tasks in all, or one.
func stagesOf(executions []timedExecution, tasks int64) int {
	held, end := int64(0), 0
	for i := range executions {
		if i > 0 && executions[i].stage != executions[i-1].stage {
			end = i
		}
		if executions[i].past {
			held += executions[i].tasks
		}
		if held > tasks && end > 0 {
			return end
		}
	}
	return len(executions)
}

// timedExecution is an execution of a stage, what is usual for it where it is todo, and where its tasks' times are.
type timedExecution struct {
	phase, stage schema.Key
	place, tasks int64

	compared                 int64 // 0: it is not todo, or has no history
	usualS, tickS            float64
	withinRun, betweenRuns   schema.Null[float64]
	usualBytes, usualRecords schema.Null[float64]

	inFile bool // else its attempts are not part of the run, and its times are in the store alone
	times  phaseTimes

	past     bool          // one that may have candidates is compared with it
	from, to int           // of stageTasks.past
	dense    bool          // it has each task from 0 on once there
	slow     []slowAttempt // what is found of it
}

// mayHaveCandidates is false where no attempt is one of candidates.sql; of attempts that are in the store alone that is not known yet.
func (e *timedExecution) mayHaveCandidates() bool {
	return e.compared > 0 && (!e.inFile || e.times.longestS > 1.5*e.usualS)
}

// isCandidate says that an attempt of the execution is one of candidates.sql, by its duration and mark.
func (e *timedExecution) isCandidate(d float64, mark byte) bool {
	return inRange(d) && d > 1.5*e.usualS && mark&timeRecompute == 0
}

// addTimed adds the executions of a stage that may have candidates, and those that they are compared with; usual is of those that are todo.
func (p *part) addTimed(executions []stageExecution, usual []expectation) {
	from := len(p.timed)
	for i := range executions {
		e := &executions[i]
		t := timedExecution{phase: e.PhaseID, stage: e.StageID, place: e.Place, tasks: e.Tasks}
		t.times, t.inFile = p.timesOf[e.PhaseID]
		if e.Todo == 1 {
			u := &usual[0]
			usual = usual[1:]
			t.compared, t.usualS, t.tickS = u.Compared.V, u.UsualS.V, u.TickS.V
			t.withinRun, t.betweenRuns, t.usualBytes, t.usualRecords = u.WithinRun, u.BetweenRuns, u.UsualBytes, u.UsualRecords
		}
		p.timed = append(p.timed, t)
	}
	stage := p.timed[from:]
	markPast(stage)
	kept := slices.DeleteFunc(stage, func(e timedExecution) bool { return !e.past && !e.mayHaveCandidates() })
	p.timed = p.timed[:from+len(kept)]
}

// markPast marks the executions of a stage that one which may have candidates is compared with.
func markPast(stage []timedExecution) {
	for i := range stage {
		if !stage[i].mayHaveCandidates() {
			continue
		}
		for place := range earlierPlaces(stage[i].place) {
			if k, found := findPlace(len(stage), place, func(k int) int64 { return stage[k].place }); found {
				stage[k].past = true
			}
		}
	}
}

// eachStage gives the executions stage by stage.
func eachStage(executions []timedExecution) iter.Seq[[]timedExecution] {
	return func(yield func([]timedExecution) bool) {
		for n := 0; len(executions) > 0; executions = executions[n:] {
			for n = 1; n < len(executions) && executions[n].stage == executions[0].stage; n++ {
			}
			if !yield(executions[:n]) {
				return
			}
		}
	}
}

// slowerOf appends the attempts of some stages' executions that are slow against the history of their stage.
func (p *part) slowerOf(ctx context.Context, tx *store.Tx, eng engine.Loader, executions []timedExecution) error {
	stored, err := p.readStored(ctx, tx, eng, executions)
	if err != nil {
		return fmt.Errorf("earlier times: %w", err)
	}
	work := make(chan []timedExecution, workers)
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			s := stageTasks{times: p.times, stored: stored}
			for stage := range work {
				if err := s.judge(stage); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(work)
		for stage := range eachStage(executions) {
			select {
			case work <- stage:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	var found []*timedExecution
	for i := range executions {
		if len(executions[i].slow) > 0 {
			found = append(found, &executions[i])
		}
	}
	slices.SortFunc(found, func(a, b *timedExecution) int { return cmp.Compare(a.phase, b.phase) })
	return appendRows(tx, p, func(yield func(*schema.Outlier, error) bool) {
		for _, e := range found {
			if !yieldSlow(e.phase, e.slow, yield) {
				return
			}
		}
	}, phaseOfOutlier)
}

// storedRows are the attempts of some executions that are not part of the run, as they lie in the store.
type storedRows struct {
	rows taskRows                // without attempt and mark where none may be a candidate: then all have succeeded
	of   map[schema.Key][][2]int // from where to where those of a phase lie
}

// readStored reads the attempts of the executions whose times are in the store alone: those of tasks that candidates are of, or all where it is
// not known yet which attempts are candidates.
func (p *part) readStored(ctx context.Context, tx *store.Tx, eng engine.Loader, executions []timedExecution) (*storedRows, error) {
	type phase struct {
		PhaseID schema.Key `col:"phase_id"`
		StageID schema.Key `col:"stage_id"`
	}
	var phases []phase
	judged := false
	for i := range executions {
		if e := &executions[i]; !e.inFile {
			phases = append(phases, phase{e.phase, e.stage})
			judged = judged || e.mayHaveCandidates()
		}
	}
	stored := &storedRows{of: make(map[schema.Key][][2]int, len(phases))}
	if len(phases) == 0 {
		return stored, nil
	}
	if err := p.chooseStored(ctx, tx, eng, executions); err != nil {
		return nil, err
	}
	if err := engine.Load(ctx, eng, "detected_past", func(yield func([]phase, error) bool) { yield(phases, nil) }); err != nil {
		return nil, err
	}
	columns, status := "b.phase_id, b.task, b.duration_s, b.input_bytes, b.input_records", "b.status = 'success'"
	from := p.from("attempts") + " b JOIN detected_past e ON e.phase_id = b.phase_id"
	if judged {
		status = "b.status IN ('success', 'killed')"
		columns += fmt.Sprintf(", b.attempt_id, CAST(CASE b.status WHEN 'success' THEN %d ELSE 0 END + CASE WHEN b.recompute IS NOT FALSE THEN %d ELSE 0 END +"+
			" CASE WHEN CAST(floor(b.quality / 16) AS BIGINT) %% 2 <> 0 THEN %d ELSE 0 END AS INTEGER) AS mark", timeSucceeded, timeRecompute, timeNoPartition)
	} else {
		tasks, err := p.candidateTasks(executions)
		if err != nil || len(tasks) == 0 {
			return stored, err
		}
		if err := engine.Load(ctx, eng, "detected_tasks", func(yield func([]candidateTask, error) bool) { yield(tasks, nil) }); err != nil {
			return nil, err
		}
		from += " SEMI JOIN detected_tasks c ON c.stage_id = e.stage_id AND c.task = b.task"
	}
	sql := "SELECT " + columns + " FROM " + from + " WHERE " + status // what durations are kept, take says: the engine needs longer for that than for all else of a row
	rows := &stored.rows
	for b, err := range engine.ReadVectors(ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		for from, to, ids := 0, 0, b.Columns[0].Int64s[:b.Len]; from < len(ids); from = to {
			for to = from + 1; to < len(ids) && ids[to] == ids[from]; to++ {
			}
			phase, at := schema.Key(ids[from]), rows.len()
			stored.of[phase] = append(stored.of[phase], [2]int{at + from, at + to})
		}
		rows.task = append(rows.task, b.Columns[1].Int64s[:b.Len]...)
		rows.duration = appendKnown(rows.duration, b.Columns[2].Float64s, &b.Columns[2], b.Len, math.NaN())
		rows.bytes, rows.records = appendWhole(rows.bytes, &b.Columns[3], b.Len), appendWhole(rows.records, &b.Columns[4], b.Len)
		if judged {
			rows.attempt = append(rows.attempt, b.Columns[5].Int64s[:b.Len]...)
			for _, m := range b.Columns[6].Int32s[:b.Len] {
				rows.mark = append(rows.mark, byte(m))
			}
		}
	}
	return stored, nil
}

// candidateTask is a task that some attempt of the run may be slow for: others are compared with the median task of their stage.
type candidateTask struct {
	StageID schema.Key `col:"stage_id"`
	Task    int64      `col:"task"`
}

// candidateTasks are those of the executions whose times are in the file.
func (p *part) candidateTasks(executions []timedExecution) (out []candidateTask, err error) {
	var rows taskRows
	var buf []byte
	for stage := range eachStage(executions) {
		first := len(out)
		for k := range stage {
			e := &stage[k]
			if !e.inFile || !e.mayHaveCandidates() {
				continue
			}
			rows.reset()
			if err := p.times.read(e.times, &buf, &rows); err != nil {
				return nil, err
			}
			for i, d := range rows.duration {
				if e.isCandidate(d, rows.mark[i]) && rows.mark[i]&timeNoPartition == 0 {
					out = append(out, candidateTask{e.stage, rows.task[i]})
				}
			}
		}
		of := out[first:]
		slices.SortFunc(of, func(a, b candidateTask) int { return cmp.Compare(a.Task, b.Task) })
		out = out[:first+len(slices.Compact(of))]
	}
	return out, nil
}

// chooseStored makes the inputs of the executions that are not part of the run those whose rows are read.
func (p *part) chooseStored(ctx context.Context, tx *store.Tx, eng engine.Engine, executions []timedExecution) error {
	if p.whole {
		return nil
	}
	inputs := slices.Concat(p.inputs, tx.Kept())
	owners, wanted := store.OwnersOf(inputs), make(map[schema.Key]bool)
	for i := range executions {
		if !executions[i].inFile {
			if input, ok := owners.Of("phases", executions[i].phase); ok {
				wanted[input] = true
			}
		}
	}
	return p.choose(ctx, eng, slices.DeleteFunc(inputs, func(in store.InputRecord) bool { return !wanted[schema.Key(in.Key)] }))
}
