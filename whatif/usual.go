package whatif

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif/policy"
)

// Usual is the policies that are replayed of a store unless others are asked for: Default, an ideal for each cause that
// the analysis blames seconds on, where it is of the logs that the store has now, and what lost outputs cost, where the
// log has recomputations; of some applications what is so of them.
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
		blamed, err := anyRow(ctx, from, fmt.Sprintf("SELECT count(*) AS n FROM attributions WHERE seconds > 0 AND cause = '%s'", s.Cause))
		if err != nil {
			return nil, err
		}
		if blamed {
			out = append(out, known(s.Name))
		}
	}
	return out, nil
}

// Default is the policies that are replayed of a workload without a store unless others are asked for.
func Default() []policy.Policy {
	var out []policy.Policy
	for _, name := range usual {
		out = append(out, known(name))
	}
	return out
}

// usual are the policies that are replayed of any log unless others are asked for.
var usual = [...]string{"hadoop", "mapreduce", "dryad", "late", "mantri", "dolly", "spark", "mrv2", "blacklist",
	"noskew", "choptail", "medianrate", "no-high-runtime"}

// known is a policy of the table.
func known(name string) policy.Policy {
	p, err := policy.ByName(name)
	if err != nil { // the table and the names are ours
		panic(err)
	}
	return p
}

// anyRow is whether a query that counts finds any.
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

// blame reads the seconds that the analysis blames on a cause, by attempt.
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
