package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

const s = replay.Second

// outputs returns a log of one phase: output n is made by attempt n; attempts that make one again follow.
func outputs(made []workload.Made, lost ...workload.Lost) (*workload.Outputs, []int64) {
	took := make([]int64, len(made)+len(lost))
	for n := range made {
		made[n].Attempt = int32(n)
		took[n] = int64(made[n].Took)
	}
	for n := range lost {
		lost[n].Again = int32(len(made) + n)
		took[len(made)+n] = int64(made[lost[n].Of].Took)
	}
	return &workload.Outputs{Made: made, Lost: lost, Reads: make([][]int32, 1)}, took
}

// Machine 1 has lost one of its three outputs when the third is made: P(loss) is 1/3. It takes 10 s to make and 1 s to
// copy, and the budget, a tenth of the 2.5 GB read by then, has its 125 MB. When it is lost it need not be made again.
func TestProtectCopies(t *testing.T) {
	made := []workload.Made{
		{Machine: 1, At: 10 * s, Took: 10 * s, Read: 1e9, Bytes: 125e6},
		{Machine: 1, At: 11 * s, Took: 10 * s, Read: 1e9, Bytes: 125e6},
		{Machine: 1, At: 30 * s, Took: 10 * s, Read: 5e8, Bytes: 125e6},
	}
	o := protectDefaults
	o.Onset = 0
	log, took := outputs(made, workload.Lost{Of: 0, At: 20 * s}, workload.Lost{Of: 2, At: 40 * s})
	o.shorten(log, took)
	if want := []int64{10e6, 10e6, 10e6, 10e6, 0}; !slices.Equal(took, want) {
		t.Errorf("durations %v, want %v", took, want)
	}
	for _, c := range []struct {
		what   string
		change func(*Protect)
	}{
		{"without copies", func(o *Protect) { o.Replicate = false }},
		{"a smaller budget", func(o *Protect) { o.Share = 0.04 }},
		{"a slow network", func(o *Protect) { o.Bandwidth = 125e6 / 4 }}, // 4 s to copy, 1/3 of 10 s to gain
	} {
		own := o
		c.change(&own)
		log, took := outputs(made, workload.Lost{Of: 0, At: 20 * s}, workload.Lost{Of: 2, At: 40 * s})
		if own.shorten(log, took); took[4] != 10e6 {
			t.Errorf("%s: made again in %d µs, want all of its 10 s", c.what, took[4])
		}
	}
}

// A join's output takes 10 s to make and 3.5 s to copy. Machine 1, where it is, has lost one of its five outputs, machine 0
// half of its four, on which the join's inputs of 20 s are, one of each of its phases: the longest of both is waited for, 0.75
// · 20 s, so that it is not worth its copy where both would be waited for in turn; and it is worth less where the inputs have
// copies.
func TestProtectJoin(t *testing.T) {
	made := []workload.Made{
		{Machine: 0, At: 1 * s, Took: 20 * s, Read: 1e9}, {Machine: 0, At: 1 * s, Took: 20 * s, Read: 1e9}, // phase 0
		{Machine: 1, At: 1 * s, Took: 20 * s, Read: 1e9}, {Machine: 1, At: 1 * s, Took: 20 * s, Read: 1e9}, {Machine: 1, At: 1 * s, Took: 20 * s, Read: 1e9}, {Machine: 1, At: 1 * s, Took: 20 * s, Read: 1e9},
		{Phase: 1, Machine: 0, At: 30 * s, Took: 20 * s}, {Phase: 2, Machine: 0, At: 30 * s, Took: 20 * s},
		{Phase: 3, Machine: 1, At: 60 * s, Took: 10 * s},
	}
	for n := range made {
		made[n].Bytes = 1e12 // too many to copy
	}
	for _, c := range []struct {
		inputs, join int64 // bytes
		want         bool
	}{
		{1e12, 125e6 * 49 / 10, true}, {1e12, 125e6 * 51 / 10, false}, // 0.2 · (10 + 0.75 · 20) = 5 s
		// lost with a copy, 3/9 of which are, 0.5/3 each: 0.2 · (10 + 0.306 · 20) = 3.2 s
		{1, 125e6 * 30 / 10, true}, {1, 125e6 * 34 / 10, false},
	} {
		made[6].Bytes, made[7].Bytes, made[8].Bytes = c.inputs, c.inputs, c.join
		o := protectDefaults
		o.Onset, o.Share = 0, 1
		log, took := outputs(slices.Clone(made), workload.Lost{Of: 0, At: 20 * s}, workload.Lost{Of: 1, At: 20 * s}, workload.Lost{Of: 2, At: 20 * s}, workload.Lost{Of: 8, At: 70 * s})
		log.Reads = [][]int32{nil, nil, nil, {1, 2}}
		if got := o.shorten(log, took).copied[8]; got != c.want {
			t.Errorf("a join of %d bytes with inputs of %d is copied: %v, want %v", c.join, c.inputs, got, c.want)
		}
	}
}

