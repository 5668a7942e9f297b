package synth

import (
	"errors"
	"fmt"

	"straggler/schema"
)

// Options configure a trace. Defaults returns options that work; scenarios.go changes some of them.
type Options struct {
	Scenario     string // its name, for the settings of the trace
	Seed         uint64
	Applications int
	Start        schema.Time // of the first application
	GapS         float64     // mean time between the starts of applications
	BatchRows    int         // number of attempts in a batch

	Shape       Shape
	Cluster     Cluster
	Work        Work
	Faults      Faults
	Speculation *Speculation // nil: none
	Hide        Hide
}

// Range is an interval that values are drawn from, uniformly unless stated otherwise.
type Range struct{ Low, High float64 }

// Only returns the range of one value.
func Only(v float64) Range { return Range{v, v} }

// Shape is the structure of applications.
type Shape struct {
	Jobs      int     // of an application
	InFlight  int     // jobs of an application that run at once; the next is submitted when one ends
	Phases    Range   // of a job, whole numbers
	Tasks     Range   // of a phase, drawn on a log scale
	Sources   float64 // probability that a phase reads storage instead of another phase
	Join      float64 // probability that a phase reads two phases
	GapS      Range   // time between jobs
	Recurring bool    // all applications have the same jobs with the same skew: one program, run every night
}

// Cluster is the machines.
type Cluster struct {
	Machines    int
	Slots       int // of a machine
	Racks       int
	Replicas    int // number of machines with a copy of a block of storage
	Generations []Generation
	Bad         Bad
	Flaky       Flaky
}

// Generation is a share of the machines whose hardware is faster or slower, which is not a fault.
type Generation struct{ Share, Factor float64 }

// Bad machines take Factor × the time for everything. With Until > 0 they are repaired that many seconds after Start.
type Bad struct {
	Machines int
	Factor   Range
	UntilS   float64
}

// Flaky machines are bad in a share of the time windows.
type Flaky struct {
	Machines int
	Factor   Range
	WindowS  float64
	Share    float64
}

// Work is what tasks do without faults: fixed + bytes × rate, times noise.
type Work struct {
	FixedS          Range   // of a phase's tasks, independent of their input
	TaskS           Range   // of a phase's normal task in addition, drawn on a log scale
	Bytes           Range   // read by a normal task, drawn on a log scale
	Spread          float64 // sigma of the logarithm of the bytes that tasks read
	Noise           float64 // sigma of the logarithm of an attempt's time
	NetworkBytesPer float64 // bytes per second that an attempt reads from other machines
	OutputRatio     float64 // bytes written for each byte read
}

// Faults are the faults of a cluster. The zero Faults means none.
type Faults struct {
	Skew        Skew
	Network     Network
	Transient   Transient
	GC          GC
	Spill       Spill
	Scheduler   Scheduler
	Deserialize Deserialize
	Start       Start
	Locality    Locality
	Failure     Failure
	Loss        Loss
}

// Skew gives tasks of some phases more data: a fraction of them Factor × as much, or all of them by Zipf's law.
type Skew struct {
	Phases float64 // share of the phases
	Tasks  float64 // share of a phase's tasks, at least one
	Factor Range
	Zipf   float64 // exponent; > 0 replaces Tasks and Factor: the task of rank r reads normal × (r ÷ half the tasks)^−Zipf
	Most   float64 // largest input of a Zipf task, in normal tasks; 0 = 50
}

// Network slows down reading from other machines: towards some machines or racks, or from some machines.
type Network struct {
	Machines int     // whose downlink is slow
	Racks    int     // whose uplink to the other racks is slow, in both directions
	Sources  int     // machines whose uplink is slow: reading from them is slow
	Factor   Range   // time per byte, × the normal
	Tasks    float64 // with Sources: share of the tasks that take Share of their input from a slow source
	Share    float64
}

// Transient makes an attempt slower by an independent draw.
type Transient struct {
	Probability float64
	Factor      Range
}

// GC makes tasks of some phases collect garbage on some machines, which adds Factor × the normal task's time.
type GC struct {
	Machines int
	Phases   float64
	Factor   Range
}

// Spill makes tasks write their working set to disk: those that read more than Above normal tasks, and others by chance.
type Spill struct {
	Above       float64 // 0 = no task spills because of its size
	Probability float64 // of a task
	Amount      Range   // bytes spilled for each byte read
	BytesPer    float64 // bytes spilled per second
}

// Scheduler delays attempts between launch and run.
type Scheduler struct {
	Probability float64
	DelayS      Range
}

// Deserialize makes the first attempts of an executor, one per slot, load classes: the time is logged as deserialisation, and
// is the executor's start (cause startup).
type Deserialize struct{ ColdS Range }

// Start makes the attempts of an executor that begin before one has succeeded on it Factor × as slow: code is interpreted until
// it is compiled, and caches are empty (cause startup).
type Start struct{ Factor Range }

// Locality slows down reading storage of another machine by bytes ÷ BytesPer.
type Locality struct{ BytesPer float64 }

// Failure makes attempts fail somewhere on the way; the task is retried, up to Most times before the job is aborted.
type Failure struct {
	Probability float64
	Most        int // failures of one task that end the job; 0 = never
}

// Loss kills executors, together with the outputs on their machines.
type Loss struct {
	PerApplication float64 // mean number
	RestartS       Range   // until the executor is back
}

