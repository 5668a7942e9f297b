package detect

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
)

//go:embed phase_stats.sql
var phaseStatsSQL string

//go:embed outliers.sql
var outliersSQL string

//go:embed summary.sql
var summarySQL string

// EngineMemory is the memory in bytes that an engine in this process needs at most for a run on its own. The engine sorts and
// joins rows of phases, and spills to disk what does not fit: a hundred million attempts have about a million phases, at about
// a kilobyte each.
const EngineMemory = 768 << 20

// Options configure a run; the rules have no options.
type Options struct {
	ChunkAttempts int64  // attempts whose statistics an engine of many machines computes at once, 0 is 40 million; a phase is never divided
	Again         bool   // work on the whole store, whatever earlier runs have processed
	Tool          string // version of straggler, for the commit

	Applications selection.Applications // work only on the logs of these; results of the others stay as they are

	limits limits
}

// limits bound what the process holds in memory; 0 means the default, which tests override.
type limits struct {
	heapPhases   int64 // phases held in Go's heap
	heapRuns     int64 // bytes of executions numbered without the engine
	copiedPhases int64 // phases whose figures are computed by copies
}

// Summary is the result of a run: for the whole store, however much of it was processed, or for the chosen applications.
type Summary struct {
	Phases   int64 `col:"phases"`   // phases in the store
	Judged   int64 `col:"judged"`   // phases with enough tasks to compare
	Attempts int64 `col:"attempts"` // attempts in them
	Outliers map[schema.Rule]int64
	Repeated int64   `col:"repeated"` // phases with a history
	Slow     int64   `col:"slow"`     // of these, slow as a whole
	LostS    float64 `col:"lost_s"`   // sum of lost_s over the phases: more than the jobs lost, since phases overlap
	Inputs   int     // processed, if earlier results of others were kept
	Kept     bool    // results of an earlier run were kept
	Seconds  float64 // time the run took
}

// Run computes phase_stats and outliers of the inputs that earlier runs of this version have not processed, and the history of
// all stages, and commits them together with the earlier results for the other inputs, replacing all earlier results.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	began := time.Now()
	if o.ChunkAttempts <= 0 {
		o.ChunkAttempts = 40_000_000
	}
	o.limits = limits{cmp.Or(o.limits.heapPhases, heapPhases), cmp.Or(o.limits.heapRuns, heapRuns), cmp.Or(o.limits.copiedPhases, copiedPhases)}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Detect, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	defer tx.Abort()
	p, err := choose(ctx, tx, eng, o)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: what is new: %w", err)
	}
	defer p.free()
	kept := tx.Resumed()
	if !tx.Unchanged() && !p.nothing {
		if err := p.work(ctx, tx, eng, o.ChunkAttempts); err != nil {
			return Summary{}, fmt.Errorf("detect: %w", err)
		}
		if _, err := tx.Commit(ctx); err != nil {
			return Summary{}, fmt.Errorf("detect: %w", err)
		}
	}
	s, err := summary(ctx, eng, o.Applications)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	s.Inputs, s.Kept, s.Seconds = len(p.inputs), kept, time.Since(began).Seconds()
	return s, nil
}

// work computes the rows of the part and appends them.
func (p *part) work(ctx context.Context, tx *store.Tx, eng engine.Engine, chunkAttempts int64) (err error) {
	p.timesAtOnce = min(chunkAttempts, mostTimes)
	if err := p.programs(ctx, eng); err != nil {
		return fmt.Errorf("programs: %w", err)
	}
	if in, ok := engine.InProcess(eng); ok {
		if p.named, err = p.hasNames(ctx, eng); err != nil {
			return fmt.Errorf("names of programs: %w", err)
		}
		p.file = new(phaseFile)
		defer p.file.close()
		used, err := p.figuresHere(ctx, tx, in, chunkAttempts)
		if err != nil {
			return err
		}
		return p.besideSlow(ctx, tx, func() error { return p.historyOf(ctx, tx, eng, used) })
	}
	if many, ok := eng.(engine.RemoteRunner); ok {
		used, err := p.figuresOnCopies(ctx, tx, many)
		if p.onCopies = err == nil; p.onCopies {
			return p.historyOf(ctx, tx, eng, used)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("figures of phases: %w", err)
		}
	}
	spans, err := split(ctx, eng, "SELECT phase_id, count(*) AS n FROM "+p.from("attempts")+" GROUP BY phase_id", chunkAttempts, math.MaxInt)
	if err != nil {
		return fmt.Errorf("sizes of phases: %w", err)
	}
	phaseStats, err := keepBySpan(ctx, eng, "detected_phase_stats", phaseStatsSQL, spans, p.seen)
	if err == nil {
		p.attempts, err = countAttempts(ctx, eng, phaseStats)
	}
	if err == nil {
		err = statsRows.write(ctx, p.output(tx, eng), phaseStats)
	}
	if err != nil {
		return fmt.Errorf("phase statistics: %w", err)
	}
	seen := append(p.seen(span{all: true}), engine.Seen{Table: "phase_stats", SQL: phaseStats})
	err = engine.UseParts(ctx, eng, "detected_outliers", outliersSQL, func(sql string) error {
		return outlierRows.write(ctx, p.output(tx, eng), sql)
	}, seen...)
	if err != nil {
		return fmt.Errorf("outliers: %w", err)
	}
	medians := "(SELECT phase_id, succeeded, median_s, p95_s FROM (" + phaseStats + ") AS s) AS m"
	if err := pin[taskMedian](ctx, eng, "detected_medians", medians); err != nil {
		return fmt.Errorf("medians: %w", err)
	}
	usage := func() (string, error) { return keepBySpan(ctx, eng, usageTable, usageSQL, spans, p.seen) }
	if err := p.history(ctx, tx, eng, "SELECT * FROM detected_medians", usage); err != nil {
		return fmt.Errorf("history of stages: %w", err)
	}
	return nil
}

