package selection

import (
	_ "embed"

	"straggler/engine"
)

//go:embed rejects.sql
var rejectsSQL string

// Rejects adds the part owned_rejects to a query: the rejected records of a store, with the applications that they belong to.
func Rejects() engine.Seen { return engine.Seen{Table: "owned_rejects", SQL: rejectsSQL} }
