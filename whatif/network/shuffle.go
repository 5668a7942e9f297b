package network

// Shuffle is the output of a phase by the rack that it lies in, of which every task of the next phase reads its share.
type Shuffle struct {
	Bytes []float64 // of each rack
}

// NewShuffle is a shuffle of nothing on a topology.
func NewShuffle(t *Topology) *Shuffle { return &Shuffle{Bytes: make([]float64, len(t.Up))} }

// Add adds what a task has left on a machine.
func (s *Shuffle) Add(t *Topology, machine int32, bytes float64) { s.Bytes[t.Rack[machine]] += bytes }

// Fetch starts the transfers by which count tasks, that read a share of every output each and start together, get their
// input to one rack: a flow from every rack with data, with the tag. The number of flows is given: the tasks have
// their input when so many have ended. What lies in their own rack comes at rate local, 0 standing for no limit. With a
// machine of at least 0 the flows go through its interface too.
func (n *Net) Fetch(s *Shuffle, rack, machine int32, share, local float64, count, tag int32) (flows int) {
	for from, bytes := range s.Bytes {
		if bytes <= 0 {
			continue
		}
		x := Flow{Path: n.BetweenRacks(int32(from), rack), Bytes: bytes * share, Count: count, Tag: tag}
		if machine >= 0 {
			x.Path = n.ToMachine(int32(from), machine)
		}
		if int32(from) == rack {
			x.Most = local
		}
		n.Start(x)
		flows++
	}
	return flows
}

// Crossing is the bytes that a fetch of everything to one rack moves between racks.
func (s *Shuffle) Crossing(rack int32) float64 {
	sum := 0.0
	for from, bytes := range s.Bytes {
		if int32(from) != rack {
			sum += bytes
		}
	}
	return sum
}
