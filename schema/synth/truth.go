package synth

import "straggler/schema"

// Truth is what the generator did, in addition to the rows that a log would show.
type Truth struct {
	Attempts []AttemptTruth // in the order of the trace's attempts
	Machines []MachineTruth
	Skewed   []SkewedTask
}

// AttemptTruth is where an attempt's time went: duration_s = BaseS + Σ By − CutS.
type AttemptTruth struct {
	AttemptID schema.Key
	BaseS     float64         // a normal task's time on this machine's generation, with its noise
	CutS      float64         // what it would have run on, had it not failed or been killed or lost
	By        [causes]float64 // seconds added, in the order of Causes; data_skew is negative for less data than normal
}

// MachineTruth is the condition of a machine.
type MachineTruth struct {
	Machine    string
	Rack       string
	Generation float64 // time factor of its hardware: not a fault
	Factor     float64 // time factor of a bad machine, or of a flaky one while it is bad; 1 = healthy
	Flaky      bool    // Factor holds in some windows of time only
	Downlink   float64 // time factor of reading from other machines
	Uplink     float64 // time factor for others reading from it
	GC         bool    // its executors collect garbage in some phases
}

// SkewedTask is a task with more data than normal.
type SkewedTask struct {
	PhaseID schema.Key // of the phase's first submission
	Task    int64
	Factor  float64
}

// Causes is the order of AttemptTruth.By.
var Causes = [causes]schema.Cause{schema.DataSkew, schema.Network, schema.BadMachine, schema.Recompute, schema.GC, schema.Spill,
	schema.Scheduler, schema.Startup, schema.LocalityMiss, schema.Transient}

const (
	bySkew = iota
	byNetwork
	byBad
	byRecompute
	byGC
	bySpill
	byScheduler
	byStartup
	byLocality
	byTransient
	causes
)

// Seconds returns what a cause added.
func (a *AttemptTruth) Seconds(c schema.Cause) float64 {
	for i, known := range Causes {
		if known == c {
			return a.By[i]
		}
	}
	return 0
}

// ObservedS returns the duration that the log shows.
func (a *AttemptTruth) ObservedS() float64 { return a.BaseS + a.sum() - a.CutS }

func (a *AttemptTruth) sum() float64 {
	s := 0.0
	for _, v := range a.By {
		s += v
	}
	return s
}

// Largest returns the cause that added most, and its seconds; ok is false if none added any.
func (a *AttemptTruth) Largest() (c schema.Cause, seconds float64, ok bool) {
	best := -1
	for i, v := range a.By {
		if v > 0 && (best < 0 || v > a.By[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", 0, false
	}
	return Causes[best], a.By[best], true
}
