package detect

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"
	"time"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed phase_stats.sql
var phaseStatsSQL string

//go:embed outliers.sql
var outliersSQL string

// Options say how to run; the rules have no options.
type Options struct {
	ChunkAttempts int64  // attempts whose statistics are computed at once, 0 is 40 million; a phase is never divided
	Tool          string // version of straggler, for the commit
}

// Summary is the result of a run.
type Summary struct {
	Phases   int64 // phases in the store
	Judged   int64 // phases with enough tasks to compare
	Attempts int64 // attempts in them
	Outliers map[schema.Rule]int64
	Repeated int64   // phases with a history
	Slow     int64   // of them, slow as a whole
	LostS    float64 // sum of lost_s over the phases: more than the jobs lost, since phases overlap
	Seconds  float64 // time the run took
}

// Run computes phase_stats and outliers and replaces those of the store by one commit.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	began := time.Now()
	if o.ChunkAttempts <= 0 {
		o.ChunkAttempts = 40_000_000
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Detect, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	defer tx.Abort()
	s := Summary{Outliers: make(map[schema.Rule]int64)}
	spans, err := split(ctx, eng, o.ChunkAttempts)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: sizes of phases: %w", err)
	}
	phaseStats, err := keepBySpan(ctx, eng, "detected_phase_stats", phaseStatsSQL, spans)
	if err == nil {
		err = appendRows(ctx, tx, eng, phaseStats+" ORDER BY phase_id NULLS LAST", s.addPhase)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("detect: phase statistics: %w", err)
	}
	err = appendRows(ctx, tx, eng, "WITH phase_stats AS ("+phaseStats+") "+plain(outliersSQL), s.addOutlier)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: outliers: %w", err)
	}
	if err := s.history(ctx, tx, eng, phaseStats, spans); err != nil {
		return Summary{}, fmt.Errorf("detect: history of stages: %w", err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// keepBySpan makes session tables of the rows of a query of phases and gives the query of their union. Exact quantiles keep
// every value in memory, so a store with more attempts than a chunk is processed in spans of phases.
func keepBySpan(ctx context.Context, eng engine.Engine, name, sql string, spans []span) (string, error) {
	var union []string
	for i, c := range spans {
		part := fmt.Sprintf("%s_%d", name, i)
		if err := engine.MaterializeParts(ctx, eng, part, sql, c.seen()...); err != nil {
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

// seen restricts the log tables that a query sees to the span. Nothing is copied: the restriction goes under the tables'
// names.
func (s span) seen() []engine.Seen {
	if s.all {
		return nil
	}
	where := fmt.Sprintf("WHERE phase_id BETWEEN %d AND %d", s.low, s.high)
	return []engine.Seen{{Table: "attempts", SQL: "SELECT * FROM attempts " + where}, {Table: "phases", SQL: "SELECT * FROM phases " + where}}
}

// split divides the phases into spans of about so many attempts.
func split(ctx context.Context, eng engine.Engine, attempts int64) ([]span, error) {
	const sizes = `SELECT phase_id, count(*) AS n FROM attempts GROUP BY phase_id ORDER BY phase_id NULLS LAST`
	var spans []span
	at, held := span{low: math.MinInt64}, int64(0)
	for p, err := range engine.Read[struct {
		PhaseID schema.Key `col:"phase_id"`
		N       int64      `col:"n"`
	}](ctx, eng, sizes) {
		if err != nil {
			return nil, err
		}
		if held > 0 && held+p.N > attempts {
			at.high = p.PhaseID - 1
			spans = append(spans, at)
			at, held = span{low: p.PhaseID}, 0
		}
		held += p.N
	}
	if len(spans) == 0 {
		return []span{{all: true}}, nil
	}
	at.high = math.MaxInt64
	return append(spans, at), nil
}

func (s *Summary) addPhase(p *schema.PhaseStats) {
	s.Phases++
	s.Attempts += p.Attempts
	if p.SlowdownBasis.OK {
		s.Judged++
	}
	s.LostS += p.LostS.Or(0)
}

func (s *Summary) addOutlier(o *schema.Outlier) { s.Outliers[o.Rule]++ }

// chunk is how many rows are appended at once.
const chunk = 4096

// appendRows runs a query and appends its rows to the transaction, a chunk at a time.
func appendRows[R any](ctx context.Context, tx *store.Tx, eng engine.Engine, sql string, each func(*R)) error {
	rows := make([]R, 0, chunk)
	for r, err := range engine.Read[R](ctx, eng, sql) {
		if err != nil {
			return err
		}
		each(r)
		if rows = append(rows, *r); len(rows) == chunk {
			if err := store.Append(tx, 0, rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return store.Append(tx, 0, rows)
}

// plain drops the comment at the beginning of a query, so that a WITH clause can be put before it.
func plain(sql string) string {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return sql
}
