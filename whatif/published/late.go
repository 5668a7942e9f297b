package published

import (
	"context"
	"fmt"
	"math/rand/v2"

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

// lateSlowNode is §5.4.3: ten fast nodes that take a minute a task, X with 2.9 and Y with 10 minutes; 32 tasks.
func lateSlowNode(ctx context.Context, t *table) error {
	c := &scenario.Cluster{Machines: scenario.Uniform(12, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "map"}}}}}
	c.Machines[10].Factor, c.Machines[11].Factor = 2.9, 10
	for range 32 {
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: 60})
	}
	w := build(c)
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

// sleepCluster is §5.4: 40 machines with two reduce slots, a map phase of 15 s, reducers that sleep 100 times for
// U(0, 2t), t = 0.7 s × the factor of the machine. Factors: five machines 3, one 10, the rest 1 or 1.5.
//
// Assumed: half of the rest have 1.5; 72 reducers (90 % of the slots: the paper's Sort jobs leave that much free); the
// maps of the 15 s are all over when the reduces start, and are not slowed (only the reducers sleep by the factor).
func sleepCluster(seed uint64) *scenario.Cluster {
	r := rand.New(rand.NewPCG(seed, 54))
	c := &scenario.Cluster{Machines: scenario.Uniform(40, 2)}
	for m := range c.Machines {
		switch {
		case m < 5:
			c.Machines[m].Factor = 3
		case m == 5:
			c.Machines[m].Factor = 10
		case m%2 == 0:
			c.Machines[m].Factor = 1.5
		}
	}
	r.Shuffle(len(c.Machines), func(i, j int) { c.Machines[i], c.Machines[j] = c.Machines[j], c.Machines[i] })
	reduce := scenario.Phase{Kind: "reduce"}
	for range 72 {
		sum := 0.0
		for range 100 {
			sum += r.Float64() * 2 * 0.7
		}
		reduce.Tasks = append(reduce.Tasks, scenario.Task{Seconds: sum})
	}
	c.Jobs = []scenario.Job{{Phases: []scenario.Phase{reduce}}}
	return c
}

const sleepNote = "rebuilt: 72 reducers on 40 machines × 2 slots, half of the normal machines at 1.5, assumed; plus 15 s of maps"

func lateSensitivity(ctx context.Context, t *table) error {
	type figure struct{ took, wasted []float64 }
	run := func(name string, options ...string) (f figure, err error) {
		p, err := named(name, options...)
		if err != nil {
			return f, err
		}
		for seed := range int64(25) {
			o, err := play(ctx, build(sleepCluster(uint64(seed))), p, seed, 0.03)
			if err != nil {
				return f, err
			}
			f.took = append(f.took, 15+o.mean())
			f.wasted = append(f.wasted, o.waste/40)
		}
		return f, nil
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

// lateClusters is §5.2 and §5.3: clusters of virtual machines that share their hosts' disks, from tables 2 to 5.
func lateClusters(ctx context.Context, t *table) error {
	const ec2 = "copies cost no bandwidth here, which is where Hadoop loses most in the paper (assumption 3 of its §3); rebuilt from tables 2 and 3: a machine's factor is the write speed alone on a host over that under its load; maps of 60 s and reduces of 120 s alone (assumed: jobs take about 5 min)"
	const stragglers = ec2 + "; 8 stragglers at a fifth of their speed (one disk writer among five, assumed)"
	const local = "rebuilt from tables 4 and 5, the rest as on EC2; two stragglers at a fifth of their speed (assumed)"
	for _, x := range []struct {
		what, note   string
		cluster      func(uint64) *scenario.Cluster
		hadoop, none float64
		section      string
	}{
		{"heterogeneous EC2", ec2, func(s uint64) *scenario.Cluster { return sortJob(s, ec2Machines(s, 243, 0), 486, 437) }, 0.27, 0.31, "§5.2.1"},
		{"EC2 with stragglers, Sort", stragglers, func(s uint64) *scenario.Cluster { return sortJob(s, ec2Machines(s, 100, 8), 200, 180) }, 0.58, 2.20, "§5.2.2"},
		{"local heterogeneous", local, func(s uint64) *scenario.Cluster { return sortJob(s, localMachines(s, 0), 30, 27) }, 1.62, 1.04, "§5.3.2"},
		{"local with stragglers", local, func(s uint64) *scenario.Cluster { return sortJob(s, localMachines(s, 2), 30, 27) }, 0.53, 1.21, "§5.3.2"},
	} {
		var mean [3]float64
		for n, name := range []string{"late", "hadoop", "none"} {
			p, err := named(name)
			if err != nil {
				return err
			}
			for seed := range uint64(7) {
				o, err := play(ctx, build(x.cluster(seed)), p, int64(seed), 0.1)
				if err != nil {
					return err
				}
				mean[n] += o.mean() / 7
			}
		}
		t.rebuilt(x.section, x.what+": LATE faster than Hadoop native by", x.hadoop, mean[1]/mean[0]-1, x.hadoop/2, x.note)
		t.rebuilt(x.section, x.what+": LATE faster than no speculation by", x.none, mean[2]/mean[0]-1, x.none/2, x.note)
	}
	return nil
}

// load is a level of a table: so many virtual machines share a host, each with that write speed.
type load struct {
	machines  int
	speed, sd float64 // MB/s
}

var (
	// Tables 2 (speeds) and 3 (mix of the 243 machines).
	ec2Loads = []load{{40, 61.8, 4.9}, {40, 56.5, 10.0}, {45, 53.6, 11.2}, {40, 46.4, 11.9}, {40, 34.2, 7.9}, {24, 25.4, 2.5}, {14, 24.8, 0.9}}
	// Tables 4 and 5.
	localLoads = []load{{5, 52.1, 13.7}, {6, 20.9, 2.7}, {4, 10.1, 1.1}}
)

func machinesOf(r *rand.Rand, loads []load, n, stragglers int) []scenario.Machine {
	var all []scenario.Machine
	for _, l := range loads {
		for range l.machines {
			speed := max(l.speed+l.sd*r.NormFloat64(), l.speed/3)
			all = append(all, scenario.Machine{Slots: 2, Factor: loads[0].speed / speed})
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:n]
	for m := range stragglers {
		all[m].Factor *= 5
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func ec2Machines(seed uint64, n, stragglers int) []scenario.Machine {
	return machinesOf(rand.New(rand.NewPCG(seed, 52)), ec2Loads, n, stragglers)
}

func localMachines(seed uint64, stragglers int) []scenario.Machine {
	return machinesOf(rand.New(rand.NewPCG(seed, 53)), localLoads, 15, stragglers)
}

// sortJob is a Sort: maps, then reduces.
func sortJob(seed uint64, machines []scenario.Machine, maps, reduces int) *scenario.Cluster {
	r := rand.New(rand.NewPCG(seed, 55))
	phases := []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}
	for p, n := range []int{maps, reduces} {
		for range n {
			phases[p].Tasks = append(phases[p].Tasks, scenario.Task{Seconds: float64(60+60*p) * (0.9 + 0.2*r.Float64())})
		}
	}
	return &scenario.Cluster{Machines: machines, Jobs: []scenario.Job{{Phases: phases}}}
}
