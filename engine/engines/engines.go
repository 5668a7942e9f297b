// Package engines takes the address of an engine and gives the engine: it is the one table of them.
package engines

import (
	"context"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/engine/duckdb"
	"straggler/engine/spark"
	"straggler/engine/sqltext"
	"straggler/spelling"
	"straggler/store"
)

// Open opens the engine that o.Server names over what is visible of a store now.
func Open(ctx context.Context, st *store.Store, o engine.Options) (engine.Engine, error) {
	switch {
	case o.Server == "" || o.Server == "duckdb":
		return duckdb.Open(ctx, st, o)
	case strings.HasPrefix(o.Server, "spark:"):
		return spark.Open(ctx, st, o)
	}
	return nil, fmt.Errorf("%w; %s", engine.ErrUnknown, spelling.Choices(o.Server, []string{"duckdb", "spark://USER@HOST:PORT"}))
}

// Dialect is whose SQL the engine reads that an address names.
func Dialect(server string) sqltext.Dialect {
	if strings.HasPrefix(server, "spark:") {
		return sqltext.Spark
	}
	return sqltext.DuckDB
}
