package detect

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// usageTable is the table of the tasks' usage by phase.
const usageTable = "detected_usage"

// figuresHere writes phase_stats and outliers, except what depends on the history, and returns the query of the tasks' usage by
// phase.
func (p *part) figuresHere(ctx context.Context, tx *store.Tx, eng engine.Loader, chunkAttempts int64) (usage string, err error) {
	lastSeen, err := p.lastSeen(ctx, eng)
	if err != nil {
		return "", fmt.Errorf("when incomplete logs end: %w", err)
	}
	if p.scanned == nil {
		if _, err := p.readPhases(ctx, eng); err != nil {
			return "", err
		}
	}
	files, err := p.attemptFiles(ctx, eng)
	if err != nil {
		return "", fmt.Errorf("attempts: %w", err)
	}
	scan := &phaseScan{from: files, lastSeen: lastSeen, phases: p.scanned, file: p.file, times: p.named, waiting: min(chunkAttempts, mostWaiting)}
	if err := engine.Load(ctx, eng, usageTable, p.usageOf(ctx, tx, scan)); err != nil {
		return "", fmt.Errorf("figures of phases: %w", err)
	}
	return "SELECT * FROM " + usageTable + " AS u", nil
}

// lastSeen returns the last time in each incomplete log.
func (p *part) lastSeen(ctx context.Context, eng engine.Engine) (map[schema.Key]int64, error) {
	out := make(map[schema.Key]int64)
	if n, err := count(ctx, eng, "SELECT count(*) AS n FROM "+p.from("applications")+" WHERE NOT complete"); err != nil || n == 0 {
		return out, err
	}
	type row struct {
		Application schema.Key  `col:"application_id"`
		LastSeen    schema.Time `col:"last_seen"`
	}
	sql := "SELECT b.application_id, max(greatest(b.start_time, b.finish_time)) AS last_seen FROM " + p.from("attempts") + " b JOIN " + p.from("applications") +
		" i ON i.application_id = b.application_id WHERE NOT i.complete GROUP BY b.application_id" +
		" HAVING max(greatest(b.start_time, b.finish_time)) IS NOT NULL"
	for r, err := range engine.Read[row](ctx, eng, sql) {
		if err != nil {
			return nil, err
		}
		out[r.Application] = int64(r.LastSeen)
	}
	return out, nil
}

// usageOf returns the usage of tasks by phase, some phases at a time, and appends phase_stats.
func (p *part) usageOf(ctx context.Context, tx *store.Tx, scan *phaseScan) iter.Seq2[[]taskUsage, error] {
	return func(yield func([]taskUsage, error) bool) {
		stats := inputRows[schema.PhaseStats]{tx: tx, p: p}
		var usage []taskUsage
		more := true
		err := scan.read(ctx, func(found []phaseFigures) error {
			usage = usage[:0]
			for i := range found {
				usage = append(usage, found[i].usage)
				if err := p.addStats(&stats, &found[i]); err != nil {
					return err
				}
			}
			if more = yield(usage, nil); !more {
				return context.Canceled // the receiver knows why
			}
			return nil
		})
		for i := range p.scanned {
			if of := &p.scanned[i]; err == nil && of.attempts == 0 {
				err = stats.add(of.id, of.stats(nil))
			}
		}
		if err = cmp.Or(err, stats.flush()); err != nil && more {
			yield(nil, err)
		}
	}
}

// addStats adds the row of phase_stats of a phase.
func (p *part) addStats(to *inputRows[schema.PhaseStats], figures *phaseFigures) error {
	id := figures.stats.PhaseID
	i, _ := findScanned(p.scanned, id)
	for ; i < len(p.scanned) && p.scanned[i].id == id; i++ { // a corrupt store may have several
		if err := to.add(id, p.scanned[i].stats(figures)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scannedPhase) stats(figures *phaseFigures) schema.PhaseStats {
	row := phaseRow{PhaseID: s.id, Gang: schema.Some(s.gang), Skipped: schema.Some(s.skipped)}
	return row.stats(figures)
}

// phaseRow holds the columns of a phase that its figures need.
type phaseRow struct {
	PhaseID schema.Key
	Gang    schema.Null[bool]
	Skipped schema.Null[bool]
}

// stats returns the row of phase_stats of a phase, from the figures of its attempts, if there are any.
func (r *phaseRow) stats(figures *phaseFigures) schema.PhaseStats {
	stats, notes := schema.PhaseStats{PhaseID: r.PhaseID}, []string{"no attempt in the log", "", ""}
	if r.Skipped.V {
		notes[0] = "skipped, never submitted"
	}
	if figures != nil {
		stats, notes[0], notes[2] = figures.stats, figures.note[0], figures.note[1]
	}
	if r.Gang.V {
		notes[1] = "gang: tasks wait for each other"
	}
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	stats.Note = schema.Null[string]{V: strings.Join(notes, "; "), OK: len(notes) > 0}
	return stats
}

// besideSlow appends the outliers that are in the file while other work runs, which waits for them before it appends outliers
// itself.
func (p *part) besideSlow(ctx context.Context, tx *store.Tx, work func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group errgroup.Group
	group.Go(func() error { return p.appendSlow(ctx, tx) })
	p.slowAppended = func() error {
		if err := group.Wait(); err != nil {
			return fmt.Errorf("outliers: %w", err)
		}
		return nil
	}
	err := work()
	if err != nil {
		cancel()
	}
	return cmp.Or(err, p.slowAppended())
}

// appendSlow appends the outliers in the file, in the order of phases: readers of few phases skip the others.
func (p *part) appendSlow(ctx context.Context, tx *store.Tx) error {
	rows := inputRows[schema.Outlier]{tx: tx, p: p}
	var slow []slowAttempt
	var buf []byte
	for i := range p.scanned {
		of := &p.scanned[i]
		if of.slow == 0 {
			continue
		}
		err := ctx.Err()
		if err != nil {
			return err
		}
		if slow, err = p.file.readSlow(of, slow[:0], &buf); err != nil {
			return err
		}
		for k := range slow {
			if err := rows.add(of.id, slow[k].outlier(of.id)); err != nil {
				return err
			}
		}
	}
	return rows.flush()
}

// outlier returns the row of outliers of an attempt of a phase.
func (a *slowAttempt) outlier(phase schema.Key) schema.Outlier {
	return schema.Outlier{AttemptID: a.id, PhaseID: phase, Rule: slowRules[a.rule], Ratio: orNull(a.ratio), ExcessS: orNull(a.excess)}
}

// orNull returns NULL for NaN.
func orNull(v float64) schema.Null[float64] {
	if math.IsNaN(v) {
		return schema.Null[float64]{}
	}
	return schema.Some(v)
}
