package published

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

func dollyPaper() Paper {
	return Paper{Name: "DOLLY", Title: "Ananthanarayanan et al., Effective Straggler Mitigation: Attack of the Clones, NSDI 2013",
		parts: []part{dollyFormulas, dollyFacebook, dollyBing, dollyAssignment}}
}

func dollyFormulas(_ context.Context, t *table) error {
	// This number of clones keeps the risk at ε or less, and one fewer does not.
	fits := 0.0
	for n := 1; n <= 500; n++ {
		c := policy.Clones(n, 0.1, 0.05)
		if policy.StraggleTasks(n, c, 0.1) <= 0.05+1e-12 && (c == 1 || policy.StraggleTasks(n, c-1, 0.1) > 0.05) {
			fits++
		}
	}
	t.rule("§3.2", "share of jobs of 1 to 500 tasks to which the formula gives the fewest clones that keep the risk at ε",
		1, fits/500, 0, "p = 0.1; it is not in the text.")
	for _, x := range []struct {
		n    int
		more float64
	}{{10, 0.10}, {20, 0.30}} {
		more := policy.StraggleCAC(x.n, 3, 0.1) - policy.StraggleCC(x.n, 3, 0.1)
		t.rule("§4.2", fmt.Sprintf("CAC over CC with three clones, %d tasks: risk higher by at least (1) or not (0)", x.n), 1, better(x.more, more), 0,
			fmt.Sprintf("Published over %.0f points, ours %.1f, with p = 0.1, which is not in the text.", 100*x.more, 100*more))
	}
	return nil
}

func dollyFacebook(ctx context.Context, t *table) error { return dollyWorkload(ctx, t, 0) }

func dollyBing(ctx context.Context, t *table) error { return dollyWorkload(ctx, t, 1) }

func dollyWorkload(ctx context.Context, t *table, i int) error {
	x := &traces[i]
	seed := uint64(i) + 1
	s, err := t.straggling(ctx, x, seed, dollyForms[0])
	if err != nil {
		return err
	}
	got, err := t.underLoad(ctx, x.cluster(seed, s, dollyLoad, dollyForms[0]), s.known(), 2, nil, []string{"admission", "preempt"}, []string{"budget", "0.01"})
	if err != nil {
		return err
	}
	t.assume(workloadNote, fmt.Sprintf("The load is 20 %%, and small jobs have three to ten tasks (%s).", s))
	t.baseline("§5.4", x.name+": a budget of 1 % gains less than one of 5 % (1) or not (0)", 1, better(got[2].all, got[0].all), 0, "So does first come first served.")
	t.baseline("§5.5", x.name+": gain of preemption less that of admission control", [2]float64{0.01, 0.02}[i], got[1].all-got[0].all, 0.05,
		"A policy that does nothing has no difference, either.")
	t.notTried("§2.1.2", x.name+": blacklisting, the better of windows of 5 min and 1 h: mean completion time off", [2]float64{0.084, 0.062}[i],
		"Stragglers are 'spread out uniformly through the cluster': the paper does not say how unevenly they fell on machines, "+
			"which is all that blacklisting uses.")
	if i == 0 {
		t.figure("§5.2", "figure 8c: gains of jobs of at most ten tasks, Facebook", "completion time off",
			distribution("Dolly", got[0].each), quantiles("Dolly", 0.5, 0.75, 0.6, 0.9))
	}
	if i == 0 && len(t.arrivals) > 0 {
		if err := t.dollySWIM(ctx, x, seed, s); err != nil {
			return err
		}
	}
	return t.dollyBands(ctx, x, seed)
}

// dollyLoads are the least and the greatest load that §2.2's 3 % implies, see workloadNote.
var dollyLoads = [2]float64{0.17, 0.25}

// dollyForms are the jobs of §5.2. Those of at most ten tasks have two phases: for them the delay of delay assignment, which is
// for data that one phase reads from another, is 'crucial to the above improvements' (§5.2). If they had one to ten tasks, no
// share of stragglers would give Facebook's the 49 % of §2.1.1, because those of one or two tasks, one in each phase, gain
// nothing at the median rate. The paper does not say how many they have.
var dollyForms = [2]jobForm{{phases: 2, least: 3}, {phases: 2, least: smallJob}}

