package verify

import (
	"context"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/schema/laws"
)

// keys finds the rows that break the laws of keys.
func keys(ctx context.Context, eng engine.Engine, report laws.Report) error {
	for _, u := range laws.Uniques() {
		for row, err := range engine.Read[duplicate](ctx, eng, duplicatesSQL(u)) {
			if err != nil {
				return err
			}
			u.Report(report, row.Key, row.Rows)
		}
	}
	for _, r := range laws.References() {
		for row, err := range engine.Read[dangling](ctx, eng, danglingSQL(r)) {
			if err != nil {
				return err
			}
			r.Report(report, row.Key.V, row.Missing)
		}
	}
	return nil
}

// duplicate is a key that several rows have.
type duplicate struct {
	Key  string `col:"key"`
	Rows int64  `col:"rows_of_key"`
}

// duplicatesSQL returns a query for the keys that several rows have. A key is shown without its instants, which engines print
// differently.
func duplicatesSQL(u laws.Unique) string {
	var by, shown []string
	for _, c := range u.Columns {
		by = append(by, c.Name)
		if c.Type != schema.Timestamp {
			shown = append(shown, text(c.Name))
		}
	}
	return fmt.Sprintf("SELECT concat_ws('%s', %s) AS key, count(*) AS rows_of_key FROM %s GROUP BY %s HAVING count(*) > 1",
		laws.KeySeparator, strings.Join(shown, ", "), u.Table.Name, strings.Join(by, ", "))
}

// dangling is a row that names one that is not there.
type dangling struct {
	Key     schema.Null[string] `col:"key"`
	Missing schema.Key          `col:"missing"`
}

// danglingSQL returns a query for the rows whose column names no row.
func danglingSQL(r laws.Reference) string {
	to := schema.ByName(r.Column.Key)
	return fmt.Sprintf("SELECT %s AS key, t.%s AS missing FROM %s t LEFT JOIN %s x ON x.%s = t.%s WHERE t.%s IS NOT NULL AND x.%s IS NULL",
		text("t."+r.Table.Columns[0].Name), r.Column.Name, r.Table.Name, to.Name, to.Columns[0].Name, r.Column.Name, r.Column.Name, to.Columns[0].Name)
}

func text(column string) string { return "CAST(" + column + " AS STRING)" }
