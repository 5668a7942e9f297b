package schema

import (
	"fmt"
	"reflect"
	"slices"
)

// Type is the type of a column, by its name in portable SQL.
type Type string

const (
	Bool      Type = "BOOLEAN"
	BigInt    Type = "BIGINT"
	Int       Type = "INTEGER"
	Double    Type = "DOUBLE"
	String    Type = "STRING"
	Timestamp Type = "TIMESTAMP" // microseconds, UTC
)

// Column describes one column of a table.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Unit     string   // "" where it has none
	Key      string   // "primary", or the table that it refers to
	Values   []string // those that are allowed, of an enum
	Doc      string

	offset uintptr // of the field in the Go row
}

// Offset returns the offset of the column's field in its Go row, for code that copies rows into columns.
func (c *Column) Offset() uintptr { return c.offset }

// Table describes one table: its columns stand in the order of the fields of its Go row.
type Table struct {
	Name    string
	Doc     string
	Result  bool   // written by detect, causes or whatif and replaced when run again
	Cluster string // rows are written together by this column; "" where their order is that of the log
	Columns []Column
	Row     reflect.Type
}

// Column finds a column by name, nil where there is none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// tables is the one list of tables; it is never changed. Those that formats fill are declared by the fields of Trace.
var tables = slices.Concat(traceTables, []*Table{
	declare(reflect.TypeFor[Ingest](), "ingests", "one row per committed ingest", ""),
	result[PhaseStats]("phase_stats", "how the tasks of each phase compare"),
	result[Outlier]("outliers", "attempts that a rule calls slow, one row per rule"),
	result[StageHistory]("stage_history", "how each phase compares with the earlier executions of its stage in the store"),
	result[TaskTime]("task_times", "the tasks that later executions of their stages are compared with by slower_than_usual"),
	result[Attribution]("attributions", "the excess of each outlier, split into causes whose seconds sum to it"),
	result[ApplicationCause]("application_causes", "time that the outliers of each application lost to each cause: sums of attributions"),
	result[HistoryAttribution]("history_attributions", "the excess of attempts over their usual duration, split into causes whose seconds sum to it"),
	result[MachineHealth]("machine_health", "the speed of each machine relative to the others, by time window, and in each run relative to its history"),
	result[SkewRepeat]("skew_repeats", "tasks that were slow because of skewed input, and whether the skew recurs in other executions of their stage"),
	result[SkewedTask]("skewed_tasks", "attempts that were slow because of skewed input, from which skew_repeats is computed"),
	result[MachineStatistics]("machine_statistics",
		"the observations of each machine in each application, by time window: the sums from which the model of machines is computed"),
	result[StageStatistics]("stage_statistics", "the observations of each stage in each application: the sums from which the model of stages is computed"),
	result[QueryFinding]("query_findings", "slow phases and costly joins in terms of their query: the operator, its keys, its side"),
	result[JobCost]("job_costs", "how much of each job's completion time each cause cost"),
	result[WhatifRun]("whatif_runs", "each job replayed under each policy and seed"),
	result[WhatifSaving]("whatif_savings", "what each policy saves, with prediction intervals for the run of the log and for another"),
	result[SimulateRun]("simulate_runs", "each run of a workload under a scheduler, a policy and a seed"),
	result[SimulateJob]("simulate_jobs", "each job of each simulated run"),
	result[SimulateSample]("simulate_samples", "slots in use and load of the links over time in each simulated run"),
})

// Tables lists all tables, log tables first. The caller must not change them.
func Tables() []*Table { return tables }

// LogTables returns the tables whose rows come from logs: those of a Trace.
func LogTables() []*Table { return traceTables }

// TableNames returns the names of all tables, in the order of Tables.
func TableNames() []string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	return names
}

// ByName finds a table, nil where there is none.
func ByName(name string) *Table {
	for _, t := range tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TableOf returns the table whose rows are R. It panics when R is not a row type: that is a mistake in the program.
func TableOf[R any]() *Table {
	typ := reflect.TypeFor[R]()
	for _, t := range tables {
		if t.Row == typ {
			return t
		}
	}
	panic(fmt.Sprintf("schema: %v is not the row of a table", typ))
}

func result[R any](name, doc string) *Table {
	t := declare(reflect.TypeFor[R](), name, doc, "")
	t.Result = true
	return t
}

func declare(row reflect.Type, name, doc, cluster string) *Table {
	return &Table{Name: name, Doc: doc, Cluster: cluster, Row: row, Columns: Columns(row)}
}

// Columns reads the columns of any struct whose fields carry `col` tags, in order. It panics on a field type that no
// column can hold. Queries scan into such structs too.
func Columns(row reflect.Type) []Column {
	cols := make([]Column, 0, row.NumField())
	for f := range row.Fields() {
		if f.Tag.Get("col") == "" {
			continue
		}
		c := Column{Name: f.Tag.Get("col"), Unit: f.Tag.Get("unit"), Key: f.Tag.Get("key"), Doc: f.Tag.Get("doc"), offset: f.Offset}
		typ := f.Type
		if isNull(typ) {
			c.Nullable = true
			typ = typ.Field(0).Type
		}
		c.Type = typeOf(typ)
		if e, ok := reflect.Zero(typ).Interface().(Enum); ok {
			c.Values = e.Values()
		}
		cols = append(cols, c)
	}
	return cols
}

func isNull(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "V" && t.Field(1).Name == "OK"
}

func typeOf(t reflect.Type) Type {
	if t == reflect.TypeFor[Time]() {
		return Timestamp
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool
	case reflect.Int64:
		return BigInt
	case reflect.Int32:
		return Int
	case reflect.Float64:
		return Double
	case reflect.String:
		return String
	}
	panic(fmt.Sprintf("schema: no column type for %v", t))
}
