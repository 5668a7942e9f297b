package published

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// Mantri's §6.3: the reductions by straggler mitigation strategies in phases drawn from the distributions of §3.1 and §4.

// reductions are the reductions of each phase by a policy, weighted by the phase's lifetime.
type reductions struct {
	time, slots []weighted
	copies      []weighted // restarts per task
	wins        []weighted // share of a phase's restarts that finished first, for phases that have any
}

// mitigated is the reductions by each policy in the phases of a scale.
type mitigated map[string]*reductions

// mitigations are the strategies that §6.3 compares, with their options.
var mitigations = [][]string{{"mantri"}, {"hadoop", "gap", "0", "lag", "0", "spread", "false"}, {"mapreduce"}, {"dryad"}, {"late"}, {"late-early"}, {"noskew"}, {"choptail"}}

// mantriPhases is §6.3, with §4.2's variation of data in the phases that it replays.
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
	t.assume(phasesNote)
	note := fmt.Sprintf("Solved for in the first two of our scales, over 6000 phases, of which 500 are replayed. "+
		"Ours is the first scale's; those of all of them are %s and %s.", listed(median), listed(ninth))
	t.baseline("§4.2", "coefficient of variation of data size, median phase", 0.34, median[0], 0.17, note)
	t.baseline("§4.2", "coefficient of variation of data size, 90th percentile of phases", 3.1, ninth[0], 1.55, note)
	sampled, err := t.sampledCopies(ctx)
	if err != nil {
		return err
	}
	t.mitigationOrders(found)
	t.mitigationBands(found, sampled, mitigationRows(found, last))
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
		}, " Hadoop is 'the next best scheme' (§6.3)."},
		{"LATE uses fewer resources than Hadoop at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianSlots(x, "hadoop")+1e-9, medianSlots(x, "late"))
		}, ""},
		{"the restarts of Hadoop, MapReduce and Dryad succeed less often than LATE's (1) or not (0)", func(x mitigated) float64 {
			return better(most(restartsWon, x, "hadoop", "mapreduce", "dryad"), restartsWon(x, "late"))
		}, " 'The other schemes have lower success rates.'"},
		{"early LATE takes more time than LATE at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianTime(x, "late-early"), medianTime(x, "late")-1e-9)
		}, " Here a copy costs time only if it takes the slot of a waiting task; the paper does not say what else made copies cost time."},
		{"early LATE uses more resources than LATE at the 50th percentile (1) or not (0)", func(x mitigated) float64 {
			return better(medianSlots(x, "late-early"), medianSlots(x, "late")-1e-9)
		}, ""},
	} {
		in := 0
		for _, x := range found {
			in += int(row.holds(x))
		}
		t.rebuilt("§6.3", row.quantity, 1, better(float64(len(found))-0.5, float64(in)), 0, fmt.Sprintf("It holds in %d of our %d scales.", in, len(found))+row.note)
	}
	first := found[0]
	t.baseline("§6.3", "Mantri is worse than NoSkew+ChopTail at the 50th percentile (1) or not (0)", 1, better(medianTime(first, "mantri"), medianTime(first, "choptail")), 0,
		"So is every policy that does less.")
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
	outliers := fmt.Sprintf(" Our phases lose more to outliers than the paper's: NoSkew, which the paper's Mantri equals, "+
		"takes up to %.2f off at the median.", skewed)
	return []mitigationRow{
		{"Mantri: completion time off, 50th percentile of phases by lifetime", 0.21, medianTime, "mantri", ""},
		{"Mantri: completion time off, 75th percentile", 0.42, lastQuarterTime, "mantri", ""},
		{"Mantri: resources off, 50th percentile", 0.03, medianSlots, "mantri", outliers},
		{"Mantri: resources off, 75th percentile", 0.07, lastQuarterSlots, "mantri", outliers},
		{"Hadoop: completion time off, 50th percentile", 0.069, medianTime, "hadoop",
			" Half of the outliers that it copies have more data, and their copies have it, too."},
		{"Hadoop: resources off, 50th percentile (negative: uses more)", -0.159, medianSlots, "hadoop",
			" It makes fewer copies than in the paper, see its restarts per task."},
		{"MapReduce: share of phases without gain", 0.8, unhelped, "mapreduce", ""},
		{"Dryad: share of phases without gain", 0.5, unhelped, "dryad", ""},
		{"Dryad: share of phases that take longer", 0.3, lengthened, "dryad", " Here a copy delays a phase only if it takes the slot of a waiting task, " +
			"and Dryad copies when none waits any more; the paper does not say what else made copies cost time."},
		{"early LATE: share of phases that take longer", 0.4, lengthened, "late-early", ""},
		{"restarts per task, average phase: Mantri", 0.2, restarts, "mantri", ""},
		{"restarts per task, average phase: Dryad", 0.2, restarts, "dryad",
			" By the rule of §7 the quarter of the last wave that runs longer than the 75th percentile is copied, " +
				"and the last wave is half of the tasks of the average phase; the paper does not say what else limits copies."},
		{"restarts per task, average phase: LATE", 0.06, restarts, "late", " The paper does not give the parameters of its LATE; ours are those of LATE §4."},
		{"restarts per task, average phase: Hadoop", 0.56, restarts, "hadoop", fmt.Sprintf(" At most %.2f to %.2f of the tasks of the average phase still run "+
			"when all have started (§3.1's tasks per slot). Nearly all of them would have to be copied, on idle slots of other jobs, "+
			"of which the paper does not say how many there were.", slices.Min(last), slices.Max(last))},
		{"success of restarts, average phase: Mantri", 0.70, restartsWon, "mantri", ""},
		{"success of restarts, average phase: LATE", 0.15, restartsWon, "late", " Its copies lose to outliers that have more data, " +
			"which are half of the outliers (figure 3(a)); the paper does not say what else made copies lose."},
		{"Mantri less NoSkew at the 50th percentile", 0, func(x mitigated, policy string) float64 { return medianTime(x, policy) - medianTime(x, "noskew") }, "mantri", ""},
	}
}

// mitigationBands adds numbers over the scales. Their notes also have what they would be if copies were sampled.
func (t *table) mitigationBands(found, sampled []mitigated, rows []mitigationRow) {
	var scales []string
	for n := range found {
		scales = append(scales, phaseScales[n].String())
	}
	t.assume(phasesNote, "The band is over how Table 1's 27.3 h a phase divide, how long outliers last, "+
		"whether the tasks' time follows all of the data's variation of §4.2 (in the first two), "+
		"and whether the outliers of a phase are alike: tasks of "+strings.Join(scales, "; ")+".")
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
		text := "By scale: " + strings.Join(each, ", ")
		if len(others) > 0 {
			text += "; with copies that take as long as another task of their phase (§6.1): " + strings.Join(others, ", ")
		}
		widest := row.published
		if widest == 0 { // this is a difference in Mantri's reduction
			widest = 0.21
		}
		t.bandOf("§6.3", row.quantity, row.published, math.Abs(widest), ours, text+"."+row.cause)
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
