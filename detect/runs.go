package detect

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// On an engine in this process, a run that keeps no earlier results computes here what executions.sql and stages.sql do by
// sorting, and stage_history.sql by a join. Names, of which there are few, are numbers, and a phase is its index in the list of
// phases.

//go:embed runs.sql
var runsSQL string

// heapRuns is the memory in bytes up to which this is done; what takes more is left to the engine, which can use its disk. A
// hundred million attempts have about a million phases and few names.
const heapRuns = 1_500_000 * runBytes

// runBytes are those of a phase, in both lists and while it is ordered.
const runBytes = 480

// phaseRuns are the phases of the part as executions of stages.
type phaseRuns struct {
	rows  []phaseRun    // as part.scanned
	usual []expectation // for those that are executions

	programs   names[schema.Null[string]]
	stages     names[string]
	identities names[identity]
	notes      names[schema.Null[string]]

	text    int64    // bytes of new names
	ordered []uint32 // executions, by stage and place
	ends    []uint32 // of the stages, of ordered
}

// identity is what stages of a program have in common, besides their ordinal.
type identity struct{ name, kind string }

// phaseRun is a row of executions.sql, with what tasks used as in stages.sql.
type phaseRun struct {
	stageExecution
	medianS                        schema.Null[float64]
	application                    schema.Key
	submitted, start               int64 // start of the run
	program, stage, identity, note uint32
	ordinal                        int32 // 0: it is not an execution
	known, countable               bool
}

// unknownTime is a time that is not in the log, later than all others.
const unknownTime = math.MaxInt64

// names are values, numbered in the order in which they are first seen.
type names[T comparable] struct {
	numbers map[T]uint32
	values  []T
}

// nameBytes are those of a name besides its text: in the map and in the list.
const nameBytes = 80

// number returns that of a value and adds the memory of a new one to size; own makes a copy that shares no memory, and returns
// the bytes of its text.
func (n *names[T]) number(v T, own func(T) (T, int), size *int64) uint32 {
	k, ok := n.numbers[v]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[T]uint32)
		}
		v, bytes := own(v)
		k = uint32(len(n.values))
		n.numbers[v], n.values = k, append(n.values, v)
		*size += nameBytes + int64(bytes)
	}
	return k
}

func ownText(s string) (string, int) { return strings.Clone(s), len(s) }

func ownNull(s schema.Null[string]) (schema.Null[string], int) {
	return schema.Null[string]{V: strings.Clone(s.V), OK: s.OK}, len(s.V)
}

func ownIdentity(i identity) (identity, int) {
	return identity{strings.Clone(i.name), strings.Clone(i.kind)}, len(i.name) + len(i.kind)
}

// runRow is a row of runs.sql, with those of usage.sql.
type runRow struct {
	PhaseID       schema.Key               `col:"phase_id"`
	ApplicationID schema.Key               `col:"application_id"`
	Program       schema.Null[string]      `col:"program"`
	Stage         string                   `col:"stage"`
	Identity      string                   `col:"identity"`
	Kind          string                   `col:"kind"`
	Countable     schema.Null[bool]        `col:"countable"`
	Submitted     schema.Null[schema.Time] `col:"submitted"`
	RunStartTime  schema.Null[schema.Time] `col:"run_start_time"`
	Tasks         int64                    `col:"tasks"`
	MedianS       schema.Null[float64]     `col:"median_s"`
	Spread        schema.Null[float64]     `col:"spread"`
	Note          schema.Null[string]      `col:"note"`
	InputBytes    schema.Null[float64]     `col:"input_bytes"`
	InputRecords  schema.Null[float64]     `col:"input_records"`
	CPUS          schema.Null[float64]     `col:"cpu_s"`
	WaitS         schema.Null[float64]     `col:"wait_s"`
	TickS         schema.Null[float64]     `col:"tick_s"`
}

