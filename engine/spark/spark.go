package spark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
)

// The engine on a cluster: Spark SQL behind a HiveServer2. It reads the same Parquet files as the embedded one, on machines
// that can access them under the same paths (or those given in the server's address).
//
// The session's temporary views and tables go with the connection. When that breaks, the engine reconnects, recreates them and
// runs the statement once more, unless rows of its result have already been returned.

// Engine is a session of a HiveServer2 over a store.
type Engine struct {
	st     *store.Store
	files  *store.Snapshot
	o      engine.Options
	server *server

	mu      sync.Mutex
	session *hs2.Session
	shut    bool
	seen    int64             // version of files that tables shows
	tables  []table           // what the views are to be
	chosen  []table           // and those of the last Choose
	views   map[string]string // what they are, by table
	made    []*materialized
	loaded  []io.Closer // files of tables
}

// oldestSpark is the oldest tested release.
var oldestSpark = [2]int{3, 5}

// Open opens a session over what is visible of a store now.
func Open(ctx context.Context, st *store.Store, o engine.Options) (engine.Engine, error) {
	server, err := parseAddress(o.Server)
	if err != nil {
		return nil, err
	}
	e := &Engine{st: st, o: o, server: server}
	if e.files, err = st.Snapshot(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.connect(ctx); err != nil {
		return nil, errors.Join(err, e.files.Close())
	}
	return e, nil
}

func (e *Engine) Name() string { return "spark" }

func (e *Engine) Dialect() sqltext.Dialect { return sqltext.Spark }

// connect opens a session with settings, views and tables. The caller holds mu.
func (e *Engine) connect(ctx context.Context) error {
	o := e.server.Options
	o.Settings = settings
	session, err := hs2.Open(ctx, o)
	if err != nil {
		return sparkError(err)
	}
	e.session, e.views = session, make(map[string]string)
	if err := e.prepare(ctx); err != nil {
		return errors.Join(err, session.Close())
	}
	return nil
}

// prepare sets up a session for the portable SQL. The caller holds mu.
func (e *Engine) prepare(ctx context.Context) error {
	if err := e.checkVersion(ctx); err != nil {
		return err
	}
	if err := e.set(ctx); err != nil {
		return err
	}
	for _, m := range e.made {
		if err := e.make(ctx, m); err != nil {
			return err
		}
	}
	for _, m := range e.made {
		if !m.dropped {
			continue
		}
		if err := e.forget(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion checks that the server is Spark SQL and not too old.
func (e *Engine) checkVersion(ctx context.Context) error {
	old := func(what string) error {
		return fmt.Errorf("spark: %w: %s is %s, and straggler needs Spark SQL %d.%d or newer", hs2.ErrOld, e.server.Address, what,
			oldestSpark[0], oldestSpark[1])
	}
	r, err := e.start(ctx, "SELECT version() AS version, unix_micros(TIMESTAMP '1970-01-01 00:00:00') IS NOT NULL AS spark")
	var refused *hs2.StatementError
	if errors.As(err, &refused) {
		return old("not Spark SQL, or older than 3.1 (" + refused.Error() + ")")
	}
	if err != nil {
		return err
	}
	rows := r.rows(ctx)
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(old("a server that does not report its version"), rows.Err())
	}
	text, _ := rows.Value(0).(string)
	var v [2]int
	if _, err := fmt.Sscanf(text, "%d.%d", &v[0], &v[1]); err != nil {
		return old(fmt.Sprintf("a server of version %q", text))
	}
	if slices.Compare(v[:], oldestSpark[:]) < 0 {
		return old(fmt.Sprintf("Spark %d.%d", v[0], v[1]))
	}
	return nil
}

// settings are the settings that results depend on, so that the server's own do not matter.
var settings = map[string]string{
	"spark.sql.session.timeZone": "UTC",
	// overflow is an error, as in DuckDB
	"spark.sql.ansi.enabled":                 "true",
	"spark.sql.ansi.doubleQuotedIdentifiers": "true",
	"spark.sql.caseSensitive":                "false",
	"spark.sql.parser.escapedStringLiterals": "false",
	"spark.sql.variable.substitute":          "false",
	"spark.sql.runSQLOnFiles":                "false",
	// the new reader accepts lists of files and ignores missing ones
	"spark.sql.sources.useV1SourceList":           "",
	"spark.sql.files.ignoreMissingFiles":          "false",
	"spark.sql.files.ignoreCorruptFiles":          "false",
	"spark.sql.parquet.datetimeRebaseModeInRead":  "CORRECTED",
	"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
	"spark.sql.parquet.outputTimestampType":       "TIMESTAMP_MICROS",
	"spark.sql.thriftServer.incrementalCollect":   "true", // the server does not hold whole results
	// parsing a text again gives its WITH other ids, so that cached rows are not found
	"spark.sql.legacy.storeAnalyzedPlanForView": "true",
	// An adaptive plan is logged in its initial and its current form, and so is each plan of a cached table within it: twice at
	// every level.
	"spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "false",
	// the server logs the plan of every query, including those of all cached tables: gigabytes
	"spark.sql.maxPlanStringLength": "100000",
}

// set checks that the session has the settings with which it was opened, sets those that the server ignored, and then those of
// the address.
func (e *Engine) set(ctx context.Context) error {
	r, err := e.start(ctx, "SET")
	if err != nil {
		return err
	}
	has := make(map[string]string)
	rows := r.rows(ctx)
	for rows.Next() {
		name, _ := rows.Value(0).(string)
		has[name], _ = rows.Value(1).(string)
	}
	rows.Close()
	if rows.Err() != nil {
		return rows.Err()
	}
	missing := maps.Clone(settings)
	maps.DeleteFunc(missing, func(name, value string) bool { got, ok := has[name]; return ok && got == value })
	for _, wanted := range []map[string]string{missing, e.server.set} {
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if err := e.exec(ctx, "SET "+name+"="+wanted[name]); err != nil {
				return fmt.Errorf("setting %s: %w", name, err)
			}
		}
	}
	return nil
}

// refresh creates missing views that a statement may need, as of the last commit of this process. Most statements name few of
// the tables, and each view takes some requests. The caller holds mu.
func (e *Engine) refresh(ctx context.Context, sql string) error {
	if !e.o.Locked {
		if err := e.files.Follow(ctx); err != nil {
			return err
		}
	}
	if e.tables == nil || e.seen != e.files.Version() {
		tables, err := e.drawTables(ctx)
		if err != nil {
			return err
		}
		e.tables, e.seen = tables, e.files.Version()
	}
	sql = strings.ToLower(sql)
	all := strings.Contains(sql, "show")
	for _, t := range slices.Concat(e.tables, e.chosen) {
		state := strings.Join(t.statements, "\n")
		if !all && !strings.Contains(sql, t.name) || e.views[t.name] == state {
			continue
		}
		for _, statement := range t.statements {
			if err := e.exec(ctx, statement); err != nil {
				return e.explainMissing(fmt.Errorf("table %s: %w", t.name, err))
			}
		}
		e.views[t.name] = state
	}
	return nil
}

func (e *Engine) Choose(ctx context.Context, inputs []schema.Key) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.files.Follow(ctx); err != nil {
		return err
	}
	tables, err := e.drawChosen(ctx, inputs)
	if err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	e.chosen = tables
	return nil
}

func (e *Engine) Query(ctx context.Context, sql string) (*engine.Rows, error) {
	if e.o.Locked {
		if err := checkStatement(sql); err != nil {
			return nil, err
		}
	}
	var r *result
	err := e.withReconnect(ctx, sql, func() (err error) {
		r, err = e.start(ctx, portable(sql))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.rows(ctx), nil
}

// withReconnect executes a function that changes nothing outside the session; if the connection breaks, once more on a new one.
func (e *Engine) withReconnect(ctx context.Context, sql string, do func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		return engine.ErrClosed
	}
	try := func() error {
		if err := e.refresh(ctx, sql); err != nil {
			return err
		}
		return do()
	}
	err := try()
	if !errors.Is(err, hs2.ErrLost) || ctx.Err() != nil {
		return e.explainMissing(err)
	}
	if err := e.reconnect(ctx); err != nil {
		return err
	}
	return e.explainMissing(try())
}

// reconnect waits until the server is available again. The caller holds mu.
func (e *Engine) reconnect(ctx context.Context) error {
	const pause = time.Second
	giveUp := time.Now().Add(e.server.wait)
	for {
		err := e.connect(ctx)
		if err == nil || time.Now().After(giveUp) || !errors.Is(err, hs2.ErrUnreachable) && !errors.Is(err, hs2.ErrLost) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("spark: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// start runs a statement up to its first rows.
func (e *Engine) start(ctx context.Context, sql string) (*result, error) {
	op, err := e.session.Execute(ctx, sql)
	if err != nil {
		return nil, sparkError(err)
	}
	r := newResult(e, op)
	if r.first, err = op.Fetch(ctx); err != nil {
		r.Close()
		return nil, sparkError(err)
	}
	return r, nil
}

// exec runs a statement for its effect.
func (e *Engine) exec(ctx context.Context, sql string) error {
	op, err := e.session.Execute(ctx, sql)
	if err != nil {
		return sparkError(err)
	}
	return sparkError(op.Close())
}

// Close ends the session, and frees its rows on the executors.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		return nil
	}
	e.shut = true
	ctx, cancel := context.WithTimeout(context.Background(), engine.ClosingTime)
	defer cancel()
	e.uncache(ctx)
	err := sparkError(e.session.Close())
	for _, f := range e.loaded {
		err = errors.Join(err, f.Close())
	}
	err = errors.Join(err, e.discard(func(*materialized) bool { return true }))
	return errors.Join(err, e.files.Close())
}
