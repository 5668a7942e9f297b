package store

import (
	"context"
	"fmt"
	"strings"
)

// Engine answers SQL over the tables of a store: DuckDB in this process, or Spark SQL on a cluster. Whoever asks does not
// learn which; the SQL is the one that both understand.
type Engine interface {
	Name() string

	// Query runs one statement and streams its rows. Rows must be closed.
	Query(ctx context.Context, sql string) (*Rows, error)

	// Materialize keeps the result of a query as a table of the session, in place of one of that name.
	Materialize(ctx context.Context, name, sql string) error

	// Drop forgets such a table and frees what it took; one that is not there is no error.
	Drop(ctx context.Context, name string) error

	Close() error
}

// EngineOptions say how much of the machine an engine may take, and who asks.
type EngineOptions struct {
	// Server says where the SQL is run: "" or "duckdb" in this process, spark://USER@HOST:PORT on a cluster behind a
	// HiveServer2. The limits of memory and threads are for this process.
	Server string

	Threads     int    // 0: one a core
	MemoryBytes int64  // 0: a quarter of the machine's memory; more goes to TempDir
	TempDir     string // "": a directory of its own under the system's, removed on Close

	// Locked is for SQL that users write: it may read the tables and nothing else of the machine, change nothing,
	// and sees the store as it was when the engine was made. Without it the tables follow what is committed through
	// the same Store.
	Locked bool
}

// Engine opens an engine over what is visible now.
func (s *Store) Engine(ctx context.Context, o EngineOptions) (Engine, error) {
	switch {
	case o.Server == "" || o.Server == "duckdb":
		return s.embedded(ctx, o)
	case strings.HasPrefix(o.Server, "spark:"):
		return s.sparkEngine(ctx, o)
	}
	return nil, fmt.Errorf("store: %w: it is duckdb, or spark://USER@HOST:PORT", ErrEngine)
}
