package live

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// In Freireich's trial of 1963, the example of the product-limit estimate in most textbooks on survival, the median remission
// under 6-MP is 23 weeks; over remissions that had ended it would be 10.
func TestCensoredMedian(t *testing.T) {
	ended := []float64{6, 6, 6, 7, 10, 13, 16, 22, 23}
	running := []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35}
	if m := censoredMedian(ended, running); m != 23 {
		t.Errorf("median %v, published 23", m)
	}
	if m := censoredMedian([]float64{1, 2, 3, 4, 5}, nil); m != 3 {
		t.Errorf("the median of 1 to 5 is %v", m)
	}
	if m := censoredMedian([]float64{1, 2}, []float64{2, 2, 2}); m == m {
		t.Errorf("the median is %v though most still run", m)
	}
}

// Beyond a sample the tail is Pareto's: the median of the remaining time is 2^(1/β) − 1 of the elapsed time.
func TestBeyond(t *testing.T) {
	sample := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if got := beyond(sample, 100, 0.5); math.Abs(got-100*math.Pow(2, 1/1.259)) > 1e-9 {
		t.Errorf("beyond 100: %v", got)
	}
	for _, x := range []float64{0, 0.5, 3, 7.5, 10, 40} {
		last := x
		for q := 0.025; q < 1; q += 0.05 {
			at := beyond(sample, x, q)
			if at <= x || at < last {
				t.Errorf("the %v-quantile beyond %v is %v, after %v", q, x, at, last)
			}
			last = at
		}
	}
}

func paceOf(took, bytes []float64) *pace {
	slices.Sort(took)
	slices.Sort(bytes)
	return &pace{took: took, bytes: bytes, all: true}
}

// A copy does not help a task that reads as fast as the others but nine times as much. It helps one that reads at a ninth of
// their rate, and saves the remaining time less the duration of a task.
func TestGain(t *testing.T) {
	p := paceOf([]float64{9, 10, 10, 10, 11}, []float64{99, 100, 100, 100, 101})
	estimate := func(read, elapsed float64) guess {
		return p.expected(elapsed, "", 1, &past{}).given(p.bytesReport(read, elapsed, elapsed), elapsed, 0.05)
	}
	skewed := estimate(450, 45)
	if _, _, _, wins := p.gain(&skewed, 45, 0); wins >= mayHelp {
		t.Errorf("a copy of a task that reads 4.5 times the median by now wins with %v", wins)
	}
	slow := estimate(20, 18)
	mean, low, high, wins := p.gain(&slow, 18, 0)
	if want := 18*100/20 - 18 - 10.0; wins < 0.99 || math.Abs(mean-want) > 3 || !(low < mean && mean < high) {
		t.Errorf("a copy of a task that has read a fifth in 18 s: %v [%v, %v], wins %v; it would save %v s", mean, low, high, wins, want)
	}
	lag, _, _, _ := p.gain(&slow, 18, 5)
	if math.Abs(mean-lag-5) > 1e-9 {
		t.Errorf("5 s later a copy saves %v s less", mean-lag)
	}
}

// Estimates scale with time: they are the same in another unit.
func TestGainScales(t *testing.T) {
	for _, k := range []float64{1e-3, 60} {
		took := []float64{4, 5, 6, 7, 9}
		a := paceOf(slices.Clone(took), nil)
		for i := range took {
			took[i] *= k
		}
		b := paceOf(took, nil)
		// without a unit
		h := &past{all: []float64{0.9, 1, 1.1, 2.52, 4.03}, on: map[string][]float64{"m1": {2.11, 3.12, 4.13}}}
		ga, gb := a.byDuration(12, "m1", 1, h), b.byDuration(12*k, "m1", 1, h)
		ma, la, ha, wa := a.gain(&ga, 12, 0)
		mb, lb, hb, wb := b.gain(&gb, 12*k, 0)
		for _, x := range [][2]float64{{ma, mb}, {la, lb}, {ha, hb}} {
			if math.Abs(x[0]*k-x[1]) > 1e-9*k*(1+x[0]) {
				t.Errorf("times %v: %v becomes %v", k, x[0], x[1])
			}
		}
		if wa != wb {
			t.Errorf("times %v: wins %v and %v", k, wa, wb)
		}
	}
}

// The scatter of a basis equals the errors of its estimates, once enough are known.
func TestScatter(t *testing.T) {
	e := errorsOf{}
	for range enoughErrors {
		e.add(ByBytes, 300, 100)
	}
	if s := e.scatter(ByBytes); math.Abs(s-1.4826*math.Log(3)) > 1e-9 {
		t.Errorf("scatter %v", s)
	}
}

