package report

import (
	"embed"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

//go:embed sql/*.sql
var files embed.FS

// sqlOf returns the text of one of the .sql files.
func sqlOf(file string) (string, error) {
	sql, err := files.ReadFile("sql/" + file + ".sql")
	return string(sql), err
}

// collect runs one of the .sql files and returns its rows.
func collect[R any](b *builder, file string) ([]R, error) {
	var rows []R
	err := read(b, file, func(r *R) error { rows = append(rows, *r); return nil })
	return rows, err
}

// keep creates a session table from one of the .sql files.
func (b *builder) keep(table, file string) error {
	sql, err := sqlOf(file)
	if err != nil {
		return err
	}
	return b.materialize(table, sql)
}

// keepStore is keep for a query that compares with other rows of the store.
func (b *builder) keepStore(table, file string) error {
	sql, err := sqlOf(file)
	if err != nil {
		return err
	}
	return b.eng.Materialize(b.ctx, table, sql)
}

// pick makes a session table of keys.
func (b *builder) pick(table, column string, keys []schema.Key) error {
	return b.eng.Materialize(b.ctx, table, keyTable(column, keys))
}

// keyTable returns the query of a table of one column that holds the keys.
func keyTable(column string, keys []schema.Key) string {
	if len(keys) == 0 {
		return "SELECT CAST(key AS BIGINT) AS " + column + " FROM (VALUES (0)) t(key) WHERE false"
	}
	values := make([]string, len(keys))
	for i, k := range keys {
		values[i] = fmt.Sprintf("(%d)", k)
	}
	return "SELECT CAST(key AS BIGINT) AS " + column + " FROM (VALUES " + strings.Join(values, ", ") + ") t(key)"
}

// indexBy returns the index of each row by its key.
func indexBy[R any](rows []R, key func(*R) schema.Key) map[schema.Key]int {
	m := make(map[schema.Key]int, len(rows))
	for i := range rows {
		m[key(&rows[i])] = i
	}
	return m
}

// read runs one of the .sql files on the rows that the document is about and calls each for its rows.
func read[R any](b *builder, file string, each func(*R) error) error {
	return run(b, file, b.seen, each)
}

// readStore is read for a query that compares with other rows of the store.
func readStore[R any](b *builder, file string, each func(*R) error) error {
	return run(b, file, nil, each)
}

func run[R any](b *builder, file string, seen []engine.Seen, each func(*R) error) error {
	sql, err := sqlOf(file)
	if err != nil {
		return err
	}
	for r, err := range engine.ReadParts[R](b.ctx, b.eng, "report_"+file, sql, seen...) {
		if err != nil {
			return fmt.Errorf("%s.sql: %w", file, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}
