package policy

import (
	"straggler/whatif/heap"
	"straggler/whatif/replay"
)

// ages holds the tasks of a phase that run as a single attempt and were never copied, oldest first, for policies that wait for
// a task to reach an age. Each look adds what was started since the previous one, so its cost depends on the number of events
// and not on the number of running tasks.
type ages struct {
	seen  int // of View.Started
	heap  heap.Nearly[aged]
	aside []aged // tasks of several attempts, which may have a single one again later
	in    []uint64
}

// aged is a task and the start of its oldest attempt, which may have ended by now.
type aged struct {
	start replay.Time
	task  int32
}

func (a aged) Before(b aged) bool { return a.start < b.start || a.start == b.start && a.task < b.task }

// update adds what has started.
func (g *ages) update(v *replay.View) {
	started := v.Started()
	if g.in == nil {
		g.in = make([]uint64, (v.Tasks()+63)/64)
	}
	for _, task := range started[min(g.seen, len(started)):] {
		if g.in[task>>6]>>(task&63)&1 == 0 && v.Copies(task) > 0 {
			g.in[task>>6] |= 1 << (task & 63)
			g.heap.Push(aged{oldest(v, task), task})
		}
	}
	g.seen = len(started)
	rest := g.aside[:0]
	for _, a := range g.aside {
		if v.Copies(a.task) > 1 {
			rest = append(rest, a)
		} else {
			g.heap.Push(a)
		}
	}
	g.aside = rest
}

// oldest returns the earliest start of the attempts of a task that run.
func oldest(v *replay.View, task int32) replay.Time {
	start := never
	for a := range v.Attempts(task) {
		start = min(start, a.Start)
	}
	return start
}

const never = replay.Time(1<<62 - 1)

// first returns the task whose attempt has run longest; false if there is none.
func (g *ages) first(v *replay.View) (aged, bool) {
	for g.heap.Len() > 0 {
		a := g.heap.First()
		switch copies := v.Copies(a.task); {
		case v.Launched(a.task) > 0: // never again
			g.heap.Pop()
		case copies == 0: // until it starts again
			g.heap.Pop()
			g.release(a.task)
		case copies > 1:
			g.heap.Pop()
			g.aside = append(g.aside, a)
		default:
			start := oldest(v, a.task)
			if start == a.start {
				return a, true
			}
			g.heap.Pop()
			g.heap.Push(aged{start, a.task})
		}
	}
	return aged{}, false
}

// release makes a task eligible again when it restarts.
func (g *ages) release(task int32) { g.in[task>>6] &^= 1 << (task & 63) }

// until removes the tasks that started by an instant and appends them.
func (g *ages) until(v *replay.View, start replay.Time, to []aged) []aged {
	for {
		a, ok := g.first(v)
		if !ok || a.start > start {
			return to
		}
		to = append(to, a)
		g.heap.Pop()
	}
}