// Speculation runs copies of slow tasks, by Spark's rule.
type Speculation struct {
	Quantile   float64 // share of the tasks that must have finished
	Multiplier float64 // × the median duration
	IntervalS  float64 // between checks
	LeastS     float64 // age below which nothing is copied, s
}

// Hide omits what many logs do not record.
type Hide struct{ Bytes, Racks bool }

// Defaults returns a quiet cluster: 20 machines of 4 slots in 2 racks, one application of 4 jobs, no faults.
func Defaults() Options {
	return Options{
		Scenario:     "uniform",
		Seed:         1,
		Applications: 1,
		Start:        schema.FromMillis(1_767_571_200_000), // 2026-01-05T00:00:00Z
		GapS:         600,
		BatchRows:    1 << 14,
		Shape: Shape{Jobs: 4, InFlight: 1, Phases: Range{2, 5}, Tasks: Range{40, 200}, Sources: 0.2, Join: 0.3,
			GapS: Range{0.05, 0.5}},
		Cluster: Cluster{Machines: 20, Slots: 4, Racks: 2, Replicas: 2},
		Work: Work{FixedS: Range{0.2, 1}, TaskS: Range{2, 20}, Bytes: Range{16e6, 256e6}, Spread: 0.1, Noise: 0.08,
			NetworkBytesPer: 100e6, OutputRatio: 0.6},
	}
}

// SparkSpeculation returns Spark 3's rule with its defaults.
func SparkSpeculation() *Speculation {
	return &Speculation{Quantile: 0.75, Multiplier: 1.5, IntervalS: 0.1, LeastS: 0.1}
}

// ErrOptions is wrapped by every error about options.
var ErrOptions = errors.New("synth: options")

// maxTasks keeps task indexes in 32 bits.
const maxTasks = 1 << 30

// Check reports what is wrong with the options.
func (o *Options) Check() error {
	bad := func(what string, v any) error { return fmt.Errorf("%w: %s must not be %v", ErrOptions, what, v) }
	for _, n := range []struct {
		what  string
		v, at int
	}{
		{"Applications", o.Applications, 1}, {"BatchRows", o.BatchRows, 1}, {"Shape.Jobs", o.Shape.Jobs, 1},
		{"Shape.InFlight", o.Shape.InFlight, 1}, {"Cluster.Machines", o.Cluster.Machines, 1}, {"Cluster.Slots", o.Cluster.Slots, 1},
		{"Cluster.Racks", o.Cluster.Racks, 1}, {"Cluster.Replicas", o.Cluster.Replicas, 0},
	} {
		if n.v < n.at {
			return bad(n.what, n.v)
		}
	}
	for _, r := range []struct {
		what string
		v    Range
		low  float64
	}{
		{"Shape.Phases", o.Shape.Phases, 1}, {"Shape.Tasks", o.Shape.Tasks, 1}, {"Work.FixedS", o.Work.FixedS, 0},
		{"Work.TaskS", o.Work.TaskS, 1e-3}, {"Work.Bytes", o.Work.Bytes, 1}, {"Shape.GapS", o.Shape.GapS, 0},
		{"Cluster.Bad.Factor", o.Cluster.Bad.Factor, 0}, {"Cluster.Flaky.Factor", o.Cluster.Flaky.Factor, 0},
		{"Faults.Skew.Factor", o.Faults.Skew.Factor, 0}, {"Faults.Network.Factor", o.Faults.Network.Factor, 0},
		{"Faults.Transient.Factor", o.Faults.Transient.Factor, 0}, {"Faults.GC.Factor", o.Faults.GC.Factor, 0},
		{"Faults.Spill.Amount", o.Faults.Spill.Amount, 0}, {"Faults.Scheduler.DelayS", o.Faults.Scheduler.DelayS, 0},
		{"Faults.Deserialize.ColdS", o.Faults.Deserialize.ColdS, 0}, {"Faults.Start.Factor", o.Faults.Start.Factor, 0},
		{"Faults.Loss.RestartS", o.Faults.Loss.RestartS, 0},
	} {
		if !(r.v.Low >= r.low) || !(r.v.High >= r.v.Low) || r.v.High > schema.LongestS {
			return bad(r.what, r.v)
		}
	}
	switch {
	case o.Shape.Tasks.High > maxTasks:
		return bad("Shape.Tasks", o.Shape.Tasks)
	case o.Shape.Phases.High > 1e6:
		return bad("Shape.Phases", o.Shape.Phases)
	case !(o.Work.NetworkBytesPer > 0):
		return bad("Work.NetworkBytesPer", o.Work.NetworkBytesPer)
	case (o.Faults.Spill.Above > 0 || o.Faults.Spill.Probability > 0) && !(o.Faults.Spill.BytesPer > 0):
		return bad("Faults.Spill.BytesPer", o.Faults.Spill.BytesPer)
	case o.Cluster.Flaky.Machines > 0 && !(o.Cluster.Flaky.WindowS >= 1):
		return bad("Cluster.Flaky.WindowS", o.Cluster.Flaky.WindowS)
	case o.Faults.Failure.Probability < 0 || o.Faults.Failure.Probability > 0.9:
		return bad("Faults.Failure.Probability", o.Faults.Failure.Probability)
	case o.Speculation != nil && !(o.Speculation.IntervalS >= 1e-3):
		return bad("Speculation.IntervalS", o.Speculation.IntervalS)
	}
	return nil
}
