package detect

import (
	"context"
	"fmt"
	"iter"
	"math"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/stats"
	"straggler/store"
)

// On an engine in this process usual.sql is computed here, stage by stage, and the pairs of earlier.sql are not needed.

// compareHere computes what is usual, and writes the attempts that are slow compared with the history of their stage:
// those of some stages while the usual figures of the next ones are computed. It writes stage_history and task_times
// concurrently, as soon as their rows are known: a table is written on one core.
func (p *part) compareHere(ctx context.Context, tx *store.Tx, eng engine.Loader, of executionSet) error {
	compared := make(chan [][]timedExecution)
	group, running := errgroup.WithContext(ctx)
	keep := func() error { return p.keepFromFile(running, tx) }
	if of.marked() {
		group.Go(keep)
	}
	group.Go(func() error {
		err := of.expect(running, eng, p.expectations(running, of, func(stages [][]timedExecution) error {
			select {
			case compared <- stages:
				return nil
			case <-running.Done():
				return running.Err()
			}
		}))
		close(compared)
		if err != nil {
			return fmt.Errorf("what is usual: %w", err)
		}
		if !of.marked() {
			group.Go(keep)
		}
		if err := of.write(running, tx); err != nil {
			return fmt.Errorf("comparison: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		for stages := range compared {
			if err := p.slowerOf(running, tx, eng, stages); err != nil {
				return fmt.Errorf("attempts that are slower than usual: %w", err)
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil || len(p.again) == 0 {
		return err
	}
	return p.keepTimes(ctx, tx, eng, engine.Seen{Table: "detected_stages", SQL: "SELECT * FROM detected_stages WHERE known = 1"})
}

// usualOnCopies computes what is usual for an engine of many machines, which is given detected_usual and detected_compared, and
// compares the attempts later.
func (p *part) usualOnCopies(ctx context.Context, eng engine.Engine, of executionSet) error {
	var usual []expectation
	var rows []comparedExecution
	for some, err := range p.expectations(ctx, of, func(stages [][]timedExecution) error {
		for _, stage := range stages {
			for i := range stage {
				e := &stage[i]
				row := comparedExecution{PhaseID: e.phase, StageID: e.stage, Place: e.place, Tasks: e.tasks}
				if e.past {
					row.Past = 1
				}
				rows = append(rows, row)
			}
		}
		return nil
	}) {
		if err != nil {
			return err
		}
		usual = append(usual, some...)
	}
	if err := pinRows(ctx, eng, "detected_usual", usual); err != nil {
		return err
	}
	return pinRows(ctx, eng, "detected_compared", rows)
}

// expectations returns what is usual stage by stage, and passes to compare the executions whose tasks are compared.
func (p *part) expectations(ctx context.Context, of executionSet, compare func([][]timedExecution) error) iter.Seq2[[]expectation, error] {
	var s stage
	groups := stageGroups{part: p, atOnce: p.timesAtOnce, give: compare}
	return func(yield func([]expectation, error) bool) {
		for executions, err := range of.byStage(ctx) {
			if err == nil {
				s.expectAll(executions)
				err = groups.add(executions, s.usual)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(s.usual, nil) {
				return
			}
		}
		if err := groups.end(); err != nil {
			yield(nil, err)
		}
	}
}

// stage has the figures of the executions that one of a stage is compared with, nearly all of which are those of the previous
// one too.
type stage struct {
	usual        []expectation
	stride, next int64                  // of the places of executions with figures
	figures      [figureCount][]float64 // in ascending order, if known
	tick         float64
	values       []float64
}

const (
	ofDuration = iota
	ofSpread
	ofBytes
	ofRecords
	ofCPU
	ofWait
	ofTasks
	figureCount
)

// extend changes the figures to those that the execution at a place is compared with.
func (s *stage) extend(executions []stageExecution, place int64) {
	if stride := strideAt(place); s.stride != stride {
		s.stride, s.next, s.tick = stride, 1, 0
		for k := range s.figures {
			s.figures[k] = s.figures[k][:0]
		}
	}
	for ; s.next < place; s.next += s.stride {
		k, _ := findPlace(len(executions), s.next, func(k int) int64 { return executions[k].Place })
		s.add(&executions[k])
	}
}

func (s *stage) add(e *stageExecution) {
	for k, v := range [...]schema.Null[float64]{ofDuration: schema.Some(e.MedianS), ofSpread: e.Spread, ofBytes: e.InputBytes, ofRecords: e.InputRecords,
		ofCPU: e.CPUS, ofWait: e.WaitS, ofTasks: schema.Some(float64(e.Tasks))} {
		if v.OK {
			s.figures[k] = inserted(s.figures[k], v.V)
		}
	}
	s.tick = max(s.tick, e.TickS.V)
}

// median returns that of a figure.
func (s *stage) median(figure int) schema.Null[float64] {
	if len(s.figures[figure]) == 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(quantileOf(s.figures[figure], 0.5))
}

// deviation returns the median absolute difference of the durations from a given one, in logarithms.
func (s *stage) deviation(from float64) float64 {
	s.values = s.values[:0]
	for _, d := range s.figures[ofDuration] {
		s.values = append(s.values, math.Abs(math.Log(d/from)))
	}
	return median(s.values).V
}

// expectAll computes what is usual for the executions of a stage that are to do.
func (s *stage) expectAll(executions []stageExecution) {
	s.usual, s.stride = s.usual[:0], 0
	for i := range executions {
		if executions[i].Todo == 1 {
			s.usual = append(s.usual, s.expect(executions, i))
		}
	}
}

// expect computes what is usual for an execution of a stage. Products are rounded before they are added to, also on machines
// that could fuse the operations.
func (s *stage) expect(executions []stageExecution, i int) expectation {
	own := &executions[i]
	out := expectation{phase: own.phase, PhaseID: own.PhaseID, Executions: own.Place - 1, MedianS: own.MedianS}
	s.extend(executions, own.Place)
	durations := s.figures[ofDuration]
	compared := len(durations)
	if compared < 3 {
		return out
	}
	n, usual, tick := float64(compared), s.median(ofDuration), s.tick
	least, second, most := durations[0], durations[compared-2], durations[compared-1]
	out.Compared, out.UsualS, out.TickS = schema.Some(int64(compared)), usual, schema.Some(tick)
	out.WithinRun = s.median(ofSpread)
	out.UsualBytes, out.UsualRecords = s.median(ofBytes), s.median(ofRecords)
	out.UsualCPUS, out.UsualWaitS = s.median(ofCPU), s.median(ofWait)
	out.UsualTasks = s.median(ofTasks)
	between := max(stats.MADScale*s.deviation(usual.V), math.Log(most/least)/(4*math.Sqrt(n)), 0.01)
	out.BetweenRuns = schema.Some(between)
	out.WorkRatio = ratioOf(orNaN(own.InputBytes), out.UsualBytes)
	if !out.WorkRatio.OK {
		out.WorkRatio = ratioOf(orNaN(own.InputRecords), out.UsualRecords)
	}
	work, v := 1.0, n-1
	if out.WorkRatio.OK {
		work = max(work, out.WorkRatio.V)
	}
	limit := work * min(usual.V*max(1.2, math.Exp((3+7.5/v+17.25/(v*v))*between*math.Sqrt(1+1/n))), 2*second)
	out.LimitS = schema.Some(max(limit, float64(usual.V*work)+2*tick))
	return out
}
