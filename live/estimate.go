package live

import (
	"math"
	"slices"

	"straggler/schema"
	"straggler/stats"
	"straggler/whatif/replay"
)

// A cluster reports how long an attempt has run and, with its heartbeats, what it has read or, in Hadoop, the share of its work
// that is done. How much it will read, and how long it will take, is estimated, if necessary from finished tasks of its phase:
//
//	by duration  total time = that of the tasks that took longer than it has run: of its machine, its phase and the
//	             application (duration.go)
//	by bytes     the same, given what it has read so far, of all that it will read: as much as the median task, or, when it is
//	             beyond that, as the larger ones did (reported.go)
//	by progress  the same, given the share of its work that it says is done (LATE §4)
//
// Beyond all finished tasks, X is assumed to have a Pareto tail: P(X > x) = (r/x)^β.

// tail is β for task durations in Facebook's and Bing's clusters (DOLLY §4.1: 1.259 in Facebook's). The median of the remaining
// time is then 0.73 times the elapsed time; with β = 2 it would be 0.41 times.
const tail = 1.259

// fewLarger is the number of finished tasks beyond an attempt required to use their sizes instead of the tail. With one or two,
// their mean would be that of a single task.
const fewLarger = 3

// quantiles is the number of parts of equal probability of an estimate.
const quantiles = 20

// pace has the durations and inputs of the finished tasks of a phase.
type pace struct {
	counted int                  // of the view's
	took    []float64            // seconds on a machine of factor 1, ascending
	bytes   []float64            // ascending
	all     bool                 // the bytes of every one are known
	on      map[string][]float64 // by machine: seconds as they were, ascending
}

// add adds the attempts that have finished since the last call.
func (p *pace) add(v *replay.View, factor func(machine string) float64) {
	if p.counted == 0 {
		p.all = true
	}
	for _, d := range v.Done()[p.counted:] {
		machine := v.MachineName(d.Machine)
		p.took = insert(p.took, d.Took.Seconds()/factor(machine))
		p.one(machine, d.Took.Seconds())
		if b := v.Bytes(d.Task); b >= 0 {
			p.bytes = insert(p.bytes, float64(b))
		} else {
			p.all = false
		}
	}
	p.counted = len(v.Done())
}

// one adds the duration of an attempt on a machine.
func (p *pace) one(machine string, seconds float64) {
	if p.on == nil {
		p.on = map[string][]float64{}
	}
	p.on[machine] = insert(p.on[machine], seconds)
}

// killed adds an attempt that was killed, for instance because its copy ended first. If it had run for long it was slow, and
// its time until then is a lower bound of its duration on that machine. Otherwise nothing is known.
func (p *pace) killed(machine string, seconds float64) {
	if len(p.took) >= leastDone && seconds > schema.OutlierRatio*median(p.took) {
		p.one(machine, seconds)
	}
}

func insert(sorted []float64, x float64) []float64 {
	n, _ := slices.BinarySearch(sorted, x)
	return slices.Insert(sorted, n, x)
}

func median(sorted []float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// beyond returns the p-quantile of a quantity that is known to exceed x: of the larger ones of a sample, or of Pareto's tail
// where too few are larger.
func beyond(sorted []float64, x, p float64) float64 {
	n, _ := slices.BinarySearch(sorted, math.Nextafter(x, math.Inf(1)))
	larger := sorted[n:]
	if len(larger) < fewLarger {
		return max(x, median(sorted)) * math.Pow(1-p, -1/tail)
	}
	return larger[min(int(p*float64(len(larger))), len(larger)-1)]
}

// guess is an estimate of the total time of an attempt, as quantiles in seconds; empty if unknown.
type guess struct {
	total []float64
	size  []float64 // its size relative to the median task's, by the same quantiles; nil: not estimated
	basis Basis
}

// Basis is the kind of evidence behind an estimate.
type Basis string

const (
	ByProgress Basis = "progress"
	ByBytes    Basis = "bytes"
	ByDuration Basis = "duration"
)

// mid returns the median of an estimate.
func (g *guess) mid() float64 { return (g.total[quantiles/2-1] + g.total[quantiles/2]) / 2 }

// at returns the quantile of an estimate that is nearest to p.
func (g *guess) at(p float64) float64 { return g.total[min(int(p*quantiles), quantiles-1)] }

// gain returns what a copy started now would save: the mean, the 95 % interval, and the probability that the copy ends first.
// After a lag, a copy takes as long as a finished task of the phase, drawn by quantiles, times its relative size if known. The
// original continues, so a copy that loses saves nothing.
func (p *pace) gain(g *guess, elapsed, lag float64) (mean, low, high, wins float64) {
	if len(p.took) == 0 || len(g.total) == 0 {
		return math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
	saved := make([]float64, 0, quantiles*quantiles)
	for i, total := range g.total {
		for k := range quantiles {
			again := p.took[min(int((float64(k)+0.5)/quantiles*float64(len(p.took))), len(p.took)-1)]
			if g.size != nil {
				again *= max(g.size[i], 1)
			}
			left := total - elapsed
			saved = append(saved, max(left-again-lag, 0))
			if left > again+lag {
				wins++
			}
			mean += saved[len(saved)-1]
		}
	}
	slices.Sort(saved)
	n := len(saved)
	return mean / float64(n), saved[n*25/1000], saved[n*975/1000], wins / float64(n)
}

// errorsOf has the errors of estimates, by basis.
type errorsOf map[Basis]*basisErrors

type basisErrors struct{ logs []float64 } // |ln(estimated total / actual total)|, ascending

func (e errorsOf) add(b Basis, estimated, actual float64) {
	if !(estimated > 0) || !(actual > 0) {
		return
	}
	x := e[b]
	if x == nil {
		x = &basisErrors{}
		e[b] = x
	}
	if len(x.logs) < mostErrors {
		x.logs = insert(x.logs, math.Abs(math.Log(estimated/actual)))
	}
}

// scatter returns the standard deviation of ln(estimate / actual) of a basis so far: stats.MADScale × the median of its absolute
// value, as of a normal distribution. Until there are enough estimates it is the larger of the errors that whatif assumes for progress.
func (e errorsOf) scatter(b Basis) float64 {
	x := e[b]
	if x == nil || len(x.logs) < enoughErrors {
		return 0.3
	}
	return stats.MADScale * median(x.logs)
}

// mostErrors bounds what is kept of an application.
const mostErrors = 10_000

// enoughErrors is the number of estimates with known outcomes required to use their scatter for later ones. The error of a
// median of five is about 0.6 of their scatter.
const enoughErrors = 5
