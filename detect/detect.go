package detect

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"straggler/schema"
	"straggler/store"
)

//go:embed phase_stats.sql
var phaseStatsSQL string

//go:embed outliers.sql
var outliersSQL string

// PhaseStatsSQL is the query that gives the rows of phase_stats from the log tables.
func PhaseStatsSQL() string { return phaseStatsSQL }

// OutliersSQL is the query that gives the rows of outliers from the log tables and phase_stats.
func OutliersSQL() string { return outliersSQL }

// Options say how a run is labelled; the rules have none.
type Options struct {
	Tool string // version of straggler, for the commit
}

// Summary says what a run found.
type Summary struct {
	Phases   int64 // phases in the store
	Judged   int64 // phases with enough in them to compare their tasks
	Attempts int64 // attempts in them
	Outliers map[schema.Rule]int64
	LostS    float64 // sum of lost_s over the phases: more than the jobs lost, since phases overlap
	Seconds  float64 // time the run took
}

// session is what phase_stats is called in the engine until its rows are committed.
const session = "detected_phase_stats"

// Run computes phase_stats and outliers and replaces those of the store by one commit.
func Run(ctx context.Context, st *store.Store, eng store.Engine, o Options) (Summary, error) {
	began := time.Now()
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Detect, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	defer tx.Abort()
	s := Summary{Outliers: make(map[schema.Rule]int64)}
	if err := eng.Materialize(ctx, session, phaseStatsSQL); err != nil {
		return Summary{}, fmt.Errorf("detect: phase statistics: %w", err)
	}
	err = appendRows(ctx, tx, eng, "SELECT * FROM "+session+" ORDER BY phase_id NULLS LAST", s.addPhase)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: phase statistics: %w", err)
	}
	err = appendRows(ctx, tx, eng, "WITH phase_stats AS (SELECT * FROM "+session+") "+plain(outliersSQL), s.addOutlier)
	if err != nil {
		return Summary{}, fmt.Errorf("detect: outliers: %w", err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		return Summary{}, fmt.Errorf("detect: %w", err)
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
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

// chunk is how many rows are handed to the store at once.
const chunk = 4096

// appendRows runs a query and appends its rows to the transaction, a chunk at a time.
func appendRows[R any](ctx context.Context, tx *store.Tx, eng store.Engine, sql string, each func(*R)) error {
	rows := make([]R, 0, chunk)
	for r, err := range store.Read[R](ctx, eng, sql) {
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

// plain drops the comment that a query begins with, so that something can be put before its first word.
func plain(sql string) string {
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return sql
}