// historyOf is history with a query for the tasks' usage that includes the medians.
func (p *part) historyOf(ctx context.Context, tx *store.Tx, eng engine.Engine, used string) error {
	if err := p.history(ctx, tx, eng, used, func() (string, error) { return used, nil }); err != nil {
		return fmt.Errorf("history of stages: %w", err)
	}
	return nil
}

// summary counts the contents of the tables, or the part of them about some applications.
func summary(ctx context.Context, eng engine.Engine, apps selection.Applications) (Summary, error) {
	s := Summary{Outliers: make(map[schema.Rule]int64)}
	seen, err := apps.Seen(ctx, eng, "phase_stats", "stage_history", "outliers")
	if err != nil {
		return s, err
	}
	for r, err := range engine.ReadParts[Summary](ctx, eng, "detected_summary", summarySQL, seen...) {
		if err != nil {
			return Summary{}, err
		}
		s.Phases, s.Judged, s.Attempts, s.LostS, s.Repeated, s.Slow = r.Phases, r.Judged, r.Attempts, r.LostS, r.Repeated, r.Slow
	}
	type count struct {
		Rule schema.Rule `col:"rule"`
		N    int64       `col:"n"`
	}
	for r, err := range engine.ReadParts[count](ctx, eng, "detected_rules", "SELECT rule, count(*) AS n FROM outliers GROUP BY rule", seen...) {
		if err != nil {
			return Summary{}, err
		}
		s.Outliers[r.Rule] = r.N
	}
	return s, nil
}

// keepBySpan makes session tables from the rows of a query of phases and returns the query of their union. Exact quantiles keep
// every value in memory, so a store with more attempts than a chunk is processed in spans of phases.
func keepBySpan(ctx context.Context, eng engine.Engine, name, sql string, spans []span, seen func(span) []engine.Seen) (string, error) {
	var union []string
	for i, c := range spans {
		part := fmt.Sprintf("%s_%d", name, i)
		if err := engine.MaterializeParts(ctx, eng, part, sql, seen(c)...); err != nil {
			return "", err
		}
		union = append(union, "SELECT * FROM "+part)
	}
	return "SELECT * FROM (" + strings.Join(union, " UNION ALL ") + ") AS p", nil
}

// span is the phases with keys from low to high, or all phases.
type span struct {
	all       bool
	low, high schema.Key
}

// where restricts a query to them.
func (s span) where() string {
	if s.all {
		return ""
	}
	return fmt.Sprintf(" WHERE phase_id BETWEEN %d AND %d", s.low, s.high)
}

// split divides phases into spans of about the given number of attempts and at most the given number of phases; sizes is the
// query of their phase_id and number n of attempts.
func split(ctx context.Context, eng engine.Engine, sizes string, attempts int64, phases int) ([]span, error) {
	var spans []span
	at, held, n := span{low: math.MinInt64}, int64(0), 0
	for p, err := range engine.Read[struct {
		PhaseID schema.Key `col:"phase_id"`
		N       int64      `col:"n"`
	}](ctx, eng, sizes+" ORDER BY phase_id NULLS LAST") {
		if err != nil {
			return nil, err
		}
		if n > 0 && (held+p.N > attempts || n == phases) {
			at.high = p.PhaseID - 1
			spans = append(spans, at)
			at, held, n = span{low: p.PhaseID}, 0, 0
		}
		held += p.N
		n++
	}
	if len(spans) == 0 {
		return []span{{all: true}}, nil
	}
	at.high = math.MaxInt64
	return append(spans, at), nil
}
