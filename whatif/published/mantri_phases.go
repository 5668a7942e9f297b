package published

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// Mantri's §6.3: the reductions by straggler mitigation strategies in phases drawn from the distributions of §3.1 and §4.

const phasesNote = "Phases are drawn from the distributions of §3.1 and §4: " +
	"tasks per slot are log-normal with median 2.11 and standard deviation 12.37; " +
	"the share of outliers in a phase is exponential, and exceeds 15 % in a quarter of the phases; outliers last as long as in figure 2(b). " +
	"More data explains all outliers in 40 % of the phases, none in 18 %, and half of them in the others (figure 3(a)); " +
	"all other tasks are as in figure 3(b). " +
	"Progress is linear and known to 3 %. A copy has as much data as its original, because the paper calls duplicates 'mostly not useful'; " +
	"its simulator takes a copy's duration 'from the same distribution of tasks' (§6.1). " +
	"LATE and Dryad act once all tasks have started, and Hadoop then copies 'any task that has read less data than the others' (§7)"

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

// reductions are the reductions of each phase by a policy, weighted by the phase's lifetime.
type reductions struct {
	time, slots []weighted
	copies      []weighted // restarts per task
	wins        []weighted // share of a phase's restarts that finished first, for phases that have any
}

// mitigated is the reductions by each policy in the phases of a scale.
type mitigated map[string]*reductions

type weighted struct{ x, w float64 }

// percentile returns the weighted q-quantile.
func percentile(v []weighted, q float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.x, b.x) })
	total := 0.0
	for _, x := range v {
		total += x.w
	}
	sum := 0.0
	for _, x := range v {
		if sum += x.w; sum >= q*total {
			return x.x
		}
	}
	return math.NaN()
}

// mitigations are the strategies that §6.3 compares, with their options.
var mitigations = [][]string{{"mantri"}, {"hadoop", "gap", "0", "age", "0", "spread", "false"}, {"mapreduce"}, {"dryad"}, {"late"}, {"late-early"}, {"noskew"}, {"choptail"}}

func mantriPhases(ctx context.Context, t *table) error {
	scales := phaseScales
	var found []mitigated
	var median, ninth []float64 // of the variation of data
	var last []float64          // share of tasks that still run when all have started
	for n := range scales {
		phases, err := scales[n].draw()
		if err != nil {
			return err
		}
		x, err := t.mitigate(ctx, &scales[n], phases)
		if err != nil {
			return err
		}
		found = append(found, x)
		v := dataVariation(phases)
		median, ninth, last = append(median, percentile(v, 0.5)), append(ninth, percentile(v, 0.9)), append(last, lastWave(phases))
	}
	note := fmt.Sprintf("solved for in the first two of our scales, over 6000 phases, of which 500 are replayed; "+
		"ours is the first scale's, those of all of them are %.2f and %.2f; ", median, ninth) + phasesNote
	t.baseline("§4.2", "coefficient of variation of data size, median phase", 0.34, median[0], 0.17, note)
	t.baseline("§4.2", "coefficient of variation of data size, 90th percentile of phases", 3.1, ninth[0], 1.55, note)
	sampled, err := t.sampledCopies(ctx)
	if err != nil {
		return err
	}
	t.mitigationBands(found, sampled, mitigationRows(found, last))
	t.mitigationOrders(found)
	t.mitigationFigures(found[0])
	return nil
}

