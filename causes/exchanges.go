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

// exchangeRead describes the exchanges that a phase reads, according to the plan of its query.
type exchangeRead struct {
	program string // the name of the application
	keys    string // of each exchange, with the tables that feed it
	merged  bool   // adaptive execution coalesced or split partitions
}

// signature identifies a stage by program and exchanges; 0 where either is not known.
func (e exchangeRead) signature() uint64 {
	if e.program == "" || e.keys == "" {
		return 0
	}
	return signature(e.program, "reads", e.keys)
}

// exchanges finds the exchanges that phases read. Stages that read the same exchanges of the same tables are the same stage of
// a program, whatever their names and however many stages precede them.
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
