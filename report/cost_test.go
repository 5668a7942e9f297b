package report

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/engine"
	"straggler/report/reporttest"
	"straggler/schema"
)

// A chain loses what its phases lose; parallel phases lose until the next longest path becomes critical.
func TestJobLoss(t *testing.T) {
	tests := []struct {
		name     string
		nodes    []phaseNode
		edges    [][2]int
		lost     float64
		critical []int
	}{
		{"no phases", nil, nil, 0, nil},
		{"one", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 4}}, nil, 4, []int{0}},
		{"chain with a gap", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 4}, {phase: 2, start: 12, finish: 20, lost: 3}},
			[][2]int{{0, 1}}, 7, []int{0, 1}},
		{"unrelated phases that overlap", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 4}, {phase: 2, start: 8, finish: 20, lost: 3}}, nil, 3, []int{1}},
		{"a phase without edges waits for what ended before it",
			[]phaseNode{{phase: 1, start: 0, finish: 10, lost: 4}, {phase: 2, start: 12, finish: 20, lost: 3}}, nil, 7, []int{0, 1}},
		{"the shorter branch decides", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 6}, {phase: 2, start: 0, finish: 8, lost: 0},
			{phase: 3, start: 10, finish: 15, lost: 1}}, [][2]int{{0, 2}, {1, 2}}, 3, []int{0, 2}},
		{"a branch that nobody waits for", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 0}, {phase: 2, start: 0, finish: 8, lost: 7}}, nil, 0, []int{0}},
		{"overlap, as reducers that start early",
			[]phaseNode{{phase: 1, start: 0, finish: 10, lost: 4}, {phase: 2, start: 6, finish: 15, lost: 0}}, [][2]int{{0, 1}}, 4, []int{0, 1}},
		{"edges back in time mean nothing", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 4},
			{phase: 2, start: 12, finish: 20, lost: 0}}, [][2]int{{1, 0}, {0, 1}}, 4, []int{0, 1}},
		{"lost more than it took", []phaseNode{{phase: 1, start: 0, finish: 10, lost: 40}}, nil, 10, []int{0}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			l := jobLoss(tc.nodes, tc.edges)
			if math.Abs(l.lostS-tc.lost) > 1e-9 {
				t.Errorf("lost %v, want %v", l.lostS, tc.lost)
			}
			for i, c := range l.critical {
				if c != slices.Contains(tc.critical, i) {
					t.Errorf("phase %d critical: %v", i, c)
				}
			}
		})
	}
}

// For any job: the shares of phases sum to its loss, which is at most the loss on its critical path; a phase that loses more
// never makes the job lose less; the order of the rows does not matter; doubling the times doubles the loss.
func TestJobLossLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		nodes, edges := randomJob(rng)
		l := jobLoss(nodes, edges)
		sum, path := 0.0, 0.0
		for i := range nodes {
			sum += l.costs[i]
			if l.critical[i] {
				path += nodes[i].lost
			}
		}
		if math.Abs(sum-l.lostS) > 1e-9 {
			t.Fatalf("phases share %v of %v", sum, l.lostS)
		}
		if l.lostS < 0 || l.lostS > path+1e-9 {
			t.Fatalf("lost %v, and the critical path %v", l.lostS, path)
		}
		more := slices.Clone(nodes)
		more[rng.IntN(len(more))].lost += 1
		if m := jobLoss(more, edges); m.lostS < l.lostS-1e-9 {
			t.Fatalf("a phase that loses more makes the job lose less: %v, then %v", l.lostS, m.lostS)
		}
		twice := slices.Clone(nodes)
		for i := range twice {
			twice[i].start, twice[i].finish, twice[i].lost = 2*twice[i].start, 2*twice[i].finish, 2*twice[i].lost
		}
		if m := jobLoss(twice, edges); math.Abs(m.lostS-2*l.lostS) > 1e-9 {
			t.Fatalf("twice the times: %v, then %v", l.lostS, m.lostS)
		}
		perm := rng.Perm(len(nodes))
		shuffled := make([]phaseNode, len(nodes))
		for i, p := range perm {
			shuffled[p] = nodes[i]
		}
		moved := make([][2]int, len(edges))
		for i, e := range edges {
			moved[i] = [2]int{perm[e[0]], perm[e[1]]}
		}
		if m := jobLoss(shuffled, moved); math.Abs(m.lostS-l.lostS) > 1e-9 {
			t.Fatalf("in another order: %v, then %v", l.lostS, m.lostS)
		}
	}
}

