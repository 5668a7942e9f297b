package causes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"straggler/stats"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// mixture draws a cluster and its faults: few or many machines, short or long phases, weak or strong faults, several at once.
// Nothing is fitted to it: the constants of the model come from elsewhere.
func mixture(seed uint64) synth.Options {
	rng := rand.New(rand.NewPCG(seed, 77))
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	logBetween := func(low, high float64) float64 { return math.Exp(between(math.Log(low), math.Log(high))) }
	chance := func(p float64) bool { return rng.Float64() < p }
	o := synth.Defaults()
	o.Seed, o.Scenario = seed, "mixture"
	o.Cluster.Machines, o.Cluster.Slots, o.Cluster.Racks = int(logBetween(4, 40)), 1+rng.IntN(6), 1+rng.IntN(4)
	o.Shape.Jobs, o.Shape.Phases = 2+rng.IntN(4), synth.Range{Low: 1, High: between(2, 5)}
	few := logBetween(10, 80)
	o.Shape.Tasks = synth.Range{Low: few, High: few * between(1, 4)}
	o.Work.Noise, o.Work.Spread = between(0.03, 0.22), between(0, 0.3)
	o.Work.FixedS = synth.Range{Low: 0.1, High: between(0.2, 6)}
	if chance(0.3) {
		o.Shape.Recurring, o.Applications = true, 2+rng.IntN(3)
	}
	strong := func(low, high float64) synth.Range { // a fault's factors, from weak to strong
		a := logBetween(low, high)
		return synth.Range{Low: a, High: a * between(1, 1.6)}
	}
	if chance(0.25) {
		o.Cluster.Generations = []synth.Generation{{Share: between(0.2, 0.5), Factor: between(1.15, 1.5)}}
	}
	if chance(0.4) {
		o.Cluster.Bad = synth.Bad{Machines: 1 + rng.IntN(1+o.Cluster.Machines/6), Factor: strong(1.5, 3)}
	}
	if chance(0.15) {
		o.Cluster.Flaky = synth.Flaky{Machines: 1, Factor: strong(1.5, 3), WindowS: between(30, 120), Share: between(0.2, 0.5)}
	}
	if chance(0.5) {
		o.Faults.Skew = synth.Skew{Phases: between(0.3, 0.9), Tasks: between(0.02, 0.1), Factor: strong(1.6, 6)}
	}
	if chance(0.5) {
		o.Faults.Transient = synth.Transient{Probability: between(0.01, 0.06), Factor: strong(1.6, 5)}
	}
	if chance(0.3) {
		o.Work.NetworkBytesPer = logBetween(20e6, 100e6)
		n := synth.Network{Factor: strong(5, 20)}
		switch rng.IntN(3) {
		case 0:
			n.Machines = 1 + rng.IntN(2)
		case 1:
			n.Racks = 1
		default:
			n.Sources, n.Tasks, n.Share = 1, 0.06, between(0.4, 0.8)
		}
		o.Faults.Network = n
	}
	if chance(0.2) {
		o.Faults.GC = synth.GC{Machines: 1 + rng.IntN(2), Phases: between(0.3, 0.9), Factor: strong(0.5, 2)}
	}
	if chance(0.15) {
		o.Faults.Spill = synth.Spill{Probability: between(0.01, 0.05), Amount: synth.Range{Low: 1, High: 3}, BytesPer: logBetween(5e6, 40e6)}
	}
	if chance(0.15) {
		o.Faults.Scheduler = synth.Scheduler{Probability: between(0.01, 0.04), DelayS: strong(3, 20)}
	}
	if chance(0.15) {
		o.Faults.Deserialize.ColdS = strong(0.5, 10)
	}
	if chance(0.1) {
		o.Faults.Locality.BytesPer, o.Shape.Sources = logBetween(8e6, 60e6), 0.5
	}
	if chance(0.2) {
		o.Faults.Loss = synth.Loss{PerApplication: 1, RestartS: synth.Range{Low: 2, High: 20}}
	}
	if chance(0.2) {
		o.Faults.Failure = synth.Failure{Probability: between(0.005, 0.03)}
	}
	if chance(0.25) {
		o.Speculation = synth.SparkSpeculation()
	}
	o.Hide = synth.Hide{Bytes: chance(0.12), Racks: chance(0.3)}
	if chance(0.2) {
		o.Faults.Start.Factor = strong(1.5, 4)
	}
	return o
}

