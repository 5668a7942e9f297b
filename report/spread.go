package report

import "straggler/schema"

const spreadBins = 80 // as bins.sql counts them

// spreads gives the distribution of the tasks of each phase in report_picked_phases.
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
