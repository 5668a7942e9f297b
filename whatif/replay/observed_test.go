package replay

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// counting looks each second, and keeps with an attempt how often it has seen it, in its own steps.
type counting struct {
	step float64
	seen map[int32]float64 // by task
	errs []string
}

func (c *counting) Look(v *View, _ *Actions) Again {
	for i := range v.Running() {
		a := &v.Running()[i]
		if a.Note != c.seen[a.Task] || a.Last != -c.seen[a.Task] {
			c.errs = append(c.errs, fmt.Sprintf("task %d at %v: kept %v and %v, wrote %v", a.Task, v.Now(), a.Note, a.Last, c.seen[a.Task]))
		}
		c.seen[a.Task] += c.step
		a.Note, a.Last = c.seen[a.Task], -c.seen[a.Task]
	}
	return Again{At: v.Now() + Seconds(1)}
}

func advance(t *testing.T, o *Observed, to Time) {
	t.Helper()
	if _, err := o.Advance(t.Context(), to); err != nil {
		t.Fatal(err)
	}
}

// each looks every second.
type each struct{ looks int }

func (e *each) Look(v *View, _ *Actions) Again {
	e.looks++
	return Again{At: v.Now() + Seconds(1)}
}

// An attempt that runs for three centuries is looked at a bounded number of times, and not at all once the context has ended.
func TestObservedForLong(t *testing.T) {
	e := &each{}
	o := NewObserved(&Application{}, []Policy{e}, func(*View, *Running) float64 { return 0 })
	phase := o.Phase(o.Job(1), 1, "stage", false, 1)
	o.Report(Event{What: ExecutorCame, Machine: "m", Executor: "e", Slots: 1})
	o.Report(Event{What: Released, Phase: phase})
	o.Report(Event{What: Launched, Phase: phase, Machine: "m", Executor: "e"})
	advance(t, o, Seconds(1000))
	if e.looks < 1000 || e.looks > 1010 {
		t.Errorf("%d looks in 1000 s", e.looks)
	}
	advance(t, o, Seconds(1e10))
	if e.looks > 20*patience {
		t.Errorf("%d looks", e.looks)
	}
	before := e.looks
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Advance(ctx, Seconds(2e10)); !errors.Is(err, context.Canceled) || e.looks != before {
		t.Errorf("%d looks more, %v", e.looks-before, err)
	}
}

// What a policy keeps with an attempt it finds again, whatever other policies look at the same application and whichever
// attempts end meanwhile.
func TestObservedNotes(t *testing.T) {
	one, ten := &counting{step: 1, seen: map[int32]float64{}}, &counting{step: 10, seen: map[int32]float64{}}
	o := NewObserved(&Application{}, []Policy{one, ten}, func(*View, *Running) float64 { return 0 })
	const tasks = 4
	phase := o.Phase(o.Job(1), 1, "stage", false, tasks)
	o.Report(Event{What: ExecutorCame, Machine: "m", Executor: "e", Slots: tasks})
	o.Report(Event{What: Released, Phase: phase})
	for i := range int32(tasks) {
		o.Report(Event{What: Launched, Phase: phase, Task: i, Attempt: i, Machine: "m", Executor: "e"})
	}
	for i := range int32(tasks) {
		advance(t, o, Seconds(float64(3*i+3)))
		o.Report(Event{What: Succeeded, At: Seconds(float64(3*i + 3)), Phase: phase, Task: i, Attempt: i})
	}
	advance(t, o, Seconds(20))
	for _, c := range []*counting{one, ten} {
		for _, err := range c.errs {
			t.Errorf("step %v: %s", c.step, err)
		}
		if c.seen[tasks-1] <= c.seen[0] || c.seen[0] == 0 {
			t.Errorf("step %v: the tasks were seen %v times", c.step, c.seen)
		}
	}
}
