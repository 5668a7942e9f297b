package causes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"straggler/causes/causestest"
	"straggler/detect"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// Machines of one rack are slow, and the log names no racks, but a list of machines added later does: then the location of
// the slowness and the health of the machines name the rack. If lists contradict each other, the rack is unknown, and a rack
// in the log takes precedence over one in a list.
func TestRacksOfAListOfMachines(t *testing.T) {
	c := causestest.New(60, 30)
	names := make([]string, 30)
	list := &schema.Trace{}
	for k := range names {
		names[k] = fmt.Sprintf("m%02d", k)
		rack := "a"
		if k >= 20 && k < 23 {
			rack, c.Speed[k] = "b", 2
		}
		list.Machines = append(list.Machines, schema.Machine{Machine: names[k], Rack: schema.Some(rack)})
	}
	tr := &schema.Trace{}
	phases, attempts := schema.NewKeys(1, "phases"), schema.NewKeys(1, "attempts")
	application, job := schema.NewKeys(1, "applications").Next(), schema.NewKeys(1, "jobs").Next()
	tr.Applications = []schema.Application{{ApplicationID: application, NativeID: "a", Framework: "spark", Status: schema.RunSucceeded, TimeOrigin: "epoch"}}
	tr.Jobs = []schema.Job{{JobID: job, ApplicationID: application, NativeID: "0", Status: schema.RunSucceeded}}
	for range 8 {
		addPhase(tr, application, job, "work", phases, attempts, c.Phase(240, 2, nil, nil), names)
	}
	st, eng := Filled(t, func(*store.Store) error { return nil })
	logs := enginetest.NewLogs(st)
	night := func(input schema.Key, log *schema.Trace) (places, notes []string) {
		t.Helper()
		logs.Ingest(t, map[schema.Key]*schema.Trace{input: log})
		if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), st, eng, Options{}); err != nil {
			t.Fatal(err)
		}
		type text struct {
			Text schema.Null[string] `col:"text"`
		}
		for _, r := range enginetest.ReadAll[text](t, eng, "SELECT DISTINCT place AS text FROM attributions WHERE rank = 1 AND cause = 'bad_machine' ORDER BY place NULLS LAST") {
			places = append(places, r.Text.V)
		}
		for _, r := range enginetest.ReadAll[text](t, eng, "SELECT note AS text FROM machine_health WHERE application_id IS NULL AND verdict = 'slow' ORDER BY machine NULLS LAST") {
			notes = append(notes, r.Text.V)
		}
		return places, notes
	}
	places, notes := night(1, tr)
	if want := []string{"machine m20", "machine m21", "machine m22"}; !slices.Equal(places, want) || len(notes) != 3 {
		t.Fatalf("without racks: places %q, want %q; %d machines are slow, want 3", places, want, len(notes))
	}
	places, notes = night(2, list)
	if want := []string{"rack b"}; !slices.Equal(places, want) {
		t.Errorf("places %q, want %q", places, want)
	}
	for _, n := range notes {
		if !strings.Contains(n, "2 of the 2 other machines of rack b") {
			t.Errorf("the health of a slow machine of rack b says %q", n)
		}
	}
	another := &schema.Trace{}
	for _, m := range list.Machines {
		another.Machines = append(another.Machines, schema.Machine{Machine: m.Machine, Rack: schema.Some("c")})
	}
	if places, _ = night(3, another); slices.Contains(places, "rack b") || slices.Contains(places, "rack c") {
		t.Errorf("two lists contradict each other: places %q", places)
	}
	for i := range tr.Attempts {
		tr.Attempts[i].Rack = schema.Some("a")
	}
	if places, _ = night(1, tr); slices.Contains(places, "rack b") {
		t.Errorf("the log says that all machines are in rack a: places %q", places)
	}
}
