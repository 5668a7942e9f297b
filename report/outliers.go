package report

import (
	"fmt"
	"slices"

	"straggler/schema"
)

// uncostly is the length up to which the list is filled with outliers that cost nothing.
const uncostly = 10

// outliers lists the attempts that cost their jobs most and, where fewer cost anything, those with the most excess.
func (b *builder) outliers() error {
	l := &b.doc.Outliers
	l.Total, l.Note = b.doc.Trust.Counts.Outliers, noOutliers(&b.doc.Trust.Counts, b.sums.phaseCount)
	l.SQL = "SELECT a.native_id, a.machine, a.duration_s, o.excess_s, c.cause\nFROM outliers o JOIN attempts a ON a.attempt_id = o.attempt_id JOIN attributions c ON c.attempt_id = o.attempt_id AND c.rank = 1\nWHERE o.rule = 'high_runtime' ORDER BY o.excess_s DESC NULLS LAST"
	picked := b.sums.attempts.sorted()
	seen := map[schema.Key]bool{}
	for _, p := range picked {
		seen[p.key] = true
	}
	slowest, fill := "slowest", uncostly
	if b.o.Scope.narrow() {
		slowest, fill = "scoped_slowest", b.o.Top
	}
	if b.o.Scope.Attempt != 0 {
		picked = slices.DeleteFunc(picked, func(p ranked) bool { return p.key != b.o.Scope.Attempt })
		if len(picked) == 0 {
			picked = []ranked{{key: b.o.Scope.Attempt}}
		}
		fill = 0
	}
	err := read(b, slowest, func(r *struct {
		AttemptID schema.Key `col:"attempt_id"`
	}) error {
		if !seen[r.AttemptID] && len(picked) < min(b.o.Top, fill) {
			picked = append(picked, ranked{key: r.AttemptID})
		}
		return nil
	})
	if err != nil {
		return err
	}
	keys := make([]schema.Key, len(picked))
	for i, p := range picked {
		keys[i] = p.key
	}
	if err := b.pick("report_picked_attempts", "attempt_id", keys); err != nil {
		return err
	}
	rows, err := collect[OutlierRow](b, "outliers")
	if err != nil {
		return err
	}
	causes := map[schema.Key][]Attribution{}
	if err := read(b, "attributions", func(r *AttributionRow) error {
		causes[r.AttemptID] = append(causes[r.AttemptID], Attribution{AttributionRow: *r})
		return nil
	}); err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *OutlierRow) schema.Key { return r.AttemptID })
	for _, p := range picked {
		if i, ok := byKey[p.key]; ok {
			l.Rows = append(l.Rows, b.outlier(rows[i], p, causes[p.key]))
		}
	}
	return nil
}

func (b *builder) outlier(r OutlierRow, p ranked, causes []Attribution) Outlier {
	o := Outlier{OutlierRow: r, Causes: causes}
	if p.cost > 0 || r.PhaseLostS.OK && (r.PhaseTimed || r.PhaseLostS.V == 0) {
		o.CostS, o.AloneS = schema.Some(p.cost), schema.Some(p.alone)
	}
	_, o.Critical = b.sums.onPath[r.PhaseID]
	o.Cause = schema.UnexplainedCause
	for i := range o.Causes {
		c := &o.Causes[i]
		c.Words = causeWords(&o, c)
		if c.Rank == 1 {
			o.Cause, o.Confidence = c.Cause, c.Confidence
		}
	}
	o.Words = outlierWords(&o)
	o.SQL = fmt.Sprintf("SELECT a.*, c.cause, c.seconds, c.rank, c.evidence\nFROM attempts a LEFT JOIN attributions c ON c.attempt_id = a.attempt_id\nWHERE a.attempt_id = %d ORDER BY c.rank NULLS LAST", r.AttemptID)
	return o
}

// noOutliers explains why no outlier is listed.
func noOutliers(c *Counts, judgedPhases int64) string {
	switch {
	case c.Attempts == 0:
		return noAttempts
	case judgedPhases == 0:
		return "No phase was judged: run straggler detect and straggler causes on the store."
	case c.Outliers == 0:
		return "No attempt is an outlier."
	}
	return "No excess was attributed: run straggler causes on the store."
}
