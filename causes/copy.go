package causes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
)

// Copy does a step for the phases whose attempts it reads, and writes what it finds. It runs on the cluster's machines.
func Copy(ctx context.Context, a copies.Assignment) error {
	w := copies.NewWriter(ctx, a.Pieces)
	return w.Close(a.Out, work(ctx, w, a))
}

func work(ctx context.Context, w *copies.Writer, a copies.Assignment) error {
	do, err := worker(ctx, a.Step, a.File)
	if err != nil {
		return err
	}
	var g given
	flush := func() error {
		defer g.next()
		g.phase.Tasks = slices.DeleteFunc(g.phase.Tasks, func(t fit.Task) bool { return !schema.IsDuration(t.Duration) })
		if len(g.phase.Tasks) == 0 {
			return nil
		}
		return errors.Join(do(&g, w), ctx.Err())
	}
	err = engine.ReadRemoteRows(a.In, len(copyColumns), func(fields []engine.RemoteField) error {
		var row copyRow
		if err := row.read(fields); err != nil {
			return err
		}
		if row.Phase != g.phase.ID {
			if err := flush(); err != nil {
				return err
			}
			g.phase.ID = row.Phase
		}
		return g.add(&row)
	})
	if err != nil {
		return err
	}
	return flush()
}

// given is what a copy has read about a phase, and the collections of all shares so far.
type given struct {
	phase        fit.Phase
	share, input schema.Key
	losses       losses
	collections  collections // by share, in the place of the application
}

func (g *given) add(r *copyRow) error {
	switch r.about {
	case aboutAttempt:
		g.share, g.phase.Tasks = r.share, append(g.phase.Tasks, r.Task)
	case aboutOutlier:
		r.mark(g.phase.Tasks)
	case aboutStage:
		g.input = r.other
		if r.text.OK {
			g.phase.Signature = signatureOf(r.text.V)
		}
	case aboutOutput:
		g.losses.add(r.Attempt, lostOutput{r.Index, r.text.V, r.Start.V, r.other, r.end})
	case aboutGap:
		g.losses.addGap(r.Phase, r.Start.V, r.end)
	case aboutCollection:
		g.collections.add(collection{r.share, r.other, r.Attempt, r.Machine, r.Start.V, r.Duration, r.GC})
	default:
		return fmt.Errorf("a row is about %d, which this program does not know", r.about)
	}
	return nil
}

// settle completes a phase once all of its rows have been read.
func (g *given) settle() {
	g.losses.joinGaps()
	g.collections.settleOf(g.share)
	g.collections.mayWait(g.phase.ID, g.share)
}

// next clears the phase.
func (g *given) next() {
	g.phase.Tasks, g.phase.Signature, g.input = g.phase.Tasks[:0], 0, 0
	g.losses = losses{}
	clear(g.collections.application)
}

// worker returns what a step does with a phase.
func worker(ctx context.Context, step, file string) (func(*given, *copies.Writer) error, error) {
	if window, ok := strings.CutPrefix(step, stepObserve+"="); ok {
		seconds, err := strconv.ParseFloat(window, 64)
		if err != nil {
			return nil, fmt.Errorf("causes: the windows of step %q: %w", step, err)
		}
		f := model.Fitter{WindowS: seconds}
		return func(g *given, w *copies.Writer) error {
			if o, ok := f.Fit(&g.phase); ok {
				return w.Message(g.phase.ID, wire.Encode(&o))
			}
			return nil
		}, nil
	}
	if step != stepAttribute {
		return nil, fmt.Errorf("causes: a copy has no step %q", step)
	}
	data, err := copies.ReadFile(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("causes: %w", err)
	}
	m := &model.Model{}
	if err := wire.Decode(data, m); err != nil {
		return nil, fmt.Errorf("causes: %s: %w", file, err)
	}
	a := NewAttributor(m)
	var timer runTimer
	return func(g *given, w *copies.Writer) error {
		g.settle()
		a.losses, a.collections = &g.losses, &g.collections
		p := &g.phase
		a.rows = a.rows[:0]
		x, rows := a.attribute(p)
		x.times = timer.times(p)
		if !slices.ContainsFunc(p.Tasks, func(t fit.Task) bool { return t.Outlier() }) && len(x.times.parts) == 0 && len(x.times.late) == 0 {
			return nil
		}
		if err := copies.Append(w, p.ID, g.input, rows); err != nil {
			return err
		}
		return w.Message(p.ID, wire.Encode(x))
	}, nil
}

// mark marks the last task as an outlier if the row is about its attempt.
func (r *copyRow) mark(tasks []fit.Task) {
	if len(tasks) == 0 || tasks[len(tasks)-1].Attempt != r.Attempt {
		return
	}
	t := &tasks[len(tasks)-1]
	t.Slow, t.Recompute, t.Excess, t.Beyond = r.Slow, r.Recompute, r.Excess, r.Beyond
	if math.IsNaN(t.Duration) {
		t.Duration = r.Duration
	}
}
