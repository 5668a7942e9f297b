package placement

// Estimate is what bandwidth a plan reckons with (MANTRI §5.2, §6.4). None of them follows the links while a phase runs.
type Estimate uint8

const (
	Equal  Estimate = iota // all links have the same: right for long phases, over which differences even out
	Start                  // as measured when the phase starts: right for short ones
	Hybrid                 // Start for phases that are expected to take less than a while, else Equal: Mantri's own
)

// Bandwidth is the estimate for racks whose links can carry capacity and have so much left when the phase starts. seconds
// is how long the phase would take if its links had all their capacity, long what counts as a long phase.
func (e Estimate) Bandwidth(capacity, left []float64, seconds, long float64) []float64 {
	if e == Start || e == Hybrid && seconds < long {
		return left
	}
	return capacity
}
