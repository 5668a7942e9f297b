package main

import (
	"strings"

	"github.com/spf13/cobra"

	"straggler/schema"
	"straggler/spelling"
	"straggler/table"
)

func schemaCommand(e *env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:   "schema [TABLE…]",
		Short: "Show the tables of a store, or the columns of some with their types, units and meanings",
		Example: `  straggler schema
  straggler schema attempts phase_stats`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return e.rows(o, allTables())
			}
			rows, err := columnsOf(args)
			if err != nil {
				return err
			}
			return e.rows(o, rows)
		},
	}
	o.flags(c, rowEncodings)
	return c
}

func allTables() table.Rows {
	f := table.NewFixed("table", "columns BIGINT", "written_by", "holds")
	for _, t := range schema.Tables() {
		by := "ingest"
		if t.Result {
			by = "detect, causes, whatif"
		}
		f.Add(t.Name, int64(len(t.Columns)), by, t.Doc)
	}
	return f
}

func columnsOf(names []string) (table.Rows, error) {
	f := table.NewFixed("table", "column", "type", "nullable BOOLEAN", "unit", "key", "values", "doc")
	for _, name := range names {
		t := schema.ByName(name)
		if t == nil {
			return nil, useError("no table %q; %s", name, spelling.Choices(name, schema.TableNames()))
		}
		for _, c := range t.Columns {
			f.Add(t.Name, c.Name, string(c.Type), c.Nullable, c.Unit, c.Key, strings.Join(c.Values, " "), c.Doc)
		}
	}
	return f, nil
}
