package fit

import (
	"math"

	"straggler/schema"
)

// Machines numbers the machines of one phase from 0 and groups its tasks by them. A machine has a separate number in each
// window of time, to which tasks belong by their start: in a phase that lasts for hours a machine may be slow in only one of
// them.
type Machines struct {
	Of       []int32 // local number of each task; -1 where its machine is unknown
	Numbers  []int64 // machine of each local number
	Distinct int     // machines, each counted once

	windows map[machineWindow]int32 // local numbers, of a phase that spans several windows
	first   []int32                 // by local number: the first one of its machine

	start []int32 // tasks of local number m are order[start[m]:start[m+1]]
	order []int32

	stamp []int32 // by machine: the phase that last used slot
	slot  []int32
	phase int32
	end   []schema.Time
}

type machineWindow struct{ machine, window int64 }

// WindowOf returns the number of the window of time that contains a time, or 0 if the time is unknown, or if there is only one
// window (length 0).
func WindowOf(t schema.Null[schema.Time], length float64) int64 {
	w := schema.Time(length * 1e6)
	if !t.OK || w <= 0 {
		return 0
	}
	n := int64(t.V / w)
	if t.V < 0 && t.V%w != 0 {
		n--
	}
	return n
}

func (m *Machines) load(tasks []Task, windowS float64) {
	m.phase++
	m.Numbers, m.first = m.Numbers[:0], m.first[:0]
	m.Of = growInts(m.Of, len(tasks))
	if spansWindows(tasks, windowS) {
		m.numberWindows(tasks, windowS)
	} else {
		for i := range tasks {
			m.Of[i] = m.number(tasks[i].Machine)
		}
		m.Distinct = len(m.Numbers)
		for k := range m.Numbers {
			m.first = append(m.first, int32(k))
		}
	}
	m.group(len(tasks))
}

// spansWindows reports whether tasks started in several windows.
func spansWindows(tasks []Task, windowS float64) bool {
	var from, to schema.Null[schema.Time]
	for i := range tasks {
		if s := tasks[i].Start; s.OK && tasks[i].Machine >= 0 {
			if !from.OK || s.V < from.V {
				from = s
			}
			if !to.OK || s.V > to.V {
				to = s
			}
		}
	}
	return from.OK && WindowOf(from, windowS) != WindowOf(to, windowS)
}

// numberWindows numbers the machines by window.
func (m *Machines) numberWindows(tasks []Task, windowS float64) {
	if m.windows == nil {
		m.windows = map[machineWindow]int32{}
	}
	clear(m.windows)
	m.Distinct = 0
	for i := range tasks {
		t := &tasks[i]
		if m.Of[i] = -1; t.Machine < 0 {
			continue
		}
		w := machineWindow{t.Machine, WindowOf(t.Start, windowS)}
		k, ok := m.windows[w]
		if !ok {
			k = int32(len(m.Numbers))
			m.windows[w] = k
			any := machineWindow{t.Machine, math.MinInt64} // the first of the machine, whatever its window
			first, seen := m.windows[any]
			if !seen {
				first = k
				m.windows[any] = k
				m.Distinct++
			}
			m.Numbers, m.first = append(m.Numbers, t.Machine), append(m.first, first)
		}
		m.Of[i] = k
	}
}

// Same reports whether two local numbers are of one machine.
func (m *Machines) Same(k, l int32) bool {
	return k == l || k >= 0 && l >= 0 && m.first[k] == m.first[l]
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

// LaunchOverlap is how long before the logged end of an attempt its successor in the same slot may be launched, as a share of
// its duration. In Spark logs of real jobs, successors of attempts of a second and more start up to 50 ms before their end.
const LaunchOverlap = 0.1

// markFirst marks with 1 the tasks that started before any task of the phase had ended on their machine: they load classes,
// open connections and fill caches for later ones. NaN if the log has no times.
func (m *Machines) markFirst(tasks []Task, out []float64) {
	m.end = m.end[:0]
	for range m.Numbers {
		m.end = append(m.end, math.MaxInt64)
	}
	for i := range tasks {
		if t := &tasks[i]; m.Of[i] >= 0 && t.Start.OK && !math.IsNaN(t.Duration) {
			k := m.first[m.Of[i]]
			m.end[k] = min(m.end[k], t.Start.V.Add((1-LaunchOverlap)*t.Duration))
		}
	}
	for i := range tasks {
		switch t := &tasks[i]; {
		case m.Of[i] < 0 || !t.Start.OK:
			out[i] = math.NaN()
		case t.Start.V < m.end[m.first[m.Of[i]]]:
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
