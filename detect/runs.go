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

// runBytes is the memory of a phase, in both lists and while they are sorted.
const runBytes = 256

// phaseRuns are the phases of the part as executions of stages.
type phaseRuns struct {
	part  *part
	rows  []phaseRun     // as part.scanned
	usual []usualFigures // for those that are executions

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

// phaseRun is a row of executions.sql, with what tasks used as in stages.sql. NaN is NULL, which halves the size.
type phaseRun struct {
	application                                                   schema.Key
	submitted, start                                              int64 // start of the run
	tasks                                                         int64
	medianS, spread, inputBytes, inputRecords, cpuS, waitS, tickS float64
	program, stage, identity, note                                uint32
	ordinal                                                       int32 // 0: it is not an execution
	known, countable                                              bool
}

// usualFigures are an expectation, as phaseRun is a row.
type usualFigures struct {
	executions, compared                                        int32
	usualS, withinRun, betweenRuns, workRatio, limitS           float64
	usualBytes, usualRecords, usualCPUS, usualWaitS, usualTasks float64
}

// unknownTime is a time that is not in the log, later than all others.
const unknownTime = math.MaxInt64

// names are values, numbered in the order in which they are first seen.
type names[T comparable] struct {
	numbers map[T]uint32
	values  []T
}

// nameBytes is the memory of a name besides its text: in the map and in the list.
const nameBytes = 80

// number returns the number of a value, and adds the memory of a new value to size; own makes a copy that shares no memory, and
// returns the bytes of its text.
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

// runsHere returns the executions, unless they would be too large, or the store is corrupt and has a phase twice: then it returns
// nil, and the engine computes the same.
func (p *part) runsHere(ctx context.Context, eng engine.Engine, used string, seen []engine.Seen) (*phaseRuns, error) {
	left := p.limits.heapRuns - runBytes*int64(len(p.scanned))
	if p.kept || left < 0 {
		return nil, nil
	}
	r := &phaseRuns{part: p, rows: make([]phaseRun, len(p.scanned))}
	var finder phaseFinder
	sql := "SELECT r.*, u.input_bytes, u.input_records, u.cpu_s, u.wait_s, u.tick_s FROM detected_runs r LEFT JOIN (" + used + ") AS u ON u.phase_id = r.phase_id"
	for row, err := range engine.ReadParts[runRow](ctx, eng, "detected_run", withRuns(sql), seen...) {
		if err != nil {
			return nil, err
		}
		i, found := finder.find(p.scanned, row.PhaseID)
		if !found {
			return nil, fmt.Errorf("%w: phases have come or gone; try again", store.ErrConflict)
		}
		if r.rows[i].known {
			return nil, nil
		}
		if r.rows[i] = r.run(row); r.text > left {
			return nil, nil
		}
	}
	r.numberInApplications()
	r.numberInStages()
	r.usual = make([]usualFigures, len(r.rows))
	for stage := range r.byStage(ctx) {
		p.setStrides(stage)
	}
	return r, nil
}

// run returns a row without its ordinal.
func (r *phaseRuns) run(row *runRow) phaseRun {
	return phaseRun{known: true, application: row.ApplicationID, countable: row.Countable.V,
		submitted: knownTime(row.Submitted), start: knownTime(row.RunStartTime), tasks: row.Tasks, medianS: orNaN(row.MedianS), spread: orNaN(row.Spread),
		inputBytes: orNaN(row.InputBytes), inputRecords: orNaN(row.InputRecords), cpuS: orNaN(row.CPUS), waitS: orNaN(row.WaitS), tickS: orNaN(row.TickS),
		program: r.programs.number(row.Program, ownNull, &r.text), stage: r.stages.number(row.Stage, ownText, &r.text),
		identity: r.identities.number(identity{row.Identity, row.Kind}, ownIdentity, &r.text), note: r.notes.number(row.Note, ownNull, &r.text)}
}

// execution returns a row of stages.sql.
func (r *phaseRuns) execution(i uint32, stage schema.Key, place int64) stageExecution {
	e := &r.rows[i]
	return stageExecution{PhaseID: r.part.scanned[i].id, StageID: stage, Place: place, Todo: 1, Tasks: e.tasks, MedianS: e.medianS, Spread: orNull(e.spread),
		InputBytes: orNull(e.inputBytes), InputRecords: orNull(e.inputRecords), CPUS: orNull(e.cpuS), WaitS: orNull(e.waitS), TickS: orNull(e.tickS), phase: int32(i)}
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
		if e := &r.rows[keys[k].row]; e.medianS > 0 {
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
		for _, key := range keys[s.from:s.to] {
			r.ordered = append(r.ordered, key.row)
		}
		r.ends = append(r.ends, uint32(len(r.ordered)))
	}
}

func (r *phaseRuns) marked() bool { return true }

func (r *phaseRuns) byStage(context.Context) iter.Seq2[[]stageExecution, error] {
	return func(yield func([]stageExecution, error) bool) {
		var stage []stageExecution
		from := uint32(0)
		for _, to := range r.ends {
			stage = stage[:0]
			rows := r.ordered[from:to]
			id := r.part.scanned[slices.Min(rows)].id
			for k, i := range rows {
				stage = append(stage, r.execution(i, id, int64(k+1)))
			}
			if from = to; !yield(stage, nil) {
				return
			}
		}
	}
}

func (r *phaseRuns) expect(_ context.Context, _ engine.Loader, from iter.Seq2[[]expectation, error]) error {
	for usual, err := range from {
		if err != nil {
			return err
		}
		for i := range usual {
			u := &usual[i]
			r.usual[u.phase] = usualFigures{executions: int32(u.Executions), compared: int32(u.Compared.V), usualS: orNaN(u.UsualS),
				withinRun: orNaN(u.WithinRun), betweenRuns: orNaN(u.BetweenRuns), workRatio: orNaN(u.WorkRatio), limitS: orNaN(u.LimitS),
				usualBytes: orNaN(u.UsualBytes), usualRecords: orNaN(u.UsualRecords), usualCPUS: orNaN(u.UsualCPUS), usualWaitS: orNaN(u.UsualWaitS),
				usualTasks: orNaN(u.UsualTasks)}
		}
	}
	return nil
}

func (r *phaseRuns) write(ctx context.Context, tx *store.Tx) error {
	rows := inputRows[schema.StageHistory]{tx: tx, p: r.part}
	for i := range r.rows {
		if !r.rows[i].known {
			continue
		}
		if err := cmp.Or(ctx.Err(), rows.add(r.part.scanned[i].id, r.history(i))); err != nil {
			return err
		}
	}
	return rows.flush()
}

// history returns the row of a phase: stage_history.sql.
func (r *phaseRuns) history(i int) schema.StageHistory {
	e, u := &r.rows[i], &r.usual[i]
	id := &r.identities.values[e.identity]
	h := schema.StageHistory{PhaseID: r.part.scanned[i].id, Program: r.programs.values[e.program], Stage: r.stages.values[e.stage], Identity: id.name, Kind: id.kind,
		Tasks: e.tasks, MedianS: orNull(e.medianS), Spread: orNull(e.spread), Executions: int64(u.executions), Compared: int64(u.compared),
		Note: r.notes.values[e.note]}
	if e.start != unknownTime {
		h.RunStartTime = schema.Some(schema.Time(e.start))
	}
	if e.ordinal > 0 {
		h.Ordinal = schema.Some(e.ordinal)
		h.InputBytes, h.InputRecords = orNull(e.inputBytes), orNull(e.inputRecords)
		h.CPUS, h.WaitS, h.TickS = orNull(e.cpuS), orNull(e.waitS), orNull(e.tickS)
	}
	if u.compared > 0 {
		h.UsualS, h.WithinRun, h.BetweenRuns = orNull(u.usualS), orNull(u.withinRun), orNull(u.betweenRuns)
		h.WorkRatio, h.LimitS, h.UsualTasks = orNull(u.workRatio), orNull(u.limitS), orNull(u.usualTasks)
		h.UsualBytes, h.UsualRecords, h.UsualCPUS, h.UsualWaitS = orNull(u.usualBytes), orNull(u.usualRecords), orNull(u.usualCPUS), orNull(u.usualWaitS)
		h.Ratio, h.Slow = schema.Some(e.medianS/u.usualS), schema.Some(e.medianS > u.limitS)
		h.ExcessS = schema.Some(float64(e.tasks) * (e.medianS - u.usualS))
		return h
	}
	switch {
	case h.Note.OK:
	case u.executions == 0:
		h.Note = schema.Some("no earlier execution in the store")
	default:
		h.Note = schema.Some("fewer than 3 earlier executions in the store")
	}
	return h
}
