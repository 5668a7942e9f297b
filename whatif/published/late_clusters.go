package published

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// LATE's §5.1 to §5.3: Sort, Grep and WordCount on virtual machines of EC2 and of a local cluster.

// latePacked is §5.1.2, in which no policy acts.
func latePacked(ctx context.Context, t *table) error {
	none, err := named("none")
	if err != nil {
		return err
	}
	var took []float64
	var assumed []string
	for _, name := range []string{"late-ec2-alone", "late-ec2-packed"} {
		f, err := clusterFile(name)
		if err != nil {
			return err
		}
		runs, err := t.lateTimes(ctx, f, lateJob{1, 1, lateCopying[1]}, none)
		if err != nil {
			return err
		}
		took = append(took, sum(runs))
		assumed = append(assumed, assumedIn(f)...)
	}
	slices.Sort(assumed)
	t.assume(slices.Compact(assumed)...)
	t.baseline("§5.1.2", "Sort of 100 GB on machines that share hosts by seven: time over that on machines with their own",
		1094./408, took[1]/took[0], 0.3, "Here tasks are slower by the ratio of table 2's write speeds, unless others of their host are idle; "+
			"the paper's Sort lost more than dd did. The paper packed 100 machines onto 13 hosts, 7.7 to a host.")
	return nil
}

// lateCopying is the share of a reduce's time spent on copying: of its three phases 'the copy phase [...] is the slowest'
// (§3.2), so it takes at least a third, and all in the example there.
var lateCopying = []float64{1. / 3, 2. / 3, 1}

// lateMinutes is how long the jobs take under Hadoop's own speculation if no straggler is loaded: 'approximately 5 minutes'
// (§5).
var lateMinutes = []float64{4, 6}

// lateExperiment is a comparison in §5.2 or §5.3.
type lateExperiment struct {
	file, section, what string
	hadoop, none        float64 // how much faster LATE was
	runs                int     // of which these are averages
}

// lateUsualRuns is the least of the '5-7 runs' of an experiment (§5.2), where the paper does not say how many.
const lateUsualRuns = 5

var lateExperiments = []lateExperiment{
	{"late-ec2-sort", "§5.2.1", "heterogeneous EC2", 0.27, 0.31, 6},
	{loadFile, "§5.2.2", "EC2 with stragglers, Sort", 0.58, 2.20, 4},
	{"late-ec2-grep", "§5.2.3", "EC2 with stragglers, Grep", 0.36, 0.57, 5},
	{"late-ec2-wordcount", "§5.2.3", "EC2 with stragglers, WordCount", 0.085, 1.79, 5},
	{"late-local-sort", "§5.3.2", "local heterogeneous", 1.62, 1.04, 5},
	{"late-local-stragglers", "§5.3.2", "local with stragglers", 0.53, 1.21, lateUsualRuns},
}

// lateCopies is the cause of the differences where the paper's LATE gains more over native speculation than over none, or nearly
// as much. Of the slots for reduces, 437 of 486 have an original (§5.2.1), and copies get the others while all reduces copy.
const lateCopies = " The paper explains this with copies that overload the network (§3.2), and does not say how much bandwidth a copy took. " +
	"Here a copy takes its share of its machine and its host; " +
	"trials with a network that all copying shares, with contention as in §5.1.2, and with both stay below the paper, too."

// lateNeighbours is the cause where jobs without speculation are faster than in the paper. In trials with speeds that give §5.1.2
// its 2.7 times, jobs on the local cluster gain more over none.
const lateNeighbours = " Without speculation, jobs lose less to neighbours than in the paper, as the Sort of §5.1.2 does."

