package selection

import (
	_ "embed"

	"straggler/engine"
)

//go:embed rejects.sql
var rejectsSQL string

// Rejects gives a query the part owned_rejects: the rejected records of a store, with the applications that they belong to.
func Rejects() engine.Seen { return engine.Seen{Table: "owned_rejects", SQL: rejectsSQL} }
