package whatif

import (
	"math"
	"math/rand/v2"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// sharing is what all machines of a generated cluster share.
type sharing struct {
	sd, time float64 // of ln(time); correlation time in s
	first    float64 // of ln(time) of the first tasks of a phase, from phase to phase
	spell    float64 // what one machine alone takes for half a minute, 1.6 × the time; 0: as ever
}

// generatedRun returns the log of a run without speculation on eight machines of two slots. Runs of one cluster have the same
// work, the same slow machine and the same slow attempts; run says which scatter of attempts, and of all of them together, they
// have.
func generatedRun(cluster, run uint64, s sharing) *schema.Trace {
	const machines, slots, noise = 8, 2, 0.1
	is := rand.New(rand.NewPCG(cluster, 1))
	luck := rand.New(rand.NewPCG(cluster, 1000+run))
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	t := &schema.Trace{Applications: []schema.Application{{ApplicationID: 1, Framework: "spark", Name: schema.Some("generated")}}}
	id := schema.Key(1000)
	var factor [machines]float64
	for m := range factor {
		factor[m] = math.Exp(0.03 * is.NormFloat64())
	}
	factor[is.IntN(machines)] *= 1 + is.Float64()
	const step = 0.05
	path := []float64{s.sd * luck.NormFloat64()}
	rho := math.Exp(-step / max(s.time, step/10))
	mean := func(from, took float64) float64 {
		sum, n := 0.0, 0
		for k := int(from / step); n == 0 || float64(k)*step < from+took; k++ {
			for k >= len(path) {
				path = append(path, rho*path[len(path)-1]+s.sd*math.Sqrt(1-rho*rho)*luck.NormFloat64())
			}
			sum, n = sum+path[k], n+1
		}
		return sum / float64(n)
	}
	now := 0.0
	for j := range schema.Key(3) {
		submitted := now
		for f := range schema.Key(2) {
			phase := 100*(j+1) + f
			t.Phases = append(t.Phases, schema.Phase{PhaseID: phase, JobID: 10 + j, Kind: "map", Name: schema.Some(string(rune('a' + 2*j + f)))})
			if f > 0 {
				t.Edges = append(t.Edges, schema.Edge{FromPhase: phase - 1, ToPhase: phase, JobID: 10 + j, Pattern: schema.AllToAll, Barrier: true})
			}
			tasks, usual := 48+is.IntN(60), 1+is.Float64()
			together := s.first * luck.NormFloat64()
			var free [machines * slots]float64
			for k := range free {
				free[k] = now
			}
			end := now
			for n := range tasks {
				size, slow := 1+0.3*is.Float64(), 1.0
				if is.Float64() < 0.04 {
					slow = 3 + 3*is.Float64()
				}
				k := 0
				for l := range free {
					if free[l] < free[k] {
						k = l
					}
				}
				z := noise * luck.NormFloat64()
				if free[k] == now {
					z += together
				}
				took := usual * size * slow * factor[k%machines] * math.Exp(z)
				if s.spell > 0 && k%machines == 3 && free[k] > 10 && free[k] < 40 {
					took *= s.spell
				}
				took *= math.Exp(mean(free[k], took))
				t.Attempts = append(t.Attempts,
					schema.Attempt{AttemptID: id, PhaseID: phase, JobID: 10 + j, ApplicationID: 1, Task: int64(n), Status: schema.Success,
						Machine: schema.Some(string(rune('a' + k%machines))), StartTime: at(free[k]), FinishTime: at(free[k] + took),
						InputBytes: schema.Some(int64(size * (1 << 26)))})
				id++
				free[k] += took
				end = max(end, free[k])
			}
			now = end
		}
		t.Jobs = append(t.Jobs, schema.Job{JobID: 10 + j, ApplicationID: 1, SubmitTime: at(submitted), FinishTime: at(now)})
		now += 2
	}
	return t
}

// coverage replays runs of some clusters under Spark's speculation. It returns the share of jobs whose completion time in another
// run lies in the interval for another run, and the share of those whose saving in the same run, under random numbers that the
// interval has not seen, lies in the interval for this run.
func coverage(t *testing.T, clusters int, s sharing) (share, same, width float64, mean sharing) {
	inside, sameInside, jobs := 0, 0, 0
	var widths []float64
	for n := range uint64(clusters) {
		c := newComparison(workload.Build(workloadtest.FromTrace(generatedRun(n, 1, s))),
			Options{Policies: []policy.Policy{mustPolicy(t, "spark")}, Errors: []float64{0.1}, Workers: 1})
		var savings []JobSaving
		err := c.replayNone(t.Context())
		if err == nil {
			err = c.tallied(t.Context(), make([]total, 1), func(*unit) error { return nil }, func(_ int, s []JobSaving) error { savings = s; return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		var sim replay.Sim
		measured := sim.Run(workload.Build(workloadtest.FromTrace(generatedRun(n, 2, s))).Pools[0],
			replay.Options{Policy: mustPolicy(t, "spark").New(), Seed: 1_000_000 + int64(n), Sigma: 0.1})
		if err := measured.Err(); err != nil {
			t.Fatal(err)
		}
		var again replay.Sim
		var sample workload.Sample
		thisRun := again.Run(sample.Draw(c.w.Pools[0], 1_000_000+int64(n)),
			replay.Options{Policy: mustPolicy(t, "spark").New(), Seed: 1_000_000 + int64(n), Sigma: 0.1})
		if err := thisRun.Err(); err != nil {
			t.Fatal(err)
		}
		for j := range measured.Jobs {
			saved, x := float64(c.none[j].Took-thisRun.Jobs[j].Took)/1e6, savings[j].ThisRun
			if slack := 1e-6; x.Low-slack <= saved && saved <= x.High+slack { // replays count microseconds
				sameInside++
			}
			took := float64(c.none[j].Took-measured.Jobs[j].Took) / 1e6
			jobs++
			if x := savings[j].Saving; x.Low <= took && took <= x.High {
				inside++
			}
			widths = append(widths, (savings[j].Saving.High-savings[j].Saving.Low)/2/(float64(c.none[j].Took)/1e6-savings[j].Saving.Mean))
		}
		e := &c.w.Pools[0].Scatter
		mean.sd, mean.time, mean.first = mean.sd+e.SD/float64(clusters), mean.time+e.Time/float64(clusters), mean.first+e.First/float64(clusters)
	}
	return float64(inside) / float64(jobs), float64(sameInside) / float64(jobs), middle(widths), mean
}

// Of clusters whose runs differ as the model says, the intervals hold as many of the makespans measured as they claim; they are
// wider where machines share scatter, as the log shows, and there only. Those for the same run hold as many of its savings.
func TestIntervalsCover(t *testing.T) {
	var plain float64
	for _, x := range []struct {
		sharing
		least, most sharing // estimates
		wider       float64 // than without
	}{
		{sharing{}, sharing{}, sharing{sd: 0.03, first: 0.01}, 1},
		{sharing{spell: 1.6}, sharing{}, sharing{sd: 0.03, first: 0.01}, 0.8},
		{sharing{sd: 0.1, time: 5}, sharing{sd: 0.06, time: 2}, sharing{sd: 0.12, time: 10, first: 0.05}, 1.2},
		{sharing{sd: 0.3, time: 3}, sharing{sd: 0.2, time: 1.5}, sharing{sd: 0.35, time: 8, first: 0.2}, 2},
		{sharing{first: 0.4}, sharing{first: 0.3}, sharing{sd: 0.03, first: 0.5}, 1.5},
	} {
		share, same, width, e := coverage(t, 60, x.sharing)
		t.Logf("%+v: %.3f of the makespans are inside of ± %.1f %%, %.3f of the savings in the same run inside of theirs; estimates %+v", x.sharing, share, 100*width, same, e)
		if same < 0.93 || same > 0.985 {
			t.Errorf("%+v: %.3f of the savings in the same run are inside of their 95 %% intervals", x.sharing, same)
		}
		if share < 0.93 || share > 0.985 {
			t.Errorf("%+v: %.3f of the makespans are inside of their 95 %% intervals", x.sharing, share)
		}
		if plain == 0 {
			plain = width
		}
		if width < x.wider*plain {
			t.Errorf("%+v: intervals of ± %.1f %%, without shared scatter ± %.1f %%", x.sharing, 100*width, 100*plain)
		}
		if !(e.sd >= x.least.sd && e.sd <= x.most.sd && e.first >= x.least.first && e.first <= x.most.first) ||
			x.sd > 0 && !(e.time >= x.least.time && e.time <= x.most.time) {
			t.Errorf("%+v is estimated as %+v", x.sharing, e)
		}
	}
}