// Four tasks took 2 s and four took 1 s. For one that has run for 1.5 s, the four that took longer have the weight 4/(4+1),
// and the tail has the rest.
func TestWeightsOfLevels(t *testing.T) {
	p := paceOf([]float64{1, 1, 1, 1, 2, 2, 2, 2}, nil)
	g := p.byDuration(1.5, "m1", 1, &past{})
	if got, want := g.over(1.9), 4.0/5+math.Pow(1.5/1.9, tail)/5; math.Abs(got-want) > 1.0/quantiles {
		t.Errorf("it takes longer than 1.9 s with probability %v, not %v", got, want)
	}
	h := &past{all: []float64{1, 1.05}} // in units of the median, which is 1.5 s: 1.57 s
	g = p.byDuration(1.55, "m1", 1, h)
	if got, want := g.over(1.9), 4.0/5+math.Pow(1.55/1.9, tail)/5/2; math.Abs(got-want) > 1.0/quantiles {
		t.Errorf("where an earlier task ended soon after, it takes longer than 1.9 s with probability %v, not %v", got, want)
	}
	if !slices.IsSorted(g.total) || g.total[0] <= 1.55 {
		t.Errorf("the quantiles are %v", g.total)
	}
}

// The durations of tasks on a machine so far, including tasks killed when their copies ended, are what is expected there from
// the beginning, and on no other machine.
func TestTasksOfTheMachine(t *testing.T) {
	for _, killed := range []bool{false, true} {
		p := paceOf([]float64{10, 10, 10, 10, 10, 11, 11, 11, 11, 11}, nil)
		for i := range 30 {
			if seconds := 24 + float64(i)/10; killed {
				p.killed("slow", seconds)
				p.killed("other", 5) // an unnecessary copy
			} else {
				p.one("slow", seconds)
			}
		}
		h := &past{on: map[string][]float64{}}
		slow, other := p.byDuration(1, "slow", 1, h), p.byDuration(1, "other", 1, h)
		if slow.over(15) < sure || other.over(15) > 0.3 {
			t.Errorf("killed %t: a task is slow with probability %v there and %v elsewhere", killed, slow.over(15), other.over(15))
		}
		h.add(p)
		next := paceOf([]float64{100, 100, 100}, nil) // of a later phase that has no task there yet
		slow, other = next.byDuration(10, "slow", 1, h), next.byDuration(10, "other", 1, h)
		if slow.over(150) < sure || other.over(150) > 0.3 {
			t.Errorf("killed %t: in the next phase %v there and %v elsewhere", killed, slow.over(150), other.over(150))
		}
	}
}

// Beyond the limit every other task is dropped, so that the quantiles are preserved.
func TestPastIsBounded(t *testing.T) {
	h := &past{on: map[string][]float64{}}
	for range 30 {
		p := &pace{}
		for i := range 1000 {
			p.took = append(p.took, 1+float64(i)/1000)
		}
		h.add(p)
	}
	if n := len(h.all); n > mostPast || n < mostPast/4 {
		t.Fatalf("%d tasks are kept", n)
	}
	if m := median(h.all); math.Abs(m-1) > 0.01 {
		t.Errorf("the median is %v of the medians", m)
	}
}

// Tasks take as long as ten finished ones or, one in eleven, as long as the tail gives. Each reports once, at a time known to
// lie in the first 1.5 s or between 2.5 and 3 s. Of those predicted with a probability of 0.9 or more to take over 15 s, as
// many do; by their reports alone fewer than half would.
func TestReportsAreWeighed(t *testing.T) {
	const scatter, drawn = 0.1, 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	took := []float64{8, 8.5, 9, 9.5, 10, 10, 10.5, 11, 11.5, 12}
	said, were, alone, wereAlone := 0, 0, 0, 0
	for i := range drawn {
		total := took[rng.IntN(len(took))]
		if rng.IntN(len(took)+1) == 0 {
			total = 10 * math.Pow(rng.Float64(), -1/tail)
		}
		from, to := 0.0, 1.5
		if i%2 == 0 {
			from, to = 2.5, 3
		}
		done := (from + (to-from)*rng.Float64()) / total * math.Exp(scatter*rng.NormFloat64())
		p := paceOf(slices.Clone(took), nil)
		r := report{basis: ByProgress, from: from, to: to, whole: []float64{1 / done}}
		weighed, by := p.expected(to, "", 1, &past{}).given(r, to, scatter), r.alone(to, scatter)
		if weighed.over(15) >= sure {
			said++
			if total > 15 {
				were++
			}
		}
		if by.over(15) >= sure {
			alone++
			if total > 15 {
				wereAlone++
			}
		}
	}
	t.Logf("%d of %d are over 15 s, by their reports alone %d of %d", were, said, wereAlone, alone)
	if said < 50 || float64(were) < 0.9*float64(said) {
		t.Errorf("%d of %d that are said to be are over 15 s", were, said)
	}
	if float64(wereAlone) > 0.5*float64(alone) {
		t.Errorf("by their reports alone %d of %d are", wereAlone, alone)
	}
}