// lateClusters rebuilds §5.2 and §5.3: clusters of virtual machines that share their hosts' disks with working ones. The paper
// does not give the network load of copies.
func lateClusters(ctx context.Context, t *table) error {
	for _, x := range lateExperiments {
		f, err := clusterFile(x.file)
		if err != nil {
			return err
		}
		loads, why, err := t.lateLoads(ctx, f)
		if err != nil {
			return err
		}
		b, err := t.lateBand(ctx, f, loads, x.runs)
		if err != nil {
			return err
		}
		native := fmt.Sprintf("On average %s. With native speculation jobs are %s times as fast as without any here, and %.2f times in the paper.",
			rangeOf("%.2f", b.mean[0]), rangeOf("%.2f", b.native), (1+x.none)/(1+x.hadoop))
		none := fmt.Sprintf("On average %s.", rangeOf("%.2f", b.mean[1]))
		switch x.file {
		case "late-ec2-wordcount":
			var computing lateBand
			computing, err = t.wordCount(ctx, &b, loads, x.runs)
			for n, note := range []*string{&native, &none} {
				*note += fmt.Sprintf(" The paper does not say how much of the time is the processor's, which the machines of a host do not share (§5.1): "+
					"this average is without any, and with nothing else ours is %s. "+
					"Nor does it say how slow maps are 'which read data whose only replicas are on straggler nodes', of which a job has 0.45 here.",
					rangeOf("%.2f", computing.mean[n]))
			}
		case "late-ec2-grep":
			var light lateBand
			light, err = t.lateBand(ctx, f, []float64{3}, x.runs)
			none += fmt.Sprintf(" Stragglers are as slow as in §5.2.2, because the paper says 'background load as above'; "+
				"if they were 3 times slower, ours would be %s.", rangeOf("%.2f", light.mean[1]))
		case "late-ec2-sort":
			native += lateCopies
		case "late-local-sort":
			native, none = native+lateCopies, none+lateNeighbours
		}
		if err != nil {
			return err
		}
		t.assume(slices.Concat(why, []string{b.open}, assumedIn(f))...)
		t.band(x.section, x.what+": LATE faster than Hadoop native by", x.hadoop, b.over[0], native)
		than := x.what + ": LATE faster than no speculation by"
		if x.file == loadFile {
			t.baseline(x.section, than, x.none, mid(b.mean[1]), 0.22, "The stragglers' load is solved for it.")
			continue
		}
		t.band(x.section, than, x.none, b.over[1], none)
	}
	return nil
}

// wordCount adds to the band of WordCount that of jobs that only compute, and returns that band, too.
func (t *table) wordCount(ctx context.Context, b *lateBand, loads []float64, runs int) (computing lateBand, err error) {
	processor, err := clusterFile("late-ec2-wordcount-processor")
	if err != nil {
		return computing, err
	}
	if computing, err = t.lateBand(ctx, processor, loads, runs); err != nil {
		return computing, err
	}
	for n := range b.over {
		b.over[n] = append(b.over[n], computing.over[n]...)
	}
	return computing, nil
}

// loadFile is the cluster of the experiment for which the paper gives the effect of the stragglers' load.
const loadFile = "late-ec2-stragglers"

// lateLoads returns how many times slower the stragglers of a file are, with the reason. In §5.2.2 itself, the 220 % over no
// speculation and the 58 % over native speculation are averages of the same four runs. Other experiments had a 'background load
// as above', of which the paper says that 'disabling speculative tasks caused the cluster to perform 2 to 4 times slower than it
// did with LATE'.
func (t *table) lateLoads(ctx context.Context, f *workload.File) (loads []float64, why []string, err error) {
	slower := []float64{2, 4}
	switch {
	case len(f.Cluster.Slow) == 0:
		return []float64{1}, nil, nil
	case f.Name == loadFile:
		slower = []float64{1 + 2.20}
	}
	for _, s := range slower {
		load, err := solved(t.solved, fmt.Sprint("load of stragglers for ", s), func() (float64, error) { return t.stragglerLoad(ctx, s) })
		if err != nil {
			return nil, nil, err
		}
		loads = append(loads, load)
	}
	return loads, []string{fmt.Sprintf("Stragglers are %s times slower, so that in §5.2.2 jobs without speculation take %s times as long as with LATE.",
		rangeOf("%.1f", loads), rangeOf("%.1f", slower))}, nil
}

