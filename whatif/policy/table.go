package policy

import (
	"strings"

	"straggler/schema"
	"straggler/whatif/option"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Spec is a row of the table of policies.
type Spec struct {
	Name     string
	Doc      string // one line
	Source   string
	Progress bool // its decisions depend on the progress of running attempts
	Ideal    bool // a bound that no live scheduler could reach
	Cause    schema.Cause
	defaults any
	make     func(options any) replay.Policy
	ideal    workload.Ideal
	protects func(options any) Protect // of a policy that protects outputs
}

// Policy is a policy with its options.
type Policy struct {
	*Spec
	options any
}

// specs is the one list of policies; it is never changed.
var specs = []*Spec{
	{Name: "none", Doc: "no copies, no kills: the log as it was", Source: "the baseline of all savings"},
	row(&Spec{Name: "hadoop", Doc: "native speculation of Hadoop 0.20: progress 0.2 under the average", Source: "LATE §2.1", Progress: true}, hadoopDefaults,
		func(o Hadoop) replay.Policy { return &hadoop{Hadoop: o} }),
	row(&Spec{Name: "mapreduce", Doc: "backup copies of all running tasks near the end of a phase", Source: "MANTRI §7"}, mapReduceDefaults,
		func(o MapReduce) replay.Policy { return &mapReduce{MapReduce: o} }),
	row(&Spec{Name: "dryad", Doc: "copies of tasks past the 75th percentile of durations", Source: "MANTRI §7"}, dryadDefaults,
		func(o Dryad) replay.Policy { return &dryad{Dryad: o} }),
	row(&Spec{Name: "late", Doc: "Longest Approximate Time to End", Source: "LATE §4", Progress: true}, lateDefaults,
		func(o LATE) replay.Policy { return &late{LATE: o} }),
	row(&Spec{Name: "late-phases", Doc: "LATE with a rate for each part of a reduce's progress", Source: "LATE §4.2", Progress: true}, latePhases,
		func(o LATE) replay.Policy { return &late{LATE: o} }),
	row(&Spec{Name: "late-early", Doc: "LATE that acts before all tasks have started", Source: "MANTRI §6.3", Progress: true}, lateEarly,
		func(o LATE) replay.Policy { return &late{LATE: o} }),
	row(&Spec{Name: "mantri", Doc: "resource-aware restarts and duplicates, longest task first", Source: "MANTRI §5", Progress: true}, mantriDefaults,
		func(o Mantri) replay.Policy { return &mantri{Mantri: o} }),
	protects(&Spec{Name: "protect", Doc: "copies of outputs that are likely to be lost, early recomputation of the others", Source: "MANTRI §5.3", defaults: protectDefaults},
		func(o Protect) Protect { return o }),
	protects(row(&Spec{Name: "mantri-protect", Doc: "restarts, duplicates and protected outputs", Source: "MANTRI §5", Progress: true}, mantriProtect{mantriDefaults, protectDefaults},
		func(o mantriProtect) replay.Policy { return &mantri{Mantri: o.Mantri} }), func(o mantriProtect) Protect { return o.Protect }),
	row(&Spec{Name: "dolly", Doc: "full clones of small jobs", Source: "DOLLY §3"}, dollyDefaults,
		func(o Dolly) replay.Policy { return &dolly{Dolly: o} }),
	row(&Spec{Name: "spark", Doc: "Spark's speculation with the log's own settings and version", Source: "TaskSetManager"}, sparkOwn,
		func(o Spark) replay.Policy { return &spark{Spark: o} }),
	row(&Spec{Name: "spark3", Doc: "Spark 3.x speculation with its defaults", Source: "TaskSetManager 3.5"}, spark3,
		func(o Spark) replay.Policy { return &spark{Spark: o} }),
	row(&Spec{Name: "spark4", Doc: "Spark 4.x speculation with its defaults", Source: "TaskSetManager 4.0"}, spark4,
		func(o Spark) replay.Policy { return &spark{Spark: o} }),
	row(&Spec{Name: "mrv2", Doc: "Hadoop MapReduce 2 DefaultSpeculator as coded", Source: "DefaultSpeculator", Progress: true}, mrv2Defaults,
		func(o MRv2) replay.Policy { return &mrv2{o} }),
	row(&Spec{Name: "mrv2-intended", Doc: "the same with the slow task threshold that the code ignores", Source: "DefaultSpeculator", Progress: true}, mrv2Intended,
		func(o MRv2) replay.Policy { return &mrv2{o} }),
	row(&Spec{Name: "blacklist", Doc: "avoid machines that are likely to cause stragglers", Source: "DOLLY §2.1.2"}, blacklistDefaults,
		func(o Blacklist) replay.Policy { return &blacklist{Blacklist: o} }),
	ideal("noskew", "every task takes the mean of its phase", "MANTRI §6.1", workload.NoSkew),
	ideal("choptail", "every task takes the mean of its phase without the worst quartile", "MANTRI §6.1", workload.NoSkewChopTail),
	ideal("medianrate", "no task is slower than the median rate of its phase", "DOLLY §2.1.1", workload.MedianRate),
	ideal("no-high-runtime", "no task takes longer than the median where it took over 1.5 times that", "MANTRI figure 7", workload.NoHighRuntime),
	ideal("no-recompute", "lost outputs are recomputed instantly", "MANTRI §6.1", workload.NoRecompute),
	ideal("no-outliers", "neither high runtimes nor lost outputs", "MANTRI figure 7", workload.NoOutliers),
	cause("no-data-skew", "without the seconds due to data skew", schema.DataSkew),
	cause("no-network", "without the seconds due to the network", schema.Network),
	cause("no-bad-machine", "without the seconds due to bad machines", schema.BadMachine),
	cause("no-transient", "without the seconds due to transient slowness", schema.Transient),
	cause("no-gc", "without the seconds due to garbage collection", schema.GC),
	cause("no-spill", "without the seconds due to spilling", schema.Spill),
	cause("no-scheduler", "without the seconds due to the scheduler", schema.Scheduler),
	cause("no-deserialize", "without the seconds due to deserialisation", schema.Deserialize),
	cause("no-locality", "without the seconds due to reading remote data", schema.LocalityMiss),
	cause("no-startup", "without the seconds due to first tasks of machines and executors", schema.Startup),
}

var (
	latePhases   = with(lateDefaults, func(o *LATE) { o.Phases = 3 })
	lateEarly    = with(lateDefaults, func(o *LATE) { o.Early = true })
	mrv2Intended = with(mrv2Defaults, func(o *MRv2) { o.Intended = true })
)

func with[O any](o O, change func(*O)) O { change(&o); return o }

// row returns the row of a policy with options.
func row[O any](s *Spec, defaults O, make func(O) replay.Policy) *Spec {
	s.defaults, s.make = defaults, func(options any) replay.Policy { return make(options.(O)) }
	return s
}

func protects[O any](s *Spec, of func(O) Protect) *Spec {
	s.protects = func(options any) Protect { return of(options.(O)) }
	return s
}

func ideal(name, doc, source string, f workload.Ideal) *Spec {
	return &Spec{Name: name, Doc: doc, Source: source, Ideal: true, ideal: f}
}

func cause(name, doc string, c schema.Cause) *Spec {
	return &Spec{Name: name, Doc: doc, Source: "MANTRI figure 7", Ideal: true, Cause: c}
}

// Specs returns the table of policies. The caller must not change it.
func Specs() []*Spec { return specs }

// Protects reports whether the policy keeps outputs from being lost.
func (s *Spec) Protects() bool { return s.protects != nil }

// Options returns the options of a policy with their defaults.
func (s *Spec) Options() []option.Option { return option.Of(s.defaults) }

// ByName finds a policy with its default options.
func ByName(name string) (Policy, error) {
	s, err := option.Find("policy", specs, name, func(s *Spec) string { return s.Name })
	if err != nil {
		return Policy{}, err
	}
	return Policy{Spec: s, options: s.defaults}, nil
}

// With returns the policy with one option changed.
func (p Policy) With(name, value string) (Policy, error) {
	var err error
	p.options, err = option.With("policy "+p.Name, p.options, name, value)
	return p, err
}

// Option returns the value of an option, as options are written.
func (p Policy) Option(name string) (string, bool) {
	for _, o := range option.Of(p.options) {
		if o.Name == name {
			return o.Default, true
		}
	}
	return "", false
}

// Changed returns the options that differ from their defaults, as they are set: cap=0.2 early=true.
func (p Policy) Changed() string {
	var out []string
	defaults := option.Of(p.defaults)
	for i, o := range option.Of(p.options) {
		if o.Default != defaults[i].Default {
			out = append(out, o.Name+"="+o.Default)
		}
	}
	return strings.Join(out, " ")
}

// Own returns a user-defined policy. Its function is called once per replay.
func Own(name string, make func() replay.Policy) Policy {
	return Policy{Spec: &Spec{Name: name, Doc: "user's own", Progress: true, make: func(any) replay.Policy { return make() }}}
}

// Parameters returns the options as a JSON object.
func (p Policy) Parameters() string { return option.JSON(p.options) }

// New returns a policy for one replay; nil for none and for ideals, which change durations instead.
func (p Policy) New() replay.Policy {
	if p.make == nil {
		return nil
	}
	return p.make(p.options)
}

// Durations returns how an ideal, or a policy that protects outputs, changes the durations of a log; nil where the policy is
// neither. The seconds are those that the analysis attributes to the ideal's cause, by attempt.
func (p Policy) Durations(seconds map[schema.Key]float64) workload.Ideal {
	if p.Cause != "" {
		return workload.Without(seconds)
	}
	if p.protects != nil {
		return p.protects(p.options).durations
	}
	return p.ideal
}

// Protector returns the protection of the outputs of a planned pool whose machines lose some, or nil if the policy has none, or
// nothing is lost.
func (p Policy) Protector(pool *workload.Pool) replay.Protector {
	if p.protects == nil {
		return nil
	}
	return p.protects(p.options).protector(pool)
}
