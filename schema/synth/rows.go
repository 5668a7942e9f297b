package synth

import (
	"context"
	"fmt"

	"straggler/schema"
)

// Batch is a part of the generated trace. Its slices are reused after the call that receives it. Rows refer to rows of other
// batches: attempts are emitted as they end, a phase after its last attempt, an application at its end.
type Batch struct {
	Application int
	Input       schema.Key // of the application, for the store
	Trace       schema.Trace
	Truth       Truth
}

// Generate makes a whole trace in memory.
func Generate(o Options) (*schema.Trace, *Truth, error) {
	trace, truth := &schema.Trace{}, &Truth{}
	err := Stream(context.Background(), o, func(b *Batch) error {
		trace.Append(&b.Trace)
		truth.Attempts = append(truth.Attempts, b.Truth.Attempts...)
		truth.Machines = append(truth.Machines, b.Truth.Machines...)
		truth.Skewed = append(truth.Skewed, b.Truth.Skewed...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return trace, truth, nil
}

// Stream makes a trace batch by batch. Memory is bounded by the state of one application, whatever the size.
func Stream(ctx context.Context, o Options, emit func(*Batch) error) error {
	b := &Batch{}
	first := true
	return each(ctx, o, func(app int) {
		b.Application, b.Input = app, inputKey(&o, app)
	}, func(e *Event) error {
		if first {
			first = false
			b.Truth.Machines = append(b.Truth.Machines, Machines(&o)...)
		}
		b.add(e)
		if len(b.Trace.Attempts) < o.BatchRows && e.Kind != ApplicationEnded {
			return nil
		}
		err := emit(b)
		b.reset()
		return err
	})
}

// Events makes a trace event by event, in order of time within each application, one application after another.
func Events(ctx context.Context, o Options, emit func(*Event) error) error {
	return each(ctx, o, func(int) {}, emit)
}

func each(ctx context.Context, o Options, begin func(app int), emit func(*Event) error) error {
	if err := o.Check(); err != nil {
		return err
	}
	c := newCluster(&o)
	start := o.Start
	for app := range o.Applications {
		begin(app)
		s := newSim(ctx, &o, c, app, start, emit)
		if err := s.run(); err != nil {
			return fmt.Errorf("synth: application %d: %w", app, err)
		}
		gap := s.random.uniform(forGap)
		start = schema.FromMillis(ms(start.Add(o.GapS * (0.5 + gap))))
	}
	return nil
}

// add converts an event to rows. Rows that can still change are held until the event after which they cannot.
func (b *Batch) add(e *Event) {
	t := &b.Trace
	switch e.Kind {
	case ApplicationStarted:
		t.Settings = append(t.Settings, e.Settings...)
	case JobStarted:
		b.Truth.Skewed = append(b.Truth.Skewed, e.Skewed...)
	case PhaseSubmitted:
		t.Edges = append(t.Edges, e.Edges...)
	case AttemptEnded:
		t.Attempts = append(t.Attempts, *e.Attempt)
		b.Truth.Attempts = append(b.Truth.Attempts, *e.Truth)
	case PhaseClosed:
		t.Phases = append(t.Phases, *e.Phase)
		t.Edges = append(t.Edges, e.Edges...)
	case JobEnded:
		t.Jobs = append(t.Jobs, *e.Job)
	case MachineKnown:
		t.Machines = append(t.Machines, *e.Machine)
	case LossKnown:
		t.Losses = append(t.Losses, *e.Loss)
	case ApplicationEnded:
		t.Applications = append(t.Applications, *e.Application)
	}
}

func (b *Batch) reset() {
	b.Trace.Reset()
	b.Truth = Truth{Attempts: b.Truth.Attempts[:0], Machines: b.Truth.Machines[:0], Skewed: b.Truth.Skewed[:0]}
}
