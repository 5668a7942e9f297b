package audit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// Nights audits the runs of each day separately, with a baseline that is updated from day to day, as if there had been an audit
// at the end of every day since the first run. It returns the last days, at most most of them, the newest last. Days are in UTC,
// and a run belongs to the day of its start. Runs without a start, or outside years of four digits, are left out. tasks is as in
// Options.
func Nights(ctx context.Context, runs []measure.Run, tasks func(...*measure.Run) error, cfg *Config, most int) ([]*Night, error) {
	byDay := map[string][]measure.Run{}
	var days []string
	for _, r := range runs {
		day := r.Start[:min(len(r.Start), len(time.DateOnly))]
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			continue
		}
		if byDay[day] == nil {
			days = append(days, day)
		}
		r.Stages = slices.Clone(r.Stages) // a baseline orders them
		byDay[day] = append(byDay[day], r)
	}
	slices.Sort(days)
	b := &baseline.Baseline{}
	before := days[:max(0, len(days)-most)]
	for _, day := range before {
		b.Add(cfg.History, byDay[day]...)
	}
	nights := make([]*Night, 0, len(days)-len(before))
	for _, day := range days[len(before):] {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		at, _ := time.Parse(time.DateOnly, day)
		n, err := Judge(byDay[day], b, cfg, Options{Now: at, Tasks: tasks})
		if err != nil {
			return nil, err
		}
		n.Update(b, cfg)
		n.judged, n.all = nil, nil
		nights = append(nights, n)
	}
	return nights, nil
}
