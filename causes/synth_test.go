package causes

import (
	"math"
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// attributeAll learns from all phases and attributes each.
func attributeAll(phases []*fit.Phase) []schema.Attribution {
	l := model.NewLearner(3600, nil, nil)
	for _, p := range phases {
		l.Observe(p)
	}
	a := NewAttributor(l.Model())
	var rows []schema.Attribution
	for _, p := range phases {
		rows = a.Attribute(p, rows)
	}
	return rows
}

// verdicts returns the rows of rank 1 by attempt.
func verdicts(rows []schema.Attribution) map[schema.Key]schema.Attribution {
	out := map[schema.Key]schema.Attribution{}
	for _, r := range rows {
		if r.Rank == 1 {
			out[r.AttemptID] = r
		}
	}
	return out
}

// judged judges the machines of a model, by name.
func judged(m *model.Model) map[string][]schema.MachineHealth {
	h := machines.Health{Factors: &m.Machines, FalseDiscoveryRate: 0.05, OutlierProbability: m.Outliers.Probability}
	out := map[string][]schema.MachineHealth{}
	for _, r := range h.Rows() {
		out[r.Machine] = append(out[r.Machine], r)
	}
	return out
}

var nan = math.NaN()
