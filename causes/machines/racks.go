package machines

import (
	"math"
	"slices"
)

// Location is the part of a cluster to which a slowdown, or a wait, is common.
type Location int

const (
	NoLocation Location = iota // none: it is due to the task itself, or to its source
	OnMachine                  // the machine, or its link
	OnRack                     // its rack, or the rack's link
	SharedLink                 // a link shared by some machines, where the log names no racks
)

// Requirements for naming a location: two machines in three of the rack wait (or are slow) at least half as much above the
// baseline as the task (or machine) in question, and at most one in three elsewhere.
const (
	ShareOfIt  = 0.5
	mostOfRack = 2. / 3
	fewElse    = 1. / 3
)

// Census counts machines that wait, or are slow, as much as one in question; those of its rack are the Mates.
type Census struct{ InRack, SlowInRack, All, Slow int }

// CountOver returns the number of sorted values that reach a threshold.
func CountOver(sorted []float64, bar float64) int {
	at, _ := slices.BinarySearch(sorted, bar)
	return len(sorted) - at
}

// WithoutItself returns the census without a slow machine that it includes.
func (c Census) WithoutItself() Census {
	if c.InRack > 0 {
		c.InRack--
		c.SlowInRack--
	}
	c.All--
	c.Slow--
	return c
}

// Location distinguishes the machine from its rack, if racks are known, and from a group of machines that share something the
// log does not name. The census is that of the other machines.
func (c Census) Location(racks bool) Location {
	others, slowOthers := float64(c.All-c.InRack), float64(c.Slow-c.SlowInRack)
	switch {
	case racks && c.SlowInRack >= 2 && float64(c.SlowInRack) >= mostOfRack*float64(c.InRack) && others > 0 && slowOthers <= fewElse*others:
		return OnRack
	case !racks && slowOthers >= 2 && slowOthers <= mostOfRack*others:
		return SharedLink
	}
	return OnMachine
}

// racks holds the speeds of all machines and of each rack.
type racks struct {
	rackSpeeds map[string][]float64 // ln(factor) of the machines of a rack, in order
	speeds     []float64            // of all machines, in order
	baseline   float64              // of machines that nothing slows: the lower quartile
}

// SlowRack reports whether a slow machine is slow together with its rack, and how many of the others in the rack are slow.
func (m *Factors) SlowRack(machine int64) (name string, slow, of int, ok bool) {
	name = m.Rack(machine)
	if name == "" || m.Machines[machine].Phases == 0 {
		return "", 0, 0, false
	}
	z, _, _ := m.Machines[machine].Spread()
	if !(z-m.baseline > math.Log(worthNaming)) {
		return "", 0, 0, false
	}
	bar := m.baseline + ShareOfIt*(z-m.baseline)
	c := Census{len(m.rackSpeeds[name]), CountOver(m.rackSpeeds[name], bar), len(m.speeds), CountOver(m.speeds, bar)}
	c = c.WithoutItself()
	return name, c.SlowInRack, c.InRack, c.Location(true) == OnRack
}

// settleRacks computes the speeds of all machines and of each rack.
func (m *Factors) settleRacks() {
	m.racks = racks{rackSpeeds: map[string][]float64{}}
	for k := range m.Machines {
		if m.Machines[k].Phases == 0 {
			continue
		}
		z, _, _ := m.Machines[k].Spread()
		m.speeds = append(m.speeds, z)
		if r := m.Rack(int64(k)); r != "" {
			m.rackSpeeds[r] = append(m.rackSpeeds[r], z)
		}
	}
	slices.Sort(m.speeds)
	for _, v := range m.rackSpeeds {
		slices.Sort(v)
	}
	if n := len(m.speeds); n > 0 {
		m.baseline = m.speeds[n/4]
	}
}
