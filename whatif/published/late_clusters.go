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
	note := "it checks that tasks are slower by the ratio of the write speeds of table 2, 61.8 and 24.8 MB/s, unless others of their host are idle; " +
		"the Sort lost more than dd did; the paper packed 100 machines onto 13 hosts, which are 7.7 to a host; "
	for _, name := range []string{"late-ec2-alone", "late-ec2-packed"} {
		f, err := clusterFile(name)
		if err != nil {
			return err
		}
		mean, err := t.lateMean(ctx, f, lateJob{1, 1, lateCopying[1]}, none)
		if err != nil {
			return err
		}
		took = append(took, mean)
		note += assumedIn(f) + ". "
	}
	t.baseline("§5.1.2", "Sort of 100 GB on machines that share hosts by seven: "+
		"time over that on machines with their own", 1094./408, took[1]/took[0], 0.3, note)
	return nil
}

// lateCopying is the share of a reduce's time spent on copying: of its three phases 'the copy phase [...] is the slowest'
// (§3.2), so it takes at least a third, and all in the example there.
var lateCopying = []float64{1. / 3, 2. / 3, 1}

// lateMinutes is how long the jobs take under Hadoop's own speculation if no straggler is loaded: 'approximately 5 minutes'
// (§5).
var lateMinutes = []float64{4, 6}

// lateExperiment is a comparison of §5.2 and §5.3.
type lateExperiment struct {
	file, section, what string
	hadoop, none        float64 // how much faster LATE was
}

var lateExperiments = []lateExperiment{
	{"late-ec2-sort", "§5.2.1", "heterogeneous EC2", 0.27, 0.31},
	{loadFile, "§5.2.2", "EC2 with stragglers, Sort", 0.58, 2.20},
	{"late-ec2-grep", "§5.2.3", "EC2 with stragglers, Grep", 0.36, 0.57},
	{"late-ec2-wordcount", "§5.2.3", "EC2 with stragglers, WordCount", 0.085, 1.79},
	{"late-local-sort", "§5.3.2", "local heterogeneous", 1.62, 1.04},
	{"late-local-stragglers", "§5.3.2", "local with stragglers", 0.53, 1.21},
}

// lateCopies is about the experiments in which the paper's LATE gains more over native speculation than over none, or nearly as
// much.
const lateCopies = "the paper explains this with 'unnecessary copying' that overloads the network (§3.2), and does not say how much bandwidth a copy took: " +
	"here a copy only takes its share of its machine and its host; not modelled: a network that all copies share, and that a machine runs no more " +
	"attempts than there are unfinished tasks per machine (JobTracker.getNewTaskForTaskTracker in Hadoop 0.17); "

// lateClusters is §5.2 and §5.3: clusters of virtual machines that share their hosts' disks with working ones. The paper does
// not give the network load of copies.
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
		b, err := t.lateBand(ctx, f, loads)
		if err != nil {
			return err
		}
		cause := fmt.Sprintf("with native speculation jobs are %.2f to %.2f times as fast as without any here, "+
			"and %.2f times in the paper; ", slices.Min(b.native), slices.Max(b.native), (1+x.none)/(1+x.hadoop))
		switch x.file {
		case "late-ec2-wordcount":
			cause, err = t.wordCount(ctx, &b, loads)
		case "late-ec2-grep":
			var light lateBand
			light, err = t.lateBand(ctx, f, []float64{3})
			cause = fmt.Sprintf("stragglers are as slow as in §5.2.2, because the paper says 'background load as above'; "+
				"if they were 3 times slower, ours over none would be %.2f to %.2f; ", slices.Min(light.over[1]), slices.Max(light.over[1])) + cause
		case "late-ec2-sort", "late-local-sort":
			cause += lateCopies
		}
		if err != nil {
			return err
		}
		note := cause + why + b.note
		t.band(x.section, x.what+": LATE faster than Hadoop native by", x.hadoop, b.over[0], note)
		if x.file == loadFile {
			t.baseline(x.section, x.what+": LATE faster than no speculation by", x.none, mid(b.over[1]), 0.22, "the stragglers' load is solved for it; "+note)
			continue
		}
		t.band(x.section, x.what+": LATE faster than no speculation by", x.none, b.over[1], note)
	}
	return nil
}

// wordCount adds to the band of WordCount that of jobs that only compute, and returns the cause of what differs.
func (t *table) wordCount(ctx context.Context, b *lateBand, loads []float64) (string, error) {
	processor, err := clusterFile("late-ec2-wordcount-processor")
	if err != nil {
		return "", err
	}
	alone, err := t.lateBand(ctx, processor, loads)
	if err != nil {
		return "", err
	}
	b.over[0], b.over[1] = append(b.over[0], alone.over[0]...), append(b.over[1], alone.over[1]...)
	return "'the slowest mappers will be those which read data whose only replicas are on straggler nodes', and they are equally slow under both; " +
		"a job has 336 · 8 · 7 / (204 · 203) = 0.45 of them here; the paper does not say how slowly stragglers serve chunks with one replica on them; " +
		fmt.Sprintf("the paper does not say how much of the time is the processor's, which the machines of a host do not share (§5.1): "+
			"the values below have none of it, and with all of it ours is %.2f over native and %.2f over none; ", alone.over[0], alone.over[1]), nil
}

