package whatif

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif/policy"
)

// Usual returns the policies that are replayed by default on a store: Default, an ideal for each cause with attributed seconds,
// if the attributions are up to date, and one for lost outputs, if the log has recomputations. For a selection of applications
// it considers only those.
func Usual(ctx context.Context, st *store.Store, eng engine.Engine, o Options) ([]policy.Policy, error) {
	analysed, err := causesAreFresh(ctx, st, eng, o.Applications)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	from, err := tablesOf(ctx, eng, o.Applications)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return usualOf(ctx, from, analysed)
}

func usualOf(ctx context.Context, from tables, analysed bool) ([]policy.Policy, error) {
	out := Default()
	again, err := anyRow(ctx, from, `SELECT count(*) AS n FROM attempts WHERE recompute`)
	if err != nil {
		return nil, err
	}
	if again {
		out = append(out, known("no-recompute"), known("no-outliers"))
	}
	if !analysed {
		return out, nil
	}
	for _, s := range policy.Specs() {
		if s.Cause == "" {
			continue
		}
		found, err := anyRow(ctx, from, fmt.Sprintf("SELECT count(*) AS n FROM attributions WHERE seconds > 0 AND cause = '%s'", s.Cause))
		if err != nil {
			return nil, err
		}
		if found {
			out = append(out, known(s.Name))
		}
	}
	return out, nil
}

// Default returns the policies that are replayed by default on a workload without a store.
func Default() []policy.Policy {
	var out []policy.Policy
	for _, name := range usual {
		out = append(out, known(name))
	}
	return out
}

// usual are the policies that are replayed by default on any log.
var usual = [...]string{"hadoop", "mapreduce", "dryad", "late", "mantri", "dolly", "spark", "mrv2", "blacklist",
	"noskew", "choptail", "medianrate", "no-high-runtime"}

// known returns a policy of the table.
func known(name string) policy.Policy {
	p, err := policy.ByName(name)
	if err != nil { // a mistake in the table
		panic(err)
	}
	return p
}

// anyRow reports whether a counting query finds any row.
func anyRow(ctx context.Context, from tables, sql string) (bool, error) {
	type count struct {
		N int64 `col:"n"`
	}
	var counts []count
	if err := collect(ctx, from, &counts, sql); err != nil {
		return false, fmt.Errorf("whatif: reading the store: %w", err)
	}
	return len(counts) == 1 && counts[0].N > 0, nil
}

// blame reads the seconds attributed to a cause, by attempt.
func blame(ctx context.Context, from tables, cause schema.Cause) (map[schema.Key]float64, error) {
	type line struct {
		AttemptID schema.Key `col:"attempt_id"`
		Seconds   float64    `col:"seconds"`
	}
	seconds := map[schema.Key]float64{}
	sql := fmt.Sprintf("SELECT attempt_id, seconds FROM attributions WHERE cause = '%s' AND seconds > 0", cause)
	for l, err := range read[line](ctx, from, sql) {
		if err != nil {
			return nil, fmt.Errorf("whatif: reading the causes: %w", err)
		}
		seconds[l.AttemptID] += l.Seconds
	}
	return seconds, nil
}
