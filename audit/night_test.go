package audit

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// Values from R: trigamma(c(0.5, 1, 2, 10)); p.adjust(c(0.01, 0.04, 0.03, 0.5), "BH").
func TestPublishedValues(t *testing.T) {
	for x, want := range map[float64]float64{0.5: 4.934802200544679, 1: 1.644934066848226, 2: 0.6449340668482264, 10: 0.1051663356816857} {
		if got := trigamma(x); math.Abs(got-want) > 1e-7 {
			t.Errorf("trigamma(%v) = %v, want %v", x, got, want)
		}
		if got := trigammaInverse(want); math.Abs(got-x) > 1e-5*x {
			t.Errorf("trigammaInverse(%v) = %v, want %v", want, got, x)
		}
	}
	want := []float64{0.04, 0.16 / 3, 0.16 / 3, 0.5}
	for i, q := range discoveries([]float64{0.01, 0.04, 0.03, 0.5}) {
		if math.Abs(q-want[i]) > 1e-12 {
			t.Errorf("q[%d] = %v, want %v", i, q, want[i])
		}
	}
}

// A task that is slow by chance counts as one task, however slow it is; ten count as ten.
func TestTasksWorth(t *testing.T) {
	past := []measure.Values{{"excess_s": 100, "excess_sq": 100}, {"excess_s": 100, "excess_sq": 100}}
	for _, c := range []struct{ tasks, each, low, high float64 }{{1, 1000, 1, 1.3}, {1, 50, 1, 2}, {10, 50, 8, 13}, {0, 0, 0, 0}} {
		v := measure.Values{"excess_s": 100 + c.tasks*c.each, "excess_sq": 100 + c.tasks*c.each*c.each}
		g, ok := (&comparison{tonight: v, past: past}).tasksOf(excessSums, 1e-3, 0)
		if !ok || g.k < c.low || g.k > c.high {
			t.Errorf("%v tasks of %v s are worth %v", c.tasks, c.each, g.k)
		}
	}
}

