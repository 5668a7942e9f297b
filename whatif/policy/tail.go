package policy

import "straggler/whatif/replay"

// MapReduce is the backup tasks of MapReduce (MANTRI §7): once a share of the tasks of a phase has finished, every task
// that still runs is copied. The papers give no share; 0.95 is ours ('close to completion').
type MapReduce struct {
	Share float64 `option:"share" doc:"share of the tasks that must have finished"`
}

var mapReduceDefaults = MapReduce{Share: 0.95}

type mapReduce struct {
	MapReduce
	found []int32
}

func (m *mapReduce) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() > 0 || float64(finished(v)) < m.Share*float64(v.Tasks()) {
		return replay.Again{End: true}
	}
	p := tailOf(v)
	running := v.Running()
	for i := range running {
		if a := &running[i]; v.Copies(a.Task) == 1 && v.Launched(a.Task) == 0 && !p.queued[a.Task] {
			m.found = append(m.found, a.Task)
		}
	}
	inOrder(&m.found, func(task int32) { p.queue(do, task) })
	return replay.Again{End: true}
}

// Dryad copies tasks that have run longer than the 75th percentile of the durations of their phase, once all tasks have
// been started (MANTRI §7). The percentile is that of the tasks that have finished.
type Dryad struct {
	Percentile float64 `option:"percentile" doc:"percentile of the durations beyond which a task is copied"`
}

var dryadDefaults = Dryad{Percentile: 0.75}

type dryad struct {
	Dryad
	found []int32
}

func (d *dryad) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() > 0 || len(v.Done()) == 0 {
		return replay.Again{End: true}
	}
	p := tailOf(v)
	for _, done := range v.Done()[p.counted:] {
		p.took.add(done.Took.Seconds())
	}
	p.counted = len(v.Done())
	limit := replay.Seconds(p.took.quantile(d.Percentile))
	again := replay.Again{End: true}
	running := v.Running()
	for i := range running {
		a := &running[i]
		if v.Copies(a.Task) > 1 || v.Launched(a.Task) > 0 {
			continue
		}
		switch over := a.Start + limit + 1; {
		case over > v.Now():
			if again.At == 0 || over < again.At {
				again.At = over
			}
		case !p.queued[a.Task]:
			d.found = append(d.found, a.Task)
		}
	}
	inOrder(&d.found, func(task int32) { p.queue(do, task) })
	return again
}