// runsHere sets p.runs, unless it would be too large, or the store is corrupt and has a phase twice: then p.runs is nil, and the
// engine computes the same.
func (p *part) runsHere(ctx context.Context, eng engine.Engine, used string, seen []engine.Seen) error {
	left := p.limits.heapRuns - runBytes*int64(len(p.scanned))
	if p.kept || left < 0 {
		return nil
	}
	r := &phaseRuns{rows: make([]phaseRun, len(p.scanned))}
	var finder phaseFinder
	sql := "SELECT r.*, u.input_bytes, u.input_records, u.cpu_s, u.wait_s, u.tick_s FROM detected_runs r LEFT JOIN (" + used + ") AS u ON u.phase_id = r.phase_id"
	for row, err := range engine.ReadParts[runRow](ctx, eng, "detected_run", withRuns(sql), seen...) {
		if err != nil {
			return err
		}
		i, found := finder.find(p.scanned, row.PhaseID)
		if !found {
			return fmt.Errorf("%w: phases have come or gone; try again", store.ErrConflict)
		}
		if r.rows[i].known {
			return nil
		}
		if r.rows[i] = r.run(row, i); r.text > left {
			return nil
		}
	}
	r.numberInApplications()
	r.numberInStages()
	r.usual = make([]expectation, len(r.rows))
	p.runs = r
	for stage := range r.byStage() {
		p.setStrides(stage)
	}
	return nil
}

// run returns a row without its ordinal.
func (r *phaseRuns) run(row *runRow, i int) phaseRun {
	out := phaseRun{known: true, application: row.ApplicationID, countable: row.Countable.V, medianS: row.MedianS,
		submitted: knownTime(row.Submitted), start: knownTime(row.RunStartTime),
		program: r.programs.number(row.Program, ownNull, &r.text), stage: r.stages.number(row.Stage, ownText, &r.text),
		identity: r.identities.number(identity{row.Identity, row.Kind}, ownIdentity, &r.text), note: r.notes.number(row.Note, ownNull, &r.text)}
	out.stageExecution = stageExecution{PhaseID: row.PhaseID, Todo: 1, Tasks: row.Tasks, MedianS: row.MedianS.V, Spread: row.Spread,
		InputBytes: row.InputBytes, InputRecords: row.InputRecords, CPUS: row.CPUS, WaitS: row.WaitS, TickS: row.TickS, phase: int32(i)}
	return out
}

func knownTime(t schema.Null[schema.Time]) int64 {
	if !t.OK {
		return unknownTime
	}
	return int64(t.V)
}

// runKey orders executions by group and time.
type runKey struct {
	group     int64
	part, row uint32
	time      int64
}

func byRun(a, b runKey) int {
	switch {
	case a.group != b.group:
		return cmp.Compare(a.group, b.group)
	case a.part != b.part:
		return cmp.Compare(a.part, b.part)
	case a.time != b.time:
		return cmp.Compare(a.time, b.time)
	}
	return cmp.Compare(a.row, b.row) // phases are in the order of their ids
}

func (k *runKey) sameGroup(as *runKey) bool { return k.group == as.group && k.part == as.part }

// numberInApplications sets ordinals: executions.sql.
func (r *phaseRuns) numberInApplications() {
	var keys []runKey
	for i := range r.rows {
		if e := &r.rows[i]; e.countable {
			keys = append(keys, runKey{e.application, e.identity, uint32(i), e.submitted})
		}
	}
	slices.SortFunc(keys, byRun)
	number := int32(0)
	for k := range keys {
		if k == 0 || !keys[k].sameGroup(&keys[k-1]) {
			number = 0
		}
		number++
		if e := &r.rows[keys[k].row]; e.medianS.OK && e.medianS.V > 0 {
			e.ordinal = number
		}
	}
}

