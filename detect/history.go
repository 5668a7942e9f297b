package detect

import (
	"context"
	_ "embed"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed stages.sql
var stagesSQL string

//go:embed usage.sql
var usageSQL string

//go:embed earlier.sql
var earlierSQL string

//go:embed usual.sql
var usualSQL string

//go:embed stage_history.sql
var stageHistorySQL string

//go:embed slower_than_usual.sql
var slowerThanUsualSQL string

// candidateAttempts is how many attempts are looked at at once for what is slow against its history: a tenth of them may be, and
// each is compared with 64 others, all in memory.
const candidateAttempts = 4_000_000

// history compares the phases with the earlier executions of their stages and writes stage_history, and the attempts that are
// slow against them. These rows follow from the logs of other executions too, so they are worked out of all of them each time and
// belong to no input.
func history(ctx context.Context, tx *store.Tx, eng engine.Engine, phaseStats string, chunkAttempts int64) error {
	keep := func(name, sql string, more ...engine.Seen) error {
		return engine.MaterializeParts(ctx, eng, name, sql, more...)
	}
	stats := engine.Seen{Table: "phase_stats", SQL: phaseStats}
	phases := engine.Seen{Table: "phases", SQL: "SELECT * FROM phases WHERE phase_id IN (SELECT phase_id FROM (" + phaseStats + ") AS s)"}
	if err := keep("detected_repeated", stagesSQL, stats); err != nil {
		return err
	}
	if err := pin[stageExecution](ctx, eng, "detected_stages", "detected_repeated"); err != nil {
		return err
	}
	sizes := "SELECT d.phase_id, s.attempts AS n FROM detected_stages d JOIN (" + phaseStats + ") AS s ON s.phase_id = d.phase_id"
	spans, err := split(ctx, eng, sizes, chunkAttempts)
	if err != nil {
		return err
	}
	whole := part{whole: true}
	usage, err := keepBySpan(ctx, eng, "detected_usages", usageSQL, spans, whole.seen)
	if err != nil {
		return err
	}
	if err := keep("detected_earlier", earlierSQL); err != nil {
		return err
	}
	if err := keep("detected_expected", usualSQL, engine.Seen{Table: "detected_usage", SQL: usage}); err != nil {
		return err
	}
	if err := pin[expectation](ctx, eng, "detected_usual", "detected_expected"); err != nil {
		return err
	}
	if err := keep("detected_history", stageHistorySQL, phases, stats); err != nil {
		return err
	}
	rows := engine.Read[schema.StageHistory](ctx, eng, "SELECT * FROM detected_history ORDER BY phase_id NULLS LAST")
	if err := appendRows(tx, rows, func(*schema.StageHistory) schema.Key { return 0 }); err != nil {
		return err
	}
	if spans, err = split(ctx, eng, sizes, min(chunkAttempts, candidateAttempts)); err != nil {
		return err
	}
	slower, err := keepBySpan(ctx, eng, "detected_slower", slowerThanUsualSQL, spans, func(s span) []engine.Seen {
		if s.all {
			return nil
		}
		return []engine.Seen{{Table: "detected_usual", SQL: fmt.Sprintf("SELECT * FROM detected_usual WHERE phase_id BETWEEN %d AND %d", s.low, s.high)}}
	})
	if err != nil {
		return err
	}
	slower += " ORDER BY phase_id NULLS LAST, attempt_id NULLS LAST"
	return appendRows(tx, engine.Read[schema.Outlier](ctx, eng, slower), func(*schema.Outlier) schema.Key { return 0 })
}
