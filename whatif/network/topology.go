package network

import (
	"fmt"
	"math"
)

// Topology is a cluster whose racks are connected by a non-blocking core: a transfer is limited by the disk that it is read
// from, the interfaces of its two machines, and, between racks, the uplink of one and the downlink of the other. Bandwidths are
// in bytes per second; 0 stands for no limit.
type Topology struct {
	Rack     []int32   // of each machine
	Up, Down []float64 // of each rack
	Out, In  []float64 // of each machine's interface; nil: no limit
	Disk     []float64 // read bandwidth of each machine's disks; nil: no limit
}

// Uniform returns a cluster of equal racks of equal machines.
func Uniform(racks, machines int, link, nic float64) *Topology {
	t := &Topology{Rack: make([]int32, racks*machines), Up: make([]float64, racks), Down: make([]float64, racks)}
	for r := range t.Up {
		t.Up[r], t.Down[r] = link, link
	}
	for m := range t.Rack {
		t.Rack[m] = int32(m / machines)
	}
	if nic > 0 {
		t.Out, t.In = make([]float64, len(t.Rack)), make([]float64, len(t.Rack))
		for m := range t.Rack {
			t.Out[m], t.In[m] = nic, nic
		}
	}
	return t
}

// Check reports what is wrong with a topology.
func (t *Topology) Check() error {
	if len(t.Up) != len(t.Down) {
		return fmt.Errorf("%d racks have an uplink and %d a downlink", len(t.Up), len(t.Down))
	}
	for m, r := range t.Rack {
		if r < 0 || int(r) >= len(t.Up) {
			return fmt.Errorf("machine %d is in rack %d; there are racks 0 to %d", m, r, len(t.Up)-1)
		}
	}
	for _, x := range []struct {
		what string
		list []float64
		n    int
	}{{"uplink", t.Up, len(t.Up)}, {"downlink", t.Down, len(t.Up)}, {"outgoing interface", t.Out, len(t.Rack)},
		{"incoming interface", t.In, len(t.Rack)}, {"disk", t.Disk, len(t.Rack)}} {
		if x.list != nil && len(x.list) != x.n {
			return fmt.Errorf("%d bandwidths of a %s for %d of them", len(x.list), x.what, x.n)
		}
		for i, b := range x.list {
			if !(b >= 0) || math.IsInf(b, 1) {
				return fmt.Errorf("%s %d has a bandwidth of %v bytes/s; it must be above 0, or 0 for no limit", x.what, i, b)
			}
		}
	}
	return nil
}

// Net is a topology with the flows on it.
type Net struct {
	*Fluid
	t                       *Topology
	up, down, out, in, disk []int32 // numbers of links, -1: no limit
}

// New returns a topology without any flows, at instant 0.
func New(t *Topology) (*Net, error) {
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	n := &Net{t: t}
	var caps []float64
	links := func(list []float64, count int) []int32 {
		of := make([]int32, count)
		for i := range of {
			of[i] = -1
			if list != nil && list[i] > 0 {
				of[i] = int32(len(caps))
				caps = append(caps, list[i])
			}
		}
		return of
	}
	n.up, n.down = links(t.Up, len(t.Up)), links(t.Down, len(t.Up))
	n.out, n.in, n.disk = links(t.Out, len(t.Rack)), links(t.In, len(t.Rack)), links(t.Disk, len(t.Rack))
	n.Fluid = NewFluid(caps)
	return n, nil
}

// Uplink and Downlink return the numbers of a rack's links, -1 if unlimited.
func (n *Net) Uplink(rack int32) int32   { return n.up[rack] }
func (n *Net) Downlink(rack int32) int32 { return n.down[rack] }

// Between returns the path of a read by machine dst from a disk of machine src.
func (n *Net) Between(src, dst int32) Path {
	p := path(n.disk[src])
	if src == dst {
		return p
	}
	p = p.via(n.out[src])
	if a, b := n.t.Rack[src], n.t.Rack[dst]; a != b {
		p = p.via(n.up[a]).via(n.down[b])
	}
	return p.via(n.in[dst])
}

// BetweenRacks returns the path from somewhere in one rack to somewhere in another. Transfers inside a rack are unlimited.
func (n *Net) BetweenRacks(src, dst int32) Path {
	if src == dst {
		return Path{}
	}
	return path(n.up[src]).via(n.down[dst])
}

// ToMachine returns the path from somewhere in a rack to a machine, which reads through its interface.
func (n *Net) ToMachine(src, dst int32) Path {
	return n.BetweenRacks(src, n.t.Rack[dst]).via(n.in[dst])
}
