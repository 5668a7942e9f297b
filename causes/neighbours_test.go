package causes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
	"straggler/stats"
)

// A slow link of one machine makes tasks on others wait: all of those that start together ask it for blocks. Where one of the
// others is slow by itself, its tasks wait and are slow. In these clusters waits come from how tasks share the link, so that
// the wait of one depends on what the others do, which is not so in synth's.

// slowLink is the link that is slow in such a cluster.
type slowLink int

const (
	uplinkOfAll  slowLink = iota // of a machine from which all tasks take their share of the input
	uplinkOfSome                 // of a machine from which some tasks take most of their input
	downlink                     // to a machine: its tasks read over it, and requests of others queue behind what they read
	rackDownlink                 // to a rack, likewise
	noLink
	slowLinks
)

// neighbours is a drawn cluster, what it runs, and the truth about that.
type neighbours struct {
	rng            *rand.Rand
	link           slowLink
	racks          []string
	factor         []float64 // of the machines; one is bad
	slots          int
	slow           int // the machine with the slow link
	noise, chance  float64
	phases         []*fit.Phase
	seconds        map[schema.Key]map[schema.Cause]float64 // of what was injected
	labels         map[schema.Key][]label                  // as the lab of real Spark gives them: shared waits have none
	now            float64
	next           schema.Key
	usual, input   float64 // of a stage: s of a usual task, kB that it reads
	capacity, wait float64 // of the slow link: kB/s, and s that a request waits at it where it is full
	reads          bool    // the stage reads from other machines
}

// linkedTask is a task while it runs.
type linkedTask struct {
	*fit.Task
	start, toFetch, waited, leastWait, body float64
	slot                                    int
	running, ofSome                         bool
}

func drawNeighbours(seed uint64) *neighbours {
	n := &neighbours{rng: rand.New(rand.NewPCG(seed, 99)), seconds: map[schema.Key]map[schema.Cause]float64{}, labels: map[schema.Key][]label{}, next: 1}
	n.link = slowLink(n.rng.IntN(int(slowLinks)))
	machines, racks := 6+n.rng.IntN(10), 2+n.rng.IntN(2)
	n.slots = 2 + n.rng.IntN(2)
	for k := range machines {
		n.racks, n.factor = append(n.racks, fmt.Sprintf("r%d", k*racks/machines)), append(n.factor, 1)
	}
	order := n.rng.Perm(machines)
	n.slow = order[1]
	if n.rng.Float64() < 0.85 {
		n.factor[order[0]] = n.between(1.5, 3)
	}
	n.noise, n.chance = n.between(0.05, 0.15), n.between(0, 0.04)
	for stage := range 3 + n.rng.IntN(4) {
		n.usual, n.input, n.reads = n.between(1, 3), n.between(100, 600), stage%2 == 1 || n.rng.Float64() < 0.3
		n.wait = n.between(0.3, 2)
		switch n.link {
		case uplinkOfAll, uplinkOfSome: // carries the shares of a wave in half to four times what a task takes
			n.capacity = n.input * float64(n.slots) / (n.usual * n.between(0.5, 4))
		case downlink: // carries half to three inputs meanwhile
			n.capacity = n.input / n.usual * n.between(0.5, 3)
		default:
			n.capacity = 2 * n.input / n.usual * n.between(0.5, 3)
		}
		n.runStage(40 + n.rng.IntN(80))
	}
	return n
}

func (n *neighbours) between(low, high float64) float64 { return low + (high-low)*n.rng.Float64() }

// behind reports whether a machine reads over the slow downlink.
func (n *neighbours) behind(machine int64) bool {
	return n.link == downlink && int(machine) == n.slow || n.link == rackDownlink && n.racks[machine] == n.racks[n.slow]
}

// runStage runs the tasks of a stage on all slots, in steps of a hundredth of a second; those that read over the slow link
// share it.
func (n *neighbours) runStage(tasks int) {
	const step = 0.01
	p := &fit.Phase{ID: n.next, Tasks: make([]fit.Task, tasks)}
	all := make([]*linkedTask, tasks)
	for i := range all {
		all[i] = &linkedTask{Task: &p.Tasks[i], ofSome: n.link == uplinkOfSome && n.rng.Float64() < 0.08}
	}
	started, last := 0, 0.0
	start := func(slot int, at float64) {
		if started < tasks {
			n.start(all, started, slot, at, p.ID)
			started++
		}
	}
	for slot := range len(n.factor) * n.slots {
		start(slot, 0.003*float64(slot))
	}
	for at, done := 0.0, 0; done < tasks; at += step {
		flows := map[int64]float64{} // on each link that is slow
		link := func(l *linkedTask) int64 {
			if n.link == downlink {
				return l.Machine
			}
			return 0
		}
		for _, l := range all {
			if l.running && l.toFetch > 0 {
				flows[link(l)]++
			}
		}
		for _, l := range all {
			switch {
			case !l.running:
			case l.toFetch > 0:
				l.toFetch -= n.capacity / flows[link(l)] * step
				l.waited += step
			case l.waited < l.leastWait:
				l.waited += step
			case l.body > step:
				l.body -= step
			default:
				l.running = false
				l.Wait = math.Round(1000*l.waited) / 1000
				l.Duration = at + step - l.start + l.Delay + l.Convert
				n.seconds[l.Attempt][schema.Network] = l.Wait
				last = max(last, l.start+l.Duration)
				done++
				start(l.slot, at+step)
			}
		}
	}
	n.now += last + 1
	causestest.DetectIn(p)
	n.phases = append(n.phases, p)
}

