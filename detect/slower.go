package detect

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed candidates.sql
var candidatesSQL string

//go:embed slower_than_usual.sql
var slowerThanUsualSQL string

// candidateAttempts is the number of attempts compared with their history at once: a tenth of them may be candidates, and each
// is compared with 64 others of 32 bytes, 400 MB in all.
const candidateAttempts = 2_000_000

// slower writes the attempts that are slow compared with the history of their stage. Of earlier executions it reads only the
// attempts of those that a candidate is compared with, at most 64 per stage.
func (p *part) slower(ctx context.Context, tx *store.Tx, eng engine.Engine) error {
	if many, ok := eng.(engine.RemoteRunner); ok {
		if err := p.slowerOnCopies(ctx, tx, many); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	sizes := "SELECT h.phase_id, o.tasks AS n FROM detected_usual h JOIN (SELECT phase_id, tasks FROM detected_own" +
		" UNION ALL SELECT phase_id, tasks FROM detected_before) AS o ON o.phase_id = h.phase_id WHERE h.usual_s IS NOT NULL"
	spans, err := split(ctx, eng, sizes, candidateAttempts, math.MaxInt)
	if err != nil {
		return err
	}
	candidates, err := keepBySpan(ctx, eng, "detected_candidates", candidatesSQL, spans, p.seen)
	if err != nil {
		return fmt.Errorf("candidates: %w", err)
	}
	compared := part{whole: p.whole}
	if !p.whole {
		inputs, err := p.comparedWith(ctx, tx, eng, candidates)
		if err != nil {
			return fmt.Errorf("what candidates are compared with: %w", err)
		}
		if err := compared.choose(ctx, eng, inputs); err != nil {
			return err
		}
	}
	slower, err := keepBySpan(ctx, eng, "detected_slower", slowerThanUsualSQL, spans, func(s span) []engine.Seen {
		return append(compared.seen(span{all: true}), engine.Seen{Table: "detected_candidates", SQL: candidates + s.where()})
	})
	if err != nil {
		return err
	}
	return outlierRows.write(ctx, p.output(tx, eng), slower)
}

// comparedWith returns the inputs of the executions that candidates are compared with.
func (p *part) comparedWith(ctx context.Context, tx *store.Tx, eng engine.Engine, candidates string) (out []store.InputRecord, err error) {
	owners, wanted := store.OwnersOf(slices.Concat(p.inputs, tx.Kept())), make(map[schema.Key]bool)
	sql := "SELECT DISTINCT e.earlier_phase & " + blockBits + " AS first FROM detected_earlier e SEMI JOIN (" + candidates +
		" WHERE is_partition) AS c ON c.phase_id = e.phase_id"
	for b, err := range engine.Read[struct {
		First schema.Key `col:"first"`
	}](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		if input, ok := owners.Of("phases", b.First); ok {
			wanted[input] = true
		}
	}
	for _, in := range slices.Concat(p.inputs, tx.Kept()) {
		if wanted[schema.Key(in.Key)] {
			out = append(out, in)
		}
	}
	return out, nil
}