// loadFile is the experiment for which the paper gives the effect of the stragglers' load.
const loadFile = "late-ec2-stragglers"

// lateLoads returns how many times slower the stragglers of a file are, with the reason. In §5.2.2 itself, the 220 % over no
// speculation and the 58 % over native speculation are averages of the same four runs. Other experiments had a 'background load
// as above', of which the paper says that 'disabling speculative tasks caused the cluster to perform 2 to 4 times slower than it
// did with LATE'.
func (t *table) lateLoads(ctx context.Context, f *workload.File) (loads []float64, why string, err error) {
	slower := []float64{2, 4}
	switch {
	case len(f.Cluster.Slow) == 0:
		return []float64{1}, "", nil
	case f.Name == loadFile:
		slower = []float64{1 + 2.20}
	}
	for _, s := range slower {
		load, err := solved(t.solved, fmt.Sprint("load of stragglers for ", s), func() (float64, error) { return t.stragglerLoad(ctx, s) })
		if err != nil {
			return nil, "", err
		}
		loads = append(loads, load)
	}
	return loads, fmt.Sprintf("with stragglers %.1f times slower, "+
		"for which jobs without speculation take %.1f times as long as with LATE in §5.2.2; ", loads, slower), nil
}

// stragglerLoad returns how many times slower stragglers are if jobs of five minutes take the given number of times as long
// without speculation as under the shipped LATE.
func (t *table) stragglerLoad(ctx context.Context, slower float64) (float64, error) {
	f, err := clusterFile(loadFile)
	if err != nil {
		return 0, err
	}
	late, err := named("late")
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
		mean, err := t.lateBeside(ctx, f, lateSetting{load: factor, minutes: 5, copying: lateCopying[1]}, late, none)
		if err != nil {
			return 0, err
		}
		if mean[1]/mean[0] > slower {
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
	over   [2][]float64 // how much faster LATE is than Hadoop's own speculation, and than none
	native []float64    // how many times as long a job takes without speculation as under Hadoop's own
	note   string
}

// lateBand runs it.
func (t *table) lateBand(ctx context.Context, f *workload.File, loads []float64) (b lateBand, err error) {
	late, err := t.policy("late")
	if err != nil {
		return b, err
	}
	hadoop, err := named("hadoop")
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
				mean, err := t.lateBeside(ctx, f, lateSetting{factor, minutes, copying}, late, hadoop, none)
				if err != nil {
					return b, err
				}
				hadoop, none := mean[1]/mean[0]-1, mean[2]/mean[0]-1
				b.over[0], b.over[1] = append(b.over[0], hadoop), append(b.over[1], none)
				b.native = append(b.native, mean[2]/mean[1])
			}
		}
	}
	b.note = fmt.Sprintf("band: over native %.2f, over none %.2f, for jobs of %g min ('approximately 5 minutes', "+
		"§5) and reduces that copy for %.2f of their time (§3.2); ", b.over[0], b.over[1], lateMinutes, lateCopying)
	b.note += assumedIn(f)
	return b, nil
}

// lateBeside returns the mean completion time of a job under each of some policies.
func (t *table) lateBeside(ctx context.Context, f *workload.File, x lateSetting, policies ...policy.Policy) (mean []float64, err error) {
	hadoop, err := named("hadoop")
	if err != nil {
		return nil, err
	}
	scale := 1.0
	for range 2 { // copies wait for a minute whatever a task takes, so times are not quite proportional
		m, err := t.lateMean(ctx, f, lateJob{1, scale, x.copying}, hadoop)
		if err != nil {
			return nil, err
		}
		scale *= 60 * x.minutes / m
	}
	for _, p := range policies {
		m, err := t.lateMean(ctx, f, lateJob{x.load, scale, x.copying}, p)
		if err != nil {
			return nil, err
		}
		mean = append(mean, m)
	}
	return mean, nil
}

// lateJob is a job with the factor by which stragglers are slower, the factor of its tasks' durations over those in its file,
// and the share of its reduces' time spent on copying.
type lateJob struct{ load, scale, copying float64 }

// lateMean returns the mean completion time of a job, s. Each job is replayed once and its result shared.
func (t *table) lateMean(ctx context.Context, f *workload.File, x lateJob, p policy.Policy) (float64, error) {
	return solved(t.solved, fmt.Sprint(f.Name, " with ", x, signature(p)), func() (float64, error) { return playLate(ctx, loaded(f, x.load), x, p) })
}

// playLate replays a job, with enough runs to leave little to chance (the paper has 4 to 7).
func playLate(ctx context.Context, f *workload.File, x lateJob, p policy.Policy) (mean float64, err error) {
	const runs = 12
	for seed := range int64(runs) {
		pl, err := f.Plan(ctx, seed, workload.Source{})
		if err != nil {
			return 0, err
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
			return 0, err
		}
		o, err := play(ctx, pool, "fifo", p, seed, 0.1, false)
		if err != nil {
			return 0, err
		}
		mean += o.mean() / runs
	}
	return mean, nil
}

// serveSlowly slows a map down by the factor of a straggler, wherever it runs, if both replicas of its chunk are on stragglers:
// 'no scheduling algorithm can perform very well, because this chunk will be slow to serve' (§5.2.3), and HDFS keeps 'two
// replicas of each chunk' (§5).
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
