package causes

import (
	"os"
	"straggler/causes/model"
	"strconv"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// A family is a set of clusters with something in common that makes causes hard to distinguish. Nothing in the model is
// fitted to them.
type family struct {
	name string
	set  func(o *synth.Options, seed uint64)

	macroF1  float64 // the least over all of its clusters; 0: nothing is injected
	accused  float64 // the largest share of the clean tasks
	machines float64 // the least share of the bad machines that are called slow or flaky
	falsely  float64 // the largest share of the others that are
}

// someFaults are the faults that most families have in addition to their own.
func someFaults(o *synth.Options) {
	o.Faults.Skew = synth.Skew{Phases: 0.5, Tasks: 0.05, Factor: synth.Range{Low: 2.5, High: 6}}
	o.Faults.Transient = synth.Transient{Probability: 0.03, Factor: synth.Range{Low: 2, High: 5}}
}

func families() []family {
	return []family{
		{"two bad of eight", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines, o.Cluster.Slots = 8, 2
			o.Shape.Jobs, o.Shape.Tasks = 2, synth.Range{Low: 20, High: 60}
			o.Cluster.Bad = synth.Bad{Machines: 2, Factor: synth.Range{Low: 1.5, High: 3}}
			o.Work.Noise = 0.1
		}, 0.95, 0.005, 0.9, 0},
		{"three bad of ten, with faults", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines, o.Cluster.Slots = 10, 3
			o.Cluster.Bad = synth.Bad{Machines: 3, Factor: synth.Range{Low: 1.5, High: 2.5}}
		}, 0.95, 0.005, 0.5, 0}, // three of one speed are taken for a generation
		{"weak faults", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines = 12
			o.Faults.Skew = synth.Skew{Phases: 0.6, Tasks: 0.05, Factor: synth.Range{Low: 1.6, High: 2}}
			o.Faults.Transient = synth.Transient{Probability: 0.04, Factor: synth.Range{Low: 1.6, High: 2}}
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 1.5, High: 2}}
			o.Work.Noise = 0.12
		}, 0.95, 0.005, 0.9, 0},
		{"several on one task", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines = 8
			o.Faults.Skew = synth.Skew{Phases: 1, Tasks: 0.15, Factor: synth.Range{Low: 1.6, High: 3}}
			o.Faults.Transient = synth.Transient{Probability: 0.1, Factor: synth.Range{Low: 1.6, High: 3}}
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 1.6, High: 2.5}}
			o.Work.NetworkBytesPer = 50e6
			o.Faults.Network = synth.Network{Machines: 1, Factor: synth.Range{Low: 8, High: 20}}
		}, 0.95, 0.005, 0.9, 0},
		{"generations, a bad machine", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines = 16
			o.Cluster.Generations = []synth.Generation{{Share: 0.4, Factor: 1.5}}
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 1.6, High: 2.5}}
		}, 0.95, 0.005, 0.5, 0}, // one of the faster hardware is as fast as the slower
		{"generations, none bad", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines = 12
			o.Cluster.Generations = []synth.Generation{{Share: 0.35, Factor: 1.4}, {Share: 0.3, Factor: 0.75}}
		}, 0, 0.005, 0, 0.1}, // two of one speed are too few for a generation
		{"no bytes", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines, o.Hide.Bytes = 10, true
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 1.7, High: 3}}
		}, 0.85, 0.02, 0.9, 0},
		{"one slow link of forty", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines, o.Cluster.Slots, o.Shape.Sources, o.Work.NetworkBytesPer = 40, 2, 0.1, 60e6
			o.Shape.Tasks = synth.Range{Low: 60, High: 300}
			o.Faults.Network = synth.Network{Machines: 1, Factor: synth.Range{Low: 5, High: 15}}
		}, 0.95, 0.005, 0, 0},
		{"fixed costs", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines = 10
			o.Work.FixedS, o.Work.TaskS = synth.Range{Low: 5, High: 20}, synth.Range{Low: 2, High: 10}
			o.Faults.Skew.Factor = synth.Range{Low: 4, High: 8}
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 1.6, High: 2.5}}
		}, 0.95, 0.005, 0.9, 0},
		{"tiny phases", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines, o.Cluster.Slots = 6, 1
			o.Shape.Jobs, o.Shape.Tasks = 12, synth.Range{Low: 3, High: 9}
			o.Cluster.Bad = synth.Bad{Machines: 1, Factor: synth.Range{Low: 2, High: 3}}
		}, 0.9, 0.01, 0.9, 0},
		{"one tiny job", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines, o.Cluster.Slots = 4, 2
			o.Shape.Jobs, o.Shape.Phases, o.Shape.Tasks = 1, synth.Range{Low: 1, High: 3}, synth.Range{Low: 4, High: 16}
			o.Faults.Transient.Probability = 0.08
		}, 0.85, 0.02, 0, 0.05},
		{"heavy scatter, clean", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines = 12
			o.Work.Noise, o.Work.Spread = 0.4, 0.3
		}, 0, 0.005, 0, 0},
		{"heavy tail, clean but for it", func(o *synth.Options, seed uint64) {
			o.Cluster.Machines = 12
			o.Work.Noise, o.Work.Spread = 0.2, 0.4
			o.Faults.Transient = synth.Transient{Probability: 0.12, Factor: synth.Range{Low: 1.1, High: 6}}
		}, 0.95, 0.005, 0, 0},
		{"flaky machines", func(o *synth.Options, seed uint64) {
			someFaults(o)
			o.Cluster.Machines = 12
			o.Cluster.Flaky = synth.Flaky{Machines: 2, Factor: synth.Range{Low: 1.7, High: 3}, WindowS: 60, Share: 0.3}
		}, 0.95, 0.005, 0, 0},
	}
}

