package workload

import (
	"math"
	"slices"

	"straggler/schema"
	"straggler/stats"
)

// Ideal is a way to change the durations of attempts that no policy could: what a perfect remedy would have given. It
// gives a duration in µs for every attempt of the pool, for Options.Took.
type Ideal func(p *Pool) []int64

// NoSkew gives every task of a phase the mean duration of its tasks (MANTRI §6.1).
func NoSkew(p *Pool) []int64 { return p.level(0) }

// NoSkewChopTail gives every task of a phase the mean of the durations without the worst quartile (MANTRI §6.1).
func NoSkewChopTail(p *Pool) []int64 { return p.level(0.25) }

// level gives every successful attempt of a phase the mean of the durations without the longest share.
func (p *Pool) level(drop float64) []int64 {
	took := p.Durations()
	p.eachPhase(func(ok []int32) {
		durs := make([]int64, len(ok))
		for n, a := range ok {
			durs[n] = took[a]
		}
		slices.Sort(durs)
		keep := durs[:max(len(durs)-int(drop*float64(len(durs))), 1)]
		sum := int64(0)
		for _, d := range keep {
			sum += d
		}
		for _, a := range ok {
			took[a] = sum / int64(len(keep))
		}
	})
	return took
}

// MedianRate gives every task that is slower than the median rate of its phase the median rate (DOLLY §2): bytes over
// the median of bytes per second, or the median duration where the bytes of a task are unknown or none.
func MedianRate(p *Pool) []int64 {
	took := p.Durations()
	p.eachPhase(func(ok []int32) {
		x := make([]float64, len(ok))
		bytes := true
		for _, a := range ok {
			bytes = bytes && p.Tasks[p.Attempts[a].Task].Bytes > 0 && took[a] > 0
		}
		for n, a := range ok {
			x[n] = 1
			if bytes {
				x[n] = float64(p.Tasks[p.Attempts[a].Task].Bytes)
			}
		}
		rates := make([]float64, 0, len(ok))
		for n, a := range ok {
			if took[a] > 0 {
				rates = append(rates, x[n]/float64(took[a]))
			}
		}
		mid := stats.Median(rates)
		for n, a := range ok {
			if mid > 0 {
				took[a] = min(took[a], int64(x[n]/mid+0.5))
			}
		}
	})
	return took
}

// highRuntime is the multiple of the median above which a duration is an outlier (MANTRI §4.1).
const highRuntime = 1.5

// NoHighRuntime gives every task that took over 1.5 times the median of its phase the median.
func NoHighRuntime(p *Pool) []int64 {
	took := p.Durations()
	p.eachPhase(func(ok []int32) {
		durs := make([]float64, len(ok))
		for n, a := range ok {
			durs[n] = float64(took[a])
		}
		mid := stats.Median(durs)
		for _, a := range ok {
			if float64(took[a]) > highRuntime*mid {
				took[a] = int64(mid + 0.5)
			}
		}
	})
	return took
}

// NoOutliers returns an execution with neither high runtimes nor lost outputs (MANTRI §4.3).
func NoOutliers(p *Pool) []int64 {
	took, without := NoHighRuntime(p), NoRecompute(p)
	for a := range took {
		took[a] = min(took[a], without[a])
	}
	return took
}

// NoRecompute sets the durations of attempts that recompute a lost output to 0.
func NoRecompute(p *Pool) []int64 {
	took := p.Durations()
	for a := range p.Attempts {
		if p.Attempts[a].Again {
			took[a] = 0
		}
	}
	return took
}

// Without takes the seconds attributed to a cause off the attempts that it slowed. Seconds that made an attempt
// faster stay.
func Without(seconds map[schema.Key]float64) Ideal {
	return func(p *Pool) []int64 {
		took := p.Durations()
		for a := range p.Attempts {
			if s := seconds[p.Attempts[a].ID]; s > 0 {
				took[a] = max(took[a]-int64(math.Round(s*1e6)), 0)
			}
		}
		return took
	}
}

// Durations returns the durations of the log, by attempt.
func (p *Pool) Durations() []int64 {
	took := make([]int64, len(p.Attempts))
	for a := range p.Attempts {
		took[a] = p.Attempts[a].Dur
	}
	return took
}

// eachPhase calls do with the successful attempts of each phase that has any.
func (p *Pool) eachPhase(do func(ok []int32)) {
	for i := range p.Phases {
		till := int32(len(p.Attempts))
		if i+1 < len(p.Phases) {
			till = p.Phases[i+1].First
		}
		var ok []int32
		for a := p.Phases[i].First; a < till; a++ {
			if p.Attempts[a].Ok {
				ok = append(ok, a)
			}
		}
		if len(ok) > 0 {
			do(ok)
		}
	}
}
