package detect

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed inputs.sql
var inputsSQL string

// part is what of a store a run works on: the inputs that the results of earlier runs have not seen, or all of it.
type part struct {
	whole   bool
	kept    bool // results of inputs that have not changed are
	nothing bool // there is nothing to do for the chosen applications
	inputs  []store.InputRecord
	others  store.Owners // of the keys of inputs that are left out
	owners  store.Owners // nil: rows have no input
}

// choose decides what to work on. Inputs whose attempts belong to phases or applications of others, such as exported tables that
// were loaded one by one, cannot be worked on by themselves: then all is worked on, now and the next time.
func choose(ctx context.Context, tx *store.Tx, eng engine.Engine, o Options) (part, error) {
	todo, ok := tx.Resume(o.Again)
	if !ok {
		return part{whole: true}, o.mustBeAll()
	}
	if !o.Applications.All() && tx.Replaces() {
		return part{}, ErrReplaces
	}
	todo, others, err := o.chosen(ctx, eng, todo)
	if err != nil {
		return part{}, err
	}
	if len(others) > 0 {
		tx.Part()
	}
	p := part{kept: tx.Resumed(), inputs: todo, others: store.OwnersOf(others), owners: store.OwnersOf(todo)}
	if len(todo) == 0 {
		p.nothing = len(others) > 0
		return p, nil
	}
	keys := make([]schema.Key, len(todo))
	for i := range todo {
		keys[i] = schema.Key(todo[i].Key)
	}
	if err := eng.Choose(ctx, keys); err != nil {
		return part{}, err
	}
	contained, err := p.selfContained(ctx, eng)
	if err != nil {
		return part{}, err
	}
	if !contained {
		tx.Restart()
		return part{whole: true}, o.mustBeAll()
	}
	p.whole = !p.kept && len(others) == 0
	for _, in := range todo {
		tx.Saw(in)
	}
	return p, nil
}

var (
	// ErrShared is returned when the logs of some applications cannot be worked on without the others.
	ErrShared = errors.New("logs of the store share phases or applications, so that none can be worked on alone; work on all of them")
	// ErrReplaces is returned when results of some applications would take the place of those of the others.
	ErrReplaces = errors.New("the results in the store are of another version of straggler, or of logs that have all changed, and would be lost; work on all of them")
)

func (o *Options) mustBeAll() error {
	if o.Applications.All() {
		return nil
	}
	return ErrShared
}

// chosen are the inputs that the chosen applications came from; the others are left out.
func (o *Options) chosen(ctx context.Context, eng engine.Engine, todo []store.InputRecord) (out, others []store.InputRecord, err error) {
	if o.Applications.All() {
		return todo, nil, nil
	}
	keys, err := o.Applications.Keys(ctx, eng)
	if err != nil {
		return nil, nil, err
	}
	owners, wanted := store.OwnersOf(todo), map[schema.Key]bool{}
	for _, k := range keys {
		if input, ok := owners.Of("applications", k); ok {
			wanted[input] = true
		}
	}
	for _, in := range todo {
		if wanted[schema.Key(in.Key)] {
			out = append(out, in)
		} else {
			others = append(others, in)
		}
	}
	return out, others, nil
}

// selfContained says that no input of the part names phases or applications that are not its own.
func (p *part) selfContained(ctx context.Context, eng engine.Engine) (bool, error) {
	type named struct {
		Input schema.Key `col:"input_key"`
		Table string     `col:"tab"`
		First schema.Key `col:"first"`
	}
	sql := strings.ReplaceAll(inputsSQL, "{block}", strconv.Itoa(-schema.BlockKeys))
	for n, err := range engine.Read[named](ctx, eng, sql) {
		if err != nil {
			return false, err
		}
		if owner, ok := p.owners.Of(n.Table, n.First); !ok || owner != n.Input {
			return false, nil
		}
	}
	return true, nil
}

// from is the query of a table of the part; as is how it names the table.
func (p *part) from(table string) string {
	if p.whole {
		return table
	}
	return engine.ChosenPrefix + table
}

// seen restricts the log tables that a query sees to the part, and to a span of its phases. Nothing is copied: the restriction
// goes under the tables' names.
func (p *part) seen(s span) (out []engine.Seen) {
	for _, table := range []string{"attempts", "phases", "applications"} {
		where := ""
		if !s.all && table != "applications" {
			where = fmt.Sprintf(" WHERE phase_id BETWEEN %d AND %d", s.low, s.high)
		}
		if where != "" || !p.whole {
			out = append(out, engine.Seen{Table: table, SQL: "SELECT * FROM " + p.from(table) + where})
		}
	}
	return out
}

// keepStats makes a session table of the phase statistics that an earlier run found of the inputs that have not changed, and gives its
// query, "" where there are none: those of phases that are in the store, and neither in the part nor left out.
func (p *part) keepStats(ctx context.Context, eng engine.Engine) (string, error) {
	if !p.kept {
		return "", nil
	}
	var columns []string
	for _, c := range schema.TableOf[schema.PhaseStats]().Columns {
		columns = append(columns, "s."+c.Name)
	}
	sql := "SELECT " + strings.Join(columns, ", ") + " FROM phase_stats s SEMI JOIN phases p ON p.phase_id = s.phase_id"
	if changed := append(p.owners.Blocks("phases"), p.others.Blocks("phases")...); len(changed) > 0 {
		sql += " WHERE s.phase_id & " + strconv.Itoa(-schema.BlockKeys) + " NOT IN (" + listOf(changed) + ")"
	}
	return "SELECT * FROM detected_kept_stats", eng.Materialize(ctx, "detected_kept_stats", sql)
}

// inputOf is the input that a phase came from, the key that rows about it have in the store; 0 where that is not recorded.
func (p *part) inputOf(phase schema.Key) schema.Key {
	input, _ := p.owners.Of("phases", phase)
	return input
}