// TestFamilies scores each family of clusters. STRAGGLER_FAMILIES=n draws n clusters of each instead of six, without goals.
func TestFamilies(t *testing.T) {
	n := 6
	draw := os.Getenv("STRAGGLER_FAMILIES")
	if draw != "" {
		var err error
		if n, err = strconv.Atoi(draw); err != nil {
			t.Fatal("STRAGGLER_FAMILIES is not a number: ", draw)
		}
	}
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			total, wrong := newScores(), confusion{}
			var outliers, right, bad, found, healthy, falsely int
			for seed := uint64(1); seed <= uint64(n); seed++ {
				o := synth.Defaults()
				o.Seed, o.Scenario = 1000+seed, f.name
				f.set(&o, seed)
				trace, truth, vs := generated(t, o)
				total.score(asLabelled(trace, truth, vs))
				slower := generationsOf(truth)
				for i := range vs {
					outliers++
					of, ok := vs[i].right(slower)
					if ok {
						right++
						continue
					}
					wrong[[2]schema.Cause{of, vs[i].row.Cause}]++
				}
				named := namedMachines(trace)
				for _, m := range truth.Machines {
					switch is, called := m.Factor > 1.2, named[m.Machine]; {
					case is && called:
						bad, found = bad+1, found+1
					case is:
						bad++
					case called:
						falsely++
						healthy++
						t.Logf("seed %d: healthy %s (generation %.2f) is called bad", seed, m.Machine, m.Generation)
					default:
						healthy++
					}
				}
			}
			s, rules := total.by["causes"], total.by["rules"]
			t.Logf("%d clusters, %d outliers, the largest cause named for %.4f; macro-F1 %.4f (rules %.4f); accused %d of %d clean (rules %d); bad machines found %d of %d, falsely %d of %d; wrong:%s",
				n, outliers, float64(right)/float64(max(1, outliers)), s.macroF1(), rules.macroF1(), s.accused, s.clean, rules.accused, found, bad, falsely, healthy, wrong)
			if testing.Verbose() {
				t.Logf("%s%s", total, total.calibration())
			}
			if draw != "" {
				return
			}
			if got := s.macroF1(); f.macroF1 > 0 && !(got >= f.macroF1) {
				t.Errorf("macro-F1 is %.3f, under %.2f", got, f.macroF1)
			}
			if s.accusedShare() > f.accused {
				t.Errorf("%d of %d clean tasks are accused", s.accused, s.clean)
			}
			if share := float64(found) / float64(max(1, bad)); share < f.machines {
				t.Errorf("%d of %d bad machines are found", found, bad)
			}
			if float64(falsely) > f.falsely*float64(healthy) {
				t.Errorf("%d of %d healthy machines are called bad", falsely, healthy)
			}
		})
	}
}

// namedMachines returns those that are called slow or flaky in at least one window.
func namedMachines(trace *schema.Trace) map[string]bool {
	phases, names := phasesOf(trace, outliersOf(trace))
	l := model.NewLearner(3600, names, racksOf(trace, names))
	for i := range phases {
		l.Observe(&phases[i])
	}
	out := map[string]bool{}
	for name, rows := range judged(l.Model()) {
		for _, r := range rows {
			if r.Verdict == schema.Slow || r.Verdict == schema.Flaky {
				out[name] = true
			}
		}
	}
	return out
}