// start starts task i of a stage, and draws what it takes.
func (n *neighbours) start(all []*linkedTask, i, slot int, at float64, phase schema.Key) {
	l, machine := all[i], int64(slot%len(n.factor))
	share := 1 / float64(len(n.factor))
	*l.Task = fit.Task{Attempt: n.next, Phase: phase, Index: int64(i), Machine: machine, Start: schema.Some(schema.Time(1.7e15).Add(n.now + at)),
		Succeeded: true, Excess: nan, Bytes: math.Round(1000 * n.input), Records: math.Round(10 * n.input * n.between(0.98, 1.02)),
		Remote: math.Round(1000 * n.input * (1 - share)), Written: 1e5, CPU: nan, Away: nan, Delay: n.between(0.005, 0.02), Convert: n.between(0.002, 0.008)}
	n.next++
	l.start, l.slot, l.running = at, slot, true
	ordinary := n.usual * math.Exp(n.noise*n.rng.NormFloat64())
	factor, transient := n.factor[machine], 0.0
	if n.rng.Float64() < n.chance {
		transient = ordinary * factor * n.between(1, 3)
	}
	l.body = ordinary*factor + transient
	n.seconds[l.Attempt] = map[schema.Cause]float64{schema.BadMachine: ordinary * (factor - 1), schema.Transient: transient}
	say := func(c schema.Cause, is bool, strength float64) {
		if is {
			n.labels[l.Attempt] = append(n.labels[l.Attempt], label{Cause: c, Strength: strength})
		}
	}
	say(schema.BadMachine, factor > 1, factor)
	say(schema.Transient, transient > 0, 1+transient/(ordinary*factor))
	if !n.reads {
		l.Remote = 0
		return
	}
	ofSlow := n.link <= uplinkOfSome && int(machine) != n.slow
	say(schema.Network, l.ofSome && ofSlow || n.behind(machine), 0)
	switch {
	case n.behind(machine):
		l.toFetch = (1 - share) * n.input
	case ofSlow && l.ofSome:
		l.toFetch = n.between(0.5, 0.9) * n.input
	case ofSlow:
		l.toFetch = share * n.input
	default:
		for _, o := range all {
			if o.running && o.toFetch > 0 && n.behind(o.Machine) {
				l.leastWait = n.wait * n.between(0.5, 1)
			}
		}
	}
}

// largest returns the injected cause of most of a task's excess, "-" where none is of a fifth; usual is the median wait.
func (n *neighbours) largest(t *fit.Task, usual float64) schema.Cause {
	of, most := schema.Cause("-"), 0.2*t.Excess
	for _, c := range []schema.Cause{schema.BadMachine, schema.Network, schema.Transient} {
		s := n.seconds[t.Attempt][c]
		if c == schema.Network {
			s -= usual
		}
		if s > most {
			of, most = c, s
		}
	}
	return of
}

// score attributes all phases, and counts the verdicts that are the cause of most seconds.
func (n *neighbours) score(name string) (run *labelled, outliers, largest int) {
	run = &labelled{name: name}
	l := model.NewLearner(3600, nil, n.racks)
	for _, p := range n.phases {
		l.Observe(p)
	}
	a := NewAttributor(l.Model())
	for _, p := range n.phases {
		found := verdicts(a.Attribute(p, nil))
		var durations, waits []float64
		for i := range p.Tasks {
			durations, waits = append(durations, p.Tasks[i].Duration), append(waits, p.Tasks[i].Wait)
		}
		median, usual := stats.Median(durations), stats.Median(waits)
		for i := range p.Tasks {
			t := &p.Tasks[i]
			o := observed{Attempt: t.Attempt, Stage: fmt.Sprint(p.ID), Task: t.Index, Machine: fmt.Sprint(t.Machine), Duration: t.Duration, Wait: t.Wait,
				labels: n.labels[t.Attempt], ratio: t.Duration / median, excess: t.Duration - median}
			if v, ok := found[t.Attempt]; ok {
				o.Cause, o.Confidence = schema.Some(v.Cause), v.Confidence
				outliers++
				if of := n.largest(t, usual); v.Cause == of || of == "-" && (v.Cause == schema.Transient || v.Cause == schema.UnexplainedCause) {
					largest++
				}
			}
			run.tasks = append(run.tasks, o)
		}
	}
	return run, outliers, largest
}

// TestNeighbours scores clusters in which a machine is bad and the link of another is slow, as the labelled runs are scored: a
// shared wait on a bad machine has the machine's label only. STRAGGLER_NEIGHBOURS=from:to draws others.
func TestNeighbours(t *testing.T) {
	from, to := uint64(5001), uint64(5100)
	if s := os.Getenv("STRAGGLER_NEIGHBOURS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d:%d", &from, &to); err != nil {
			t.Fatal("STRAGGLER_NEIGHBOURS is not from:to: ", s)
		}
	}
	total := newScores()
	outliers, largest := 0, 0
	for seed := from; seed <= to; seed++ {
		run, n, k := drawNeighbours(seed).score(fmt.Sprint(seed))
		total.score(run)
		outliers, largest = outliers+n, largest+k
	}
	bySeconds := float64(largest) / float64(outliers)
	t.Logf("%d outliers, the cause of most seconds named for %.4f\n%s%s", outliers, bySeconds, total, total.calibration())
	s := total.by["causes"]
	precision, recall, _, _ := s.f1(schema.Network)
	if s.macroF1() < 0.965 || precision < 0.9 || recall < 0.98 || bySeconds < 0.975 || s.accusedShare() >= 0.0005 {
		t.Errorf("macro-F1 %.4f; network: precision %.3f, recall %.3f; by seconds %.4f; %d of %d accused", s.macroF1(), precision,
			recall, bySeconds, s.accused, s.clean)
	}
}