// stragglerLoad returns how many times slower stragglers are if jobs of five minutes take the given number of times as long
// without speculation as under the shipped LATE.
func (t *table) stragglerLoad(ctx context.Context, slower float64) (float64, error) {
	f, err := clusterFile(loadFile)
	if err != nil {
		return 0, err
	}
	late, err := named("late", "heartbeat", lateHeartbeat)
	if err != nil {
		return 0, err
	}
	none, err := named("none")
	if err != nil {
		return 0, err
	}
	low, high := 1.0, 24.0
	for range 7 {
		factor := (low + high) / 2
		took, err := t.lateBeside(ctx, f, lateSetting{load: factor, minutes: 5, copying: lateCopying[1]}, late, none)
		if err != nil {
			return 0, err
		}
		if sum(took[1])/sum(took[0]) > slower {
			high = factor
		} else {
			low = factor
		}
	}
	return (low + high) / 2, nil
}

// loaded returns a file with stragglers slower by the given factor.
func loaded(f *workload.File, factor float64) *workload.File {
	g := *f
	g.Cluster.Slow = slices.Clone(f.Cluster.Slow)
	for i := range g.Cluster.Slow {
		g.Cluster.Slow[i].Factor = factor
	}
	return &g
}

// lateSetting is what the paper leaves open: how many times slower stragglers are, how many minutes a job takes under Hadoop's
// own speculation without them, and the share of a reduce's time spent on copying.
type lateSetting struct{ load, minutes, copying float64 }

// lateBand is the result of an experiment over what the paper leaves open.
type lateBand struct {
	mean   [2][]float64 // how much faster LATE is than Hadoop's own speculation, and than none, on average
	over   [2][]float64 // the bounds of 90 % of the averages of as many runs as in the paper
	native []float64    // how many times as long a job takes without speculation as under Hadoop's own
	open   string       // what it is over
}

// lateBand runs an experiment for every setting, with stragglers slower by the given loads.
func (t *table) lateBand(ctx context.Context, f *workload.File, loads []float64, runs int) (b lateBand, err error) {
	late, err := t.policy("late", "heartbeat", lateHeartbeat)
	if err != nil {
		return b, err
	}
	hadoop, err := nativeHadoop()
	if err != nil {
		return b, err
	}
	none, err := named("none")
	if err != nil {
		return b, err
	}
	for _, factor := range loads {
		for _, minutes := range lateMinutes {
			for _, copying := range lateCopying {
				took, err := t.lateBeside(ctx, f, lateSetting{factor, minutes, copying}, late, hadoop, none)
				if err != nil {
					return b, err
				}
				for n, than := range took[1:] {
					b.mean[n] = append(b.mean[n], sum(than)/sum(took[0])-1)
					b.over[n] = append(b.over[n], averagesOver(than, took[0], runs)...)
				}
				b.native = append(b.native, sum(took[2])/sum(took[1]))
			}
		}
	}
	b.open = fmt.Sprintf("The band is over jobs of %s min ('approximately 5 minutes', §5), reduces that copy for %s of their time (§3.2), "+
		"and 90 %% of the averages of %d runs ('some of the results had high variance', §5.2).",
		rangeOf("%g", lateMinutes), rangeOf("%.2f", lateCopying), runs)
	return b, nil
}

// averagesOver returns the bounds of the middle 90 % of how much longer some runs take than others, on average over a number of
// pairs of runs. Pairs have the same machines. They are drawn with replacement (bootstrap).
func averagesOver(longer, than []float64, runs int) []float64 {
	const draws = 1000
	r := rand.New(rand.NewPCG(uint64(runs), 11))
	ratios := make([]float64, draws)
	for n := range ratios {
		var a, b float64
		for range runs {
			k := r.IntN(len(than))
			a, b = a+longer[k], b+than[k]
		}
		ratios[n] = a/b - 1
	}
	slices.Sort(ratios)
	return []float64{ratios[draws/20], ratios[draws-draws/20]}
}

