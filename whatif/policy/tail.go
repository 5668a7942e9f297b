package policy

import "straggler/whatif/replay"

// MapReduce is the backup tasks of MapReduce (MANTRI §7): once a share of the tasks of a phase has finished, every task
// that still runs is copied. The papers give no share; 0.95 is ours ('close to completion').
type MapReduce struct {
	Share float64 `option:"share" most:"1" doc:"share of the tasks that must have finished"`
}

var mapReduceDefaults = MapReduce{Share: 0.95}

type mapReduce struct{ MapReduce }

func (m *mapReduce) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() > 0 {
		return replay.Again{End: true, Launched: true}
	}
	if float64(v.Succeeded()) < m.Share*float64(v.Tasks()) {
		return replay.Again{End: true}
	}
	p := tailOf(v)
	p.ages.update(v)
	p.queue(v, do, never-1)
	return replay.Again{End: true}
}

// Dryad copies tasks that have run longer than the 75th percentile of the durations of their phase, once all tasks have
// been started (MANTRI §7). The percentile is that of the tasks that have finished.
type Dryad struct {
	Percentile float64 `option:"percentile" most:"1" doc:"percentile of the durations beyond which a task is copied"`
}

var dryadDefaults = Dryad{Percentile: 0.75}

type dryad struct{ Dryad }

func (d *dryad) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() > 0 {
		return replay.Again{End: true, Launched: true}
	}
	if len(v.Done()) == 0 {
		return replay.Again{End: true}
	}
	p := tailOf(v)
	for _, done := range v.Done()[p.counted:] {
		p.took.add(done.Took.Seconds())
	}
	p.counted = len(v.Done())
	limit := replay.Seconds(p.took.quantile(d.Percentile))
	p.ages.update(v)
	p.queue(v, do, v.Now()-limit-1)
	if next, ok := p.ages.first(v); ok {
		return replay.Again{At: next.start + limit + 1, End: true}
	}
	return replay.Again{End: true}
}
