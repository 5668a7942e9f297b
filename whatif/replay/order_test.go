package replay

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// restless asks for the longest tasks first at its n-th look at a phase, just after a copy that waits, and restarts and copies
// attempts at random. It checks what the view returns for attempts against what it returns for their tasks.
type restless struct {
	t       *testing.T
	r       *rand.Rand
	at      int
	seen    map[int]int
	several int
}

func (p *restless) Look(v *View, do *Actions) Again {
	if p.seen[v.Phase()]++; p.seen[v.Phase()] == p.at {
		do.CopyFirst(int32(p.r.IntN(v.Tasks())))
		do.LongestFirst()
	}
	places := map[int32]int32{}
	running := v.Running()
	for i := range running {
		a := &running[i]
		n := 0
		for b := range v.Attempts(a.Task) {
			if b.Task != a.Task || v.Place(b) != v.Place(a) {
				p.t.Fatalf("attempt %d of task %d is one of task %d", b.Number, b.Task, a.Task)
			}
			n++
		}
		if v.CopiesOf(a) != n || v.Copies(a.Task) != n {
			p.t.Fatalf("%d and %d attempts run of a task of which %d do", v.CopiesOf(a), v.Copies(a.Task), n)
		}
		if n > 1 {
			p.several++
		}
		if task, ok := places[v.Place(a)]; v.Place(a) < 0 || int(v.Place(a)) >= v.Tasks() || ok && task != a.Task {
			p.t.Fatalf("tasks %d and %d of %d have place %d", task, a.Task, v.Tasks(), v.Place(a))
		}
		places[v.Place(a)] = a.Task
		switch p.r.IntN(20) {
		case 0:
			do.Restart(*a)
		case 1:
			do.CopyFirst(a.Task)
		case 2:
			do.Kill(*a)
		}
	}
	return Again{At: v.Now() + Second, End: p.r.IntN(4) == 0}
}

// What a policy is told of attempts and their tasks agrees, whenever it asks for the longest tasks first, and all jobs end.
func TestOrderedTasks(t *testing.T) {
	var s Sim
	several := 0
	for seed := range uint64(300) {
		for _, p := range workload.Build(workloadtest.FromTrace(newGen(seed).trace())).Pools {
			pol := &restless{t: t, r: rand.New(rand.NewPCG(seed, 1)), at: int(seed % 4), seen: map[int]int{}}
			out := s.Run(p, Options{Policy: pol, Seed: int64(seed)})
			if out.Err() != nil {
				t.Fatalf("seed %d: %v", seed, out.Err())
			}
			several += pol.several
		}
	}
	if several < 100 {
		t.Errorf("%d attempts beside another say nothing", several)
	}
}
