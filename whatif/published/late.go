package published

import (
	"context"
	"fmt"

	"straggler/whatif/policy"
	"straggler/whatif/scenario"
)

func latePaper() Paper {
	return Paper{Name: "LATE", Title: "Zaharia et al., Improving MapReduce Performance in Heterogeneous Environments, OSDI 2008",
		parts: []part{lateArithmetic, lateSlowNode, lateSensitivity, lateClusters}}
}

func lateArithmetic(_ context.Context, t *table) error {
	t.add("§3.2", "share of reducers done at which all others, at one third, fall under Hadoop's threshold", 0.30, hadoopFallsAt(), 0.005,
		"solved for; the paper says 'about 30 %'")
	t.add("§4.1", "time left of B (2x slow at 10 %) over that of A (5x slow at 90 %); above 1 B goes first", 3.6,
		policy.TimeLeft(0.1, 0.1*2)/policy.TimeLeft(0.9, 0.9*5), 1e-9, "1.8 against 0.5 of a normal task; the paper says that B is first")
	// A task whose progress grows by 5 %/s to 50 % and by 1 %/s from there, looked at after 20 s and after 10 s.
	score := func(age float64) float64 {
		if age <= 10 {
			return 0.05 * age
		}
		return 0.5 + 0.01*(age-10)
	}
	t.add("§4.2", "progress of T1, started at 0 s, looked at 20 s", 0.60, score(20), 0, "")
	t.add("§4.2", "estimated time left of T1 (s)", 13.3, policy.TimeLeft(score(20), 20), 0.05, "")
	t.add("§4.2", "progress of T2, started at 10 s", 0.50, score(10), 0, "")
	t.add("§4.2", "estimated time left of T2 (s)", 10, policy.TimeLeft(score(10), 10), 0, "the wrong order: T2 ends after T1")
	return nil
}

// hadoopFallsAt is the smallest share s of finished reducers at which 1/3 is under the average s + (1 − s)/3 minus 0.2.
func hadoopFallsAt() float64 {
	for n := range 1001 {
		s := float64(n) / 1000
		if 1.0/3 < policy.HadoopThreshold(s+(1-s)/3, 0.2) {
			return s
		}
	}
	return 1
}

// lateSlowNode is §5.4.3.
func lateSlowNode(ctx context.Context, t *table) error {
	f, err := clusterFile("late-slow-node")
	if err != nil {
		return err
	}
	w, err := draw(f, 0)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		threshold, what string
		published       float64
	}{{"0", "without SlowNodeThreshold", 5.8}, {"0.25", "with SlowNodeThreshold", 4}} {
		p, err := named("late", "slow_node", x.threshold)
		if err != nil {
			return err
		}
		o, err := play(ctx, w, p, 1, 0)
		if err != nil {
			return err
		}
		t.add("§5.4.3", "job of 32 tasks on 12 nodes "+x.what+" (min)", x.published, o.mean()/60, 0.02, "replayed; exact progress")
	}
	return nil
}

