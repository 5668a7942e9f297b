package fit

import "math"

// The parts of a duration that a log measures. The remainder is the task's own time, its body.
const (
	FetchWait = iota // waiting for blocks from other machines
	GC
	SchedulerDelay // between launch and run, run and end
	Conversion     // deserialising the task, serialising its result
	Parts
)

// bodyFloor is the least share of a duration that counts as the task's own time. Logs measure the parts on different
// clocks and threads, so that together they may exceed the whole.
const bodyFloor = 0.02

// Split splits a duration into its measured parts and the body; they sum to it. If the logged parts exceed the duration they
// overlapped (a collection also stops a task that waits for blocks), and the largest is reduced.
func (t *Task) Split() (p [Parts]float64, body float64) {
	p = [Parts]float64{Known(t.Wait), Known(t.GC), Known(t.Delay), Known(t.Convert)}
	body = t.Duration
	for _, s := range p {
		body -= s
	}
	for floor := bodyFloor * t.Duration; body < floor; {
		big := 0
		for k := range p {
			if p[k] > p[big] {
				big = k
			}
		}
		cut := min(floor-body, p[big])
		p[big] -= cut
		body += cut
		if cut == 0 {
			break
		}
	}
	return p, body
}

// Known returns a measurement as a term of a sum: 0 if it is unknown (NaN) or negative.
func Known(x float64) float64 {
	if math.IsNaN(x) || x < 0 {
		return 0
	}
	return x
}

// FetchedBytes returns the number of bytes that task i fetched: remote bytes, or the input if they are not logged.
func (f *Fitter) FetchedBytes(i int) float64 {
	if r := f.Tasks[i].Remote; !math.IsNaN(r) {
		return r
	}
	return Known(f.Tasks[i].Bytes)
}
