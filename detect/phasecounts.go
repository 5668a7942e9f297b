package detect

import (
	"context"
	"fmt"

	"straggler/engine"
	"straggler/schema"
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
	input, check := "CAST(0 AS BIGINT)", !p.whole
	if check {
		input = "input_key"
	}
	sql := "SELECT phase_id, application_id, " + input + " AS input_key FROM " + p.from("attempts")
	c := attemptCounts{part: p, check: check}
	for b, err := range engine.ReadVectors(ctx, eng, sql) {
		if err != nil {
			return false, err
		}
		if !c.add(b) {
			return false, nil
		}
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

// attemptCounts counts attempts, most of which name the same phase, application and input as the previous one.
type attemptCounts struct {
	part   *part
	check  bool
	finder phaseFinder
}

// add counts those of a batch; false if an attempt of an input names a phase or an application of another.
func (c *attemptCounts) add(b *engine.Batch) (contained bool) {
	phases, applications, inputs := &b.Columns[0], &b.Columns[1], &b.Columns[2]
	phase, application, input := phases.Int64s[:b.Len], applications.Int64s[:b.Len], inputs.Int64s[:b.Len]
	for from, to := 0, 0; from < b.Len; from = to {
		null := phases.Null(from)
		for to = from + 1; to < b.Len && phase[to] == phase[from] && application[to] == application[from] && input[to] == input[from] &&
			phases.Null(to) == null && applications.Null(to) == applications.Null(from); to++ {
		}
		if c.check && (!null && !c.part.owns(input[from], "phases", phase[from]) ||
			!applications.Null(from) && !c.part.owns(input[from], "applications", application[from])) {
			return false
		}
		if null {
			continue
		}
		if i, found := c.finder.find(c.part.scanned, phase[from]); found {
			c.part.scanned[i].attempts += uint32(to - from)
		}
	}
	return true
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
