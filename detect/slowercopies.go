package detect

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
)

// On an engine of many machines slower_than_usual.sql is computed by copies of this program, for the reason given in
// slowertasks.go. Each task of a stage goes to one copy, with its attempts in all executions: they are sent once, and a copy
// holds those of one task.

//go:embed copies_compared.sql
var comparedSQL string

//go:embed copies_attempts.sql
var comparedAttemptsSQL string

// SlowerStep is the step of copies that compare attempts with their history.
const SlowerStep = "slower"

// comparedColumns are the columns of copies_attempts.sql, in the order in which comparer.add reads them.
var comparedColumns = []string{"share", "stage_id", "task", "place", "past", "phase_id", "attempt_id", "duration_s", "input_bytes", "input_records",
	"is_partition", "usual_s", "usual_bytes", "usual_records", "compared", "within_run", "between_runs", "tick_s"}

// slowerOnCopies is slower on an engine of many machines.
func (p *part) slowerOnCopies(ctx context.Context, tx *store.Tx, eng engine.RemoteRunner) error {
	if !p.onCopies {
		if err := eng.Materialize(ctx, "detected_compared", comparedSQL); err != nil {
			return fmt.Errorf("what is compared: %w", err)
		}
	}
	inputs, tasks, err := p.ofCompared(ctx, tx, eng)
	if err != nil || tasks == 0 {
		return err
	}
	of := part{whole: p.whole}
	if err := of.choose(ctx, eng, inputs); err != nil {
		return err
	}
	file, err := json.Marshal(copyFile{Inputs: p.inputsByBlock()})
	if err != nil {
		return err
	}
	return engine.UseParts(ctx, eng, "detected_attempts", comparedAttemptsSQL, func(sql string) error {
		return copies.Run(ctx, tx, eng, engine.RemoteJob{SQL: sql, Columns: comparedColumns, Order: "share, stage_id, task, place", Partitions: partitionsOf(tasks),
			Verb: []string{"copy", SlowerStep, "--version", tx.Tool()}, File: file}, nil)
	}, of.seen(span{all: true})...)
}

// ofCompared returns the inputs of the executions in detected_compared, and the number of their tasks.
func (p *part) ofCompared(ctx context.Context, tx *store.Tx, eng engine.Engine) (inputs []store.InputRecord, tasks int64, err error) {
	all := slices.Concat(p.inputs, tx.Kept())
	owners, wanted := store.OwnersOf(all), make(map[schema.Key]bool)
	for b, err := range engine.Read[struct {
		First schema.Key `col:"first"`
		Tasks int64      `col:"tasks"`
	}](ctx, eng, "SELECT phase_id & "+blockBits+" AS first, CAST(sum(tasks) AS BIGINT) AS tasks FROM detected_compared GROUP BY phase_id & "+blockBits) {
		if err != nil {
			return nil, 0, err
		}
		tasks += b.Tasks
		if input, ok := owners.Of("phases", b.First); ok {
			wanted[input] = true
		}
	}
	return slices.DeleteFunc(all, func(in store.InputRecord) bool { return !wanted[schema.Key(in.Key)] }), tasks, nil
}

// write writes the slow attempts, once all have been read.
func (c *comparer) write(ctx context.Context, w *copies.Writer, inputs map[schema.Key]schema.Key) error {
	c.flush()
	slices.SortFunc(c.slow, func(a, b schema.Outlier) int {
		return cmp.Or(cmp.Compare(a.PhaseID, b.PhaseID), cmp.Compare(a.AttemptID, b.AttemptID))
	})
	for rest := c.slow; len(rest) > 0; {
		n, block := 1, rest[0].PhaseID&^(schema.BlockKeys-1)
		for n < min(len(rest), chunk) && rest[n].PhaseID&^(schema.BlockKeys-1) == block {
			n++
		}
		// The share of the first row is the key: no other copy has it, while any may have attempts of the same phase.
		if err := cmp.Or(ctx.Err(), copies.Append(w, c.first, inputs[block], rest[:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// comparer compares the attempts of one task after another.
type comparer struct {
	first      schema.Key // share of the first row
	any        bool
	stage      schema.Key // of the task, whose executions are adjacent
	task       int64
	executions []timedExecution
	tasks      stageTasks
	slow       []schema.Outlier
}

// add reads a row of comparedColumns.
func (c *comparer) add(fields []engine.RemoteField) error {
	r := rowFields{rest: fields}
	share, stage, task, place, past := r.integer(), r.integer(), r.integer(), r.integer(), r.truth().V
	if !c.any {
		c.first, c.any = share, true
	}
	if stage != c.stage || task != c.task {
		c.flush()
		c.stage, c.task = stage, task
	}
	phase, attempt, d, bytes, records := r.integer(), r.integer(), r.float().V, orNaN(r.float()), orNaN(r.float())
	p, k := &c.tasks.past, len(c.executions)-1
	if k < 0 || c.executions[k].place != place {
		c.executions = append(c.executions, timedExecution{phase: phase, stage: stage, place: place, from: p.len(), to: p.len()})
		k++
	}
	e := &c.executions[k]
	if past {
		p.task, p.duration, p.bytes, p.records = append(p.task, task), append(p.duration, d), append(p.bytes, bytes), append(p.records, records)
		e.to = p.len()
	}
	isPartition, usual := r.truth().V, r.float()
	if !usual.OK {
		return r.err
	}
	e.usualS, e.usualBytes, e.usualRecords = usual.V, orNaN(r.float()), orNaN(r.float())
	e.compared, e.withinRun, e.betweenRuns, e.tickS = r.integer(), orNaN(r.float()), orNaN(r.float()), r.float().V
	c.tasks.addCandidate(candidate{d, task, int32(k), int32(e.place)}, isPartition, candidateDetail{attempt, bytes, records})
	return r.err
}

// flush judges the candidates of a task once all of its attempts have been read.
func (c *comparer) flush() {
	if len(c.tasks.candidates) > 0 {
		c.tasks.find(c.executions)
		for _, f := range c.tasks.found {
			c.slow = append(c.slow, f.slow.outlier(c.executions[f.execution].phase))
		}
	}
	c.executions = c.executions[:0]
	c.tasks.resetCandidates()
	c.tasks.past.reset()
}
