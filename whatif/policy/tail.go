package policy

import "straggler/whatif/replay"

// MapReduce is the backup tasks of MapReduce (MANTRI §7): once a share of the tasks of a phase has finished, every task
// that still runs is copied. The papers give no share; 0.95 is ours ('close to completion').
type MapReduce struct {
	Share float64 `option:"share" doc:"share of the tasks that must have finished"`
}

var mapReduceDefaults = MapReduce{Share: 0.95}

type mapReduce struct{ MapReduce }

func (m *mapReduce) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() == 0 && float64(finished(v)) >= m.Share*float64(v.Tasks()) {
		running := v.Running()
		for _, i := range byTask(running) {
			if a := &running[i]; v.Copies(a.Task) == 1 && v.Launched(a.Task) == 0 && !queuedBefore(v, a.Task) {
				do.QueueCopy(a.Task)
			}
		}
	}
	return replay.Again{End: true}
}

// Dryad copies tasks that have run longer than the 75th percentile of the durations of their phase, once all tasks have
// been started (MANTRI §7). The percentile is that of the tasks that have finished.
type Dryad struct {
	Percentile float64 `option:"percentile" doc:"percentile of the durations beyond which a task is copied"`
}

var dryadDefaults = Dryad{Percentile: 0.75}

type dryad struct{ Dryad }

func (d *dryad) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() > 0 || len(v.Done()) == 0 {
		return replay.Again{End: true}
	}
	s, counted := tookSample(v)
	for _, done := range v.Done()[*counted:] {
		s.add(done.Took.Seconds())
	}
	*counted = len(v.Done())
	limit := replay.Seconds(s.quantile(d.Percentile))
	again := replay.Again{End: true}
	running := v.Running()
	for _, i := range byTask(running) {
		a := &running[i]
		if v.Copies(a.Task) > 1 || v.Launched(a.Task) > 0 {
			continue
		}
		switch over := a.Start + limit + 1; {
		case over > v.Now():
			if again.At == 0 || over < again.At {
				again.At = over
			}
		case !queuedBefore(v, a.Task):
			do.QueueCopy(a.Task)
		}
	}
	return again
}
