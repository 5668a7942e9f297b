package placement

import (
	"fmt"
	"math"
)

// Problem is a phase to place. What lies in the rack of the task that reads it crosses no link; all else leaves by the
// uplink of its rack and arrives by the downlink of the task's:
//
//	up(i)   = Σ of Input[t][i] over tasks t that are not in rack i,              over Up[i]
//	down(i) = Σ of Input[t][j] over tasks t in rack i and racks j other than i,  over Down[i]
//
// Minimised is the largest of them all, in seconds (MANTRI §5.2).
type Problem struct {
	Input    [][]float64 // bytes that each task reads from each rack
	Up, Down []float64   // bytes/s of each rack's links, above 0
	Slots    []int       // tasks that each rack takes; nil: any number
}

// Plan is a rack for each task.
type Plan struct {
	Rack    []int
	Seconds float64 // that the busiest link takes
	Bound   float64 // no placement takes less
}

// check returns an error about an invalid problem.
func (p *Problem) check() error {
	racks := len(p.Up)
	if racks == 0 || len(p.Down) != racks || p.Slots != nil && len(p.Slots) != racks {
		return fmt.Errorf("placement: %d uplinks, %d downlinks and %d racks with slots", racks, len(p.Down), len(p.Slots))
	}
	for i := range racks {
		if !(p.Up[i] > 0) || !(p.Down[i] > 0) {
			return fmt.Errorf("placement: links of rack %d have %v and %v bytes/s; they must be above 0", i, p.Up[i], p.Down[i])
		}
	}
	room := 0
	for _, s := range p.Slots {
		room += max(s, 0)
	}
	if p.Slots != nil && room < len(p.Input) {
		return fmt.Errorf("placement: %d tasks and %d slots", len(p.Input), room)
	}
	for t, in := range p.Input {
		if len(in) != racks {
			return fmt.Errorf("placement: task %d reads from %d racks of %d", t, len(in), racks)
		}
		for i, b := range in {
			if !(b >= 0) || math.IsInf(b, 1) {
				return fmt.Errorf("placement: task %d reads %v bytes from rack %d", t, b, i)
			}
		}
	}
	return nil
}

// Seconds returns what the busiest link takes under a placement.
func (p *Problem) Seconds(rack []int) float64 {
	l := p.empty()
	for t, i := range rack {
		l.put(t, i)
	}
	return l.most()
}

// links is how long each link takes for the tasks placed so far.
type links struct {
	p        *Problem
	total    []float64 // of each task's input
	up, down []float64
	tasks    []int
}

func (p *Problem) empty() *links {
	l := &links{p: p, total: make([]float64, len(p.Input)), up: make([]float64, len(p.Up)), down: make([]float64, len(p.Up)), tasks: make([]int, len(p.Up))}
	for t, in := range p.Input {
		for _, b := range in {
			l.total[t] += b
		}
	}
	return l
}

// put places a task.
func (l *links) put(t, rack int) { l.add(t, rack, 1) }

// take removes a task.
func (l *links) take(t, rack int) { l.add(t, rack, -1) }

func (l *links) add(t, rack int, sign float64) {
	in := l.p.Input[t]
	for j, b := range in {
		if j != rack {
			l.up[j] += sign * b / l.p.Up[j]
		}
	}
	l.down[rack] += sign * (l.total[t] - in[rack]) / l.p.Down[rack]
	l.tasks[rack] += int(sign)
}

// most returns what the busiest link takes.
func (l *links) most() float64 {
	most := 0.0
	for i := range l.up {
		most = max(most, l.up[i], l.down[i])
	}
	return most
}

// full reports whether a rack takes no more tasks.
func (l *links) full(rack int) bool {
	return l.p.Slots != nil && l.tasks[rack] >= l.p.Slots[rack]
}
