package measure

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
)

// Tasks reads details of the tasks of some runs into their stages: the longest tasks of each stage, the part that each machine
// ran, and what tasks have in common. That takes as long as the rest of a run and more memory, and is needed only for runs that
// are judged, so it is read separately.
func Tasks(ctx context.Context, eng engine.Engine, runs ...*Run) error {
	m := measuring{ctx: ctx, eng: eng, stages: map[schema.Key]*Stage{}}
	var applications []schema.Key
	for _, r := range runs {
		applications = append(applications, r.ApplicationKey)
		for i := range r.Stages {
			s := &r.Stages[i]
			s.Longest, s.Parts, s.Shared = nil, nil, nil
			m.stages[s.ApplicationKey] = s
		}
	}
	if len(m.stages) == 0 {
		return nil
	}
	m.seen = only(applications)
	for _, step := range []func() error{m.longest, m.parts, m.shared} {
		if err := step(); err != nil {
			return fmt.Errorf("audit: measuring tasks: %w", err)
		}
	}
	return nil
}

func (m *measuring) longest() error {
	return each(m, "longest.sql", func(r *struct {
		PhaseID   schema.Key `col:"phase_id"`
		DurationS float64    `col:"duration_s"`
	}) {
		if s := m.stages[r.PhaseID]; s != nil {
			s.Longest = append(s.Longest, r.DurationS)
		}
	})
}

// parts reads the parts of stages on machines.
func (m *measuring) parts() error {
	return each(m, "parts.sql", func(p *struct {
		PhaseID schema.Key `col:"phase_id"`
		Machine string     `col:"machine"`
		Rack    text       `col:"rack"`
		Tasks   int64      `col:"tasks"`
		MedianS float64    `col:"median_s"`
		CPUS    float      `col:"cpu_s"`
		WaitS   float      `col:"wait_s"`
	}) {
		if s := m.stages[p.PhaseID]; s != nil {
			s.Parts = append(s.Parts, Part{short(p.Machine), short(p.Rack.V), p.Tasks, p.MedianS, p.CPUS, p.WaitS})
		}
	})
}

// shared reads what the tasks of stages have in common.
func (m *measuring) shared() error {
	return each(m, "shared.sql", func(x *struct {
		PhaseID   schema.Key `col:"phase_id"`
		Dimension string     `col:"dimension"`
		Value     string     `col:"value"`
		Bin       count      `col:"bin"`
		Tasks     count      `col:"tasks"`
	}) {
		if s := m.stages[x.PhaseID]; s != nil {
			s.Shared = append(s.Shared, Shared{x.Dimension, short(x.Value), x.Bin.V, x.Tasks.V})
		}
	})
}
