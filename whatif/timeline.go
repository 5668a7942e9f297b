package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"straggler/schema"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Bar is an attempt in a timeline of a replayed job.
type Bar struct {
	Phase   schema.Key
	Task    int
	Machine string
	Slot    int
	StartS  float64 // after the job was submitted
	EndS    float64
	Copy    bool
	Killed  bool
}

// timeline returns the attempts of a job in the log and under a variant, for one seed.
func timeline(ctx context.Context, w *workload.Workload, v Variant, job schema.Key, seed int64) (before, after []Bar, err error) {
	for _, p := range w.Pools {
		for j := range p.NumJobs() {
			if key, _ := p.JobKeys(j); key != job {
				continue
			}
			if before, err = bars(ctx, p, j, replay.Options{}); err != nil {
				return nil, nil, err
			}
			o := replay.Options{Policy: v.New(), Seed: seed, Sigma: v.Error}
			if f := v.Durations(nil); f != nil {
				o.Took = f(p)
			}
			var s workload.Sample
			after, err = bars(ctx, s.Draw(p, seed), j, o)
			return before, after, err
		}
	}
	return nil, nil, fmt.Errorf("whatif: %w %d", errNoJob, job)
}

var errNoJob = errors.New("no job")

// bars replays a pool and returns the attempts of one job.
func bars(ctx context.Context, p *workload.Pool, job int, o replay.Options) ([]Bar, error) {
	var spans []replay.Span
	o.Watch = func(x replay.Span) {
		if p.JobOf(x.Phase) == job {
			spans = append(spans, x)
		}
	}
	var s replay.Sim
	out := s.Run(p, o)
	if err := out.Err(); err != nil {
		return nil, err
	}
	released := s.Released(job).Seconds()
	list := make([]Bar, len(spans))
	for n, x := range spans {
		list[n] = Bar{
			Phase: p.PhaseKey(x.Phase), Task: int(x.Task), Machine: p.MachineName(x.Machine), Slot: int(x.Slot),
			StartS: x.Start.Seconds() - released, EndS: x.End.Seconds() - released, Copy: x.Number > 0, Killed: x.Killed,
		}
	}
	slices.SortFunc(list, func(a, b Bar) int {
		return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.StartS, b.StartS), cmp.Compare(a.EndS, b.EndS))
	})
	return list, ctx.Err()
}