// mitigationOrders adds what §6.3 says about the order of the strategies. A row is met only if it holds in all scales.
func (t *table) mitigationOrders(found []mitigated) {
	most := func(of func(mitigated, string) float64, x mitigated, policies ...string) float64 {
		high := math.Inf(-1)
		for _, p := range policies {
			high = max(high, of(x, p))
		}
		return high
	}
	for _, row := range []struct {
		quantity string
		holds    func(mitigated) float64
		note     string
	}{
		{"Mantri takes more completion time off than each other strategy at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(most(medianTime, x, "hadoop", "mapreduce", "dryad", "late")+1e-9, medianTime(x, "mantri"))
		}, "Hadoop is 'the next best scheme' (§6.3); "},
		{"LATE uses fewer resources than Hadoop at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianSlots(x, "hadoop")+1e-9, medianSlots(x, "late"))
		}, ""},
		{"the restarts of Hadoop, MapReduce and Dryad succeed less often than LATE's (1) or not (0)", func(x mitigated) float64 {
			return better(most(restartsWon, x, "hadoop", "mapreduce", "dryad"), restartsWon(x, "late"))
		}, "'the other schemes have lower success rates'; "},
		{"early LATE takes more time than LATE at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianTime(x, "late-early"), medianTime(x, "late")-1e-9)
		}, "here a copy costs time only if it takes the slot of a waiting task; the paper does not say what else made copies cost time; "},
		{"early LATE uses more resources than LATE at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianSlots(x, "late-early"), medianSlots(x, "late")-1e-9)
		}, ""},
	} {
		in := 0
		for _, x := range found {
			in += int(row.holds(x))
		}
		t.rebuilt("§6.3", row.quantity, 1, better(float64(len(found))-0.5, float64(in)), 0, row.note+fmt.Sprintf("in %d of our %d scales; ", in, len(found))+phasesNote)
	}
	first := found[0]
	t.baseline("§6.3", "Mantri is worse than NoSkew+ChopTail at the 50th percentile (1) or not (0)", 1, better(medianTime(first, "mantri"), medianTime(first, "choptail")), 0,
		"so is every policy that does less; "+phasesNote)
}