// A first loss at 20 s makes the machine's other output again, which is there at 30 s: a reader at 26 s waits 4 s for it,
// one at 35 s not at all. With an onset of two, or outside of the budget, all is as in the log.
func TestProtectEarly(t *testing.T) {
	made := []workload.Made{
		{Machine: 0, At: 10 * s, Took: 10 * s, Bytes: -1},
		{Machine: 0, At: 11 * s, Took: 10 * s, Bytes: -1},
		{Machine: 1, At: 12 * s, Took: 10 * s, Bytes: -1},
	}
	o := protectDefaults
	o.Early = 1
	for _, c := range []struct {
		at    replay.Time
		onset int
		early float64
		want  int64
	}{{26 * s, 1, 1, 4e6}, {35 * s, 1, 1, 0}, {35 * s, 2, 1, 10e6}, {35 * s, 0, 1, 10e6}, {35 * s, 1, 0.1, 10e6}} {
		o.Onset, o.Early = c.onset, c.early
		log, took := outputs(made, workload.Lost{Of: 0, At: 20 * s}, workload.Lost{Of: 1, At: c.at}, workload.Lost{Of: 2, At: 50 * s})
		x := o.shorten(log, took)
		if took[3] != 10e6 || took[4] != c.want || took[5] != 10e6 {
			t.Errorf("read at %v with an onset of %d and a budget of %v: made again in %v, want 10 s, %d µs, 10 s", c.at, c.onset, c.early, took[3:], c.want)
		}
		if !x.slots.Spend(0) {
			t.Error("more slot time spent than granted")
		}
	}
}

// Told of outputs and losses one after the other, as in a planned cluster, it protects the same outputs as in a log of them.
func TestProtectLive(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 10))
		var made []workload.Made
		for n := range 40 {
			made = append(made, workload.Made{Machine: r.Int32N(4), At: replay.Time(n) * s, Took: replay.Time(1+r.IntN(20)) * s, Read: r.Int64N(1e9), Bytes: r.Int64N(2e8)})
		}
		log, took := outputs(slices.Clone(made))
		for n := range made {
			if r.IntN(4) == 0 {
				log.Lost = append(log.Lost, workload.Lost{Of: int32(n), Again: int32(len(took)), At: made[n].At + s/2})
				took = append(took, int64(made[n].Took))
			}
		}
		o := protectDefaults
		o.Early = 1
		want := o.shorten(log, took)
		p, err := (&workload.Plan{Jobs: []workload.PlanJob{{Phases: []workload.PlanPhase{{Tasks: []workload.PlanTask{{Seconds: 1}}}}}},
			Machines: []workload.PlanMachine{{Slots: [workload.Classes]int{1}, Losses: []workload.PlanLoss{{At: 1, Share: 1}}}}}).Build()
		if err != nil {
			t.Fatal(err)
		}
		live := o.protector(p)
		early, next := map[int32]bool{}, 0
		for n, m := range made {
			if got := live.Made(m); got != want.copied[n] && int32(n) <= log.Lost[len(log.Lost)-1].Of {
				t.Fatalf("seed %d: output %d is copied: %v, in a log %v", seed, n, got, want.copied[n])
			}
			if next < len(log.Lost) && log.Lost[next].Of == int32(n) {
				for _, again := range live.Lost(int32(n), m.At+s/2, want.copied[n] || early[int32(n)], func(int32) bool { return true }) {
					early[again] = true
				}
				next++
			}
		}
		for n := range want.early {
			if lost := slices.ContainsFunc(log.Lost, func(l workload.Lost) bool { return l.Of == int32(n) }); !lost && early[int32(n)] != (want.early[n] > 0) {
				t.Errorf("seed %d: output %d is made early: %v, in a log %v", seed, n, early[int32(n)], want.early[n] > 0)
			}
		}
	}
}

// On random logs nothing takes longer than in the log, originals take as long, and what becomes known after a loss
// changes nothing about it.
func TestProtectSeesNoFuture(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		var made []workload.Made
		for n := range 5 + r.IntN(40) {
			made = append(made, workload.Made{Machine: r.Int32N(4), At: replay.Time(n) * s, Took: replay.Time(1+r.IntN(20)) * s, Read: r.Int64N(1e9), Bytes: r.Int64N(2e8) - 1})
		}
		var lost []workload.Lost
		for n := range made {
			if r.IntN(4) == 0 {
				lost = append(lost, workload.Lost{Of: int32(n), At: made[n].At + replay.Time(r.IntN(10))*s})
			}
		}
		slices.SortStableFunc(lost, func(a, b workload.Lost) int { return int(a.At - b.At) })
		if len(lost) == 0 {
			continue
		}
		log, took := outputs(slices.Clone(made), slices.Clone(lost)...)
		before := slices.Clone(took)
		protectDefaults.shorten(log, took)
		for a := range took {
			if took[a] > before[a] || a < len(made) && took[a] != before[a] {
				t.Fatalf("seed %d: attempt %d takes %d, %d in the log", seed, a, took[a], before[a])
			}
		}
		k := r.IntN(len(lost))
		past := slices.DeleteFunc(slices.Clone(made), func(m workload.Made) bool { return m.At > lost[k].At })
		log, short := outputs(past, slices.Clone(lost[:k+1])...)
		protectDefaults.shorten(log, short)
		if !slices.Equal(short[len(past):], took[len(made):len(made)+k+1]) {
			t.Fatalf("seed %d: %v, and %v without what came after", seed, took[len(made):len(made)+k+1], short[len(past):])
		}
	}
}
