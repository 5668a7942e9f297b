package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/schema"
)

// label is a label in a truth.json: it selects the attempts that a fault was injected into.
type label struct {
	Cause        schema.Cause
	StageID      int  `json:"stage_id"`
	StageAttempt *int `json:"stage_attempt"`
	Partition    *int64
	Attempt      *int32
	Host         *string
	NotHost      *string `json:"not_host"`
	Strength     float64
}

func (l *label) fits(p *schema.Phase, a *schema.Attempt) bool {
	return fmt.Sprint(l.StageID) == p.NativeID && (l.StageAttempt == nil || int32(*l.StageAttempt) == p.Attempt) &&
		(l.Partition == nil || *l.Partition == a.Task) && (l.Attempt == nil || *l.Attempt == a.Number) &&
		(l.Host == nil || *l.Host == a.Machine.V) && (l.NotHost == nil || *l.NotHost != a.Machine.V)
}

type truth struct {
	Jobs []struct {
		Name   string
		Stages []struct {
			ID int `json:"stage_id"`
		}
	}
	Labels []label
}

// outcome is what was reported about an attempt while it ran.
type outcome struct {
	first float64 // share of its run time after which it was called slow; 2: never
	help  live.Helps
}

// labelledRun follows a labelled run and returns what was reported about each attempt, by its key in the log.
func labelledRun(tb testing.TB, path string, every, heartbeat float64) (*schema.Trace, map[string]outcome) {
	t := livetest.Log(tb, path)
	byID := map[string]*schema.Attempt{}
	for i := range t.Attempts {
		byID[t.Attempts[i].NativeID] = &t.Attempts[i]
	}
	s := livetest.New(tb, t)
	s.Heartbeat = heartbeat
	said := map[string]outcome{}
	watched(tb, s, every, nil, func(f *live.Frame) {
		for i := range f.Slow {
			x := &f.Slow[i]
			o, ok := said[x.NativeID]
			if !ok {
				o.first = x.ElapsedS / max(byID[x.NativeID].DurationS.V, 1e-3)
			}
			o.help = x.Copy.Helps
			said[x.NativeID] = o
		}
	})
	return t, said
}

// Runs with known truth are watched with executors that report every second, or every ten, Spark's default, at which most
// tasks end before their first report. Nine in ten of the attempts slowed by a bad machine or a passing fault are named
// before 60 % of their run time; for tasks that only have more to read, what is said about copies is right; and a clean run
// has at most one false alarm. The server assumes that tasks read at a steady rate.
//
// STRAGGLER_LABELLED names a directory of runs that are scored without goals, with reports every second, three and ten.
func TestLabelledRuns(t *testing.T) {
	var paths []string
	for _, name := range []string{"bad-machine", "transient", "clean", "skew", "hard-loss", "mixed"} {
		paths = append(paths, livetest.Labelled(t, name))
	}
	heartbeats, dir := []float64{1, 10}, os.Getenv("STRAGGLER_LABELLED")
	if dir != "" {
		paths, _ = filepath.Glob(filepath.Join(dir, "*", "*.zstd"))
		heartbeats = []float64{1, 3, 10}
	}
	for _, heartbeat := range heartbeats {
		var named, slowed, skewRight, skewed, alarms int
		for _, path := range paths {
			tr, said := labelledRun(t, path, 0.2, heartbeat)
			data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "truth.json"))
			if err != nil {
				continue
			}
			var x truth
			if err := json.Unmarshal(data, &x); err != nil {
				t.Fatal(err)
			}
			planned := map[string]bool{}
			for _, j := range x.Jobs {
				for _, s := range j.Stages {
					planned[fmt.Sprint(s.ID)] = j.Name != "processes" && j.Name != "warm-up"
				}
			}
			phases := map[schema.Key]*schema.Phase{}
			took := map[schema.Key][]float64{}
			for i := range tr.Phases {
				phases[tr.Phases[i].PhaseID] = &tr.Phases[i]
			}
			for i := range tr.Attempts {
				if a := &tr.Attempts[i]; a.Status == schema.Success {
					took[a.PhaseID] = append(took[a.PhaseID], a.DurationS.V)
				}
			}
			for _, d := range took {
				slices.Sort(d)
			}
			n, of, falseAlarms, sk, skOf := 0, 0, 0, 0, 0
			var late []float64
			for i := range tr.Attempts {
				a := &tr.Attempts[i]
				p := phases[a.PhaseID]
				if !planned[p.NativeID] || len(took[a.PhaseID]) == 0 {
					continue
				}
				mid := took[a.PhaseID][len(took[a.PhaseID])/2]
				o, told := said[a.NativeID]
				var causes []schema.Cause
				strength := 0.0
				for k := range x.Labels {
					if x.Labels[k].fits(p, a) {
						causes = append(causes, x.Labels[k].Cause)
						strength = max(strength, x.Labels[k].Strength)
					}
				}
				slow := a.DurationS.V > 1.5*mid
				switch {
				case slow && (slices.Contains(causes, schema.BadMachine) || slices.Contains(causes, schema.Transient)):
					of++
					if told && o.first <= 0.6 {
						n++
					} else {
						late = append(late, a.DurationS.V/mid)
					}
				case told && !slow:
					falseAlarms++
				}
				if told && slices.Contains(causes, schema.DataSkew) && len(causes) == 1 {
					if o.help != live.Perhaps {
						skOf++
					}
					if o.help == live.No {
						sk++
					}
				}
			}
			slices.Sort(late)
			if clean := filepath.Base(filepath.Dir(path)) == "clean"; dir == "" && clean && falseAlarms > 1 {
				t.Errorf("%d false alarms of a clean run", falseAlarms)
			}
			t.Logf("%-24s heartbeat %v s: %d of %d named in time (late: %.1f), %d false alarms, copying will not help %d of %d skewed",
				filepath.Base(filepath.Dir(path)), heartbeat, n, of, late, falseAlarms, sk, skOf)
			named, slowed, skewRight, skewed, alarms = named+n, slowed+of, skewRight+sk, skewed+skOf, alarms+falseAlarms
		}
		t.Logf("heartbeat %v s: %d of %d named, %d false alarms, %d of %d skewed", heartbeat, named, slowed, alarms, skewRight, skewed)
		if dir == "" && (float64(named) < 0.9*float64(slowed) || float64(skewRight) < 0.95*float64(skewed) || slowed < 50 || skewed < 10) {
			t.Errorf("%d of %d named in time, right about %d of %d skewed", named, slowed, skewRight, skewed)
		}
	}
}