// lateBeside returns the completion times of a job under each of some policies, by run.
func (t *table) lateBeside(ctx context.Context, f *workload.File, x lateSetting, policies ...policy.Policy) (took [][]float64, err error) {
	hadoop, err := nativeHadoop()
	if err != nil {
		return nil, err
	}
	scale := 1.0
	for range 2 { // copies wait for a minute whatever a task takes, so times are not quite proportional
		runs, err := t.lateTimes(ctx, f, lateJob{1, scale, x.copying}, hadoop)
		if err != nil {
			return nil, err
		}
		m, _ := moments(runs)
		scale *= 60 * x.minutes / m
	}
	for _, p := range policies {
		runs, err := t.lateTimes(ctx, f, lateJob{x.load, scale, x.copying}, p)
		if err != nil {
			return nil, err
		}
		took = append(took, runs)
	}
	return took, nil
}

// lateJob is a job with the factor by which stragglers are slower, the factor of its tasks' durations over those in its file,
// and the share of its reduces' time spent on copying.
type lateJob struct{ load, scale, copying float64 }

// lateTimes returns the completion times of a job, s, by run. Each job is replayed once and its result shared.
func (t *table) lateTimes(ctx context.Context, f *workload.File, x lateJob, p policy.Policy) ([]float64, error) {
	return solved(t.solved, fmt.Sprint(f.Name, " with ", x, signature(p)), func() ([]float64, error) { return playLate(ctx, loaded(f, x.load), x, p) })
}

// lateRuns is how often a job is replayed: more often than in the paper, which has at most 7 runs, so that the spread of their
// averages can be estimated.
const lateRuns = 40

// playLate replays a job with lateRuns seeds, and returns its completion times.
func playLate(ctx context.Context, f *workload.File, x lateJob, p policy.Policy) (took []float64, err error) {
	for seed := range int64(lateRuns) {
		pl, err := f.Plan(ctx, seed, workload.Source{})
		if err != nil {
			return nil, err
		}
		serveSlowly(f, pl, x.load, seed)
		for _, j := range pl.Jobs {
			for _, f := range j.Phases {
				for n := range f.Tasks {
					all := f.Tasks[n].Seconds * x.scale
					f.Tasks[n].Seconds = all
					if len(f.After) > 0 {
						f.Tasks[n].Fetch, f.Tasks[n].Seconds = x.copying*all, (1-x.copying)*all
					}
				}
			}
		}
		pool, err := pl.Build()
		if err != nil {
			return nil, err
		}
		o, err := play(ctx, pool, "fifo", p, seed, 0.1, false)
		if err != nil {
			return nil, err
		}
		took = append(took, o.mean())
	}
	return took, nil
}

// serveSlowly slows a map down by the factor of a straggler, wherever it runs, if both replicas of its chunk are on stragglers:
// 'no scheduling algorithm can perform very well, because this chunk will be slow to serve' (§5.2.3), and HDFS keeps 'two
// replicas of each chunk' (§5). A job of WordCount has 336 · 8 · 7 / (204 · 203) = 0.45 such maps.
func serveSlowly(f *workload.File, pl *workload.Plan, load float64, seed int64) {
	slow := 0
	for _, s := range f.Cluster.Slow {
		slow += s.Machines
	}
	r := rand.New(rand.NewPCG(uint64(seed), 5))
	for _, j := range pl.Jobs {
		for n := range j.Phases[0].Tasks {
			first, second := r.IntN(f.Cluster.Machines), r.IntN(f.Cluster.Machines-1)
			if first < slow && second < slow-1 { // of the remaining machines, one fewer is slow
				j.Phases[0].Tasks[n].Seconds *= load
			}
		}
	}
}