// mitigationFigures redraws figures 14 and 16 with the phases of a scale.
func (t *table) mitigationFigures(x mitigated) {
	curve := func(name, policy string) Curve { return distribution(name, x[policy].time) }
	slots := func(name, policy string) Curve { return distribution(name, x[policy].slots) }
	const off = "completion time off, phases weighted by their lifetime"
	t.figure("§6.3", "figure 14a: strategies of straggler mitigation", off, curve("Mantri", "mantri"), curve("Hadoop", "hadoop"),
		curve("Dryad", "dryad"), curve("MapReduce", "mapreduce"), curve("LATE", "late"),
		quantiles("Mantri", 0.21, 0.5, 0.42, 0.75), quantiles("Hadoop", 0.069, 0.5), quantiles("Dryad", 0, 0.5), quantiles("MapReduce", 0, 0.8))
	t.figure("§6.3", "figure 14b: resources", "resources off, phases weighted by their lifetime",
		slots("Mantri", "mantri"), slots("Hadoop", "hadoop"), slots("Dryad", "dryad"),
		quantiles("Mantri", 0.03, 0.5, 0.07, 0.75), quantiles("Hadoop", -0.159, 0.5))
	t.figure("§6.3", "figure 16: ideal references", off, curve("Mantri", "mantri"), curve("NoSkew", "noskew"), curve("NoSkew and ChopTail", "choptail"))
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

// mitigate returns the effects of the named mitigations on the phases of a scale; without names, of all of them.
func (t *table) mitigate(ctx context.Context, x *phaseScale, phases []*workload.Pool, names ...string) (mitigated, error) {
	found := mitigated{}
	under := func(p policy.Policy) ([]played, error) {
		return solved(t.solved, fmt.Sprintf("phases %+v under %s", *x, signature(p)), func() ([]played, error) { return playPhases(ctx, phases, p) })
	}
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	before, err := under(none)
	if err != nil {
		return nil, err
	}
	for _, m := range mitigations {
		if len(names) > 0 && !slices.Contains(names, m[0]) {
			continue
		}
		choose := t.policy
		if m[0] == "noskew" || m[0] == "choptail" { // the bounds that a policy is compared with
			choose = named
		}
		p, err := choose(m[0], m[1:]...)
		if err != nil {
			return nil, err
		}
		after, err := under(p)
		if err != nil {
			return nil, err
		}
		found[m[0]] = reduce(before, after)
	}
	return found, nil
}

// The following are results of a policy in the phases of a scale.

func medianTime(x mitigated, policy string) float64  { return percentile(x[policy].time, 0.5) }
func medianSlots(x mitigated, policy string) float64 { return percentile(x[policy].slots, 0.5) }
func restarts(x mitigated, policy string) float64    { return mean(x[policy].copies) }
func restartsWon(x mitigated, policy string) float64 { return mean(x[policy].wins) }
func unhelped(x mitigated, policy string) float64    { return shareAtMost(x[policy].time, 1e-9) }
func lengthened(x mitigated, policy string) float64  { return shareAtMost(x[policy].time, -1e-9) }

func lastQuarterTime(x mitigated, policy string) float64  { return percentile(x[policy].time, 0.75) }
func lastQuarterSlots(x mitigated, policy string) float64 { return percentile(x[policy].slots, 0.75) }

// mitigationRow is a number of §6.3.
type mitigationRow struct {
	quantity  string
	published float64
	of        func(mitigated, string) float64
	policy    string
	cause     string // of a difference
}

// mitigationRows returns the numbers of §6.3, given the results in each scale and the shares of their tasks that still run when
// all have started.
func mitigationRows(found []mitigated, last []float64) []mitigationRow {
	skewed := 0.0
	for _, x := range found {
		skewed = max(skewed, medianTime(x, "noskew"))
	}
	outliers := fmt.Sprintf("our phases lose more to outliers than the paper's: NoSkew, which the paper's Mantri equals, "+
		"takes up to %.2f off at the median (last row); ", skewed)
	return []mitigationRow{
		{"Mantri: completion time off, 50th percentile of phases by lifetime", 0.21, medianTime, "mantri", ""},
		{"Mantri: completion time off, 75th percentile", 0.42, lastQuarterTime, "mantri", ""},
		{"Mantri: resources off, 50th percentile", 0.03, medianSlots, "mantri", outliers},
		{"Mantri: resources off, 75th percentile", 0.07, lastQuarterSlots, "mantri", outliers},
		{"Hadoop: completion time off, 50th percentile", 0.069, medianTime, "hadoop",
			"half of the outliers that it copies have more data, and their copies have it too; "},
		{"Hadoop: resources off, 50th percentile (negative: uses more)", -0.159, medianSlots, "hadoop",
			"it makes fewer copies than in the paper, see its restarts per task; "},
		{"MapReduce: share of phases without gain", 0.8, unhelped, "mapreduce", ""},
		{"Dryad: share of phases without gain", 0.5, unhelped, "dryad", ""},
		{"Dryad: share of phases that take longer", 0.3, lengthened, "dryad", "here a copy delays a phase only if it takes the slot of a waiting task, " +
			"and Dryad copies when none waits any more; the paper does not say what else made copies cost time; "},
		{"early LATE: share of phases that take longer", 0.4, lengthened, "late-early", ""},
		{"restarts per task, average phase: Mantri", 0.2, restarts, "mantri", ""},
		{"restarts per task, average phase: Dryad", 0.2, restarts, "dryad",
			"at least a quarter of the last wave runs longer than the 75th percentile and is copied by the rule of §7, " +
				"and the last wave is half of the tasks of the average phase; the paper does not say what else limits copies; "},
		{"restarts per task, average phase: LATE", 0.06, restarts, "late", ""},
		{"restarts per task, average phase: Hadoop", 0.56, restarts, "hadoop", fmt.Sprintf("with the published numbers of tasks per slot, "+
			"at most %.2f to %.2f of the tasks of the average phase still run when all have started: nearly all of them would have to be copied, "+
			"for which the phase's own slots do not suffice; "+
			"the paper does not say how many idle slots of other jobs copies got; ", slices.Min(last), slices.Max(last))},
		{"success of restarts, average phase: Mantri", 0.70, restartsWon, "mantri", ""},
		{"success of restarts, average phase: LATE", 0.15, restartsWon, "late", "its copies lose to outliers that have more data, " +
			"which are half of the outliers (figure 3(a)); the paper does not say what else made copies lose; "},
		{"Mantri less NoSkew at the 50th percentile", 0, func(x mitigated, policy string) float64 { return medianTime(x, policy) - medianTime(x, "noskew") }, "mantri", ""},
	}
}

// mitigationBands adds numbers over the scales. Their notes also have what they would be if copies were sampled.
func (t *table) mitigationBands(found, sampled []mitigated, rows []mitigationRow) {
	var scales []string
	for n := range found {
		scales = append(scales, phaseScales[n].String())
	}
	note := "band over how Table 1's 27.3 h a phase divide, how long outliers last, " +
		"whether time follows the data that §4.2's coefficients of variation are of (in the first two), " +
		"and whether the outliers of a phase are alike: tasks of " + strings.Join(scales, "; ") + "; " + phasesNote
	for n := range rows {
		row := &rows[n]
		var ours []float64
		var each, others []string
		for _, x := range found {
			ours = append(ours, row.of(x, row.policy))
			each = append(each, fmt.Sprintf("%.3f", ours[len(ours)-1]))
		}
		for k, x := range sampled {
			if x[row.policy] != nil {
				others = append(others, fmt.Sprintf("%.3f in scale %d", row.of(x, row.policy), sampledScales[k]+1))
			}
		}
		text := row.cause + strings.Join(each, ", ") + "; "
		if len(others) > 0 {
			text += "with copies that take as long as another task of their phase (§6.1): " + strings.Join(others, ", ") + "; "
		}
		widest := row.published
		if widest == 0 { // this is a difference in Mantri's reduction
			widest = 0.21
		}
		t.bandOf("§6.3", row.quantity, row.published, math.Abs(widest), ours, text+note)
	}
}

// sampledScales are the scales in which copies also take as long as another task of the phase (§6.1): the first, and one with
// shorter outliers. If the outliers of a phase were alike, such copies would be as long as they are.
var sampledScales = []int{0, mixedScale}

// sampledCopies returns the results for such copies, by policies with numbers that depend on them. They belong to the same
// published numbers, so they have no rows of their own.
func (t *table) sampledCopies(ctx context.Context) (found []mitigated, err error) {
	for _, n := range sampledScales {
		x := phaseScales[n]
		x.sampled = true
		phases, err := x.draw()
		if err != nil {
			return nil, err
		}
		f, err := t.mitigate(ctx, &x, phases, "mantri", "hadoop", "late", "noskew")
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	return found, nil
}

// mean returns the unweighted average.
func mean(v []weighted) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x.x
	}
	return sum / float64(len(v))
}