// asLabelled converts a generated cluster to the form in which labelled logs are scored: a label for each cause that made up
// a fifth of an outlier's excess.
func asLabelled(trace *schema.Trace, truth *synth.Truth, vs []verdictOf) *labelled {
	slower := generationsOf(truth)
	found := map[schema.Key]*verdictOf{}
	for i := range vs {
		found[vs[i].attempt.AttemptID] = &vs[i]
	}
	phases := map[schema.Key]*schema.Phase{}
	for i := range trace.Phases {
		phases[trace.Phases[i].PhaseID] = &trace.Phases[i]
	}
	r := &labelled{name: "mixture"}
	count := func(n schema.Null[int64]) float64 { return float64(n.V) }
	medians := map[string][]float64{}
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		if a.Status != schema.Success || !a.DurationS.OK {
			continue
		}
		p := phases[a.PhaseID]
		t := observed{Attempt: a.AttemptID, Stage: fmt.Sprint(p.JobID, p.NativeID), Again: p.Attempt, Task: a.Task, Number: a.Number, Machine: a.Machine.V,
			Duration: a.DurationS.V, Bytes: count(a.InputBytes), Remote: count(a.RemoteBytes), Wait: a.FetchWaitS.V, GC: a.GCS.V}
		if v := found[a.AttemptID]; v != nil {
			t.Cause, t.Confidence, t.excess = schema.Some(v.row.Cause), v.row.Confidence, v.excess
			for _, c := range synth.Causes {
				if s := v.truth.Seconds(c); s > 0.2*v.excess {
					t.labels = append(t.labels, label{Cause: c, Strength: s})
				}
			}
			if slower[t.Machine] && v.row.Cause == schema.BadMachine { // the truth counts a slower generation with the base
				t.labels = append(t.labels, label{Cause: schema.BadMachine})
			}
		}
		medians[t.Stage] = append(medians[t.Stage], t.Duration)
		r.tasks = append(r.tasks, t)
	}
	by := map[string]float64{}
	for k, d := range medians {
		by[k] = stats.Median(d)
	}
	for i := range r.tasks {
		t := &r.tasks[i]
		t.ratio = t.Duration / by[t.Stage]
		t.excess = t.Duration - by[t.Stage]
		if t.Cause.OK && t.ratio <= 1.5 {
			t.ratio = 1.51 // it is an outlier in its own submission
		}
	}
	return r
}

// TestMixtures scores two hundred drawn clusters, beside the baselines. STRAGGLER_MIXTURES=from:to draws others.
func TestMixtures(t *testing.T) {
	from, to := uint64(1), uint64(200)
	if s := os.Getenv("STRAGGLER_MIXTURES"); s != "" {
		if _, err := fmt.Sscanf(s, "%d:%d", &from, &to); err != nil {
			t.Fatal("STRAGGLER_MIXTURES is not from:to: ", s)
		}
	}
	total := newScores()
	wrong := confusion{}
	var n, right int
	for seed := from; seed <= to; seed++ {
		trace, truth, vs := generated(t, mixture(seed))
		r := asLabelled(trace, truth, vs)
		total.score(r)
		slower := generationsOf(truth)
		one := confusion{}
		var bad int
		for i := range vs {
			n++
			if of, ok := vs[i].right(slower); ok {
				right++
			} else {
				wrong[[2]schema.Cause{of, vs[i].row.Cause}]++
				one[[2]schema.Cause{of, vs[i].row.Cause}]++
				bad++
			}
		}
		t.Logf("seed %d: %d of %d are not the largest:%s", seed, bad, len(vs), one)
	}
	t.Logf("%d outliers, the largest cause named for %.4f; wrong:%s\n%s%s", n, float64(right)/float64(n), wrong, total, total.calibration())
	if os.Getenv("STRAGGLER_MIXTURES") != "" {
		return
	}
	of := total.by["causes"]
	if f := of.macroF1(); f < 0.95 {
		t.Errorf("macro-F1 is %.3f, under 0.95", f)
	}
	if of.accusedShare() >= 0.005 {
		t.Errorf("%d of %d clean tasks are accused", of.accused, of.clean)
	}
	for _, baseline := range []string{"rules", "ols"} {
		if total.by[baseline].macroF1() >= of.macroF1() {
			t.Errorf("%s do as well", baseline)
		}
	}
}
