package causes

import (
	"cmp"
	"context"
	_ "embed"
	"slices"

	"straggler/engine"
	"straggler/schema"
)

//go:embed machines_summary.sql
var machinesSummarySQL string

// summary counts what is in the tables, or of the outliers those of the chosen applications.
func (r *run) summary(ctx context.Context) (Summary, error) {
	s := Summary{FalseShare: r.o.FalseShare, Inputs: len(r.part.fresh), Renewed: len(r.part.moved), Kept: len(r.part.kept) > 0}
	var err error
	if s.Causes, err = r.readTotals(ctx); err != nil {
		return s, err
	}
	for _, c := range s.Causes {
		s.Outliers += c.Verdicts
	}
	order := schema.Cause("").Values()
	slices.SortFunc(s.Causes, func(a, b CauseSummary) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(slices.Index(order, string(a.Cause)), slices.Index(order, string(b.Cause))))
	})
	for _, c := range s.Causes {
		s.ExcessS += c.Seconds
	}
	type machines struct {
		Machines int64 `col:"machines"`
		Slow     int64 `col:"slow"`
		Flaky    int64 `col:"flaky"`
	}
	for m, err := range engine.Read[machines](ctx, r.eng, machinesSummarySQL) {
		if err != nil {
			return s, err
		}
		s.Machines, s.Slow, s.Flaky = m.Machines, m.Slow, m.Flaky
	}
	return s, nil
}
