package causes

import (
	"math"
	"slices"
	"strings"
)

// Where a trouble sits. A wait for blocks may be the fault of one task's source, of its machine's link, or of a link that
// a whole rack shares; slow machines may be slow by themselves or as a rack. What the machines of a phase have in common
// tells them apart: the task itself is never asked.

// site is the kind of place.
type site int

const (
	nowhere  site = iota // no place: the task's own, or its source's
	machine              // the link of the machine
	rack                 // the link of its rack
	somewhat             // a link that some machines share; the log names no racks
)

// waits is what the machines of the prepared phase wait for blocks: medians of their tasks, of machines with two or more.
type waits struct {
	ok   bool
	all  []float64            // in order
	rack map[string][]float64 // of the machines of a rack, in order
	own  []float64            // by local number; NaN where a machine has fewer than two tasks
	base float64              // the lower quartile: half of the machines may be behind a slow link
}

func (w *waits) load(b *bench, m *Model) {
	w.ok, w.all, w.own, w.base = true, w.all[:0], w.own[:0], nan
	w.rack = map[string][]float64{}
	for k, name := range b.local.names {
		b.tmp = b.waitsOn(b.tmp, int32(k), -1, math.MaxInt)
		if len(b.tmp) < 2 {
			w.own = append(w.own, nan)
			continue
		}
		v := median(b.tmp)
		w.own, w.all = append(w.own, v), append(w.all, v)
		if r := m.rackOf(name); r != "" {
			w.rack[r] = append(w.rack[r], v)
		}
	}
	slices.Sort(w.all)
	for _, v := range w.rack {
		slices.Sort(v)
	}
	if n := len(w.all); n > 0 {
		w.base = w.all[n/4]
	}
}

// waitsOn puts the fetch waits of the successful tasks on a machine but one into v, of so many at most.
func (b *bench) waitsOn(v []float64, k, except int32, most int) []float64 {
	v = v[:0]
	for _, j := range b.local.tasks(k) {
		if b.rowOf[j] >= 0 && j != except {
			if v = append(v, b.part[waiting][j]); len(v) == most {
				break
			}
		}
	}
	return v
}

// How the others must wait, or be slow, for a place to be blamed: by half as much as the task or machine in question beyond
// the base, two machines in three of the rack, and at most one in three elsewhere.
const (
	shareOfIt  = 0.5
	mostOfRack = 2. / 3
	fewElse    = 1. / 3
)

// waitedWhere says where the wait of task i of the prepared phase comes from.
func (a *Attributor) waitedWhere(i int) site {
	b := &a.bench
	k := b.local.of[i]
	if k < 0 {
		return nowhere
	}
	w := &a.waits
	if !w.ok {
		w.load(b, a.model)
	}
	bar := w.base + shareOfIt*(b.part[waiting][i]-w.base)
	const enough = 64
	if b.tmp = b.waitsOn(b.tmp, k, int32(i), enough); len(b.tmp) < 2 || !(median(b.tmp) >= bar) {
		return nowhere
	}
	r := a.model.rackOf(b.local.names[k])
	c := census{mates: len(w.rack[r]), slowMates: reach(w.rack[r], bar), all: len(w.all), slow: reach(w.all, bar)}
	return c.site(r != "", w.own[k] >= bar)
}

// census counts machines that wait, or are slow, as much as one in question; a rack's own are the mates.
type census struct{ mates, slowMates, all, slow int }

// reach is how many of the values, in order, are a bar or more.
func reach(sorted []float64, bar float64) int {
	at, _ := slices.BinarySearch(sorted, bar)
	return len(sorted) - at
}

// site tells the machine from its rack, and from some machines that share something nobody names. counted says whether
// the machine is among the slow ones itself.
func (c census) site(racks, counted bool) site {
	others, slowOthers := float64(c.all-c.mates), float64(c.slow-c.slowMates)
	if counted {
		if c.mates > 0 {
			c.mates--
			c.slowMates--
		} else {
			others--
			slowOthers--
		}
	}
	switch {
	case racks && c.slowMates >= 2 && float64(c.slowMates) >= mostOfRack*float64(c.mates) && others > 0 && slowOthers <= fewElse*others:
		return rack
	case !racks && slowOthers >= 2 && slowOthers <= mostOfRack*others:
		return somewhat
	}
	return machine
}

// rackOf is the rack of a machine by its number; "" unknown.
func (m *Model) rackOf(machine int64) string {
	if machine < 0 || machine >= int64(len(m.racks)) {
		return ""
	}
	return m.racks[machine]
}

// slowRack reports whether a machine that is slow is so with its rack, and how many of the others of the rack are.
func (m *Model) slowRack(number int64) (name string, slow, of int, ok bool) {
	name = m.rackOf(number)
	if name == "" || m.machines[number].phases == 0 {
		return "", 0, 0, false
	}
	z, _, _ := m.machines[number].spread()
	if !(z-m.calm > math.Log(worthNaming)) {
		return "", 0, 0, false
	}
	bar := m.calm + shareOfIt*(z-m.calm)
	c := census{len(m.rackSpeeds[name]), reach(m.rackSpeeds[name], bar), len(m.speeds), reach(m.speeds, bar)}
	return name, c.slowMates - 1, c.mates - 1, c.site(true, true) == rack
}

// settleRacks notes how fast the machines are, all and those of each rack.
func (m *Model) settleRacks() {
	m.rackSpeeds = map[string][]float64{}
	for k := range m.machines {
		if m.machines[k].phases == 0 {
			continue
		}
		z, _, _ := m.machines[k].spread()
		m.speeds = append(m.speeds, z)
		if r := m.rackOf(int64(k)); r != "" {
			m.rackSpeeds[r] = append(m.rackSpeeds[r], z)
		}
	}
	slices.Sort(m.speeds)
	for _, v := range m.rackSpeeds {
		slices.Sort(v)
	}
	if n := len(m.speeds); n > 0 {
		m.calm = m.speeds[n/4]
	}
}

// place names the place of a line, "" where there is none, and says it in words.
func (a *Attributor) place(s *split, l *line) (name string) {
	w := &a.where
	*w = (*w)[:0]
	m := s.task.Machine
	if m < 0 || l.seconds <= 0 {
		return ""
	}
	own := a.model.name(m)
	switch l.top {
	case ofMachine:
		if r, slow, of, ok := a.model.slowRack(m); ok {
			w.say("; ").int(int64(slow)).say(" of the ").int(int64(of)).say(" other machines of rack ").say(r).say(" are slow too, and few elsewhere: look at what the rack shares")
			return "rack " + r
		}
	case ofWait, ofLink:
		switch a.waitedWhere(s.index) {
		case nowhere:
			w.say("; the others on its machine do not: it is what this task read from")
			return ""
		case rack:
			r := a.model.rackOf(m)
			w.say("; most machines of rack ").say(r).say(" wait as long, and few elsewhere: it is the rack's link")
			return "rack " + r
		case somewhat:
			w.say("; some other machines wait as long: it is a link that they share")
			return ""
		}
		w.say("; so do the others on its machine: it is the machine's link")
	default:
		return ""
	}
	if own == "" {
		return ""
	}
	return "machine " + strings.ToValidUTF8(own, "\ufffd")
}
