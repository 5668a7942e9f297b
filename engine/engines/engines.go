// Package engines opens engines by address: it is the only table of them.
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

// Open opens the engine named by o.Server over the present state of a store.
func Open(ctx context.Context, st *store.Store, o engine.Options) (engine.Engine, error) {
	switch {
	case o.Server == "" || o.Server == "duckdb":
		return duckdb.Open(ctx, st, o)
	case strings.HasPrefix(o.Server, "spark:"):
		return spark.Open(ctx, st, o)
	}
	return nil, fmt.Errorf("%w; %s", engine.ErrUnknown, spelling.Choices(o.Server, []string{"duckdb", "spark://USER@HOST:PORT"}))
}

// Dialect returns the SQL dialect of the engine named by an address.
func Dialect(server string) sqltext.Dialect {
	if strings.HasPrefix(server, "spark:") {
		return sqltext.Spark
	}
	return sqltext.DuckDB
}