func randomJob(rng *rand.Rand) ([]phaseNode, [][2]int) {
	n := 1 + rng.IntN(8)
	nodes := make([]phaseNode, n)
	var edges [][2]int
	for i := range nodes {
		start := 0.0
		for j := range i {
			if rng.IntN(3) == 0 {
				edges = append(edges, [2]int{j, i})
				start = max(start, nodes[j].finish)
			}
		}
		start += rng.Float64()
		d := 1 + 9*rng.Float64()
		nodes[i] = phaseNode{phase: schema.Key(i + 1), start: start, finish: start + d, lost: d * rng.Float64() * 0.9}
	}
	return nodes, edges
}

// Two slots, three waves: the outlier of the first wave costs what its slot's later tasks waited, less what the other slot
// takes over. With a single wave, queueing costs nothing.
func TestQueueLoss(t *testing.T) {
	waves := []timedTask{{0, 9, 8}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}, {4, 1, 0}}
	// as it was: slot 1 busy to 9, slot 2 runs the other five to 5; without: six tasks of 1 on two slots end at 3
	if got := queueLoss(waves); math.Abs(got-6) > 1e-12 {
		t.Errorf("lost %v, want 6", got)
	}
	if got := queueLoss([]timedTask{{0, 9, 8}, {0, 1, 0}, {0, 1, 0}}); got != 0 {
		t.Errorf("one wave lost %v by queueing", got)
	}
	if got := queueLoss(nil); got != 0 {
		t.Errorf("no tasks lost %v", got)
	}
}

// Removing more never loses less, the loss is at most the excess, and doubling the times doubles the loss.
func TestQueueLossLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		tasks := make([]timedTask, 1+rng.IntN(40))
		start, excess := 0.0, 0.0
		for i := range tasks {
			start += rng.ExpFloat64() / 4
			tasks[i] = timedTask{start: start, duration: 1 + rng.Float64()}
			if rng.IntN(5) == 0 {
				tasks[i].excess = 5 * rng.Float64()
				tasks[i].duration += tasks[i].excess
				excess += tasks[i].excess
			}
		}
		l := queueLoss(tasks)
		if l < 0 || l > excess+1e-9 {
			t.Fatalf("lost %v of %v s of excess", l, excess)
		}
		more, twice := slices.Clone(tasks), slices.Clone(tasks)
		for i := range tasks {
			more[i].excess += 0.5
			twice[i] = timedTask{2 * tasks[i].start, 2 * tasks[i].duration, 2 * tasks[i].excess}
		}
		if m := queueLoss(more); m < l-1e-9 {
			t.Fatalf("shorter tasks lose less: %v, then %v", l, m)
		}
		if m := queueLoss(twice); math.Abs(m-2*l) > 1e-9 {
			t.Fatalf("twice the times: %v, then %v", l, m)
		}
	}
}

// The shares of shares.sql are the Shapley value of the game in which a set of tasks wins what the phase would gain if just
// these took at most the median: the mean, over all orders of the tasks, of what each adds.
func TestSharesAreShapleyValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m := reporttest.NewTrace()
	job := m.Job(0, 100)
	var durations [][]float64
	for range 12 {
		d := make([]float64, 3+rng.IntN(4))
		for i := range d {
			d[i] = math.Round(1000*(1+4*rng.Float64()*rng.Float64())) / 1000
		}
		durations = append(durations, d)
		m.Phase(job, 0, d...)
	}
	for i := range m.Attempts { // tasks of one phase start at different times
		a := &m.Attempts[i]
		shift := math.Round(2000*rng.Float64()) / 1000
		a.StartTime.V, a.FinishTime.V = a.StartTime.V.Add(shift), a.FinishTime.V.Add(shift)
	}
	eng := reporttest.Stored(t, &m.Trace)
	reporttest.Check(t, eng.Materialize(context.Background(), "report_apps", "SELECT application_id FROM applications"))
	for _, name := range []string{"redone", "beaten"} {
		sql, err := files.ReadFile("sql/" + name + ".sql")
		reporttest.Check(t, err)
		reporttest.Check(t, eng.Materialize(context.Background(), "report_"+name, string(sql)))
	}
	sql, err := files.ReadFile("sql/shares.sql")
	reporttest.Check(t, err)
	got := map[schema.Key]float64{}
	for r, err := range engine.Read[shareRow](context.Background(), eng, string(sql)) {
		reporttest.Check(t, err)
		got[r.AttemptID] = r.ShareS
	}
	at := 0
	for _, d := range durations {
		tasks := m.Attempts[at : at+len(d)]
		at += len(d)
		for i, want := range shapley(tasks) {
			if math.Abs(got[tasks[i].AttemptID]-want) > 2e-6 {
				t.Errorf("phase %d task %d: share %v, Shapley value %v", tasks[i].PhaseID, i, got[tasks[i].AttemptID], want)
			}
		}
	}
	if len(got) == 0 {
		t.Error("no task has a share")
	}
}

