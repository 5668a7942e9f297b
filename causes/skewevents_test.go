package causes

import (
	"testing"

	"straggler/schema"
)

// However many tasks are skewed, the first ones are kept, in whatever order they come.
func TestRepeatsAreBounded(t *testing.T) {
	before := maxRepeats
	maxRepeats = 50
	t.Cleanup(func() { maxRepeats = before })
	var r repeats
	most := 0
	for k := range 400 {
		phase := schema.Key(k * 73 % 400)
		r.add([]skewEvent{{phase: phase, attempt: 1}, {phase: phase, attempt: 2}})
		most = max(most, len(r.events))
	}
	r.sort()
	for i, e := range r.events {
		if want := (skewEvent{phase: schema.Key(i / 2), attempt: schema.Key(1 + i%2)}); e != want {
			t.Errorf("event %d is %v, want %v", i, e, want)
		}
	}
	if len(r.events) != maxRepeats || most > 2*maxRepeats {
		t.Errorf("%d events, and up to %d, want %d", len(r.events), most, maxRepeats)
	}
}
