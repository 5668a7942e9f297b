package policy

import "straggler/whatif/replay"

// Hadoop is the native speculation of Hadoop 0.20.
//
// Rules (LATE §2.1): when a node asks for work and no task of the phase waits, tasks that have run for a minute and whose
// progress score is more than 0.2 below the average of their category are stragglers; all stragglers are equal. A task
// has at most one copy at a time. Because the average never exceeds 1, a task past 0.8 is never copied.
//
// Ties are broken by locality in Hadoop; where the data of a running task lies is not in the logs, so they fall in the
// order of tasks. Nodes ask every Heartbeat; that a node asks as soon as an attempt has ended came with Hadoop 0.21.
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

// hadoopPhase is the state of a phase.
type hadoopPhase struct{ ages ages }

func (h *hadoop) Look(v *replay.View, do *replay.Actions) replay.Again {
	p, ok := (*v.Memory()).(*hadoopPhase)
	if !ok {
		p = &hadoopPhase{}
		*v.Memory() = p
	}
	if again, wait := idleUntil(v, &p.ages, h.Age, h.Heartbeat); wait {
		return again
	}
	running := v.Running()
	sum := float64(v.Succeeded())
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
	return v.In(replay.Seconds(h.Heartbeat))
}

// Abstains: no score is under an average of itself alone.
func (h *hadoop) Abstains(float64) bool { return true }

// HadoopThreshold is the score below which a task is a straggler, given the average score of its category.
func HadoopThreshold(average, gap float64) float64 { return average - gap }

// idleUntil is the next look of a policy that speculates only on idle slots when nothing waits, if there is nothing to do now:
// when the oldest attempt without a copy reaches the age.
func idleUntil(v *replay.View, g *ages, age, heartbeat float64) (replay.Again, bool) {
	if v.Waiting() > 0 {
		return replay.Again{End: true}, true
	}
	if again, wait := untilAge(v, g, age); wait {
		return again, true
	}
	if v.Free() == 0 {
		return v.In(replay.Seconds(heartbeat)), true
	}
	return replay.Again{}, false
}

// untilAge is when the oldest attempt without a copy reaches the age, unless it has done so.
func untilAge(v *replay.View, g *ages, age float64) (replay.Again, bool) {
	g.update(v)
	oldest, ok := g.first(v)
	switch ready := oldest.start + replay.Seconds(age); {
	case !ok:
		return replay.Again{End: true}, true
	case ready > v.Now():
		return replay.Again{At: ready}, true
	}
	return replay.Again{}, false
}
