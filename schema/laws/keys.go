package laws

import (
	"fmt"

	"straggler/schema"
)

// Unique is the law that no two rows of a table have equal values in some columns; NULLs are equal.
type Unique struct {
	Table   *schema.Table
	Columns []*schema.Column
	Law     Law
}

// KeySeparator separates the columns in a violation's key, which omits instants and NULLs.
const KeySeparator = "/"

// Uniques lists them: the primary keys, and others.
func Uniques() []Unique {
	var all []Unique
	for _, t := range logTables() {
		if t.Columns[0].Key == "primary" {
			all = append(all, Unique{t, []*schema.Column{&t.Columns[0]}, UniqueKey})
		}
	}
	return append(all,
		unique[schema.Setting](SettingOnce, "application_id", "name"),
		unique[schema.QuerySetting](SettingOnce, "query_id", "name"),
		unique[schema.QueryJob](UniqueKey, "query_id", "job_id"),
		unique[schema.Attempt](AttemptNumber, "phase_id", "task", "number"),
		unique[schema.Edge](EdgeOnce, "job_id", "from_phase", "to_phase"),
		unique[schema.Machine](MachineOnce, "application_id", "machine", "added_time", "executor"),
	)
}

func unique[R any](law Law, columns ...string) Unique {
	u := Unique{Table: schema.TableOf[R](), Law: law}
	for _, name := range columns {
		u.Columns = append(u.Columns, u.Table.Column(name))
	}
	return u
}

// Report reports that rows have the same key, given as text.
func (u Unique) Report(report Report, key string, rows int64) {
	report.add(u.Table.Name, key, u.Columns[len(u.Columns)-1].Name, u.Law, "%d rows", rows)
}

// Reference is the law that a column refers to a row of another table.
type Reference struct {
	Table  *schema.Table
	Column *schema.Column
}

// References lists the columns that refer to rows of other tables.
func References() []Reference {
	var all []Reference
	for _, t := range logTables() {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Key != "" && c.Key != "primary" {
				all = append(all, Reference{t, c})
			}
		}
	}
	return all
}

// Report reports that there is no row with a key.
func (r Reference) Report(report Report, row string, key schema.Key) {
	report(Violation{r.Table.Name, row, r.Column.Name, KnownKey, fmt.Sprintf("no row of %s has key %d", r.Column.Key, key)})
}

func logTables() []*schema.Table {
	var logs []*schema.Table
	for _, t := range schema.Tables() {
		if !t.Result {
			logs = append(logs, t)
		}
	}
	return logs
}