// A session of a shell is not compared with other sessions of that shell, however many there are and whatever they did.
func TestSession(t *testing.T) {
	runs := audittest.Runs(7)
	runs[6].Values["failed"] = 100
	for _, session := range []bool{false, true} {
		runs[6].Session = session
		n, err := Judge(runs[6:], &baseline.Baseline{Runs: runs[:6]}, DefaultConfig(), Options{Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if j := n.Runs[0]; j.Session != session || (len(j.Findings) == 0) != session || (j.History == 0) != session {
			t.Errorf("session %t: %d findings, %d runs of history", session, len(j.Findings), j.History)
		}
	}
}

// A finding is new, then ongoing however often its night is added to the baseline, then fixed; once accepted, it is normal.
func TestLifeOfAFinding(t *testing.T) {
	cfg := DefaultConfig()
	good, bad := audittest.Runs(7), audittest.Runs(7)
	for i := range bad {
		bad[i].Values["failed"] = 100
		bad[i].Start = good[i].Start
	}
	at := func(i int) string { return good[i].Start }
	audit := func(r measure.Run, b *baseline.Baseline, o Options) *Night {
		o.Now = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		n, err := Judge([]measure.Run{r}, b, cfg, o)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	b := baselineOf(good[:5], 30)
	first := audit(bad[5], b, Options{})
	if first.Failing != 1 || first.Findings()[0].Rule != "failed_attempts" || first.Findings()[0].Status != New || first.Findings()[0].First != at(5) {
		t.Fatalf("%+v", first.Findings())
	}
	first.Update(b, cfg)
	id := first.Findings()[0].ID
	for day := range 8 {
		r := bad[6]
		r.Start = time.Date(2026, 1, 10+day, 0, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05Z")
		n := audit(r, b, Options{})
		if n.Failing != 1 || n.Findings()[0].Status != Ongoing || n.Findings()[0].First != at(5) {
			t.Fatalf("night %d: %+v", day, n.Findings())
		}
		n.Update(b, cfg)
	}
	back := good[6]
	back.Start = "2026-01-30T00:00:00Z"
	fixed := audit(back, b, Options{})
	if fixed.Failing != 0 || fixed.Summary[Fixed] != 1 {
		t.Errorf("%+v", fixed.Findings())
	}
	again := bad[6]
	again.Start = back.Start
	accepted := audit(again, b, Options{Accept: []string{id}, Reason: "known"})
	if accepted.Failing != 0 || len(accepted.Accepted) != 1 || accepted.Accepted[0].From != at(5) || len(b.Open) != 0 {
		t.Errorf("%+v, %+v", accepted.Findings(), accepted.Accepted)
	}
	if _, err := Judge(nil, b, cfg, Options{Accept: []string{"F0"}}); !errors.Is(err, ErrNoFinding) {
		t.Errorf("accepted what is not there: %v", err)
	}
}

// With too few runs the audit is learning, and fails only if told to.
func TestLearning(t *testing.T) {
	runs := audittest.Runs(5)
	runs[4].Values["failed"] = 100
	for _, c := range []struct {
		history int
		told    bool
		failing int
	}{{0, true, 0}, {1, true, 0}, {4, false, 0}, {4, true, 1}} {
		cfg := DefaultConfig()
		cfg.FailWhileLearning = c.told
		n := assessed(assess(runs[4:], baselineOf(runs[4-c.history:4], 30), cfg, Options{}))
		if !n.Runs[0].Learning || n.Failing != c.failing {
			t.Errorf("%+v: learning %v, %d failing", c, n.Runs[0].Learning, n.Failing)
		}
	}
}

// A comparison of two runs gives the sign of each difference.
func TestPair(t *testing.T) {
	runs := audittest.Runs(2)
	runs[1].Values["time_s"] = 2 * runs[0].Values["time_s"]
	runs[1].Stages[0].Stage = "another stage"
	p := Compare(&runs[0], &runs[1], DefaultConfig())
	if len(p.OnlyA) != 1 || len(p.OnlyB) != 1 {
		t.Errorf("only a %v, only b %v", p.OnlyA, p.OnlyB)
	}
	for _, d := range p.Differences {
		if d.Rule == "run_time" && (d.Change == nil || math.Abs(*d.Change-1) > 1e-4 || d.Q != nil) {
			t.Errorf("%+v", d)
		}
		if d.Rule == "stage_lost_time" && d.Q == nil {
			t.Errorf("no test: %+v", d)
		}
	}
}

func baselineOf(runs []measure.Run, keep int) *baseline.Baseline {
	b := &baseline.Baseline{}
	for _, r := range runs {
		b.Add(keep, r)
	}
	return b
}

// Where runs lose nothing, the interval of runs like them begins there, although every stage is slower tonight than it was.
func TestIntervalBeginsAtNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	program := audittest.NewProgram(random, 6, 100)
	var runs []measure.Run
	for i := range 7 {
		r := program.Night(random, i, -1, 1)
		for k := range r.Stages {
			v := r.Stages[k].Values
			if v["lost_s"] = 0; i == 6 {
				v["lost_s"], v["median_s"] = 30, 3*v["median_s"]
			}
		}
		runs = append(runs, r)
	}
	r, history := &runs[6], historyOf(&runs[6], pointers(runs), 30)
	all := compare(r, history, measure.Match(r, history), DefaultConfig(), func(string, *measure.Run) bool { return false })
	leaveOut(all, history)
	seen := false
	for i := range all {
		c := &all[i]
		if c.rule.Name != "stage_late" || !c.test() {
			continue
		}
		seen = true
		if f := c.finding(r, history, 0); *f.Normal != 0 || *f.Low != 0 || !(*f.High > 0) {
			t.Errorf("normally %g, %g to %g", *f.Normal, *f.Low, *f.High)
		}
	}
	if !seen {
		t.Error("no stage is compared")
	}
}

func pointers(runs []measure.Run) (out []*measure.Run) {
	for i := range runs {
		out = append(out, &runs[i])
	}
	return out
}
