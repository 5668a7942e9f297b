package fit

import (
	"math"

	"straggler/schema"
)

// Machines numbers the machines of one phase from 0 and groups its tasks by them.
type Machines struct {
	Of      []int32 // local number of each task; -1 where its machine is unknown
	Numbers []int64 // machine of each local number
	start   []int32 // tasks of local number m are order[start[m]:start[m+1]]
	order   []int32

	stamp []int32 // by machine: the phase that last used slot
	slot  []int32
	phase int32
	end   []schema.Time
}

func (m *Machines) load(tasks []Task) {
	m.phase++
	m.Numbers = m.Numbers[:0]
	m.Of = growInts(m.Of, len(tasks))
	for i := range tasks {
		m.Of[i] = m.number(tasks[i].Machine)
	}
	m.group(len(tasks))
}

func (m *Machines) number(machine int64) int32 {
	if machine < 0 {
		return -1
	}
	for int64(len(m.stamp)) <= machine {
		m.stamp = append(m.stamp, 0)
		m.slot = append(m.slot, 0)
	}
	if m.stamp[machine] != m.phase {
		m.stamp[machine] = m.phase
		m.slot[machine] = int32(len(m.Numbers))
		m.Numbers = append(m.Numbers, machine)
	}
	return m.slot[machine]
}

// group sorts the tasks by machine, keeping their order within one.
func (m *Machines) group(n int) {
	m.start = growInts(m.start, len(m.Numbers)+1)
	m.order = growInts(m.order, n)
	clear(m.start)
	for _, k := range m.Of {
		if k >= 0 {
			m.start[k]++
		}
	}
	var at int32
	for k, c := range m.start {
		m.start[k] = at
		at += c
	}
	for i, k := range m.Of {
		if k >= 0 {
			m.order[m.start[k]] = int32(i)
			m.start[k]++
		}
	}
	for k := len(m.Numbers); k > 0; k-- {
		m.start[k] = m.start[k-1]
	}
	m.start[0] = 0
}

// Tasks lists the tasks on a machine by its local number.
func (m *Machines) Tasks(k int32) []int32 { return m.order[m.start[k]:m.start[k+1]] }

// LaunchOverlap is how much before the logged end of an attempt its successor may be launched in the same slot, as a share of
// its duration. In Spark's logs of real work successors start up to 50 ms before the end of attempts of a second and more.
const LaunchOverlap = 0.1

// first marks with 1 the tasks that started before any task of the phase had ended on their machine: they pay for
// classes, connections and caches that later ones find ready. NaN where the log has no times.
func (m *Machines) first(tasks []Task, out []float64) {
	m.end = m.end[:0]
	for range m.Numbers {
		m.end = append(m.end, math.MaxInt64)
	}
	for i := range tasks {
		if t := &tasks[i]; m.Of[i] >= 0 && t.Start.OK && !math.IsNaN(t.Duration) {
			m.end[m.Of[i]] = min(m.end[m.Of[i]], t.Start.V.Add((1-LaunchOverlap)*t.Duration))
		}
	}
	for i := range tasks {
		switch t := &tasks[i]; {
		case m.Of[i] < 0 || !t.Start.OK:
			out[i] = math.NaN()
		case t.Start.V < m.end[m.Of[i]]:
			out[i] = 1
		default:
			out[i] = 0
		}
	}
}

func growInts(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n, n+n/2)
	}
	return s[:n]
}
