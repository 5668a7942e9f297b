package detect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// On an engine in this process slower_than_usual.sql is computed here. Each attempt of an execution is one of the earlier ones
// of up to 64 tasks of each of the executions after it; SQL makes a row of each such pair, whereas here the times of a stage's
// executions are side by side in memory once, and a task finds its own by its number.

// mostTimes is the number of earlier attempts held at once, in up to 41 bytes each, unless a single stage has more.
const mostTimes = 4_000_000

// executionTasks is the number of such tasks that take as much memory as an execution: 160 bytes.
const executionTasks = 4

// timedExecution is an execution of a stage, what is usual for it if it is todo, and the location of its tasks' times.
type timedExecution struct {
	phase, stage schema.Key
	place, tasks int64

	compared                 int64 // 0: it is not todo, or has no history
	usualS, tickS            float64
	withinRun, betweenRuns   float64 // NaN is NULL, here and below
	usualBytes, usualRecords float64

	scanned  *scannedPhase // nil: its attempts are not part of the run, and its times are only in the store
	longestS float64       // of those in the file

	past     bool          // one that may have candidates is compared with it
	from, to int           // of stageTasks.past
	dense    bool          // it has each task from 0 on exactly once there
	slow     []slowAttempt // its slow attempts
}

// mayHaveCandidates returns false if no attempt is one of candidates.sql. For attempts that are only in the store this is not yet
// known.
func (e *timedExecution) mayHaveCandidates() bool {
	return e.compared > 0 && (e.scanned == nil || e.longestS > schema.OutlierRatio*e.usualS)
}

// isCandidate reports whether an attempt of the execution is one of candidates.sql, by its duration and mark.
func (e *timedExecution) isCandidate(d float64, mark byte) bool {
	return schema.IsDuration(d) && d > schema.OutlierRatio*e.usualS && mark&timeRecompute == 0
}

// stageGroups collects executions whose tasks are compared, stage by stage, each from the first on, and passes on groups that
// are processed together: as many stages as have at most atOnce tasks that others are compared with, or one.
type stageGroups struct {
	part   *part
	atOnce int64
	give   func([][]timedExecution) error

	stage []timedExecution
	group [][]timedExecution
	size  int64
}

// add adds the executions of a stage that may have candidates, and those that they are compared with; usual has values for
// those that are todo.
func (g *stageGroups) add(executions []stageExecution, usual []expectation) error {
	g.stage = g.stage[:0]
	for i := range executions {
		e := &executions[i]
		t := timedExecution{phase: e.PhaseID, stage: e.StageID, place: e.Place, tasks: e.Tasks, scanned: g.part.scannedOf(e)}
		if t.scanned != nil {
			t.longestS = t.scanned.times.longestS
		}
		if e.Todo == 1 {
			u := &usual[0]
			usual = usual[1:]
			t.compared, t.usualS, t.tickS = u.Compared.V, u.UsualS.V, u.TickS.V
			t.withinRun, t.betweenRuns, t.usualBytes, t.usualRecords = orNaN(u.WithinRun), orNaN(u.BetweenRuns), orNaN(u.UsualBytes), orNaN(u.UsualRecords)
		}
		g.stage = append(g.stage, t)
	}
	markPast(g.stage)
	compared := slices.DeleteFunc(g.stage, func(e timedExecution) bool { return !e.past && !e.mayHaveCandidates() })
	size := int64(0)
	for i := range compared {
		held := int64(executionTasks)
		if compared[i].past {
			held = max(held, compared[i].tasks)
		}
		size += held
	}
	if g.size+size > g.atOnce {
		if err := g.end(); err != nil {
			return err
		}
	}
	if len(compared) > 0 {
		g.group, g.size = append(g.group, slices.Clone(compared)), g.size+size
	}
	return nil
}

// end passes on the last group.
func (g *stageGroups) end() error {
	group := g.group
	if g.group, g.size = nil, 0; len(group) == 0 {
		return nil
	}
	return g.give(group)
}

// markPast marks the executions of a stage that an execution with possible candidates is compared with.
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

// slowerOf appends the attempts of some stages' executions that are slow compared with the history of their stage.
func (p *part) slowerOf(ctx context.Context, tx *store.Tx, eng engine.Loader, stages [][]timedExecution) error {
	stored, err := p.readStored(ctx, tx, eng, stages)
	if err != nil {
		return fmt.Errorf("earlier times: %w", err)
	}
	work := make(chan []timedExecution, workers)
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			s := stageTasks{part: p, stored: stored}
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
		for _, stage := range stages {
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
	if err := p.slowAppended(); err != nil {
		return err
	}
	var found []*timedExecution
	for _, stage := range stages {
		for i := range stage {
			if len(stage[i].slow) > 0 {
				found = append(found, &stage[i])
			}
		}
	}
	slices.SortFunc(found, func(a, b *timedExecution) int { return cmp.Compare(a.phase, b.phase) })
	rows := inputRows[schema.Outlier]{tx: tx, p: p}
	for _, e := range found {
		for i := range e.slow {
			if err := rows.add(e.phase, e.slow[i].outlier(e.phase)); err != nil {
				return err
			}
		}
	}
	return rows.flush()
}
