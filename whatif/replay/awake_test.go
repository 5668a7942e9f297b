package replay_test

import (
	"math/rand/v2"
	"testing"

	"straggler/whatif/replay"
)

// sleeper puts attempts to sleep and wakes them at random, and notes in each whether it sleeps.
type sleeper struct {
	t            *testing.T
	r            *rand.Rand
	awake, sleep int // visits
}

func (p *sleeper) Look(v *replay.View, do *replay.Actions) replay.Again {
	running := v.Running()
	next := 0
	for i := range v.Awake() {
		for ; next < i; next++ {
			p.missed(v, next)
		}
		if next++; running[i].Note != 0 || v.Asleep(i) {
			p.t.Fatalf("attempt %d of %d is awake and sleeps", i, len(running))
		}
		p.awake++
		if p.r.IntN(3) == 0 {
			v.Sleep(i)
			running[i].Note = 1
		}
	}
	for ; next < len(running); next++ {
		p.missed(v, next)
	}
	for i := range running {
		switch p.r.IntN(10) {
		case 0:
			v.Wake(i)
			running[i].Note = 0
		case 1:
			do.Restart(running[i])
		case 2:
			do.Copy(running[i].Task)
		}
	}
	return replay.Again{At: v.Now() + replay.Second, End: p.r.IntN(4) == 0}
}

func (p *sleeper) missed(v *replay.View, i int) {
	p.sleep++
	if v.Running()[i].Note != 1 || !v.Asleep(i) {
		p.t.Fatalf("attempt %d of %d is awake and was not visited", i, len(v.Running()))
	}
}

// Awake yields the attempts that a policy has not put to sleep, whatever starts, ends and is killed in between.
func TestAwake(t *testing.T) {
	var s replay.Sim
	p := &sleeper{t: t, r: rand.New(rand.NewPCG(1, 1))}
	for n, tasks := range []int{1, 64, 65, 1000} { // of 200 slots
		if out := s.Run(tasksOf(tasks, 50, 4), replay.Options{Policy: p, Seed: int64(n)}); out.Err() != nil {
			t.Fatalf("%d tasks: %v", tasks, out.Err())
		}
	}
	if p.awake < 1000 || p.sleep < 1000 {
		t.Errorf("%d visits and %d attempts passed over say nothing", p.awake, p.sleep)
	}
}
