package detect

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed inputs.sql
var inputsSQL string

// part is the part of a store that a run works on: the inputs that earlier runs have not processed, or all of it.
type part struct {
	whole   bool
	kept    bool // results of unchanged inputs are kept
	nothing bool // there is nothing to do for the chosen applications
	inputs  []store.InputRecord
	chosen  []store.InputRecord // whose rows are in the part's tables
	others  store.Owners        // of the keys of inputs left out
	owners  store.Owners        // of the keys of inputs; nil: rows have no input
	again   store.Owners        // of the keys of inputs whose results are rewritten, since their history has changed

	// On an engine in this process: the phases whose attempts were read, by id, and the file with what is known of these,
	// including the times of tasks if programs have names.
	scanned     []scannedPhase
	freeScanned func() // nil: there is nothing to free
	file        *phaseFile
	named       bool

	slowAppended func() error // waits until the attempts that are slow within their phase are written
	timesAtOnce  int64        // number of tasks held that others are compared with
	limits       limits

	attempts int64 // approximate number, on an engine of many machines
	onCopies bool  // whether copies of this program process the attempts
}

// free releases the memory of the phases.
func (p *part) free() {
	if p.freeScanned != nil {
		p.freeScanned()
	}
	p.scanned, p.freeScanned = nil, nil
}

// choose decides what to work on. Inputs whose attempts belong to phases or applications of others, such as exported tables
// that were loaded one by one, cannot be processed separately: then everything is processed, now and the next time.
func choose(ctx context.Context, tx *store.Tx, eng engine.Engine, o Options) (part, error) {
	todo, ok := tx.Resume(o.Again)
	if !ok {
		return part{whole: true, limits: o.limits}, o.mustBeAll()
	}
	if !o.Applications.All() && tx.Replaces() {
		return part{}, ErrReplaces
	}
	todo, others, err := o.Applications.Inputs(ctx, eng, todo)
	if err != nil {
		return part{}, err
	}
	if len(others) > 0 {
		tx.Partial()
	}
	p := part{kept: tx.Resumed(), inputs: todo, others: store.OwnersOf(others), owners: store.OwnersOf(todo), limits: o.limits}
	if len(todo) == 0 {
		p.nothing = len(others) > 0
		return p, p.choose(ctx, eng, nil)
	}
	if err := p.choose(ctx, eng, todo); err != nil {
		return part{}, err
	}
	contained, err := p.selfContained(ctx, eng)
	if err != nil || !contained {
		p.free()
	}
	if err != nil {
		return part{}, err
	}
	if !contained {
		tx.DropAll()
		return part{whole: true, limits: o.limits}, o.mustBeAll()
	}
	p.whole = !p.kept && len(others) == 0
	for _, in := range todo {
		tx.Saw(in)
	}
	return p, nil
}

var (
	// ErrShared is returned when the logs of some applications cannot be processed without the others.
	ErrShared = errors.New("logs of the store share phases or applications, so that none can be worked on alone; work on all of them")
	// ErrReplaces is returned when results of some applications would replace those of the others.
	ErrReplaces = errors.New("the results in the store are of another version of straggler, or of logs that have all changed, and would be lost; work on all of them")
)

func (o *Options) mustBeAll() error {
	if o.Applications.All() {
		return nil
	}
	return ErrShared
}

// selfContained reports that no input of the part names phases or applications of another. On an engine in this process
// readPhases checks the attempts.
func (p *part) selfContained(ctx context.Context, eng engine.Engine) (bool, error) {
	type named struct {
		Input schema.Key `col:"input_key"`
		Table string     `col:"tab"`
		First schema.Key `col:"first"`
	}
	var seen []engine.Seen
	if _, ok := engine.InProcess(eng); ok {
		if contained, err := p.readPhases(ctx, eng); err != nil || !contained {
			return false, err
		}
		seen = append(seen, engine.Seen{Table: engine.ChosenPrefix + "attempts", SQL: noAttempts})
	}
	sql := strings.ReplaceAll(inputsSQL, "{block}", blockBits)
	for n, err := range engine.ReadParts[named](ctx, eng, "detected_inputs", sql, seen...) {
		if err != nil {
			return false, err
		}
		if !p.owns(n.Input, n.Table, n.First) {
			return false, nil
		}
	}
	return true, nil
}

// noAttempts has the columns of attempts that inputs.sql reads.
const noAttempts = "SELECT CAST(NULL AS BIGINT) AS input_key, CAST(NULL AS BIGINT) AS phase_id, CAST(NULL AS BIGINT) AS application_id WHERE FALSE"

// owns reports whether a key of a table belongs to an input of the part.
func (p *part) owns(input schema.Key, table string, key schema.Key) bool {
	owner, ok := p.owners.Of(table, key)
	return ok && owner == input
}

// choose makes the rows of inputs the rows of the part's tables.
func (p *part) choose(ctx context.Context, eng engine.Engine, inputs []store.InputRecord) error {
	if p.whole {
		return nil
	}
	p.chosen = inputs
	return eng.Choose(ctx, store.KeysOf(inputs))
}

// from returns the query of a table of the part; as is the name used for the table.
func (p *part) from(table string) string {
	if p.whole {
		return table
	}
	return engine.ChosenPrefix + table
}

// seen restricts the log tables that a query sees to the part, and to a span of its phases. Nothing is copied: the restriction
// is defined under the tables' names.
func (p *part) seen(s span) (out []engine.Seen) {
	for _, table := range []string{"attempts", "phases", "jobs", "applications"} {
		where := ""
		if table == "attempts" || table == "phases" {
			where = s.where()
		}
		if where != "" || !p.whole {
			out = append(out, engine.Seen{Table: table, SQL: "SELECT * FROM " + p.from(table) + where})
		}
	}
	return out
}

// inputOf returns the input that a phase came from, which is the key of rows about it in the store; 0 if not recorded.
func (p *part) inputOf(phase schema.Key) schema.Key {
	input, ok := p.owners.Of("phases", phase)
	if !ok {
		input, _ = p.again.Of("phases", phase)
	}
	return input
}

// inputsByBlock returns the inputs of all phases that inputOf knows, by the first key of each block.
func (p *part) inputsByBlock() map[schema.Key]schema.Key {
	out := make(map[schema.Key]schema.Key)
	for _, owners := range []store.Owners{p.again, p.owners} {
		for _, b := range owners.Blocks("phases") {
			out[b] = p.inputOf(b)
		}
	}
	return out
}
