package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/schema"
)

// Events of several runs, each in order, are merged in order, and are counted as they would be one after the other, by task
// and stage: sums are equal to the last bit.
func TestSkewCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		r := newRun(nil, Options{})
		x := &r.repeats.executions
		x.stages = []*namedStage{{signature: 7}, {signature: 5, number: 1}}
		for k := range int32(60) {
			x.all = append(x.all, execution{phase: schema.Key(10 * k), application: schema.Key(1 + k/6), stage: k % 2, native: k % 5, counts: rng.IntN(4) > 0})
		}
		r.repeats.numbers = x.number(nil)
		var events []skewEvent
		for k := range 400 {
			events = append(events, skewEvent{schema.Key(10 * rng.IntN(60)), schema.Key(k), int64(rng.IntN(6)) << (20 * rng.IntN(3)),
				rng.Float64(), []float64{math.NaN(), 1 + rng.Float64()}[rng.IntN(2)]})
		}
		for from, to := 0, 0; from < len(events); from = to {
			to = min(len(events), from+1+rng.IntN(200))
			slices.SortFunc(events[from:to], skewEvent.compare)
		}
		r.repeats.events = slices.Clone(events)
		r.repeats.sort()
		slices.SortFunc(events, skewEvent.compare)
		if len(events) != len(r.repeats.events) {
			t.Fatalf("%d events are %d when sorted", len(events), len(r.repeats.events))
		}
		s, counts := r.repeats.numbers, map[stageTask]*skewCount{}
		for i := range events {
			if r.repeats.events[i].compare(events[i]) != 0 {
				t.Fatalf("event %d is %+v, want %+v", i, r.repeats.events[i], events[i])
			}
			at := int(events[i].phase / 10)
			for _, stage := range []int64{s.of[at], s.stages[s.of[at]].all} {
				k := stageTask{stage, events[i].task}
				if counts[k] == nil {
					counts[k] = &skewCount{stageTask: k}
				}
				counts[k].add(&events[i], &x.all[at])
			}
		}
		got := r.counted()
		if len(got) == 0 {
			t.Fatal("nothing is counted")
		}
		for _, c := range got {
			w := *counts[c.stageTask]
			if g := *c; g.phases != w.phases || g.seconds != w.seconds || g.ratios != w.ratios || g.known != w.known || g.worst != w.worst || g.most != w.most {
				t.Errorf("%+v, want %+v", g, w)
			}
		}
	}
}
