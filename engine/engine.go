package engine

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"straggler/engine/sqltext"
	"straggler/schema"
)

// Engine answers SQL over the tables of a store: DuckDB in this process, or Spark SQL on a cluster. Callers need not know
// which: the SQL is the dialect that both understand.
type Engine interface {
	Name() string

	// Dialect is the SQL dialect of the engine.
	Dialect() sqltext.Dialect

	// Query runs one statement and streams its rows. Rows must be closed.
	Query(ctx context.Context, sql string) (*Rows, error)

	// Materialize stores the result of a query as a table of the session, replacing one of that name.
	Materialize(ctx context.Context, name, sql string) error

	// Drop removes such a table and frees its memory; it is not an error if there is none.
	Drop(ctx context.Context, name string) error

	// Choose creates the tables chosen_attempts, chosen_phases and so on, one for each log table, chosen_outliers and
	// chosen_stage_history. They have the rows that come from the inputs with these keys, or are computed from them, with the
	// key of the input in the column input_key. Only files with such rows are read.
	Choose(ctx context.Context, inputs []schema.Key) error

	Close() error
}

// ChosenPrefix is the prefix of the tables that Choose creates.
const ChosenPrefix = "chosen_"

// Options are the resources that an engine may use, and the restrictions on its SQL.
type Options struct {
	// Server is where the SQL is run: "" or "duckdb" in this process, spark://USER@HOST:PORT on a cluster behind a
	// HiveServer2. The limits of memory and threads are for this process.
	Server string

	Threads     int    // 0: one per core; DuckDB uses one while a store has few rows
	MemoryBytes int64  // 0: a quarter of the machine's memory; more goes to TempDir
	TempDir     string // "": a directory of its own under the system's, removed on Close
	TempBytes   int64  // that may go there; 0: nine tenths of what is free on its disk

	// Locked is for SQL that users write: it may read the tables and nothing else of the machine, change nothing,
	// and sees the store as it was when the engine was made. Without it the tables follow what is committed through
	// the same Store.
	Locked bool
}

var (
	// ErrUnknown is returned for an address that no engine has.
	ErrUnknown = errors.New("no such engine")
	// ErrStatement is returned when a statement may not be run.
	ErrStatement = errors.New("statement not allowed")
	// ErrServer is returned when a server cannot be used: it is absent, does not answer, is too old, denies access, or cannot
	// read the store.
	ErrServer = errors.New("the Spark server")
	// ErrClosed is returned by an engine that was closed.
	ErrClosed = errors.New("the engine is closed")
)

// ClosingTime is how long an engine may take to clean up after it was cancelled or closed.
const ClosingTime = 10 * time.Second

// Closing returns a context for cleaning up after work in another context: it has no deadline of its own, but ends ClosingTime
// after the other is cancelled. It has the values of the other.
func Closing(work context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(work))
	stop := context.AfterFunc(work, func() {
		select {
		case <-ctx.Done():
		case <-time.After(ClosingTime):
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// CheckName checks that a name needs no quotes in any engine.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("%q cannot be the name of a table: use lower-case letters, digits and _", name)
	}
	return nil
}
