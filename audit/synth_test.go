package audit

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/schema/synth"
	"straggler/store"
)

// measured simulates a cluster that runs one program every night and returns its runs, read from a store.
func measured(t *testing.T, nights int, worse func(*schema.Trace)) []measure.Run {
	t.Helper()
	o := synth.Defaults()
	o.Applications, o.GapS, o.Shape.Recurring, o.Seed = nights, 86400, true, 7
	o.Faults.Skew = synth.Skew{Phases: 0.5, Tasks: 0.05, Factor: synth.Range{Low: 2, High: 4}}
	o.Faults.Transient = synth.Transient{Probability: 0.003, Factor: synth.Range{Low: 1.5, High: 3}}
	tr, _, err := synth.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	worse(tr)
	ctx, eng := context.Background(), storedResults(t, tr)
	runs, err := measure.Runs(ctx, eng, measure.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	var all []*measure.Run
	for i := range runs {
		all = append(all, &runs[i])
	}
	if err := measure.Tasks(ctx, eng, all...); err != nil {
		t.Fatal(err)
	}
	last := runs[len(runs)-1:] // a run measured alone is the same as among all
	alone, err := measure.Runs(ctx, eng, measure.Grouping{}, last[0].ApplicationKey)
	if err == nil && len(alone) == 1 {
		err = measure.Tasks(ctx, eng, &alone[0])
	}
	if err != nil || !reflect.DeepEqual(alone, last) {
		t.Errorf("a run alone: %v\n%+v\namong all:\n%+v", err, alone, last)
	}
	return runs
}

// storedResults returns an engine on a store with a trace, its outliers and their causes.
func storedResults(t *testing.T, tr *schema.Trace) engine.Engine {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	err = tx.Input(store.InputRecord{Name: "made", Key: 1})
	for b := range tr.Batches() {
		err = errors.Join(err, tx.Append(1, b))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	if _, err := detect.Run(ctx, st, eng, detect.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.Run(ctx, st, eng, causes.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	return eng
}

// The whole path, on another simulator than that of sim_test.go: similar nights raise no alarm; a night on which a machine
// takes twice as long does, and the machine is named.
func TestSimulatedCluster(t *testing.T) {
	runs := measured(t, 105, func(*schema.Trace) {})
	alarms := 0
	for k := 5; k < len(runs); k++ {
		if n := assessed(assess(runs[k:k+1], &baseline.Baseline{Runs: runs[k-5 : k]}, DefaultConfig(), Options{})); n.Failing > 0 {
			alarms++
			t.Logf("night %d: %s", k, n.Findings()[0].Subject())
		}
	}
	if alarms > 1 {
		t.Errorf("%d alarms on 100 nights alike", alarms)
	}
	runs = measured(t, 6, func(tr *schema.Trace) {
		last := tr.Applications[len(tr.Applications)-1].ApplicationID
		for i := range tr.Attempts {
			a := &tr.Attempts[i]
			if a.ApplicationID == last && a.Machine.V == tr.Machines[0].Machine && a.DurationS.OK {
				a.DurationS.V *= 2
				a.FinishTime.V = a.StartTime.V.Add(a.DurationS.V)
			}
		}
	})
	found := map[string]bool{}
	for _, f := range assessed(assess(runs[5:], &baseline.Baseline{Runs: runs[:5]}, DefaultConfig(), Options{})).Findings() {
		found[f.Rule+" "+f.Machine] = true
	}
	for _, want := range []string{"lost_time ", "bad_machine " + firstMachine(t)} {
		if !found[want] {
			t.Errorf("no %q among %v", want, found)
		}
	}
}

// If all machines of a rack wait for input as long as they work, the rack is found, with the network as the reason, and none
// of its machines.
func TestSimulatedRack(t *testing.T) {
	const rack = "r02"
	runs := measured(t, 6, func(tr *schema.Trace) {
		last := tr.Applications[len(tr.Applications)-1].ApplicationID
		for i := range tr.Attempts {
			if a := &tr.Attempts[i]; a.ApplicationID == last && a.Rack.V == rack && a.DurationS.OK {
				a.FetchWaitS = schema.Some(a.FetchWaitS.V + a.DurationS.V)
				a.DurationS.V *= 2
				a.FinishTime.V = a.StartTime.V.Add(a.DurationS.V)
			}
		}
	})
	n := assessed(assess(runs[5:], &baseline.Baseline{Runs: runs[:5]}, DefaultConfig(), Options{}))
	racks := 0
	for _, f := range n.Findings() {
		if f.Rack == rack && f.Kind == "network" && f.Likely == string(schema.Network) {
			racks++
		}
		if f.Machine != "" {
			t.Errorf("a machine of its own: %s: %s", f.Subject(), f.Detail)
		}
	}
	s := n.Runs[0].Slowness
	if racks != 1 || s.Kind != "network" {
		t.Errorf("%d findings about %s, kind %q, in common %+v", racks, rack, s.Kind, s.InCommon)
	}
}

// A phase that is resubmitted for eight tasks, two of which recompute lost outputs, is another occurrence of its stage, after
// all others of the name; one that only recomputes lost outputs is not. The other stages are unaffected.
func TestSubmittedAgain(t *testing.T) {
	again := func(tr *schema.Trace, of schema.Phase, id schema.Key, tasks, lost int64) {
		p := of
		p.PhaseID, p.Attempt, p.Recompute = id, 1, true
		tr.Phases = append(tr.Phases, p)
		for _, a := range tr.Attempts {
			if a.PhaseID == of.PhaseID && a.Task < tasks && a.Status == schema.Success {
				a.AttemptID, a.PhaseID, a.Recompute = id+1+schema.Key(a.Task), id, a.Task < lost
				tr.Attempts = append(tr.Attempts, a)
			}
		}
	}
	var keep schema.Key
	whole := measured(t, 1, func(tr *schema.Trace) {})[0]
	lossy := measured(t, 1, func(tr *schema.Trace) {
		first := tr.Phases[0]
		keep = first.PhaseID
		again(tr, first, 1<<60, 8, 2)
		again(tr, first, 1<<61, 3, 3)
	})[0]
	at := func(r *measure.Run, key schema.Key) *measure.Stage {
		for i := range r.Stages {
			if r.Stages[i].ApplicationKey == key {
				return &r.Stages[i]
			}
		}
		return nil
	}
	before, after, partial := at(&whole, keep), at(&lossy, keep), at(&lossy, 1<<60)
	switch {
	case before == nil || after == nil || partial == nil:
		t.Fatal("a stage is missing: ", before, after, partial)
	case len(lossy.Stages) != len(whole.Stages)+1:
		t.Errorf("%d stages where there were %d", len(lossy.Stages), len(whole.Stages))
	case after.Signature != before.Signature || after.Values["slot_s"] != before.Values["slot_s"]:
		t.Errorf("the first submission was %v and is %v", before.Signature, after.Signature)
	}
	last := partial.Signature.Nth
	partial.Signature.Nth = after.Signature.Nth
	if partial.Signature != after.Signature {
		t.Errorf("what was submitted again is %v, of %v", partial.Signature, after.Signature)
	}
	partial.Signature.Nth = last
	for i := range lossy.Stages {
		s := lossy.Stages[i].Signature
		if s.Nth > last && s.Stage == partial.Signature.Stage && s.Kind == partial.Signature.Kind && s.Job == partial.Signature.Job &&
			s.Depth == partial.Signature.Depth {
			t.Errorf("%v comes after what was submitted again, %v", s, partial.Signature)
		}
	}
}

func firstMachine(t *testing.T) string {
	t.Helper()
	o := synth.Defaults()
	o.Seed = 7
	tr, _, err := synth.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return tr.Machines[0].Machine
}