// numberInStages sets r.ordered and places, of stages in the order of their keys: stages.sql.
func (r *phaseRuns) numberInStages() {
	var keys []runKey
	for i := range r.rows {
		if e := &r.rows[i]; e.ordinal > 0 {
			keys = append(keys, runKey{int64(e.program)<<32 | int64(e.identity), uint32(e.ordinal), uint32(i), e.start})
		}
	}
	slices.SortFunc(keys, byRun)
	type stageKeys struct{ first, from, to uint32 } // first: the least row
	var stages []stageKeys
	for k := range keys {
		if k == 0 || !keys[k].sameGroup(&keys[k-1]) {
			stages = append(stages, stageKeys{keys[k].row, uint32(k), uint32(k)})
		}
		s := &stages[len(stages)-1]
		s.first, s.to = min(s.first, keys[k].row), uint32(k+1)
	}
	slices.SortFunc(stages, func(a, b stageKeys) int { return cmp.Compare(a.first, b.first) })
	r.ordered = make([]uint32, 0, len(keys))
	for _, s := range stages {
		for place, key := range keys[s.from:s.to] {
			e := &r.rows[key.row]
			e.StageID, e.Place = r.rows[s.first].PhaseID, int64(place+1)
			r.ordered = append(r.ordered, key.row)
		}
		r.ends = append(r.ends, uint32(len(r.ordered)))
	}
}

// byStage returns the executions stage by stage, in reused memory.
func (r *phaseRuns) byStage() iter.Seq2[[]stageExecution, error] {
	return func(yield func([]stageExecution, error) bool) {
		var stage []stageExecution
		from := uint32(0)
		for _, to := range r.ends {
			stage = stage[:0]
			for _, i := range r.ordered[from:to] {
				stage = append(stage, r.rows[i].stageExecution)
			}
			if from = to; !yield(stage, nil) {
				return
			}
		}
	}
}

// expect keeps what is usual for each execution.
func (r *phaseRuns) expect(from iter.Seq2[[]expectation, error]) error {
	for usual, err := range from {
		if err != nil {
			return err
		}
		for i := range usual {
			r.usual[usual[i].phase] = usual[i]
		}
	}
	return nil
}

// appendHistory appends the rows of stage_history.
func (p *part) appendHistory(ctx context.Context, tx *store.Tx) error {
	rows := inputRows[schema.StageHistory]{tx: tx, p: p}
	for i := range p.runs.rows {
		if !p.runs.rows[i].known {
			continue
		}
		if err := cmp.Or(ctx.Err(), rows.add(p.scanned[i].id, p.runs.history(i))); err != nil {
			return err
		}
	}
	return rows.flush()
}

// history returns the row of a phase: stage_history.sql.
func (r *phaseRuns) history(i int) schema.StageHistory {
	e, u := &r.rows[i], &r.usual[i]
	id := &r.identities.values[e.identity]
	h := schema.StageHistory{PhaseID: e.PhaseID, Program: r.programs.values[e.program], Stage: r.stages.values[e.stage], Identity: id.name, Kind: id.kind,
		Tasks: e.Tasks, MedianS: e.medianS, Spread: e.Spread,
		Executions: u.Executions, Compared: u.Compared.V, UsualTasks: u.UsualTasks, UsualS: u.UsualS, WorkRatio: u.WorkRatio,
		BetweenRuns: u.BetweenRuns, WithinRun: u.WithinRun, LimitS: u.LimitS, UsualBytes: u.UsualBytes, UsualRecords: u.UsualRecords,
		UsualCPUS: u.UsualCPUS, UsualWaitS: u.UsualWaitS, Note: r.notes.values[e.note]}
	if e.start != unknownTime {
		h.RunStartTime = schema.Some(schema.Time(e.start))
	}
	if e.ordinal > 0 {
		h.Ordinal = schema.Some(e.ordinal)
		h.InputBytes, h.InputRecords, h.CPUS, h.WaitS, h.TickS = e.InputBytes, e.InputRecords, e.CPUS, e.WaitS, e.TickS
	}
	if u.UsualS.OK {
		h.Ratio, h.Slow = schema.Some(e.MedianS/u.UsualS.V), schema.Some(e.MedianS > u.LimitS.V)
		h.ExcessS = schema.Some(float64(e.Tasks) * (e.MedianS - u.UsualS.V))
		return h
	}
	switch {
	case h.Note.OK:
	case u.Executions == 0:
		h.Note = schema.Some("no earlier execution in the store")
	default:
		h.Note = schema.Some("fewer than 3 earlier executions in the store")
	}
	return h
}
