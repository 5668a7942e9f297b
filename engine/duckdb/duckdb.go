package duckdb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
	"straggler/tempfile"
)

// The embedded engine. It uses the driver's bindings of DuckDB's C interface, one level below database/sql. They return results
// as DuckDB's vectors, without boxing values, as a stream (database/sql would hold a whole result in memory, outside DuckDB's
// limit), and the type of a statement before it is run.

// Engine is a DuckDB in memory, over the files of a store.
type Engine struct {
	o     engine.Options
	temp  *tempfile.Directory // ours, to be removed
	files *store.Snapshot     // keeps compactions from removing files under us

	mu     sync.Mutex
	db     mapping.Database
	idle   []mapping.Connection
	busy   int
	closed bool

	unions     unions
	few        atomic.Bool // rows in all tables that the views show
	refreshing sync.Mutex
	seen       int64             // version of files that the views show
	threads    int               // that work now
	streams    int               // that are open
	views      map[string]string // SQL of each
	unmade     map[string]table  // those that no statement has named yet
}

// Open opens an engine over what is visible of a store now.
func Open(ctx context.Context, st *store.Store, o engine.Options) (engine.Engine, error) {
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = engine.DefaultMemory()
	}
	d := &Engine{o: o}
	d.few.Store(!o.Locked) // until the tables are known: more threads are added more quickly than ended
	if o.TempDir == "" {
		dir, err := tempfile.NewDirectory("", "sql")
		if err != nil {
			return nil, fmt.Errorf("duckdb: a directory for what does not fit into memory: %w", err)
		}
		d.temp, d.o.TempDir = dir, dir.Path()
	}
	if err := d.open(ctx, st); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Engine) Name() string { return "duckdb" }

func (d *Engine) Dialect() sqltext.Dialect { return sqltext.DuckDB }

