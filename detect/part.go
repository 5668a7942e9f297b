package detect

import (
	"context"
	_ "embed"
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
	whole  bool
	inputs []store.InputRecord
	owners store.Owners // nil: rows have no input
}

// choose decides what to work on. Inputs whose attempts belong to phases or applications of others, such as exported tables that
// were loaded one by one, cannot be worked on by themselves: then all is worked on, now and the next time.
func choose(ctx context.Context, tx *store.Tx, eng engine.Engine, again bool) (part, error) {
	if again {
		return part{whole: true}, nil
	}
	todo, ok := tx.Resume()
	if !ok {
		return part{whole: true}, nil
	}
	if len(todo) == 0 {
		return part{}, nil
	}
	keys := make([]schema.Key, len(todo))
	for i := range todo {
		keys[i] = schema.Key(todo[i].Key)
	}
	if err := eng.Choose(ctx, keys); err != nil {
		return part{}, err
	}
	p := part{inputs: todo, owners: store.OwnersOf(todo)}
	contained, err := p.selfContained(ctx, eng)
	if err != nil {
		return part{}, err
	}
	if !contained {
		tx.Restart()
		return part{whole: true}, nil
	}
	p.whole = !tx.Resumed()
	for _, in := range todo {
		tx.Saw(in)
	}
	return p, nil
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

// keptStats are the phase statistics that an earlier run found of the inputs that have not changed: those of phases that are in the
// store and not in the part.
const keptStats = ` FROM phase_stats s SEMI JOIN phases p ON p.phase_id = s.phase_id`

// keepStats makes a session table of them and gives its query, "" where there are none.
func (p *part) keepStats(ctx context.Context, eng engine.Engine) (string, error) {
	if p.whole {
		return "", nil
	}
	var columns []string
	for _, c := range schema.TableOf[schema.PhaseStats]().Columns {
		columns = append(columns, "s."+c.Name)
	}
	sql := "SELECT " + strings.Join(columns, ", ") + keptStats
	if len(p.inputs) > 0 {
		sql += " ANTI JOIN chosen_phases c ON c.phase_id = s.phase_id"
	}
	return "SELECT * FROM detected_kept_stats", eng.Materialize(ctx, "detected_kept_stats", sql)
}

// inputOf is the input that a phase came from, the key that rows about it have in the store; 0 where that is not recorded.
func (p *part) inputOf(phase schema.Key) schema.Key {
	input, _ := p.owners.Of("phases", phase)
	return input
}
