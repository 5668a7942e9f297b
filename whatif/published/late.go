package published

import (
	"context"
	"fmt"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

func latePaper() Paper {
	return Paper{Name: "LATE", Title: "Zaharia et al., Improving MapReduce Performance in Heterogeneous Environments, OSDI 2008",
		parts: []part{lateArithmetic, lateSlowNode, lateSensitivity, latePacked, lateClusters}}
}

func lateArithmetic(_ context.Context, t *table) error {
	t.rule("§3.2", "share of reducers done at which all others, at one third, fall under Hadoop's threshold", 0.30, hadoopFallsAt(), 0.005,
		"Solved for; the paper says 'about 30 %'.")
	t.rule("§4.1", "time left of B (2x slow at 10 %) over that of A (5x slow at 90 %); above 1 B goes first", 3.6,
		policy.TimeLeft(0.1, 0.1*2)/policy.TimeLeft(0.9, 0.9*5), 1e-9, "1.8 and 0.5 of the time of a normal task; the paper says that B goes first.")
	// A task whose progress grows by 5 %/s to 50 % and by 1 %/s from there, observed after 20 s and after 10 s.
	score := func(age float64) float64 {
		if age <= 10 {
			return 0.05 * age
		}
		return 0.5 + 0.01*(age-10)
	}
	t.rule("§4.2", "estimated time left of T1 (s)", 13.3, policy.TimeLeft(score(20), 20), 0.05, "")
	t.rule("§4.2", "estimated time left of T2 (s)", 10, policy.TimeLeft(score(10), 10), 0, "The wrong order, because T2 ends after T1.")
	return nil
}

// hadoopFallsAt returns the smallest share s of finished reducers at which 1/3 is below the average s + (1 − s)/3 minus 0.2.
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
	pool, err := draw(ctx, f, 1)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		threshold, what string
		published       float64
	}{{"0", "without SlowNodeThreshold", 5.8}, {"0.25", "with SlowNodeThreshold", 4}} {
		p, err := t.policy("late", "slow_node", x.threshold)
		if err != nil {
			return err
		}
		o, err := play(ctx, pool, "fifo", p, 1, 0, false)
		if err != nil {
			return err
		}
		t.replayed("§5.4.3", "job of 32 tasks on 12 nodes "+x.what+" (min)", x.published, o.mean()/60, 0.02, "Progress is exact.")
	}
	return nil
}

// lateHeartbeat is how often machines ask for work under both schedulers, s. Hadoop had this interval when the paper was written,
// in versions 0.16 to 0.19, on clusters of fewer than 250 machines (MRConstants.HEARTBEAT_INTERVAL_MIN,
// JobTracker.getNextHeartbeatInterval).
const lateHeartbeat = "5"

// nativeHadoop returns Hadoop's own speculation at that interval.
func nativeHadoop() (policy.Policy, error) { return named("hadoop", "heartbeat", lateHeartbeat) }

// sleeping is §5.4.1's result for a policy: response times and wasted times per node, s.
type sleeping struct{ took, wasted []float64 }

// sleep runs it.
func (t *table) sleep(ctx context.Context, f *workload.File, name string, options ...string) (sleeping, error) {
	p, err := t.policy(name, options...)
	if err != nil {
		return sleeping{}, err
	}
	return solved(t.solved, f.Name+" sleeps under "+signature(p), func() (sleeping, error) { return sleep(ctx, f, p) })
}

func sleep(ctx context.Context, f *workload.File, p policy.Policy) (x sleeping, err error) {
	for seed := range int64(25) {
		pool, err := draw(ctx, f, seed)
		if err != nil {
			return x, err
		}
		o, err := play(ctx, pool, "fifo", p, seed, 0.03, false)
		if err != nil {
			return x, err
		}
		x.took, x.wasted = append(x.took, 15+o.mean()), append(x.wasted, o.waste/40)
	}
	return x, nil
}

// lateSensitivity is §5.4.1 and figure 10.
func lateSensitivity(ctx context.Context, t *table) error {
	f, err := clusterFile("late-sleep")
	if err != nil {
		return err
	}
	t.assume(assumedIn(f)...)
	none, err := t.sleep(ctx, f, "none")
	if err != nil {
		return err
	}
	hadoop, err := t.sleep(ctx, f, "hadoop", "heartbeat", lateHeartbeat)
	if err != nil {
		return err
	}
	m, _ := moments(none.took)
	t.baseline("§5.4.1", "no speculation (s)", 745, m, 40, "")
	hadoopTook, sd := moments(hadoop.took)
	t.rebuilt("§5.4.1", "Hadoop native speculation (s)", 247, hadoopTook, 2*22, "The tolerance is two of the paper's standard deviations.")
	t.baseline("§5.4.1", "its standard deviation over runs (s)", 22, sd, 11, "")
	hadoopWaste, sd := moments(hadoop.wasted)
	t.rebuilt("§5.4.1", "its wasted time per node (s)", 35, hadoopWaste, 2*16, "The tolerance is two of the paper's standard deviations.")
	t.baseline("§5.4.1", "standard deviation of that (s)", 16, sd, 8, "")
	var took, wasted [6]float64
	for n, share := range []string{"0.025", "0.05", "0.1", "0.2", "0.5", "1"} {
		x, err := t.sleep(ctx, f, "late", "heartbeat", lateHeartbeat, "cap", share)
		if err != nil {
			return err
		}
		took[n], _ = moments(x.took)
		wasted[n], _ = moments(x.wasted)
	}
	t.baseline("§5.4.1", "LATE at cap 20 % over Hadoop: response time is better (1) or not (0)", 1, better(took[3], hadoopTook), 0,
		fmt.Sprintf("Ours %.0f s against %.0f s. Copying any tasks is better than Hadoop's speculation here, too.", took[3], hadoopTook))
	t.rebuilt("§5.4.1", "LATE at cap 20 % over Hadoop: wasted time is better (1) or not (0)", 1, better(wasted[3], hadoopWaste), 0,
		fmt.Sprintf("Ours %.0f s against %.0f s a node. Most of it is the time of originals on slow machines, which both policies kill; "+
			"the paper does not say when its tasks were killed.", wasted[3], hadoopWaste))
	t.rebuilt("§5.4.1", "figure 10: response time drops sharply from cap 10 % to 20 % (1) or not (0)", 1, better(took[3], 0.85*took[2]), 0,
		fmt.Sprintf("Caps 2.5, 5, 10, 20, 50, 100 %%: %.0f, %.0f, %.0f, %.0f, %.0f, %.0f s.", took[0], took[1], took[2], took[3], took[4], took[5]))
	t.rebuilt("§5.4.1", "figure 10: more time is wasted at a cap of 10 % than of 20 % (1) or not (0)", 1, better(wasted[3], wasted[2]), 0,
		fmt.Sprintf("'Because while fewer speculative tasks are launched, the job runs longer': here it takes %.0f s instead of %.0f, "+
			"too little to waste more than fewer copies save (ours %.0f and %.0f s a node). The paper's times at each cap are in a figure only.",
			took[2], took[3], wasted[2], wasted[3]))
	t.baseline("§5.4.1", "figure 10: it stays low from there on: worst of 50 and 100 % over 20 %",
		1, max(took[4], took[5])/took[3], 0.15, "So does a policy that does nothing.")
	return nil
}
