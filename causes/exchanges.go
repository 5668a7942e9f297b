package causes

import (
	"context"
	_ "embed"
	"fmt"

	"straggler/engine"
	"straggler/schema"
)

//go:embed exchanges.sql
var exchangesSQL string

// exchangeRead is what a phase reads, as its query's plan says.
type exchangeRead struct {
	program string // the name of the application
	keys    string // of each exchange, with the tables that feed it
	merged  bool   // adaptive execution put partitions together, or split them
}

// signature identifies a stage by program and exchanges; 0 where either is not known.
func (e exchangeRead) signature() uint64 {
	if e.program == "" || e.keys == "" {
		return 0
	}
	return signature(e.program, "reads", e.keys)
}

// exchanges reads what phases read. Stages that read the same exchanges of the same tables are the same stage of a program,
// whatever they are called, and however many stages come before them.
func (r *run) exchanges(ctx context.Context) (map[schema.Key]exchangeRead, error) {
	type row struct {
		Phase   schema.Key          `col:"phase_id"`
		Program schema.Null[string] `col:"program"`
		Keys    schema.Null[string] `col:"keys"`
		Tables  schema.Null[string] `col:"tables"`
		Merged  bool                `col:"merged"`
	}
	reads := map[schema.Key]exchangeRead{}
	for n, err := range engine.Read[row](ctx, r.eng, exchangesSQL) {
		if err != nil {
			return nil, fmt.Errorf("exchanges of phases: %w", err)
		}
		e := reads[n.Phase]
		e.program = n.Program.V
		e.merged = e.merged || n.Merged
		if n.Keys.OK {
			if e.keys != "" {
				e.keys += ", "
			}
			e.keys += n.Keys.V
			if n.Tables.V != "" {
				e.keys += " of " + n.Tables.V
			}
		}
		reads[n.Phase] = e
	}
	return reads, nil
}