func (d *Engine) open(ctx context.Context, st *store.Store) (err error) {
	if err := d.start(); err != nil {
		return err
	}
	if err := d.exec(ctx, "SET GLOBAL TimeZone = 'UTC'"); err != nil {
		return err
	}
	for _, macro := range macros {
		if err := d.exec(ctx, "CREATE OR REPLACE MACRO "+macro); err != nil {
			return err
		}
	}
	if d.files, err = st.Snapshot(ctx); err != nil {
		return err
	}
	tables, err := d.show(ctx)
	if err != nil || !d.o.Locked {
		return err
	}
	for _, sql := range d.lockdown(tables) {
		if err := d.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// macros define Spark's functions, so that the same SQL works on both engines. percentile takes a list of fractions of one
// column, so that a query has a single aggregate, which stores the column's values once.
var macros = [...]string{
	"unix_micros(t) AS epoch_us(t)",
	"explode(list) AS unnest(list)",
	"percentile(x, p) AS quantile_cont(x, [0.1, 0.25, 0.5, 0.75, 0.95])[CASE p WHEN 0.1 THEN 1 WHEN 0.25 THEN 2 WHEN 0.5 THEN 3 WHEN 0.75 THEN 4 " +
		"WHEN 0.95 THEN 5 ELSE error('percentile is of 0.1, 0.25, 0.5, 0.75 and 0.95 here; write percentile_cont(p) WITHIN GROUP (ORDER BY x)') END]",
}

// start creates an empty database in memory.
func (d *Engine) start() error {
	d.threads = d.workers()
	var config mapping.Config
	mapping.CreateConfig(&config)
	defer mapping.DestroyConfig(&config)
	options := [][2]string{
		{"threads", strconv.Itoa(d.threads)},
		{"memory_limit", fmt.Sprintf("%dKiB", d.o.MemoryBytes>>10)},
		{"temp_directory", d.o.TempDir},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
		{"default_null_order", "nulls_last"},
		{"preserve_insertion_order", "true"},
	}
	if d.o.TempBytes > 0 {
		options = append(options, [2]string{"max_temp_directory_size", fmt.Sprintf("%dKiB", max(d.o.TempBytes>>10, 1))})
	}
	for _, o := range options {
		if mapping.SetConfig(config, o[0], o[1]) == mapping.StateError {
			return fmt.Errorf("duckdb does not take %s = %s", o[0], o[1])
		}
	}
	var msg string
	if mapping.OpenExt("", &d.db, config, &msg) == mapping.StateError {
		return fmt.Errorf("duckdb: starting duckdb: %s", msg)
	}
	return nil
}

// show updates the views to what is visible of the store.
func (d *Engine) show(ctx context.Context) ([]table, error) {
	tables := tablesOf(d.files)
	if err := d.defineViews(ctx, tables); err != nil {
		return nil, err
	}
	d.seen = d.files.Version()
	d.few.Store(!d.o.Locked && rowsOf(tables) <= fewRows)
	return tables, d.setThreads(ctx)
}

// setThreads sets the number of threads. The caller holds refreshing.
func (d *Engine) setThreads(ctx context.Context) error {
	n := d.workers()
	if n == d.threads {
		return nil
	}
	if err := d.exec(ctx, fmt.Sprintf("SET GLOBAL threads = %d", n)); err != nil {
		return err
	}
	d.threads = n
	return nil
}

// fewRows is a number of rows for which planning a statement takes longer than running it, and holding a result is cheap: a row
// of the widest table takes 0.8 KB, so all of them take at most 50 MB.
const fewRows = 1 << 16

// Few reports whether all tables together have at most fewRows; never for a locked engine, whose statements may produce any
// number of rows.
func (d *Engine) Few() bool { return d.few.Load() }

// workers returns the number of threads to use. It is one for few rows: another would have little to do, and DuckDB busy-waits
// for it. It is also one during a Stream.
func (d *Engine) workers() int {
	switch {
	case d.streams > 0:
		return 1
	case d.o.Threads > 0:
		return d.o.Threads
	case d.few.Load():
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// defineViews creates the views, or replaces those that have changed. It does not fetch remote files; on an engine that is not
// locked, a view is created only when a statement names it.
func (d *Engine) defineViews(ctx context.Context, tables []table) error {
	if d.views == nil {
		d.views, d.unmade = make(map[string]string), make(map[string]table)
	}
	for _, v := range tables {
		if d.views[v.name] == v.sql {
			continue
		}
		delete(d.unmade, v.name)
		switch {
		case !d.o.Locked:
			d.unmade[v.name] = v
		case d.files.Remote() && len(v.files) > 0:
			if err := d.exec(ctx, "CREATE OR REPLACE VIEW "+quoteName(v.name)+" AS "+v.unread); err != nil {
				return fmt.Errorf("duckdb: table %s: %w", v.name, err)
			}
			d.unmade[v.name] = v
		default:
			if err := d.createView(ctx, v); err != nil {
				return err
			}
		}
		d.views[v.name] = v.sql
	}
	return nil
}

// createView creates a view over its files.
func (d *Engine) createView(ctx context.Context, v table) error {
	if err := d.files.Fetch(ctx, v.files); err != nil {
		return fmt.Errorf("duckdb: table %s: %w", v.name, err)
	}
	if err := d.exec(ctx, "CREATE OR REPLACE VIEW "+quoteName(v.name)+" AS "+v.sql); err != nil {
		if ctx.Err() == nil && len(v.files) > 0 { // the SQL is ours: only the files can be wrong
			err = fmt.Errorf("%w; straggler store verify shows which of its files is: %w", store.ErrDamaged, err)
		}
		return fmt.Errorf("duckdb: table %s: %w", v.name, err)
	}
	return nil
}

// prepare updates the views after commits of this process, and creates those that a statement names, fetching their files. Any
// word or quoted text counts as a name: fetching a table unnecessarily is better than missing one.
func (d *Engine) prepare(ctx context.Context, sql string) error {
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	if !d.o.Locked {
		if err := d.files.Follow(ctx); err != nil {
			return err
		}
	}
	if d.seen != d.files.Version() {
		if _, err := d.show(ctx); err != nil {
			return err
		}
	}
	if len(d.unmade) == 0 {
		return nil
	}
	for t := range sqltext.DuckDB.Tokens(sql) {
		name := strings.ToLower(strings.Trim(t.Text, `'"`))
		if v, ok := d.unmade[name]; ok {
			if err := d.createView(ctx, v); err != nil {
				return err
			}
			delete(d.unmade, name)
		}
	}
	return nil
}

func (d *Engine) Choose(ctx context.Context, inputs []schema.Key) error {
	if err := d.prepare(ctx, ""); err != nil {
		return err
	}
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	tables, err := chosenOf(d.files, inputs)
	if err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	return d.defineViews(ctx, tables)
}

func (d *Engine) Query(ctx context.Context, sql string) (*engine.Rows, error) {
	if err := d.prepare(ctx, sql); err != nil {
		return nil, err
	}
	return d.query(ctx, sql, how{guarded: d.o.Locked})
}

func (d *Engine) Gather(ctx context.Context, sql string) (*engine.Rows, error) {
	if err := d.prepare(ctx, sql); err != nil {
		return nil, err
	}
	return d.query(ctx, sql, how{guarded: d.o.Locked, whole: true})
}

func (d *Engine) Materialize(ctx context.Context, name, sql string) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	if err := d.prepare(ctx, sql); err != nil {
		return err
	}
	if d.o.Locked {
		if err := d.check(ctx, sql); err != nil {
			return err
		}
	}
	return d.exec(ctx, "CREATE OR REPLACE TABLE "+quoteName(name)+" AS "+sqltext.DuckDB.Trim(sql))
}

func (d *Engine) Drop(ctx context.Context, name string) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("duckdb: %w", err)
	}
	return d.exec(ctx, "DROP TABLE IF EXISTS "+quoteName(name))
}

// exec runs a statement for its effect.
func (d *Engine) exec(ctx context.Context, sql string) error {
	conn, err := d.connect()
	if err != nil {
		return err
	}
	r := &result{d: d, ctx: ctx, conn: conn}
	defer r.Close()
	return r.run(ctx, sql)
}

// how a query runs.
type how struct {
	guarded bool // it may only read tables
	whole   bool // its result is computed at once, and not as it is read
}

func (d *Engine) query(ctx context.Context, sql string, as how) (*engine.Rows, error) {
	r, columns, err := d.result(ctx, sql, as)
	if err != nil {
		return nil, err
	}
	return engine.NewRows(ctx, columns, r), nil
}

// result starts a query.
func (d *Engine) result(ctx context.Context, sql string, as how) (_ *result, _ []engine.Column, err error) {
	conn, err := d.connect()
	if err != nil {
		return nil, nil, err
	}
	r := &result{d: d, ctx: ctx, conn: conn}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if as.whole && !as.guarded {
		if err := r.run(ctx, sql); err != nil {
			return nil, nil, err
		}
		if columns, cast := r.describe(); !cast {
			return r, columns, nil
		}
		mapping.DestroyResult(&r.res)
	}
	if err := r.prepare(sql, as.guarded); err != nil {
		return nil, nil, err
	}
	if cast, ok := r.castSQL(sql); ok {
		mapping.DestroyPrepare(&r.stmt)
		if err := r.prepare(cast, false); err != nil {
			return nil, nil, err
		}
		sql = cast
	}
	if !as.whole {
		if err := r.hold(ctx, sql); err != nil {
			return nil, nil, err
		}
	}
	if err := r.execute(ctx, as.whole); err != nil {
		return nil, nil, err
	}
	columns, _ := r.describe()
	return r, columns, nil
}

// connect takes an idle connection or opens one. All connections see the same tables.
func (d *Engine) connect() (mapping.Connection, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var conn mapping.Connection
	if d.closed || d.db.Ptr == nil {
		return conn, engine.ErrClosed
	}
	d.busy++
	if n := len(d.idle); n > 0 {
		conn = d.idle[n-1]
		d.idle = d.idle[:n-1]
		return conn, nil
	}
	if mapping.Connect(d.db, &conn) == mapping.StateError {
		d.busy--
		return conn, errors.New("duckdb gives no connection")
	}
	return conn, nil
}

func (d *Engine) release(conn mapping.Connection) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
	if d.closed {
		mapping.Disconnect(&conn)
		d.shutDown()
		return
	}
	d.idle = append(d.idle, conn)
}

// Close closes the engine. Open results stay readable; the database is closed with the last of them.
func (d *Engine) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for i := range d.idle {
		mapping.Disconnect(&d.idle[i])
	}
	d.idle = nil
	return d.shutDown()
}

// shutDown closes the database when it has no users left. The caller holds mu.
func (d *Engine) shutDown() error {
	if d.busy > 0 {
		return nil
	}
	if d.db.Ptr != nil {
		mapping.Close(&d.db)
	}
	var err error
	if d.files != nil {
		err = d.files.Close()
	}
	if d.temp != nil {
		err = errors.Join(err, d.temp.Close())
	}
	return err
}