// dollyBands computes the numbers of §5.2, §5.4 and §5.5 over what the paper leaves open: the load, the tasks of small jobs,
// and whether an average improvement is one of means.
func (t *table) dollyBands(ctx context.Context, x *trace, seed uint64) error {
	var all, small, less, smallLess, control []float64 // less: with a budget of 3 %; control: admission control less first come first served
	var solutions []string
	for _, form := range dollyForms {
		s, err := t.straggling(ctx, x, seed, form)
		if err != nil {
			return err
		}
		solutions = append(solutions, s.String())
		for _, load := range dollyLoads {
			got, err := t.underLoad(ctx, x.cluster(seed, s, load, form), s.known(), 2, nil, []string{"budget", "0.03"}, []string{"admission", "fcfs"})
			if err != nil {
				return err
			}
			all, small = append(all, got[0].all, got[0].ofMeans), append(small, got[0].small, got[0].smallOfMeans)
			less, smallLess = append(less, got[1].all, got[1].ofMeans), append(smallLess, got[1].small, got[1].smallOfMeans)
			control = append(control, got[0].all-got[2].all, got[0].ofMeans-got[2].ofMeans)
		}
	}
	each := func(v []float64) string {
		return fmt.Sprintf("With small jobs of three to ten tasks %s, with all of them of ten %s.", rangeOf("%.2f", v[:4]), rangeOf("%.2f", v[4:]))
	}
	t.assume(workloadNote, "The band is over loads of 17 and 25 %, small jobs of three to ten tasks ("+solutions[0]+") or all of ten ("+solutions[1]+
		"), and whether an average improvement is one of means.")
	for _, over := range []string{"LATE", "Mantri"} {
		t.band("§5.2", x.name+": Dolly over "+over, x.gain[over], all, each(all))
		t.band("§5.2", x.name+": Dolly over "+over+", jobs of at most ten tasks", x.smallGain[over], small, each(small))
	}
	if x.gain3 > 0 {
		t.band("§5.4", x.name+": Dolly over LATE with a budget of 3 %", x.gain3, less,
			"Small jobs that arrive together are refused clones here, and the paper's lose a 'negligible' part of their gain; "+
				"it does not say how jobs arrive. "+each(less))
	}
	if x.smallGain3 > 0 {
		t.band("§5.4", x.name+": Dolly over LATE with a budget of 3 %, jobs of at most ten tasks", x.smallGain3, smallLess,
			"'The gains still stand at a significant 28%' is read as those of small jobs, which the sentence before is about: "+
				"those of all jobs are 27 % with 5 %. "+each(smallLess))
	}
	t.band("§5.5", x.name+": gain of admission control less that of first come first served", 0.14, control, "'Reduces the gains by nearly 14%' is read as points. "+
		"Large jobs that come first take nearly all of the budget here, and how jobs arrive is not in the paper. "+each(control))
	return nil
}

// underLoad returns the gains of jobs under Dolly with given parameters, on average over seeds, for each of some options.
func (t *table) underLoad(ctx context.Context, pl *workload.Plan, known []string, seeds int64, options ...[]string) (got []gains, err error) {
	pool, err := pl.Build()
	if err != nil {
		return nil, err
	}
	before, err := unmitigated(ctx, pool)
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		p, err := t.policy("dolly", append(slices.Clone(o), known...)...)
		if err != nil {
			return nil, err
		}
		g, err := gainsOver(ctx, pool, before, p, seeds)
		if err != nil {
			return nil, err
		}
		got = append(got, g)
	}
	return got, nil
}

// assignmentScale is what §5.3 leaves open: how many phases jobs have ('maximum of 6'), the share of a task that is reading
// ('only moderate amounts of data'), and the load.
type assignmentScale struct {
	phases         int
	transfer, load float64
}

// assignmentScales have jobs of two phases, and of figure 12's six.
var assignmentScales = []assignmentScale{{2, 0.15, dollyLoads[0]}, {2, 0.5, dollyLoads[1]}, {6, 0.15, dollyLoads[1]}, {6, 0.5, dollyLoads[0]}}

