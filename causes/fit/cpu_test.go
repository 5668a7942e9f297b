package fit_test

import (
	"math"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/stats"
)

// The split of a residual and a processor time against sums over a grid of what is the attempt's own, straight from the model:
// r = o + ε, processor time = o + η where the attempt computes more and η where it does not, with covariance of ε and η.
func TestPosteriorOfProcessorTime(t *testing.T) {
	c := fit.OutlierComponent{Probability: 0.05, Mean: 0.8, Variance: 0.2, Computing: 0.3}
	const v = 0.03
	for _, x := range []struct{ r, cpu, w, shared float64 }{
		{0.9, 0.02, 0.04, 0}, {0.9, 0.85, 0.04, 0}, {0.4, 0.35, 0.02, 0.02}, {0.4, -0.1, 0.02, 0.02}, {1.4, 0.7, 0.1, 0.03}, {-0.3, 0.1, 0.05, 0.01},
	} {
		noise := func(e, h float64) float64 { // bivariate normal
			given := h - x.shared/v*e
			return stats.NormalPDF(e, v) * stats.NormalPDF(given, x.w-x.shared*x.shared/v)
		}
		all := (1 - c.Probability) * noise(x.r, x.cpu)
		var own, mean, square float64
		const step = 1e-3
		for o := -6.0; o < 8; o += step {
			prior := c.Probability * (0.8*stats.NormalPDF(o-c.Mean, c.Variance) + 0.2*stats.NormalPDF(o, 1)) * step
			waits, computes := prior*(1-c.Computing)*noise(x.r-o, x.cpu), prior*c.Computing*noise(x.r-o, x.cpu-o)
			own += waits + computes
			mean += (waits + computes) * o
			square += (waits + computes) * o * o
		}
		all += own
		p := c.Posterior(x.r, v, fit.ProcessorTime{Residual: x.cpu, Variance: x.w, Shared: x.shared, Known: true})
		for _, y := range []struct {
			name      string
			got, want float64
		}{
			{"probability", p.Probability, own / all}, {"mean", p.Mean, mean / all},
			{"variance", p.Variance, square/all - mean*mean/all/all}, {"ln density", p.LogDensity, math.Log(all)},
		} {
			if math.Abs(y.got-y.want) > 1e-4 {
				t.Errorf("%+v: %s %.5f, want %.5f", x, y.name, y.got, y.want)
			}
		}
	}
}

// In even phases, some attempts are slow: with as much more processor time, or at the usual one. The share of the first is
// found. That one machine's processor takes twice as long for everything is no reason to say that its tasks compute more.
func TestShareThatComputes(t *testing.T) {
	for _, share := range []float64{0, 0.5, 1} {
		var counts fit.OutlierCounts
		for seed := range uint64(40) {
			c := causestest.New(seed, 6)
			p := c.Phase(60, 2, nil, func(task *fit.Task, body *float64) {
				task.CPU = 0.3 * *body
				if task.Machine == 1 {
					task.CPU *= 2
				}
				if task.Index%15 == 4 {
					if c.Rng.Float64() < share {
						task.CPU *= 3
					}
					*body *= 3
				}
			})
			var f fit.Fitter
			if !f.FitAlone(p.Tasks) {
				t.Fatal("the phase cannot be fitted")
			}
			counts.Add(f.CountOutliers())
		}
		if counts.CPUKnown < 150 {
			t.Errorf("%g slow attempts with a processor time, 160 were made", counts.CPUKnown)
		}
		if got := counts.Component().Computing; math.Abs(got-share) > 0.1 {
			t.Errorf("%.2f of the slow attempts compute more, want %.2f", got, share)
		}
	}
}

// What the processor of a machine takes is known by how much the processor times of its tasks differ: of even ones well, of
// uneven ones hardly.
func TestProcessorTimeOfMachine(t *testing.T) {
	variance := func(spread float64) (v float64) {
		c := causestest.New(7, 6)
		p := c.Phase(60, 2, nil, func(task *fit.Task, body *float64) {
			task.CPU = *body * math.Exp(spread*c.Rng.NormFloat64())
			task.Bytes, task.Records, task.Written = math.NaN(), math.NaN(), math.NaN()
		})
		var f fit.Fitter
		if !f.FitAlone(p.Tasks) {
			t.Fatal("the phase cannot be fitted")
		}
		f.EachCPU(func(_ int32, _, of float64) { v = max(v, of) })
		return v
	}
	// noise of 0.1 beside the spread; ten tasks a machine, π/2 of the variance over n; a guess of 0.25 counts as four of sixty
	// tasks
	for _, spread := range []float64{0.05, 0.3, 1} {
		s2 := (4*0.25 + 60*(spread*spread+0.01)) / 64
		if v, want := variance(spread), math.Pi/2*s2/10; v < want/2 || v > 2*want {
			t.Errorf("processor times that differ by %g give a variance of %.4f, want %.4f", spread, v, want)
		}
	}
}
