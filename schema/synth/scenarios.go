package synth

import "math"

// Scenario is a named mixture of options.
type Scenario struct {
	Name string
	Doc  string
	set  func(*Options)
}

// Make returns the scenario's options with a seed.
func (s Scenario) Make(seed uint64) Options {
	o := Defaults()
	o.Scenario, o.Seed = s.Name, seed
	s.set(&o)
	return o
}

// ByName finds a scenario.
func ByName(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Scenarios lists all of them.
func Scenarios() []Scenario {
	return []Scenario{
		{"uniform", "nothing goes wrong; tasks differ by a little noise", func(*Options) {}},
		{"identical", "all attempts of a phase do exactly the same", func(o *Options) { o.Work.Noise, o.Work.Spread = 0, 0 }},
		{"skew", "a few tasks of most phases read several times as much", skew},
		{"zipf", "the data of most phases follows Zipf's law", func(o *Options) { o.Faults.Skew = Skew{Phases: 0.7, Zipf: 0.8, Most: 30} }},
		{"bad-machine", "two machines are slow in everything", func(o *Options) { o.Cluster.Bad = Bad{Machines: 2, Factor: Range{2, 4}} }},
		{"flaky", "two machines are slow in a third of the time", func(o *Options) {
			o.Cluster.Flaky = Flaky{Machines: 2, Factor: Range{2, 4}, WindowS: 60, Share: 1. / 3}
		}},
		{"network", "the links towards two machines are slow", func(o *Options) { network(o); o.Faults.Network.Machines = 2 }},
		{"network-up", "one machine's uplink is slow, and some tasks read mostly from it", func(o *Options) {
			network(o)
			o.Faults.Network = Network{Sources: 1, Factor: Range{15, 30}, Tasks: 0.05, Share: 0.6}
		}},
		{"rack", "the link between one rack and the others is slow", func(o *Options) {
			network(o)
			o.Cluster.Racks, o.Faults.Network.Racks = 4, 1
		}},
		{"recompute", "executors are lost with their outputs", func(o *Options) { o.Faults.Loss = Loss{PerApplication: 3, RestartS: Range{1, 20}} }},
		{"transient", "attempts are slow by chance, there and then", transient},
		{"gc", "executors on two machines collect garbage", func(o *Options) { o.Faults.GC = GC{Machines: 2, Phases: 0.6, Factor: Range{1, 3}} }},
		{"spill", "some tasks write their working set to disk", func(o *Options) {
			o.Faults.Spill = Spill{Probability: 0.03, Amount: Range{1, 3}, BytesPer: 10e6}
			o.Work.Bytes = Range{128e6, 512e6}
		}},
		{"scheduler", "some attempts wait long between launch and run", func(o *Options) {
			o.Faults.Scheduler = Scheduler{Probability: 0.03, DelayS: Range{10, 40}}
		}},
		{"deserialize", "executors load classes in their first attempts", func(o *Options) { o.Faults.Deserialize.ColdS = Range{5, 20} }},
		{"locality", "reading storage of other machines is slow", func(o *Options) {
			o.Faults.Locality.BytesPer, o.Shape.Sources = 10e6, 0.5
		}},
		{"retries", "attempts fail and are tried again", func(o *Options) { o.Faults.Failure = Failure{Probability: 0.03} }},
		{"aborted", "jobs are aborted after four failures of a task", func(o *Options) { o.Faults.Failure = Failure{Probability: 0.25, Most: 4} }},
		{"generations", "hardware of three generations, and nothing wrong with any", generations},
		{"generations-bad", "hardware of three generations, and two bad machines", func(o *Options) {
			generations(o)
			o.Cluster.Bad = Bad{Machines: 2, Factor: Range{1.6, 3}}
		}},
		{"weak", "all faults, weakly", weak},
		{"mixed", "all faults at once", mixed},
		{"speculation", "all faults at once, with copies by Spark's rule", func(o *Options) { mixed(o); o.Speculation = SparkSpeculation() }},
		{"no-bytes", "all faults at once, in a log that says nothing about bytes and racks",
			func(o *Options) { mixed(o); o.Hide = Hide{Bytes: true, Racks: true} }},
		{"nightly", "one program, run every night for two weeks; a machine is repaired on the eighth day", nightly},
		{"busy", "several jobs of an application at once", func(o *Options) { mixed(o); o.Shape.Jobs, o.Shape.InFlight = 8, 3 }},
		{"tiny", "one machine, one slot, a few tasks", func(o *Options) {
			o.Cluster = Cluster{Machines: 1, Slots: 1, Racks: 1, Replicas: 1}
			o.Shape.Jobs, o.Shape.Phases, o.Shape.Tasks = 2, Range{1, 2}, Range{1, 3}
		}},
	}
}

// WithTasks keeps a scenario's mixture and sets the total to about n tasks: more jobs and applications, or smaller phases.
func (o Options) WithTasks(n int64) Options {
	if runs := o.Applications; o.Shape.Recurring && runs > 1 { // as many runs of the program, each with its share
		o.Applications = 1
		o = o.WithTasks(max(1, n/int64(runs)))
		o.Shape.Jobs *= o.Applications
		o.Applications = runs
		return o
	}
	phases := (o.Shape.Phases.Low + o.Shape.Phases.High) / 2
	per := phases * logMean(o.Shape.Tasks)
	jobs := max(1, int(float64(n)/per+0.5))
	if float64(n) < per {
		o.Shape.Phases = Only(math.Max(1, math.Min(math.Floor(phases), float64(n))))
		o.Shape.Tasks = Only(math.Max(1, math.Round(float64(n)/o.Shape.Phases.Low)))
	}
	// An application of thousands of jobs is rare; many applications are not.
	o.Applications = (jobs + 49) / 50
	o.Shape.Jobs = (jobs + o.Applications - 1) / o.Applications
	return o
}

// HugePhase returns the options of one application with one phase of n tasks.
func HugePhase(seed uint64, n int) Options {
	o := Defaults()
	o.Scenario, o.Seed = "huge-phase", seed
	o.Shape.Jobs, o.Shape.Phases, o.Shape.Tasks = 1, Only(1), Only(float64(n))
	o.Cluster = Cluster{Machines: 250, Slots: 8, Racks: 10, Replicas: 3}
	return o
}

// ManyPhases returns the options of one application with n phases of a few tasks.
func ManyPhases(seed uint64, n int) Options {
	o := Defaults()
	o.Scenario, o.Seed = "many-phases", seed
	o.Shape.Phases, o.Shape.Tasks = Only(float64(min(n, 10))), Range{2, 12}
	o.Shape.Jobs = max(1, n/10)
	return o
}

func nightly(o *Options) {
	skew(o)
	transient(o)
	o.Applications, o.GapS, o.Shape.Recurring = 14, 86400, true
	o.Cluster.Bad = Bad{Machines: 1, Factor: Range{2, 3}, UntilS: 7.5 * 86400}
}

func weak(o *Options) {
	mixed(o)
	o.Faults.Skew.Factor = Range{1.6, 2.2}
	o.Faults.Transient.Factor = Range{1.6, 2.2}
	o.Cluster.Bad.Factor, o.Cluster.Flaky.Factor = Range{1.5, 2}, Range{1.5, 2}
	o.Faults.Network.Factor = Range{5, 8}
	o.Faults.GC.Factor = Range{0.5, 1}
	o.Faults.Scheduler.DelayS = Range{3, 8}
}

func mixed(o *Options) {
	o.Cluster.Machines = 24
	o.Faults.Skew = Skew{Phases: 0.5, Tasks: 0.03, Factor: Range{3, 8}}
	o.Faults.Transient = Transient{Probability: 0.02, Factor: Range{2.5, 6}}
	o.Cluster.Bad = Bad{Machines: 1, Factor: Range{2, 3.5}}
	o.Cluster.Flaky = Flaky{Machines: 1, Factor: Range{2, 3}, WindowS: 60, Share: 0.3}
	o.Faults.Network = Network{Machines: 1, Factor: Range{10, 25}}
	o.Faults.GC = GC{Machines: 1, Phases: 0.5, Factor: Range{1, 2.5}}
	o.Faults.Spill = Spill{Probability: 0.01, Amount: Range{1, 2}, BytesPer: 10e6}
	o.Faults.Scheduler = Scheduler{Probability: 0.01, DelayS: Range{5, 20}}
	o.Faults.Deserialize.ColdS = Range{0.5, 2}
	o.Faults.Failure = Failure{Probability: 0.005}
	o.Faults.Loss = Loss{PerApplication: 1, RestartS: Range{2, 20}}
}

func skew(o *Options) {
	o.Faults.Skew = Skew{Phases: 0.7, Tasks: 0.04, Factor: Range{3, 10}}
}

func network(o *Options) {
	o.Shape.Sources, o.Work.NetworkBytesPer = 0.1, 50e6
	o.Faults.Network = Network{Factor: Range{10, 25}}
}

func transient(o *Options) {
	o.Faults.Transient = Transient{Probability: 0.04, Factor: Range{2.5, 8}}
}

func generations(o *Options) {
	o.Cluster.Generations = []Generation{{0.3, 1.4}, {0.4, 1}, {0.3, 0.8}}
}
