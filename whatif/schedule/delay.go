package schedule

import (
	"math"

	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Delay is delay scheduling (FAIR §4.2): a job that has no task for a machine near its data is passed over, and the next job is
// tried. Having waited T1 it may start tasks on another machine of the data's rack, and T2 later anywhere. Starting a task nearer
// than that returns the job to the level of the task. The wait begins when the job is first passed over and ends with its next
// start. With both times 0 no job waits: the first job in order is served.
//
// With a bias, jobs that read less than the given MB/s do not wait (IO-rate biasing, FAIR §4.3.2): read from far away they cost
// the network little, and leave the slots near the data to jobs that need them. The rate is that of the ended tasks of the job,
// or of the last job of its name; until there are any, the job waits.
type Delay struct {
	T1   float64 `option:"t1" unit:"s" doc:"how long a job waits for a machine that has its data"`
	T2   float64 `option:"t2" unit:"s" doc:"how much longer it waits for a rack that has it"`
	Bias float64 `option:"bias" unit:"MB/s" doc:"jobs that read more slowly than this do not wait; 0: all wait"`
}

// delayDefaults are the waits of FAIR §4.2 and §6.2.1.
var delayDefaults = Delay{T1: 15, T2: 15}

// LocalWithin returns the probability that at least one of n slots becomes free within a share of the tasks' length, at
// independent instants: 1 − (1 − share)^n (FAIR §4.2).
func LocalWithin(share float64, n int) float64 { return 1 - math.Pow(1-share, float64(n)) }

// delay is the state of a replay.
type delay struct {
	Delay
	jobs []waiting
	rate map[string]float64 // MB/s by name of the job
}

// waiting is the state of a job.
type waiting struct {
	level  workload.Level
	passed bool // it was passed over since its last start
	since  replay.Time
}

func (d *delay) begin(c *replay.Cluster) {
	d.jobs, d.rate = make([]waiting, c.NumJobs()), map[string]float64{}
}

// most returns the farthest level at which a job may start a task of a phase now.
func (d *delay) most(c *replay.Cluster, job, phase int32) workload.Level {
	t1, t2 := replay.Seconds(d.T1), replay.Seconds(d.T2)
	if t1+t2 == 0 || !c.Prefers(phase) || d.Bias > 0 && d.slow(c, job) {
		return workload.OffRack
	}
	w := &d.jobs[job]
	waited := replay.Time(0)
	if w.passed {
		waited = c.Now() - w.since
	}
	switch {
	case w.level == workload.OffRack, w.level == workload.RackLocal && waited >= t2, waited >= t1+t2:
		return workload.OffRack
	case w.level == workload.RackLocal, waited >= t1:
		return workload.RackLocal
	}
	return workload.NodeLocal
}

// skipped records that a job was passed over, and returns when it may start farther away.
func (d *delay) skipped(c *replay.Cluster, job, phase int32) replay.Time {
	w := &d.jobs[job]
	if !w.passed {
		w.passed, w.since = true, c.Now()
	}
	t1, t2 := replay.Seconds(d.T1), replay.Seconds(d.T2)
	switch {
	case w.level == workload.RackLocal:
		return w.since + t2
	case d.most(c, job, phase) == workload.RackLocal:
		return w.since + t1 + t2
	}
	return w.since + t1
}

// started ends the wait of a job that has started a task.
func (d *delay) started(c *replay.Cluster, job, phase int32, at workload.Level) {
	if c.Prefers(phase) {
		d.jobs[job] = waiting{level: at}
	}
}

// slow reports whether the job reads slower than the bias.
func (d *delay) slow(c *replay.Cluster, job int32) bool {
	rate, known := d.rate[c.JobName(job)]
	return known && rate < d.Bias
}

// learn updates the reading rate of jobs of a name from their tasks, giving more weight to later ones.
func (d *delay) learn(c *replay.Cluster, changes []replay.Change) {
	for n := range changes {
		x := &changes[n]
		if x.What != replay.AttemptEnded || !c.Prefers(x.Phase) {
			continue
		}
		done := c.Done(x.Phase)
		if len(done) == 0 {
			continue
		}
		last := &done[len(done)-1]
		bytes, took := c.Bytes(x.Phase, last.Task), last.Took.Seconds()
		if bytes <= 0 || took <= 0 {
			continue
		}
		name, rate := c.JobName(x.Job), float64(bytes)/took/1e6
		if old, known := d.rate[name]; known {
			rate = 0.9*old + 0.1*rate
		}
		d.rate[name] = rate
	}
}
