package detect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// readPhases sets p.scanned to the phases of the part, with the number of attempts of each. It reads the attempts once, three
// columns with few distinct values, which takes a quarter of the time of grouping them. The same pass checks attempts as
// inputs.sql does: contained reports that none of an input names a phase or an application of another.
func (p *part) readPhases(ctx context.Context, eng engine.Engine) (contained bool, err error) {
	if err := p.listPhases(ctx, eng); err != nil {
		return false, fmt.Errorf("phases: %w", err)
	}
	if contained, err = p.countByPhase(ctx, eng); err != nil {
		return false, fmt.Errorf("sizes of phases: %w", err)
	}
	return contained, nil
}

// listPhases sets p.scanned from the rows of phases.
func (p *part) listPhases(ctx context.Context, eng engine.Engine) error {
	type row struct {
		PhaseID schema.Key        `col:"phase_id"`
		Gang    schema.Null[bool] `col:"gang"`
		Skipped schema.Null[bool] `col:"skipped"`
	}
	n, err := count(ctx, eng, "SELECT count(*) AS n FROM "+p.from("phases"))
	if err != nil {
		return err
	}
	if p.scanned, p.freeScanned, err = phaseList(n, p.limits.heapPhases); err != nil {
		return err
	}
	sql := "SELECT phase_id, gang, status = 'skipped' AS skipped FROM " + p.from("phases") + " ORDER BY phase_id NULLS LAST"
	for r, err := range engine.Read[row](ctx, eng, sql) {
		if err != nil {
			return err
		}
		p.scanned = append(p.scanned, scannedPhase{id: r.PhaseID, gang: r.Gang.V, skipped: r.Skipped.V})
	}
	return nil
}

// countByPhase counts the attempts of each phase, and stops if the part turns out not to be self-contained.
func (p *part) countByPhase(ctx context.Context, eng engine.Engine) (contained bool, err error) {
	files, err := p.attemptFiles(ctx, eng)
	if err != nil {
		return false, err
	}
	same := func(_ context.Context, g *attemptGroup) (*attemptGroup, bool) { return g, true }
	err = share(ctx, &files, span{all: true}, same, func(context.Context) func(*attemptGroup) error {
		c := attemptCounts{part: p, check: !p.whole, phase: numbers[int64]("phase_id"), application: numbers[int64]("application_id"), input: numbers[int64](store.InputColumn)}
		return c.add
	})
	if errors.Is(err, errNotContained) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for i := range p.scanned {
		of := &p.scanned[i]
		if i > 0 && p.scanned[i-1].id == of.id { // a corrupt store may have several
			of.attempts = p.scanned[i-1].attempts
		}
		of.wanted = of.attempts > 0
	}
	return true, nil
}

// errNotContained is the error of an attempt that names a phase or an application of another input.
var errNotContained = errors.New("an attempt of another input")

// attemptCounts counts attempts, most of which name the same phase, application and input as the previous one.
type attemptCounts struct {
	part                      *part
	check                     bool
	phase, application, input storedColumn[int64]
	rows                      [3][]int64 // of these columns
	finder                    phaseFinder
}

// add counts the attempts of a row group, some at a time, because a damaged file may claim any number of rows.
func (c *attemptCounts) add(g *attemptGroup) error {
	defer g.close()
	columns := [...]*storedColumn[int64]{&c.phase, &c.application, &c.input}
	for _, column := range columns {
		if err := column.open(g); err != nil {
			return g.damaged(err)
		}
	}
	for left := g.Rows(); left > 0; left -= blockRows {
		for k, column := range columns {
			c.rows[k] = engine.Resized(c.rows[k], min(left, blockRows))
			if err := column.read(c.rows[k], 0, nil); err != nil {
				return g.damaged(err)
			}
		}
		if err := c.count(g, c.rows[0], c.rows[1], c.rows[2]); err != nil {
			return err
		}
	}
	return nil
}

// count counts rows of a row group, by their phases, applications and inputs.
func (c *attemptCounts) count(g *attemptGroup, phase, application, input []int64) error {
	for from, to := 0, 0; from < len(phase); from = to {
		for to = from + 1; to < len(phase) && phase[to] == phase[from] && application[to] == application[from] && input[to] == input[from]; to++ {
		}
		of := schema.Key(input[from])
		if g.restricted() && !g.has(of) {
			continue
		}
		if c.check && !(c.part.owns(of, "phases", schema.Key(phase[from])) && c.part.owns(of, "applications", schema.Key(application[from]))) {
			return errNotContained
		}
		if i, found := c.finder.find(c.part.scanned, schema.Key(phase[from])); found {
			atomic.AddUint32(&c.part.scanned[i].attempts, uint32(to-from))
		}
	}
	return nil
}

// phaseFinder finds phases in a list ordered by id: the first one with an id, which mostly is the one after the previous
// result.
type phaseFinder struct{ last int }

func (f *phaseFinder) find(phases []scannedPhase, id schema.Key) (int, bool) {
	for i := f.last; i < min(f.last+2, len(phases)); i++ {
		if phases[i].id == id && (i == 0 || phases[i-1].id != id) {
			f.last = i
			return i, true
		}
	}
	i, found := findScanned(phases, id)
	if found {
		f.last = i
	}
	return i, found
}

// findScanned finds the first of the phases with an id.
func findScanned(phases []scannedPhase, id schema.Key) (int, bool) {
	low, high := 0, len(phases)
	for low < high { // slices.BinarySearchFunc copies the phases that it compares
		if middle := int(uint(low+high) / 2); phases[middle].id < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(phases) && phases[low].id == id
}
