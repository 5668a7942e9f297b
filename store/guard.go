package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// ErrStatement is the kind of errors about statements that may not be run.
var ErrStatement = errors.New("statement not allowed")

// What users may ask of a locked engine. DuckDB's own settings keep statements from reading anything but the files of
// the tables, but would let COPY write over them; so only statements that read are let through.

// lockdown closes the session: from here on it can open the listed files, and its settings stay as they are.
func (d *duckDB) lockdown(views []view) []string {
	var names []string
	for _, v := range views {
		for _, f := range v.files {
			names = append(names, quoteText(f))
		}
	}
	return []string{
		"SET allowed_paths = [" + strings.Join(names, ", ") + "]",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}
}

// check holds a statement against what may be asked, without running it.
func (d *duckDB) check(sql string) error {
	conn, err := d.connect()
	if err != nil {
		return err
	}
	r := &result{d: d, conn: conn}
	defer r.close()
	return r.prepare(sql, true)
}

func checkType(t mapping.StatementType) error {
	switch t {
	case mapping.StatementTypeSelect, mapping.StatementTypeExplain, mapping.StatementTypeRelation:
		return nil
	}
	return fmt.Errorf("store: %w: only queries that read (SELECT, WITH, VALUES, FROM, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN) are", ErrStatement)
}

// checkText is for what the statement's type does not tell.
func checkText(sql string) error { return nil }
