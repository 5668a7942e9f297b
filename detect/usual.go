package detect

import (
	"cmp"
	"context"
	"iter"
	"math"
	"sort"

	"straggler/engine"
	"straggler/schema"
)

// On an engine in this process usual.sql is worked out here, stage by stage, and the pairs of earlier.sql are not needed.

// usualHere makes the table detected_usual, and p.timed.
func (p *part) usualHere(ctx context.Context, eng engine.Loader) error {
	return engine.Load(ctx, eng, "detected_usual", p.expectations(ctx, eng))
}

// usualOnCopies is the same for an engine of many machines, which is given detected_compared too.
func (p *part) usualOnCopies(ctx context.Context, eng engine.Engine) error {
	var usual []expectation
	for some, err := range p.expectations(ctx, eng) {
		if err != nil {
			return err
		}
		usual = append(usual, some...)
	}
	if err := pinRows(ctx, eng, "detected_usual", usual); err != nil {
		return err
	}
	var rows []comparedExecution
	for _, some := range p.timed {
		for i := range some {
			e := &some[i]
			row := comparedExecution{PhaseID: e.phase, StageID: e.stage, Place: e.place, Tasks: e.tasks}
			if e.past {
				row.Past = 1
			}
			rows = append(rows, row)
		}
	}
	return pinRows(ctx, eng, "detected_compared", rows)
}

// expectations gives what is usual stage by stage, and makes p.timed.
func (p *part) expectations(ctx context.Context, eng engine.Engine) iter.Seq2[[]expectation, error] {
	var s stage
	return func(yield func([]expectation, error) bool) {
		for executions, err := range stages(engine.Read[stageExecution](ctx, eng, "SELECT * FROM detected_stages ORDER BY stage_id NULLS LAST, place NULLS LAST")) {
			if err != nil {
				yield(nil, err)
				return
			}
			s.usual = s.usual[:0]
			for i := range executions {
				if executions[i].Todo == 1 {
					s.usual = append(s.usual, s.expect(executions, i))
				}
			}
			p.addTimed(executions, s.usual)
			if !yield(s.usual, nil) {
				return
			}
		}
	}
}

// stages gives executions stage by stage, in memory that is used again.
func stages(executions iter.Seq2[*stageExecution, error]) iter.Seq2[[]stageExecution, error] {
	return func(yield func([]stageExecution, error) bool) {
		var held []stageExecution
		for e, err := range executions {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(held) > 0 && held[0].StageID != e.StageID {
				if !yield(held, nil) {
					return
				}
				held = held[:0]
			}
			held = append(held, *e)
		}
		if len(held) > 0 {
			yield(held, nil)
		}
	}
}

// findPlace finds the execution at a place among the first n of a stage, in order, of which some may be left out.
func findPlace(n int, place int64, of func(int) int64) (int, bool) {
	if k := place - 1; k < int64(n) && of(int(k)) == place {
		return int(k), true
	}
	return sort.Find(n, func(k int) int { return cmp.Compare(place, of(k)) })
}

// stage has what is used again from one execution to the next.
type stage struct {
	usual    []expectation
	compared []*stageExecution
	values   []float64
}

// median is that of a figure of the executions that one is compared with, where it is known.
func (s *stage) median(of func(*stageExecution) schema.Null[float64]) schema.Null[float64] {
	s.values = s.values[:0]
	for _, e := range s.compared {
		if v := of(e); v.OK {
			s.values = append(s.values, v.V)
		}
	}
	return median(s.values)
}

// expect says what is usual for an execution of a stage. Products are rounded before they are added to, also on machines that need not.
func (s *stage) expect(executions []stageExecution, i int) expectation {
	own := &executions[i]
	out := expectation{PhaseID: own.PhaseID, Executions: own.Place - 1, MedianS: own.MedianS}
	s.compared = s.compared[:0]
	for place := range earlierPlaces(own.Place) {
		k, _ := findPlace(i, place, func(k int) int64 { return executions[k].Place })
		s.compared = append(s.compared, &executions[k])
	}
	if len(s.compared) < 3 {
		return out
	}
	n := float64(len(s.compared))
	usual := s.median(func(e *stageExecution) schema.Null[float64] { return schema.Some(e.MedianS) })
	least, most, second, tick := math.Inf(1), math.Inf(-1), math.Inf(-1), 0.0
	for _, e := range s.compared {
		least, second, most = min(least, e.MedianS), max(second, min(most, e.MedianS)), max(most, e.MedianS)
		tick = max(tick, e.TickS.V)
	}
	out.Compared, out.UsualS, out.TickS = schema.Some(int64(len(s.compared))), usual, schema.Some(tick)
	out.WithinRun = s.median(func(e *stageExecution) schema.Null[float64] { return e.Spread })
	out.UsualBytes = s.median(func(e *stageExecution) schema.Null[float64] { return e.InputBytes })
	out.UsualRecords = s.median(func(e *stageExecution) schema.Null[float64] { return e.InputRecords })
	out.UsualCPUS = s.median(func(e *stageExecution) schema.Null[float64] { return e.CPUS })
	out.UsualWaitS = s.median(func(e *stageExecution) schema.Null[float64] { return e.WaitS })
	out.UsualTasks = s.median(func(e *stageExecution) schema.Null[float64] { return schema.Some(float64(e.Tasks)) })
	deviation := s.median(func(e *stageExecution) schema.Null[float64] {
		return schema.Some(math.Abs(math.Log(e.MedianS / usual.V)))
	})
	between := max(1.4826*deviation.V, math.Log(most/least)/(4*math.Sqrt(n)), 0.01)
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
