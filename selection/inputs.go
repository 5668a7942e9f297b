package selection

import (
	"context"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

// Inputs divides inputs into those of the selected applications and the others.
func (a Applications) Inputs(ctx context.Context, eng engine.Engine, of []store.InputRecord) (chosen, others []store.InputRecord, err error) {
	if a.All() {
		return of, nil, nil
	}
	keys, err := a.Keys(ctx, eng)
	if err != nil {
		return nil, nil, err
	}
	owners, wanted := store.OwnersOf(of), map[schema.Key]bool{}
	for _, k := range keys {
		if input, ok := owners.Of("applications", k); ok {
			wanted[input] = true
		}
	}
	for _, in := range of {
		if wanted[schema.Key(in.Key)] {
			chosen = append(chosen, in)
		} else {
			others = append(others, in)
		}
	}
	return chosen, others, nil
}

// Seen restricts tables with a column phase_id to the phases of the applications that are meant; nothing where all are.
func (a Applications) Seen(ctx context.Context, eng engine.Engine, tables ...string) (out []engine.Seen, err error) {
	if a.All() {
		return nil, nil
	}
	keys, err := a.Keys(ctx, eng)
	if err != nil {
		return nil, err
	}
	phases := "SELECT p.phase_id FROM phases p JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id IN (" + schema.KeyList(keys) + ")"
	for _, table := range tables {
		out = append(out, engine.Seen{Table: table, SQL: "SELECT * FROM " + table + " WHERE phase_id IN (" + phases + ")"})
	}
	return out, nil
}
