package spark

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/engine/sqltext"
	"straggler/store"
)

// Tables of a session. The executors write the rows of a table once, as Parquet files in the store's staging directory, and the
// table is a view over these, so that queries of it are planned by the size of the files. A table cached by Spark would be
// planned again for every query, together with all queries that it and earlier tables were built from, which takes minutes if
// there are many. So tables are cached only if executors must not or cannot write: for a locked session, with ?results=server,
// for a store in a bucket, and for a read-only store. A list of values is only a view.

// materialized is a table of the session.
type materialized struct {
	name, sql string
	// sql is the statement that creates it as a view of files or values, or else the query whose rows are cached
	view    bool
	written *store.StagedFile // the directory of its files, where they go with it; nil: there is none
	dropped bool              // and kept in mind for those after it, which may have been made from it
}

// remove removes the files of the table.
func (m *materialized) remove() error {
	if m.written == nil {
		return nil
	}
	return m.written.Close()
}

func (e *Engine) Materialize(ctx context.Context, name, sql string) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	if e.o.Locked {
		if err := checkStatement(sql); err != nil {
			return err
		}
	}
	sql = portable(sql)
	return e.keep(ctx, sql, func() (*materialized, error) {
		m := &materialized{name: name, sql: sql}
		if !engine.Reads(sqltext.Spark, sql) {
			m.sql, m.view = viewOf(name, sql), true
			return m, e.make(ctx, m)
		}
		dir, err := e.place(ctx)
		switch {
		case err != nil:
			return m, err
		case dir == nil:
			return m, e.make(ctx, m)
		}
		m.view, m.written = true, dir
		return m, e.write(ctx, m, sql)
	})
}

// place creates a directory for the executors to write to. It returns nil if they must not write.
func (e *Engine) place(ctx context.Context) (*store.StagedFile, error) {
	_, err := e.StoreAddress()
	if e.o.Locked || errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := e.st.StageDirectory(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	return dir, err
}

// keep creates a table, and has it recreated when the session is reopened. What a broken connection leaves behind is not
// reused: each try has its own files.
func (e *Engine) keep(ctx context.Context, sql string, try func() (*materialized, error)) error {
	return e.withReconnect(ctx, sql, func() error {
		m, err := try()
		if err != nil {
			return errors.Join(err, e.dropFailed(ctx, m), m.remove())
		}
		err = e.discard(func(o *materialized) bool { return o.name == m.name })
		e.made = append(e.made, m)
		return err
	})
}

// write has the executors write the rows of a query, and creates a view over them.
func (e *Engine) write(ctx context.Context, m *materialized, sql string) error {
	columns, err := e.describe(ctx, sql)
	if err != nil {
		return err
	}
	if m.sql, err = parquetView(quoteName(m.name), columns, []string{e.filePath(m.written.Name)}); err != nil {
		return err
	}
	if err := e.exec(ctx, m.sql); err != nil {
		return err
	}
	return e.exec(ctx, "INSERT INTO "+quoteName(m.name)+" "+sql)
}

// describe returns the columns of a query, each a quoted name and a type.
func (e *Engine) describe(ctx context.Context, sql string) ([]string, error) {
	r, err := e.start(ctx, "DESCRIBE QUERY "+sql)
	if err != nil {
		return nil, err
	}
	rows := r.rows(ctx)
	defer rows.Close()
	var columns []string
	for rows.Next() {
		name, _ := rows.Value(0).(string)
		typ, _ := rows.Value(1).(string)
		columns = append(columns, quoteName(name)+" "+typ)
	}
	return columns, rows.Err()
}

// make creates a table of the session from its description.
func (e *Engine) make(ctx context.Context, m *materialized) error {
	if m.view {
		return e.exec(ctx, m.sql)
	}
	if err := e.refresh(ctx, m.sql); err != nil {
		return err
	}
	if err := e.exec(ctx, viewOf(m.name, m.sql)); err != nil {
		return err
	}
	return e.exec(ctx, "CACHE TABLE "+quoteName(m.name))
}

func viewOf(name, sql string) string {
	return "CREATE OR REPLACE TEMPORARY VIEW " + quoteName(name) + " AS " + sql
}

// dropFailed drops what is left of a table whose statement failed.
func (e *Engine) dropFailed(ctx context.Context, m *materialized) error {
	ctx, cancel := engine.Closing(ctx)
	defer cancel()
	if err := e.forget(ctx, m); !errors.Is(err, hs2.ErrLost) {
		return err
	}
	return nil
}

// forget drops a table of the session, and its cached rows. Tables built from it remain.
func (e *Engine) forget(ctx context.Context, m *materialized) error {
	if !m.view {
		if err := e.exec(ctx, "UNCACHE TABLE IF EXISTS "+quoteName(m.name)); err != nil {
			return err
		}
	}
	return e.exec(ctx, "DROP VIEW IF EXISTS "+quoteName(m.name))
}

// uncache frees the rows cached by executors: the end of a session removes the names, but not the rows.
func (e *Engine) uncache(ctx context.Context) {
	for _, m := range e.made {
		if m.view {
			continue
		}
		if err := e.exec(ctx, "UNCACHE TABLE IF EXISTS "+quoteName(m.name)); err != nil {
			return
		}
	}
}

// discard removes tables from those to recreate, and their files.
func (e *Engine) discard(which func(*materialized) bool) error {
	var errs []error
	e.made = slices.DeleteFunc(e.made, func(m *materialized) bool {
		gone := which(m)
		if gone {
			errs = append(errs, m.remove())
		}
		return gone
	})
	return errors.Join(errs...)
}

func (e *Engine) Drop(ctx context.Context, name string) error {
	if err := engine.CheckName(name); err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.made, func(m *materialized) bool { return m.name == name && !m.dropped })
	if e.shut || i < 0 {
		return nil
	}
	e.made[i].dropped = true
	err := e.forget(ctx, e.made[i])
	if errors.Is(err, hs2.ErrLost) { // the name goes with the session
		err = nil
	}
	err = errors.Join(err, e.discard(func(m *materialized) bool { return m.dropped && m.written != nil }))
	for n := len(e.made); n > 0 && e.made[n-1].dropped; n-- {
		e.made = e.made[:n-1]
	}
	return err
}
