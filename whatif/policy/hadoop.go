package policy

import "straggler/whatif/replay"

// Hadoop is the native speculation of Hadoop 0.20.
//
// Rules (LATE §2.1; JobInProgress.findSpeculativeTask and TaskInProgress.hasSpeculativeTask of Hadoop 0.20): when a machine asks
// for work and no task of the phase waits, tasks whose progress score is more than 0.2 below the average of their category are
// stragglers; all stragglers are equal. The score of a task is the best of its attempts'. A task has at most one copy at a time,
// and a machine gets at most one copy per heartbeat. Because the average never exceeds 1, a task past 0.8 is never copied.
//
// According to LATE a straggler 'has run for at least one minute'. In the code of all versions from 0.14 to 0.20 the minute
// counts from TaskInProgress.init, that is, from the start of the job, so that after the first minute a task may be copied as
// soon as it has been launched. In version 0.21 it counts from the launch.
//
// Hadoop breaks ties by locality. Logs do not have the location of a running task's data, so here ties are broken by the order of
// tasks. Machines ask for work every Heartbeat, which is at least 3 s in 0.20 (MRConstants.HEARTBEAT_INTERVAL_MIN). Only since
// 0.21 do they also ask as soon as an attempt has ended.
type Hadoop struct {
	Gap       float64 `option:"gap" most:"1" doc:"how far below the average progress a straggler is"`
	Age       float64 `option:"age" unit:"s" doc:"how long the job must have run"`
	Heartbeat float64 `option:"heartbeat" least:"1e-6" unit:"s" doc:"how often machines ask for work"`
}

var hadoopDefaults = Hadoop{Gap: 0.2, Age: 60, Heartbeat: 3}

type hadoop struct {
	Hadoop
	found    []int32
	machines []int32
}

func (h *hadoop) Look(v *replay.View, do *replay.Actions) replay.Again {
	running := v.Running()
	ready := v.JobReleased() + replay.Seconds(h.Age)
	switch {
	case v.Waiting() > 0 || len(running) == 0:
		return replay.Again{End: true, Launched: true}
	case ready > v.Now():
		return replay.Again{At: ready}
	case v.Free() == 0:
		return v.In(replay.Seconds(h.Heartbeat))
	}
	threshold := HadoopThreshold(averageProgress(v), h.Gap)
	for i := range running {
		if a := &running[i]; v.CopiesOf(a) == 1 && v.Progress(a) < threshold {
			h.found = append(h.found, a.Task)
		}
	}
	h.machines = v.FreeMachines(h.machines[:0])
	left := len(h.machines)
	inOrder(&h.found, func(task int32) {
		if left > 0 {
			do.Copy(task)
			left--
		}
	})
	return v.In(replay.Seconds(h.Heartbeat))
}

// averageProgress returns the average progress of the tasks of a phase, each with the best score of its attempts.
func averageProgress(v *replay.View) float64 {
	running := v.Running()
	sum := float64(v.Succeeded())
	for i := range running {
		a := &running[i]
		best := v.Progress(a)
		if v.CopiesOf(a) > 1 {
			first := true
			for b := range v.Attempts(a.Task) {
				if first && b != a { // the task is counted with its last attempt
					best = 0
					break
				}
				first, best = false, max(best, v.Progress(b))
			}
		}
		sum += best
	}
	return sum / float64(v.Tasks())
}

// Abstains: no score is under an average of itself alone.
func (h *hadoop) Abstains(float64) bool { return true }

// HadoopThreshold returns the score below which a task is a straggler, given the average score of its category.
func HadoopThreshold(average, gap float64) float64 { return average - gap }
