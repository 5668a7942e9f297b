package synth

import (
	"slices"
	"testing"

	"straggler/schema"
)

// TestFaultsShow: each scenario's fault is where it was placed, and the quiet ones have none.
func TestFaultsShow(t *testing.T) {
	want := map[string]schema.Cause{"skew": schema.DataSkew, "zipf": schema.DataSkew, "bad-machine": schema.BadMachine, "flaky": schema.BadMachine,
		"network": schema.Network, "network-up": schema.Network, "rack": schema.Network, "recompute": schema.Recompute, "transient": schema.Transient,
		"gc": schema.GC, "spill": schema.Spill, "scheduler": schema.Scheduler, "deserialize": schema.Startup, "locality": schema.LocalityMiss}
	forAll(t, 2, func(t *testing.T, o Options, trace *schema.Trace, truth *Truth) {
		sums := map[schema.Cause]float64{}
		slow := 0
		for i := range truth.Attempts {
			h := &truth.Attempts[i]
			for k, c := range Causes {
				sums[c] += h.By[k]
				if c != schema.DataSkew && o.Scenario == "uniform" && h.By[k] != 0 {
					t.Fatalf("%s in a uniform trace: %+v", c, *h)
				}
			}
			if c, s, ok := h.Largest(); ok && c == want[o.Scenario] && s > 0.5*h.BaseS {
				slow++
			}
		}
		if c, ok := want[o.Scenario]; ok && slow < 5 {
			t.Errorf("seed %d: %d of %d attempts are half as long again because of %s (%v s in all)", o.Seed, slow, len(truth.Attempts), c, sums[c])
		}
	})
}

// TestSpeculation: copies are of slow tasks, one per task, on other machines, and the loser is killed when the winner ends.
func TestSpeculation(t *testing.T) {
	s, _ := ByName("speculation")
	trace, _, err := Generate(s.Make(3))
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		phase schema.Key
		task  int64
	}
	all := map[key][]*schema.Attempt{}
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		all[key{a.PhaseID, a.Task}] = append(all[key{a.PhaseID, a.Task}], a)
	}
	copies, wins := 0, 0
	for i := range trace.Attempts {
		c := &trace.Attempts[i]
		if !c.Speculative.V {
			continue
		}
		copies++
		if c.Status == schema.Success {
			wins++
		}
		for _, a := range all[key{c.PhaseID, c.Task}] {
			overlap := a != c && a.StartTime.V < c.FinishTime.V && c.StartTime.V < a.FinishTime.V
			if overlap && a.Machine == c.Machine {
				t.Errorf("copy %s runs beside attempt %s on %s", c.NativeID, a.NativeID, c.Machine.V)
			}
			if overlap && a.Status == schema.Success && c.FinishTime.V > a.FinishTime.V {
				t.Errorf("copy %s outlives the winner %s", c.NativeID, a.NativeID)
			}
		}
	}
	if copies < 10 || wins == 0 || wins == copies {
		t.Errorf("%d copies, %d of them won", copies, wins)
	}
}

// TestRecomputation: lost outputs are recorded, and recomputed by attempts that are marked as such.
func TestRecomputation(t *testing.T) {
	s, _ := ByName("recompute")
	losses, again, detected, resubmitted, within := 0, 0, 0, 0, 0
	for seed := range uint64(8) {
		trace, _, err := Generate(s.Make(seed))
		if err != nil {
			t.Fatal(err)
		}
		byID := map[schema.Key]*schema.Attempt{}
		for i := range trace.Attempts {
			byID[trace.Attempts[i].AttemptID] = &trace.Attempts[i]
		}
		for _, l := range trace.Losses {
			losses++
			if l.DetectedBy.OK {
				detected++
				if a := byID[l.DetectedBy.V]; a.Status != schema.Failed || a.FinishTime.V < l.Time.V {
					t.Errorf("seed %d: loss detected by %+v", seed, a)
				}
			}
			if l.RecomputedBy.OK {
				again++
				a := byID[l.RecomputedBy.V]
				if !a.Recompute || a.Status != schema.Success || a.Task != l.Task {
					t.Errorf("seed %d: output of task %d made again by %+v", seed, l.Task, a)
				}
				if a.PhaseID == l.PhaseID {
					within++
				}
			}
		}
		for _, p := range trace.Phases {
			if p.Recompute {
				resubmitted++
			}
		}
	}
	if losses == 0 || again == 0 || detected == 0 || resubmitted == 0 || within == 0 {
		t.Errorf("%d losses, %d made again (%d within the phase), %d detected by readers, %d phases submitted again", losses,
			again, within, detected, resubmitted)
	}
}

func TestAbortedJobs(t *testing.T) {
	s, _ := ByName("aborted")
	trace, _, err := Generate(s.Make(2))
	if err != nil {
		t.Fatal(err)
	}
	failed, skipped := 0, 0
	for _, j := range trace.Jobs {
		if j.Status == schema.RunFailed {
			failed++
		}
	}
	for _, p := range trace.Phases {
		if p.Status == schema.RunSkipped {
			skipped++
		}
	}
	if failed == 0 || skipped == 0 {
		t.Errorf("%d failed jobs, %d skipped phases", failed, skipped)
	}
}

func TestNightlyRecurs(t *testing.T) {
	s, _ := ByName("nightly")
	trace, truth, err := Generate(s.Make(1))
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[schema.Key][]int64{}
	jobs := map[schema.Key]schema.Key{}
	for _, j := range trace.Jobs {
		jobs[j.JobID] = j.ApplicationID
	}
	for _, p := range trace.Phases {
		app := jobs[p.JobID]
		shapes[app] = append(shapes[app], p.TaskCount.V)
	}
	for _, a := range trace.Applications[1:] {
		slices.Sort(shapes[a.ApplicationID])
		slices.Sort(shapes[trace.Applications[0].ApplicationID])
		if !slices.Equal(shapes[a.ApplicationID], shapes[trace.Applications[0].ApplicationID]) {
			t.Errorf("application %s has other phases", a.NativeID)
		}
	}
	bad := -1
	for i, m := range truth.Machines {
		if m.Factor > 1 {
			bad = i
		}
	}
	if bad < 0 {
		t.Fatal("no bad machine")
	}
	last := trace.Applications[len(trace.Applications)-1].ApplicationID
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		if slow := truth.Attempts[i].Seconds(schema.BadMachine) > 0; a.ApplicationID == last && slow {
			t.Fatal("the repaired machine is still slow")
		}
	}
}
