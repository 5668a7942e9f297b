package published

import (
	"fmt"
	"math"
	"math/rand/v2"

	"straggler/whatif/workload"
)

// The phases of Mantri's §6.3, drawn from the distributions of §3.1 and §4 in several scales.

const phasesNote = "Phases are drawn from §3.1 and §4: tasks per slot are log-normal with median 2.11 and standard deviation 12.37; " +
	"the share of outliers is exponential, and exceeds 15 % in a quarter of the phases; outliers last as long as in figure 2(b). " +
	"More data explains all outliers in 40 % of the phases, none in 18 %, and half of them in the others; other tasks are as in figure 3(b). " +
	"Progress is linear and known to 3 %, and a copy has as much data as its original. " +
	"LATE and Dryad act once all tasks have started, and Hadoop then copies 'any task that has read less data than the others' (§7)."

// phaseScale is what the paper leaves open about a phase.
type phaseScale struct {
	task    float64 // s, of a normal task
	wide    float64 // times 5 to 40 slots
	longest float64 // longest outlier, times the median
	spread  float64 // of the data and the time of tasks that are not outliers, from 1 − spread to 1 + spread times the median
	phases  int
	alike   bool // the outliers of a phase all have the same one of figure 2's three lengths
	sampled bool // a copy takes as long as another task of its phase, whatever its data
}

// phaseScales divide Table 1's 27.3 h per phase between longer tasks and more slots.
//
// In the first two all of the data's variation affects the tasks' time. Their slots and their longest outliers are solved for
// §4.2's coefficients of variation of data size, 0.34 and 3.1 at the 50th and 90th percentiles of phases: the former grows with
// the number of tasks, of which more are outliers then, or with the spread of tasks that are not; the latter needs outliers of at
// least 40 times the median, because a share p of tasks with k times the data has a coefficient of at most (k − 1)/(2√k), at
// p = 1/(k + 1).
//
// The paper does not say that time follows data in the phases where data varies most, so in the others the outliers are less
// long, and data varies less than in the paper. Figure 2(b) covers all outliers: it leaves open whether those of one phase have
// one length, as with a skewed key or a busy time of the cluster. The first scale is the one drawn in figures.
var phaseScales = []phaseScale{
	{task: 172, wide: 3, longest: 60, phases: 500}, {task: 249, wide: 2, longest: 60, spread: 0.4, phases: 500},
	{task: 616, wide: 1, longest: 15, phases: 250}, {task: 188, wide: 3.3, longest: 15, phases: 250}, {task: 60, wide: 11, longest: 15, phases: 100},
	{task: 594, wide: 1, longest: 15, phases: 250, alike: true}, {task: 155, wide: 3.3, longest: 50, phases: 250, alike: true},
}

const (
	solvedScales = 2 // the first ones, which have the paper's variation of data
	mixedScale   = 2 // outliers of any length in a phase
	alikeScale   = 5 // differs from it only in that they are alike
)

func (x *phaseScale) String() string {
	text := fmt.Sprintf("%g s on %.0f to %.0f slots, outliers up to %g times", x.task, 5*x.wide, 40*x.wide, x.longest)
	if x.spread > 0 {
		text += fmt.Sprintf(", other tasks' data within %.0f %%", 100*x.spread)
	}
	if x.alike {
		text += ", outliers alike"
	}
	return text
}

// outlier draws the duration of an outlier as a multiple of the median, the one of figure 2's lengths at a quantile.
func (x *phaseScale) outlier(r *rand.Rand, quantile float64) float64 {
	switch u := quantile; {
	case u < 0.8:
		return 1.5 + r.Float64()
	case u < 0.9:
		return 2.5 + 7.5*r.Float64()
	}
	if v := r.Float64(); x.longest > 15 { // P(more than k times) falls from 0.2 at 2.5 to 0.1 at 10: as 1/√k
		return min(10/((1-v)*(1-v)), x.longest)
	}
	return 10 + (x.longest-10)*r.Float64()
}

// mantriPhase returns a phase drawn from the distributions of §3.1 and §4.
func mantriPhase(r *rand.Rand, x *phaseScale) *workload.Plan {
	slots := int(x.wide * float64(5+r.IntN(36)))
	pl := independent(slots, nil)
	pl.Jobs[0].Phases[0].Tasks = x.tasks(r, min(max(int(waves(r)*float64(slots)+0.5), 2), int(2000*x.wide)))
	return pl
}

// waves draws the number of tasks per slot of a phase (§3.1).
func waves(r *rand.Rand) float64 { return 2.11 * math.Exp(1.36*r.NormFloat64()) }

// tasks draws the given number of tasks of a phase.
func (x *phaseScale) tasks(r *rand.Rand, n int) []workload.PlanTask {
	share := min(r.ExpFloat64()*0.108, 0.5)      // 25 % of them are over 0.15
	improvable := min(r.ExpFloat64()*0.342, 0.9) // 20 % of them are over 0.55
	skewed := 0.5                                // share of outliers that have more data
	switch kind := r.Float64(); {
	case kind < 0.4:
		skewed = 1
	case kind < 0.58:
		skewed = 0
	}
	length := func() float64 { return r.Float64() }
	if x.alike {
		one := r.Float64()
		length = func() float64 { return one }
	}
	tasks := make([]workload.PlanTask, n)
	for i := range tasks {
		t := workload.PlanTask{Seconds: x.task, Bytes: 1 << 30, Luck: 0.9 + 0.2*r.Float64()}
		if r.Float64() < improvable {
			t.Luck = 1.2 + 0.3*r.Float64()
		}
		if r.Float64() < share {
			if times := x.outlier(r, length()); r.Float64() < skewed {
				t.Bytes = int64(float64(t.Bytes) * times)
				if x.sampled {
					t.Luck = times
				} else {
					t.Seconds *= times
				}
			} else {
				t.Luck = times
			}
		} else if x.spread > 0 {
			data := 1 + x.spread*(2*r.Float64()-1)
			t.Bytes, t.Seconds = int64(data*float64(t.Bytes)), data*t.Seconds
		}
		tasks[i] = t
	}
	return tasks
}

// draw draws the phases of a scale.
func (x *phaseScale) draw() (phases []*workload.Pool, err error) {
	r := rand.New(rand.NewPCG(63, 63))
	for range x.phases {
		pool, err := mantriPhase(r, x).Build()
		if err != nil {
			return nil, err
		}
		phases = append(phases, pool)
	}
	return phases, nil
}

// dataVariation returns the coefficient of variation of the tasks' data, by phase.
func dataVariation(phases []*workload.Pool) (v []weighted) {
	for _, p := range phases {
		var bytes []float64
		for i := range p.Tasks {
			bytes = append(bytes, float64(p.Tasks[i].Bytes))
		}
		m, sd := moments(bytes)
		v = append(v, weighted{sd / m, 1})
	}
	return v
}

// lastWave returns the share of the tasks of the average phase that still run at most when all have started.
func lastWave(phases []*workload.Pool) (share float64) {
	for _, p := range phases {
		share += float64(min(p.Capacity(), p.NumTasks())) / float64(p.NumTasks()) / float64(len(phases))
	}
	return share
}