// lateSensitivity is §5.4.1 and figure 10.
func lateSensitivity(ctx context.Context, t *table) error {
	f, err := clusterFile("late-sleep")
	if err != nil {
		return err
	}
	sleepNote := assumedIn(f)
	type figure struct{ took, wasted []float64 }
	run := func(name string, options ...string) (x figure, err error) {
		p, err := named(name, options...)
		if err != nil {
			return x, err
		}
		for seed := range int64(25) {
			w, err := draw(f, uint64(seed))
			if err != nil {
				return x, err
			}
			o, err := play(ctx, w, p, seed, 0.03)
			if err != nil {
				return x, err
			}
			x.took = append(x.took, 15+o.mean())
			x.wasted = append(x.wasted, o.waste/40)
		}
		return x, nil
	}
	none, err := run("none")
	if err != nil {
		return err
	}
	hadoop, err := run("hadoop")
	if err != nil {
		return err
	}
	m, _ := moments(none.took)
	t.rebuilt("§5.4.1", "no speculation (s)", 745, m, 40, sleepNote)
	hadoopTook, sd := moments(hadoop.took)
	t.rebuilt("§5.4.1", "Hadoop native speculation (s)", 247, hadoopTook, 2*22, sleepNote+"; tolerance: two of the paper's standard deviations")
	t.rebuilt("§5.4.1", "its standard deviation over runs (s)", 22, sd, 22, sleepNote)
	hadoopWaste, sd := moments(hadoop.wasted)
	t.rebuilt("§5.4.1", "its wasted time per node (s)", 35, hadoopWaste, 2*16, sleepNote)
	t.rebuilt("§5.4.1", "standard deviation of that (s)", 16, sd, 16, sleepNote)
	var took, wasted [6]float64
	for n, share := range []string{"0.025", "0.05", "0.1", "0.2", "0.5", "1"} {
		f, err := run("late", "cap", share)
		if err != nil {
			return err
		}
		took[n], _ = moments(f.took)
		wasted[n], _ = moments(f.wasted)
	}
	t.rebuilt("§5.4.1", "LATE at cap 20 % over Hadoop: response time is better (1) or not (0)", 1, better(took[3], hadoopTook), 0,
		fmt.Sprintf("ours %.0f s against %.0f s", took[3], hadoopTook))
	t.rebuilt("§5.4.1", "LATE at cap 20 % over Hadoop: wasted time is better (1) or not (0)", 1, better(wasted[3], hadoopWaste), 0,
		fmt.Sprintf("ours %.0f s against %.0f s a node: killing the ten originals of the 3x machines and the two of the faulty one costs that much whoever does it; %s", wasted[3], hadoopWaste, sleepNote))
	t.rebuilt("§5.4.1", "figure 10: response time drops sharply from cap 10 % to 20 % (1) or not (0)", 1, better(took[3], 0.85*took[2]), 0,
		fmt.Sprintf("caps 2.5, 5, 10, 20, 50, 100 %%: %.0f, %.0f, %.0f, %.0f, %.0f, %.0f s; %s", took[0], took[1], took[2], took[3], took[4], took[5], sleepNote))
	t.rebuilt("§5.4.1", "figure 10: it stays low from there on: worst of 50 and 100 % over 20 %", 1, max(took[4], took[5])/took[3], 0.15, sleepNote)
	return nil
}

// lateClusters is §5.2 and §5.3: clusters of virtual machines that share their hosts' disks.
func lateClusters(ctx context.Context, t *table) error {
	for _, x := range []struct {
		file, section, what string
		hadoop, none        float64 // how much faster LATE was
	}{
		{"late-ec2-sort", "§5.2.1", "heterogeneous EC2", 0.27, 0.31},
		{"late-ec2-stragglers", "§5.2.2", "EC2 with stragglers, Sort", 0.58, 2.20},
		{"late-ec2-grep", "§5.2.3", "EC2 with stragglers, Grep", 0.36, 0.57},
		{"late-ec2-wordcount", "§5.2.3", "EC2 with stragglers, WordCount", 0.085, 1.79},
		{"late-local-sort", "§5.3.2", "local heterogeneous", 1.62, 1.04},
		{"late-local-stragglers", "§5.3.2", "local with stragglers", 0.53, 1.21},
	} {
		f, err := clusterFile(x.file)
		if err != nil {
			return err
		}
		mean, err := lateBeside(ctx, f)
		if err != nil {
			return err
		}
		t.rebuilt(x.section, x.what+": LATE faster than Hadoop native by", x.hadoop, mean[1]/mean[0]-1, x.hadoop/2, assumedIn(f))
		t.rebuilt(x.section, x.what+": LATE faster than no speculation by", x.none, mean[2]/mean[0]-1, x.none/2, assumedIn(f))
	}
	return nil
}

// lateBeside is the mean completion time under LATE, Hadoop's own speculation and none, over runs enough to
// leave little to luck (the paper has 4 to 7).
func lateBeside(ctx context.Context, f *scenario.File) (mean [3]float64, err error) {
	const runs = 25
	for n, name := range []string{"late", "hadoop", "none"} {
		p, err := named(name)
		if err != nil {
			return mean, err
		}
		for seed := range uint64(runs) {
			w, err := draw(f, seed)
			if err != nil {
				return mean, err
			}
			o, err := play(ctx, w, p, int64(seed), 0.1)
			if err != nil {
				return mean, err
			}
			mean[n] += o.mean() / runs
		}
	}
	return mean, nil
}