// shareAtMost returns the weighted share of values of at most the given one.
func shareAtMost(v []weighted, most float64) float64 {
	part, all := 0.0, 0.0
	for _, x := range v {
		all += x.w
		if x.x <= most {
			part += x.w
		}
	}
	return part / all
}

// played is the result of a phase.
type played struct{ took, slots, copies, wins, tasks float64 }

// playPhases replays phases under a policy.
func playPhases(ctx context.Context, phases []*workload.Pool, p policy.Policy) (out []played, err error) {
	for n, pool := range phases {
		o, err := play(ctx, pool, "fifo", p, int64(n), 0.03, false)
		if err != nil {
			return nil, err
		}
		out = append(out, played{o.mean(), o.slots, o.copies, o.wins, float64(pool.NumTasks())})
	}
	return out, nil
}

// reduce returns the reductions of phases by a policy.
func reduce(before, after []played) *reductions {
	out := &reductions{}
	for n, a := range after {
		b := before[n]
		out.time = append(out.time, weighted{1 - a.took/b.took, b.took})
		out.slots = append(out.slots, weighted{1 - a.slots/b.slots, b.took})
		out.copies = append(out.copies, weighted{a.copies / a.tasks, b.took})
		if a.copies > 0 {
			out.wins = append(out.wins, weighted{a.wins / a.copies, b.took})
		}
	}
	return out
}
