package workload

import (
	"math"
	"math/rand/v2"
	"slices"

	"straggler/causes/machines"
)

// Sample is a pool with another draw of the quantities that the log leaves uncertain; it reuses its memory from one draw to the
// next.
type Sample struct {
	pool     Pool
	machines []Machine
	tasks    []Task
	ratios   []float32
	attempts []Attempt
}

// Draw returns the pool with parameters drawn from their distributions: the factors of machines, the coefficients of the
// regressions, and how long killed attempts would have taken. The log itself is unchanged: without a policy the replay takes as
// long. Draws of one seed are the same for all policies, so that differences are paired. The result is valid until the next
// draw.
//
//	factor' = factor · e^(sd z)          z ~ N(0, 1) of the machine and the window of time; sd of ln(factor), MODEL.md section 5
//	work'   = work · e^(slope z)         z of the phase; slope: change of ln(work) with one standard error of the coefficients
//	ratio'  = ratio · (work · factor) / (work' · factor')
//
// Seeds 2n−1 and 2n have opposite z (antithetic variates, Hammersley and Morton 1956), so that means are of the model itself.
// Coefficients of a phase are moved together, which makes the errors of work larger than independent ones would.
func (s *Sample) Draw(p *Pool, seed int64) *Pool {
	if p.Stages != nil { // a plan has no uncertainty
		return p
	}
	s.machines, s.tasks, s.ratios = append(s.machines[:0], p.Machines...), append(s.tasks[:0], p.Tasks...), append(s.ratios[:0], p.Ratios...)
	s.pool = *p
	q := &s.pool
	q.Machines, q.Tasks, q.Ratios = s.machines, s.tasks, s.ratios
	pair, sign := (seed+1)/2, float32(1-2*(seed&1))
	for m := range q.Machines {
		x := &q.Machines[m]
		r := drawOf(pair, drawFactor, int64(m))
		x.Factor *= moved(r, sign*x.SD)
		x.Windows = slices.Clone(x.Windows) // those of the pool stay as they are
		for w := range x.Windows {
			x.Windows[w].Factor *= moved(r, sign*x.Windows[w].SD)
		}
	}
	for i := range q.Phases {
		f := &q.Phases[i]
		z := sign * float32(drawOf(pair, drawWork, f.Key).NormFloat64())
		for t := f.FirstTask; t < f.FirstTask+f.Tasks; t++ {
			x := &q.Tasks[t]
			change := exp32(x.Slope * z)
			x.Work *= change
			if x.Ratio < 0 {
				continue
			}
			k := f.FirstRatio + x.Ratio
			at := &p.Attempts[p.RatioOf[k]]
			m := p.machineOf(at)
			began := at.Key + at.Lag
			q.Ratios[k] *= p.Machines[m].At(began) / (q.Machines[m].At(began) * change)
		}
	}
	if len(p.Losers) > 0 {
		s.attempts = append(s.attempts[:0], p.Attempts...)
		q.Attempts = s.attempts
		q.outlive(p, seed)
	}
	return q
}

// outlive gives the attempts that were killed because another was faster the time that they might have taken: with the luck of
// another task of the phase, among those with which they would take longer than they ran.
func (q *Pool) outlive(p *Pool, seed int64) {
	for _, a := range p.Losers {
		at := &q.Attempts[a]
		t := &q.Tasks[at.Task]
		f := &q.Phases[t.Phase]
		r := drawOf(seed, drawLoser, int64(a))
		usual := float64(t.Work) * float64(q.Machines[p.machineOf(at)].At(at.Key+at.Lag)) * 1e6
		var longer []int64
		for _, ratio := range q.Ratios[f.FirstRatio : f.FirstRatio+f.Ratios] {
			if took := int64(usual * float64(ratio)); took > at.Dur {
				longer = append(longer, took)
			}
		}
		at.Ok = true
		if len(longer) > 0 {
			at.Dur = longer[r.IntN(len(longer))]
		} else { // it ran longer than any
			at.Dur = max(int64(float64(at.Dur)*math.Exp(float64(f.Sigma)*math.Abs(r.NormFloat64()))), at.Dur+1)
		}
	}
}