// A stage that was resubmitted for lost outputs counts entirely as lost if it did nothing else; if it also ran tasks for the
// first time, only as far as these were slow.
func TestSubmittedAgain(t *testing.T) {
	for _, tc := range []struct {
		redone int // of three tasks of 10 s
		lost   float64
	}{{0, 0}, {1, 0}, {2, 0}, {3, 10}} {
		m := reporttest.NewTrace()
		job := m.Job(0, 20)
		m.Phase(job, 0, 10, 10, 10)
		again := m.Phase(job, 10, 10, 10, 10)
		for i := range m.Phases {
			if m.Phases[i].PhaseID == again {
				m.Phases[i].Attempt, m.Phases[i].Recompute = 1, tc.redone > 0
			}
		}
		n := 0
		for i := range m.Attempts {
			if a := &m.Attempts[i]; a.PhaseID == again && n < tc.redone {
				a.Recompute = true
				n++
			}
		}
		d, err := Build(context.Background(), reporttest.Stored(t, &m.Trace), Options{})
		reporttest.Check(t, err)
		if got := d.Cost.Loss.LostS.V; got != tc.lost {
			t.Errorf("%d of 3 tasks made a lost output again: %v s were lost, want %v", tc.redone, got, tc.lost)
		}
	}
}

// shapley tries all orders.
func shapley(tasks []schema.Attempt) []float64 {
	var d []float64
	for _, a := range tasks {
		d = append(d, a.DurationS.V)
	}
	slices.Sort(d)
	median := (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	end := func(fixed int) float64 {
		last := math.Inf(-1)
		for i, a := range tasks {
			took := a.DurationS.V
			if fixed&(1<<i) != 0 {
				took = min(took, median)
			}
			last = max(last, a.StartTime.V.Sub(reporttest.Origin)+took)
		}
		return last
	}
	sum := make([]float64, len(tasks))
	orders := 0
	var visit func(fixed int, order []int)
	visit = func(fixed int, order []int) {
		if len(order) == len(tasks) {
			orders++
			fixed = 0
			for _, i := range order {
				sum[i] += end(fixed) - end(fixed|1<<i)
				fixed |= 1 << i
			}
			return
		}
		for i := range tasks {
			if fixed&(1<<i) == 0 {
				visit(fixed|1<<i, append(order, i))
			}
		}
	}
	visit(0, nil)
	for i := range sum {
		sum[i] /= float64(orders)
	}
	return sum
}

// A job cannot lose more than its duration, whatever the times of its tasks are; its phases keep their shares.
func TestLossIsAtMostWhatTheJobTook(t *testing.T) {
	l := jobLoss([]phaseNode{{phase: 1, finish: 3000, lost: 3000}, {phase: 2, start: 3000, finish: 4000, lost: 1000}}, [][2]int{{0, 1}})
	l.atMost(5000)
	if l.lostS != 4000 || l.costs[0] != 3000 {
		t.Errorf("less than it took: %+v", l)
	}
	l.atMost(40)
	if l.lostS != 40 || math.Abs(l.costs[0]-30) > 1e-9 || math.Abs(l.costs[1]-10) > 1e-9 {
		t.Errorf("more than it took: %+v", l)
	}
}
