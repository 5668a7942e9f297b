package whatif

import (
	"context"
	"errors"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// oneJob returns a log of a phase of four tasks; near says that it tells where they ran.
func oneJob(near bool, framework string) *workload.Workload {
	return workload.Build(workloadtest.FromTrace(oneJobTrace(near, framework)))
}

// oneLoss is the same where the output of a task was lost and made again; bytes is how large outputs were, -1 where it does not
// say.
func oneLoss(bytes int64) *workload.Workload {
	t := oneJobTrace(true, "spark")
	again := t.Attempts[0]
	again.AttemptID, again.Recompute = 20, true
	again.StartTime, again.FinishTime = again.FinishTime, schema.Some(again.FinishTime.V.Add(10))
	t.Attempts = append(t.Attempts, again)
	t.Losses = []schema.Loss{{PhaseID: 3, AttemptID: schema.Some(t.Attempts[0].AttemptID), RecomputedBy: schema.Some(again.AttemptID)}}
	for n := range t.Attempts {
		if bytes >= 0 {
			t.Attempts[n].OutputBytes = schema.Some(bytes)
		}
	}
	return workload.Build(workloadtest.FromTrace(t))
}

func oneJobTrace(near bool, framework string) *schema.Trace {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	t := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: framework}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(10)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map"}},
	}
	for n := range schema.Key(4) {
		a := schema.Attempt{AttemptID: 10 + n, PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(n),
			Status: schema.Success, Machine: schema.Some("m"), StartTime: at(0), FinishTime: at(10)}
		if near {
			a.Locality = schema.Some(schema.NodeLocal)
		}
		t.Attempts = append(t.Attempts, a)
	}
	return t
}

// A scheduler that needs what a log does not say is refused, and the reason says what to do.
func TestSchedulersRefused(t *testing.T) {
	for _, c := range []struct {
		scheduler string
		near      bool
		reason    string // empty: it can be had
	}{
		{"fifo", false, ""}, {"fair", false, ""}, {"quincy", true, ""}, {"quincy", false, "data moved"},
		{"quincy core=20", true, "share a rack"}, {"observed", false, ""},
		{"delay t2=0", true, ""}, {"delay", true, "share a rack"}, {"delay t1=0 t2=0", false, ""},
		{"delay", false, "near its data"}, {"fifo-delay", false, "near its data"},
		{"delay t2=0 bias=9", true, "read slowly"}, {"fair tmin=5", true, "minimum share"}, {"fair tfair=5", true, ""},
		{"delay t2=0 tmin=5", true, "minimum share"},
		{"copycompute", true, "for reduces"}, {"fifo-split", true, "for reduces"}, {"fair-all", true, "for reduces"}, {"fair-all", false, "near its data"},
		{"fifo-placed", true, "links between racks"},
	} {
		chosen, err := schedule.Choose([]string{c.scheduler})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Compare(context.Background(), oneJob(c.near, "spark"),
			Options{Policies: []policy.Policy{mustPolicy(t, "none")}, Seeds: 1, Scheduler: chosen[0]})
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.scheduler, err)
			}
			continue
		}
		if !errors.Is(err, schedule.ErrLacks) || !strings.Contains(err.Error(), c.reason) ||
			!strings.Contains(err.Error(), "straggler simulate") && !strings.Contains(err.Error(), "give ") {
			t.Errorf("%s, on a log that says where tasks ran %v: %v, %d results", c.scheduler, c.near, err, len(s.Results))
		}
	}
}

// A policy of which an option needs what the log does not say is refused, and so is an error of progress that nobody makes up.
func TestPoliciesRefused(t *testing.T) {
	phases, err := mustPolicy(t, "late").With("phases", "3")
	if err != nil {
		t.Fatal(err)
	}
	reported := oneJob(true, "hadoop")
	reported.Notes.Reported = reported.Notes.Attempts
	for _, c := range []struct {
		w      *workload.Workload
		o      Options
		reason string // empty: it can be had
	}{
		{oneJob(true, "spark"), Options{Policies: []policy.Policy{mustPolicy(t, "late-phases")}}, "policy late-phases: "},
		{oneJob(true, "spark"), Options{Policies: []policy.Policy{mustPolicy(t, "none"), phases}}, "progress of any reduce"},
		{oneJob(true, "spark"), Options{Policies: []policy.Policy{mustPolicy(t, "late")}}, ""},
		{oneLoss(-1), Options{Policies: []policy.Policy{mustPolicy(t, "protect")}}, "replicate=false"},
		{oneLoss(-1), Options{Policies: []policy.Policy{mustPolicy(t, "mantri-protect")}}, "replicate=false"},
		{oneLoss(1 << 20), Options{Policies: []policy.Policy{mustPolicy(t, "mantri-protect")}}, ""},
		{oneJob(true, "spark"), Options{}, ""},
		{oneJob(true, "spark"), Options{Errors: []float64{0.1}}, ""},
		{reported, Options{Errors: []float64{0.1}}, "leave --progress-error out"},
		{reported, Options{Errors: []float64{0.1}, brief: true}, ""},
		{reported, Options{}, ""},
	} {
		c.o.Seeds = 1
		switch _, err := Compare(context.Background(), c.w, c.o); {
		case c.reason == "" && err != nil:
			t.Errorf("%+v: %v", c.o, err)
		case c.reason != "" && (!errors.Is(err, policy.ErrLacks) || !strings.Contains(err.Error(), c.reason)):
			t.Errorf("%+v: %v, want the reason %q", c.o, err, c.reason)
		}
	}
}

// Settings of Spark are not searched for another framework.
func TestOptimizeRefused(t *testing.T) {
	if _, err := optimizeOf(context.Background(), oneJob(true, "hadoop"), Options{Seeds: 1}); !errors.Is(err, ErrNotSpark) ||
		!strings.Contains(err.Error(), "hadoop") {
		t.Errorf("a log of Hadoop: %v", err)
	}
}

// Two settings that differ by a second under every seed are distinguished, however much seeds differ.
func TestPairedChoice(t *testing.T) {
	result := func(name string, slots float64, saved ...float64) Result {
		r := Result{Variant: Variant{Policy: mustPolicy(t, name)}, saved: saved}
		for _, s := range saved {
			r.All.Saving.Mean += s / float64(len(saved))
		}
		r.All.SlotChange = slots
		return r
	}
	better, worse := result("spark", 0.1, 10, 60, 110, 21), result("spark3", 0, 9, 58.8, 108.9, 20)
	if got := cheapest([]Result{worse, better}); got.Name != "spark" {
		t.Errorf("a setting that is better by a second under every seed: %s", got.Name)
	}
	if got := cheapest([]Result{result("spark3", 0, 9), result("spark", 0.1, 10)}); got.Name != "spark3" {
		t.Errorf("of settings tried under one seed, which tells none apart, the cheaper: %s", got.Name)
	}
	if got := cheapest([]Result{result("spark3", 0, 12, 58, 111, 19), better}); got.Name != "spark3" {
		t.Errorf("of settings that cannot be distinguished the cheaper: %s", got.Name)
	}
}