// farthest is how many times as long as the longest attempt of its phase an attempt of another run may take. The log has none
// that took so long; a normal distribution of logarithms extends to days if five tasks took from 33 s to 910 s, and a single such
// draw would determine the interval. An estimate: with a scatter of 50 %, a draw for the longest attempt is limited once in 150
// million, with one of 150 % once in 170.
const farthest = 10

// Again draws durations, in µs by attempt, of another run of the same jobs with the same faults: each attempt with the scatter
// of its phase, each machine with its variation from phase to phase (MODEL.md, sections 2 and 5), and all with the scatter that
// they share.
func (p *Pool) Again(seed int64) []int64 {
	took := p.Durations()
	inWindow, inPhase := math.Sqrt(machines.WindowPrior.Spike), math.Sqrt(machines.PhasePrior.Spike)
	window := make([]float64, len(p.Machines))
	for m := range window {
		window[m] = inWindow * drawOf(seed, drawAgain, int64(m)).NormFloat64()
	}
	var shared path
	if p.Scatter.SD > 0 {
		shared = p.path(drawOf(seed, drawShared, 0))
	}
	type deviation struct {
		phase int
		of    float64
	}
	on := make([]deviation, len(p.Machines)) // the machines of the phase at hand
	for i := range p.Phases {
		f := &p.Phases[i]
		r := drawOf(seed, drawAgain, f.Key)
		first := math.Sqrt2 * p.Scatter.First * drawOf(seed, drawFirst, f.Key).NormFloat64()
		limit := farthest * float64(longest(took[f.First:p.attemptsUpTo(i)]))
		for a := f.First; a < p.attemptsUpTo(i); a++ {
			k := p.machineOf(&p.Attempts[a])
			m := &on[k]
			if m.phase != i+1 {
				*m = deviation{i + 1, inPhase * r.NormFloat64()}
			}
			z := float64(f.Sigma)*r.NormFloat64() + window[k] + m.of
			at := &p.Attempts[a]
			if at.First {
				z += first
			}
			if began := at.Key + at.Lag; p.Scatter.SD > 0 {
				z += math.Sqrt2 * p.Scatter.SD * shared.mean(began, began+took[a])
			}
			took[a] = int64(min(float64(took[a])*math.Exp(z), limit))
		}
	}
	return took
}

// longest returns 0 for a phase without attempts.
func longest(took []int64) int64 {
	most := int64(0)
	for _, t := range took {
		most = max(most, t)
	}
	return most
}

// ReplayLuck returns the error of the replay of job j for a seed, as a standard normal number.
func (p *Pool) ReplayLuck(j int, seed int64) float64 {
	return drawOf(seed, drawWrong, p.Jobs[j].Key).NormFloat64()
}

// Purposes of draws.
const (
	drawFactor = 1 + iota
	drawWork
	drawLoser
	drawAgain
	drawWrong
	drawShared
	drawFirst
)

// drawOf returns the random numbers of one thing under a seed.
func drawOf(seed int64, purpose uint64, of int64) *rand.Rand {
	return rand.New(rand.NewPCG(mixed(uint64(seed)<<8|purpose), mixed(uint64(of))))
}

// mixed applies the finaliser of splitmix64, without which the first numbers of generators with successive seeds would be alike.
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// moved returns a factor of e^(sd z).
func moved(r *rand.Rand, sd float32) float32 { return exp32(sd * float32(r.NormFloat64())) }

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

// machineOf returns the machine that an attempt of the log ran on.
func (p *Pool) machineOf(at *Attempt) int32 {
	if s := int(at.Slot); s < len(p.Slots) {
		return p.Slots[s].Machine
	}
	return p.Tasks[at.Task].Machine
}

// attemptsUpTo returns the end of the attempts of a phase.
func (p *Pool) attemptsUpTo(phase int) int32 {
	if phase+1 < len(p.Phases) {
		return p.Phases[phase+1].First
	}
	return int32(len(p.Attempts))
}
