package report

import (
	"straggler/schema"
)

// noAttempts explains an empty list of a document without any attempt.
const noAttempts = "No task attempt was read."

func (b *builder) phases() error {
	l := &b.doc.Phases
	*l = List[Phase]{Total: b.sums.phaseCount, Note: "The log does not say when any phase ran.",
		SQL: "SELECT p.native_id, p.attempt, p.name, s.*\nFROM phase_stats s JOIN phases p ON p.phase_id = s.phase_id\nORDER BY s.lost_s DESC NULLS LAST"}
	if b.doc.Trust.Counts.Attempts == 0 {
		l.Note = noAttempts
	}
	picked := b.sums.phases.sorted()
	var keys []schema.Key
	for _, p := range picked {
		keys = append(keys, p.key)
	}
	if err := b.pick("report_picked_phases", "phase_id", keys); err != nil {
		return err
	}
	rows, err := collect[PhaseRow](b, "phases")
	if err != nil {
		return err
	}
	spreads, err := b.spreads()
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *PhaseRow) schema.Key { return r.PhaseID })
	for _, p := range picked {
		i, ok := byKey[p.key]
		if !ok {
			continue
		}
		phase := Phase{PhaseRow: rows[i], Critical: p.critical}
		if phase.LostS.OK || p.next > 0 {
			phase.EarlierS, phase.CostS = schema.Some(p.next), schema.Some(p.cost)
		}
		if s := spreads[p.key]; s != nil {
			phase.Spread = *s
		}
		if q := b.sums.phaseParts[p.key]; q != nil {
			phase.Parts = q.list()
		}
		l.Rows = append(l.Rows, phase)
	}
	return nil
}

const spreadBins = 80 // as bins.sql counts them

// spreads returns the distribution of the tasks of each phase in report_picked_phases.
func (b *builder) spreads() (map[schema.Key]*Spread, error) {
	if err := b.keep("report_tasks", "tasks"); err != nil {
		return nil, err
	}
	spreads := map[schema.Key]*Spread{}
	err := read(b, "spread", func(r *struct {
		PhaseID  schema.Key `col:"phase_id"`
		N        int64      `col:"n"`
		Outliers int64      `col:"outliers"`
		MinS     float64    `col:"min_s"`
		P25S     float64    `col:"p25_s"`
		MedianS  float64    `col:"median_s"`
		P75S     float64    `col:"p75_s"`
		P95S     float64    `col:"p95_s"`
		MaxS     float64    `col:"max_s"`
	}) error {
		spreads[r.PhaseID] = &Spread{N: r.N, MinS: r.MinS, P25S: r.P25S, MedianS: r.MedianS, P75S: r.P75S, P95S: r.P95S, MaxS: r.MaxS, Outliers: r.Outliers}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = read(b, "points", func(r *struct {
		PhaseID   schema.Key          `col:"phase_id"`
		AttemptID schema.Key          `col:"attempt_id"`
		Task      int64               `col:"task"`
		Machine   schema.Null[string] `col:"machine"`
		DurationS float64             `col:"duration_s"`
		Cause     schema.Cause        `col:"cause"`
	}) error {
		if s := spreads[r.PhaseID]; s != nil {
			s.Points = append(s.Points, Point{r.AttemptID, r.Task, r.DurationS, r.Machine, r.Cause})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = read(b, "bins", func(r *struct {
		PhaseID schema.Key `col:"phase_id"`
		Bin     int64      `col:"bin"`
		N       int64      `col:"n"`
	}) error {
		s := spreads[r.PhaseID]
		if s == nil || r.Bin < 0 || r.Bin >= spreadBins {
			return nil
		}
		if s.Bins == nil {
			s.Bins = make([]int64, spreadBins)
		}
		s.Bins[r.Bin] = r.N
		return nil
	})
	return spreads, err
}
