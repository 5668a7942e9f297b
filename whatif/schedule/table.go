package schedule

import (
	"cmp"

	"straggler/whatif/option"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Spec is a row of the table of schedulers.
type Spec struct {
	Name     string
	Doc      string // one line
	Source   string
	defaults any
	make     func(options any) replay.Scheduler
}

// Scheduler is a scheduler with its options.
type Scheduler struct {
	*Spec
	options any
	label   string
}

// String returns the scheduler as it was chosen, with the options that were given.
func (s Scheduler) String() string { return cmp.Or(s.label, s.Name) }

// specs is the one list of schedulers; it is never changed.
var specs = []*Spec{
	{Name: "observed", Doc: "tasks start in the order of the log, in the way its own scheduler had", Source: "the log"},
	row("fifo", "jobs in order of submission, each task as near its data as the slot allows", "FAIR §2.1", FIFO{},
		func(FIFO) replay.Scheduler { return newOffers(&fifo{}, Delay{}) }),
	row("fifo-delay", "FIFO in which jobs wait for slots near their data", "FAIR §4.2", delayDefaults,
		func(o Delay) replay.Scheduler { return newOffers(&fifo{}, o) }),
	row("fifo-split", "FIFO with reduces split into copying and computing", "FAIR §5.2", copyComputeDefaults,
		func(CopyCompute) replay.Scheduler { return newOffers(&fifo{}, Delay{}) }),
	row("fifo-placed", "FIFO with reduces spread over racks so that no link is hot", "MANTRI §5.2", spread{},
		func(spread) replay.Scheduler { return &offers{order: &fifo{}, placer: &placer{}} }),
	row("fair", "pools with minimum shares, max-min fair among them and inside them", "FAIR §3", Fair{},
		func(o Fair) replay.Scheduler { return newOffers(&fair{Fair: o}, Delay{}) }),
	row("delay", "fair sharing in which jobs wait for slots near their data", "FAIR §4.2", fairDelay{delayDefaults, Fair{}},
		func(o fairDelay) replay.Scheduler { return newOffers(&fair{Fair: o.Fair}, o.Delay) }),
	row("copycompute", "fair sharing with reduces split into copying and computing", "FAIR §5.2", fairSplit{copyComputeDefaults, Fair{}},
		func(o fairSplit) replay.Scheduler { return newOffers(&fair{Fair: o.Fair}, Delay{}) }),
	row("fair-all", "fair sharing with delay scheduling and copy-compute splitting", "FAIR §6.1",
		fairAll{copyComputeDefaults, delayDefaults, Fair{}},
		func(o fairAll) replay.Scheduler { return newOffers(&fair{Fair: o.Fair}, o.Delay) }),
	row("quincy", "a min-cost flow weighs data moved against waiting, with or without fair shares and preemption", "QUINCY §4", quincyDefaults,
		func(o Quincy) replay.Scheduler { return newFlow(o) }),
}

type (
	spread    struct{ FIFO }
	fairDelay struct {
		Delay
		Fair
	}
	fairSplit struct {
		CopyCompute
		Fair
	}
	fairAll struct {
		CopyCompute
		Delay
		Fair
	}
)

// splitter is implemented by options under which machines take more reduces than they have slots for.
type splitter interface {
	pool(*workload.Pool) *workload.Pool
}

func row[O any](name, doc, source string, defaults O, make func(O) replay.Scheduler) *Spec {
	return &Spec{
		Name: name, Doc: doc, Source: source, defaults: defaults,
		make: func(options any) replay.Scheduler { return make(options.(O)) },
	}
}

// Specs returns the table of schedulers. The caller must not change it.
func Specs() []*Spec { return specs }

// Options returns the options of a scheduler with their defaults.
func (s *Spec) Options() []option.Option { return option.Of(s.defaults) }

// ByName finds a scheduler with its default options.
func ByName(name string) (Scheduler, error) {
	s, err := option.Find("scheduler", specs, name, func(s *Spec) string { return s.Name })
	if err != nil {
		return Scheduler{}, err
	}
	return Scheduler{Spec: s, options: s.defaults}, nil
}

// With returns the scheduler with one option changed.
func (s Scheduler) With(name, value string) (Scheduler, error) {
	var err error
	s.options, err = option.With("scheduler "+s.Name, s.options, name, value)
	return s, err
}

// Parameters returns the options as a JSON object.
func (s Scheduler) Parameters() string { return option.JSON(s.options) }

// Other reports whether it is not the log's own scheduler.
func (s Scheduler) Other() bool { return s.Spec != nil && s.make != nil }

// Pool returns the pool to replay under the scheduler, which may change its machines.
func (s Scheduler) Pool(p *workload.Pool) *workload.Pool {
	if o, ok := s.options.(splitter); ok {
		return o.pool(p)
	}
	return p
}

// New returns a scheduler for one replay; nil for the log's own.
func (s Scheduler) New() replay.Scheduler {
	if !s.Other() {
		return nil
	}
	return s.make(s.options)
}
