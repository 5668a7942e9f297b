package causes

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// The summary of a run covers all attributions of the store. Their sums are kept by application, as rows of application_causes,
// so that a nightly run does not read the attributions of earlier ones.

// causeTotal sums up one cause over some outliers.
type causeTotal struct {
	cause    schema.Cause
	verdicts int64
	micros   float64 // whole microseconds, whose sums are exact, and so independent of order, up to 2^53 (285 years)
}

func (t *causeTotal) add(o causeTotal) {
	t.verdicts += o.verdicts
	t.micros += o.micros
}

// totals sums up attributions.
func totals(rows []schema.Attribution) (out []causeTotal) {
	for i := range rows {
		at := slices.IndexFunc(out, func(t causeTotal) bool { return t.cause == rows[i].Cause })
		if at < 0 {
			at, out = len(out), append(out, causeTotal{cause: rows[i].Cause})
		}
		one := causeTotal{micros: math.Round(rows[i].Seconds * 1e6)}
		if rows[i].Rank == 1 {
			one.verdicts = 1
		}
		out[at].add(one)
	}
	return out
}

// writeTotals writes application_causes of the applications that were processed.
func (r *run) writeTotals(tx *store.Tx) error {
	for _, key := range slices.Sorted(maps.Keys(r.applications)) {
		input := r.part.inputOf("applications", key)
		if !r.part.whole && r.part.work[input] == nothing {
			continue
		}
		var rows []schema.ApplicationCause
		for _, cause := range slices.Sorted(maps.Keys(r.applications[key].causes)) {
			t := r.applications[key].causes[cause]
			rows = append(rows, schema.ApplicationCause{ApplicationID: key, Cause: cause, Verdicts: t.verdicts, Seconds: t.micros / 1e6})
		}
		if err := store.Append(tx, input, rows); err != nil {
			return err
		}
	}
	return nil
}

// readTotals sums up application_causes over all applications, or over the chosen ones.
func (r *run) readTotals(ctx context.Context) (out []CauseSummary, err error) {
	sql := "SELECT * FROM application_causes"
	if !r.o.Applications.All() {
		keys, err := r.o.Applications.Keys(ctx, r.eng)
		if err != nil {
			return nil, err
		}
		sql += " WHERE application_id IN (" + schema.KeyList(keys) + ")"
	}
	sums := map[schema.Cause]causeTotal{}
	for a, err := range engine.Read[schema.ApplicationCause](ctx, r.eng, sql) {
		if err != nil {
			return nil, err
		}
		cause := schema.Cause(strings.Clone(string(a.Cause)))
		t := sums[cause]
		t.add(causeTotal{verdicts: a.Verdicts, micros: math.Round(a.Seconds * 1e6)})
		sums[cause] = t
	}
	for cause, t := range sums {
		out = append(out, CauseSummary{Cause: cause, Verdicts: t.verdicts, Seconds: t.micros / 1e6})
	}
	return out, nil
}