// assignmentNote says what §5.3's jobs are. With ten tasks in six phases, of one or two each, no share of stragglers would give
// small jobs the gain of §2.1.1.
const assignmentNote = "Each phase of a job has all of the job's tasks, three to ten for small jobs, " +
	"because most jobs of at most ten tasks 'have equal number of tasks in their phases' (§3.2). " +
	"Reading takes 35 % longer under contention (§4.3: 32 and 39 %). " +
	"The band is over the phases of a job ('maximum of 6'), the share of their time that tasks of later phases spend reading, the load, " +
	"and whether an average improvement is one of means: "

// dollyAssignment is §5.3: the gains of small jobs of the Bing workload under the three ways of assigning intermediate data.
func dollyAssignment(ctx context.Context, t *table) error {
	const seed = 2
	x := &traces[1]
	var cac, cc, delay, apart, six []float64
	note := ""
	above, rarest := 1.0, 1.0
	for _, a := range assignmentScales {
		form := jobForm{phases: a.phases, least: dollyForms[0].least, each: true}
		s, err := t.straggling(ctx, x, seed, form)
		if err != nil {
			return err
		}
		got, err := t.underLoad(ctx, x.cluster(seed, s, a.load, form), append(s.known(), "transfer", fmt.Sprint(a.transfer)), 1,
			[]string{"assignment", "cac"}, []string{"assignment", "cc"}, []string{"assignment", "delay"})
		if err != nil {
			return err
		}
		rarest = min(rarest, s.p)
		note += fmt.Sprintf("%d phases, %.0f %%, load %.2f (%s); ", a.phases, 100*a.transfer, a.load, s)
		for _, of := range []func(gains) float64{func(g gains) float64 { return g.small }, func(g gains) float64 { return g.smallOfMeans }} {
			c, d, e := of(got[0]), of(got[1]), of(got[2])
			above = min(above, better(max(c, d), e))
			cac, cc, delay, apart = append(cac, c), append(cc, d), append(delay, e), append(apart, d-c)
			if a.phases == 6 {
				six = append(six, e)
			}
		}
	}
	t.assume(workloadNote, assignmentNote+strings.TrimSuffix(note, "; ")+".")
	each := func(v []float64) string { // the first half of the scales have two phases
		return fmt.Sprintf("With two phases %s, with six %s.", rangeOf("%.2f", v[:4]), rangeOf("%.2f", v[4:]))
	}
	t.band("§5.3", "small jobs with CAC over LATE (Bing)", 0.17, cac, each(cac)+cacCause(rarest))
	t.band("§5.3", "small jobs with CC over LATE (Bing)", 0.26, cc, each(cc))
	t.baseline("§5.3", "small jobs with delay assignment over LATE (Bing)", 0.37, mid(delay), 0.09, "This is a number of §5.2, where it counts. "+each(delay))
	t.band("§5.3", "figure 12: delay assignment over LATE, jobs of six phases (Bing)", 0.31, six, "")
	t.band("§5.3", "CC over LATE less CAC over LATE, small jobs (Bing)", 0.09, apart, each(apart))
	t.rebuilt("§5.3", "delay assignment is better than CC and than CAC for small jobs (1) or not (0)", 1, above, 0, "The same over the whole band.")
	return nil
}

// cacCause returns why CAC loses less here, given the least probability of stragglers.
func cacCause(p float64) string {
	more := func(tasks int, p float64) float64 {
		return 100 * (policy.StraggleCAC(tasks, 3, p) - policy.StraggleCC(tasks, 3, p))
	}
	return fmt.Sprintf(" CAC loses by upstream clones that straggle, and few do here: "+
		"with three clones of ten tasks its risk is %.1f points above CC's at p = %.3f. "+
		"The paper does not give p; its 'over 10%% and 30%%' of 10 and 20 tasks (§4.2) are %.0f and %.0f at p = 0.08.",
		more(smallJob, p), p, more(10, 0.08), more(20, 0.08))
}
