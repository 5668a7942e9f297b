package catalog

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"straggler/engine"
	"straggler/schema"
)

const (
	// QueryTime is the time limit for a user's query.
	QueryTime = time.Minute
	// MostQuery is the largest size in bytes of a query from a browser or an assistant; longer ones can be run with straggler
	// sql.
	MostQuery = 20_000
)

// ErrTime is returned when a query took longer than QueryTime.
var ErrTime = errors.New("the query took too long")

// Query runs a user's SQL, which can read only the tables, and passes its rows to each.
func (c *Catalog) Query(ctx context.Context, sql string, each func(*engine.Rows) error) error {
	v, err := c.version()
	if err != nil {
		return err
	}
	return limited(ctx, func(ctx context.Context) error {
		return v.users.with(ctx, func(eng engine.Engine) error { return rows(ctx, eng, sql, each) })
	})
}

func limited(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, QueryTime, ErrTime)
	defer cancel()
	err := do(ctx)
	if err != nil && context.Cause(ctx) == ErrTime {
		return fmt.Errorf("%w: over %s; ask for less, or run it with straggler sql --store DIR", ErrTime, QueryTime)
	}
	return err
}

func rows(ctx context.Context, eng engine.Engine, sql string, each func(*engine.Rows) error) (err error) {
	rows, err := eng.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if err := each(rows); err != nil {
		return err
	}
	return rows.Err()
}

// Lookup runs a short query of the program and passes its rows to each.
func (c *Catalog) Lookup(ctx context.Context, sql string, each func(*engine.Rows) error) error {
	v, err := c.version()
	if err != nil {
		return err
	}
	return limited(ctx, func(ctx context.Context) error {
		return v.lookups.with(ctx, func(eng engine.Engine) error { return rows(ctx, eng, sql, each) })
	})
}

// Read reads the rows of a short query of the program into structs.
func Read[R any](ctx context.Context, c *Catalog, sql string) (out []R, err error) {
	err = Each(ctx, c, sql, func(r *R) error { out = append(out, *r); return nil })
	return out, err
}

// Each yields the rows of a query of the program.
func Each[R any](ctx context.Context, c *Catalog, sql string, do func(*R) error) error {
	v, err := c.version()
	if err != nil {
		return err
	}
	return limited(ctx, func(ctx context.Context) error {
		return v.lookups.with(ctx, func(eng engine.Engine) error {
			for r, err := range engine.Read[R](ctx, eng, sql) {
				if err != nil {
					return err
				}
				if err := do(r); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// SQL returns the query in the caller's file sql/NAME.sql without its comment, about the row with a key.
func SQL(files embed.FS, name string, key schema.Key) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("catalog: no query %s", name)) // the names are constants of the caller
	}
	sql := strings.TrimSpace(string(text))
	for strings.HasPrefix(sql, "--") {
		_, sql, _ = strings.Cut(sql, "\n")
	}
	return strings.ReplaceAll(sql, "{key}", strconv.FormatInt(key, 10))
}
