package policy

import "straggler/whatif/replay"

// Hadoop is the native speculation of Hadoop 0.20.
//
// Rules (LATE §2.1): when a node asks for work and no task of the phase waits, tasks that have run for a minute and whose
// progress score is more than 0.2 below the average of their category are stragglers; all stragglers are equal. A task
// has at most one copy at a time. Because the average never exceeds 1, a task past 0.8 is never copied.
//
// Ties are broken by locality in Hadoop; where the data of a running task lies is not in the logs, so they fall in the
// order of tasks. Nodes ask every Heartbeat, and when an attempt has ended.
type Hadoop struct {
	Gap       float64 `option:"gap" doc:"how far below the average progress a straggler is"`
	Age       float64 `option:"age" unit:"s" doc:"how long a task must have run"`
	Heartbeat float64 `option:"heartbeat" unit:"s" doc:"how often nodes ask for work"`
}

var hadoopDefaults = Hadoop{Gap: 0.2, Age: 60, Heartbeat: 1}

type hadoop struct {
	Hadoop
	found []int32
}

func (h *hadoop) Look(v *replay.View, do *replay.Actions) replay.Again {
	if again, wait := idleUntil(v, h.Age, h.Heartbeat); wait {
		return again
	}
	running := v.Running()
	sum := float64(finished(v))
	for i := range running {
		if running[i].Number == 0 {
			sum += v.Progress(&running[i])
		}
	}
	threshold := HadoopThreshold(sum/float64(v.Tasks()), h.Gap)
	for i := range running {
		a := &running[i]
		if v.Copies(a.Task) == 1 && v.Elapsed(a).Seconds() >= h.Age && v.Progress(a) < threshold {
			h.found = append(h.found, a.Task)
		}
	}
	free := v.Free()
	inOrder(&h.found, func(task int32) {
		if free > 0 {
			do.Copy(task)
			free--
		}
	})
	return replay.Again{At: v.Now() + replay.Seconds(h.Heartbeat), End: true}
}

// HadoopThreshold is the score below which a task is a straggler, given the average score of its category.
func HadoopThreshold(average, gap float64) float64 { return average - gap }

// finished is how many tasks of the phase have succeeded.
func finished(v *replay.View) int {
	n := 0
	if len(v.Done()) <= v.Tasks() { // an output that was lost is made, and counted, twice
		return len(v.Done())
	}
	for t := range v.Tasks() {
		if v.Finished(int32(t)) {
			n++
		}
	}
	return n
}

// idleUntil says when a policy that speculates only with idle slots and nothing waiting needs to look next, if there is
// nothing to look at now: not before the oldest attempt without a copy has the age.
func idleUntil(v *replay.View, age, heartbeat float64) (replay.Again, bool) {
	if v.Waiting() > 0 {
		return replay.Again{End: true}, true
	}
	if again, wait := untilAge(v, age); wait {
		return again, true
	}
	if v.Free() == 0 {
		return replay.Again{At: v.Now() + replay.Seconds(heartbeat), End: true}, true
	}
	return replay.Again{}, false
}

// untilAge says when the oldest attempt without a copy has the age, unless it has.
func untilAge(v *replay.View, age float64) (replay.Again, bool) {
	const never = replay.Time(1<<62 - 1)
	oldest := never
	running := v.Running()
	for i := range running {
		if a := &running[i]; a.Start < oldest && v.Copies(a.Task) == 1 && v.Launched(a.Task) == 0 {
			oldest = a.Start
		}
	}
	switch ready := oldest + replay.Seconds(age); {
	case oldest == never:
		return replay.Again{End: true}, true
	case ready > v.Now() && v.Waiting() > 0:
		return replay.Again{At: ready, End: true}, true
	case ready > v.Now():
		return replay.Again{At: ready}, true
	}
	return replay.Again{}, false
}
