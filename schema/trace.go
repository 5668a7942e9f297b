package schema

import (
	"iter"
	"reflect"
)

// Trace is a whole trace in memory: the rows of the log tables, each in the order of its table. Synth makes them,
// tests hold them, and the code that works on rows and not on SQL reads them.
//
// Its fields declare the log tables that formats fill, in order: `table` names one, `doc` says what it holds, `cluster`
// is Table.Cluster.
type Trace struct {
	Applications  []Application  `table:"applications" doc:"one row per run of a program"`
	Settings      []Setting      `table:"settings" doc:"configuration values found in the log"`
	Caveats       []Caveat       `table:"caveats" doc:"what to know before trusting an application's rows"`
	Jobs          []Job          `table:"jobs" doc:"one row per unit of work that a user waits for"`
	Phases        []Phase        `table:"phases" doc:"one row per submission of a set of tasks that do the same work on different data"`
	Edges         []Edge         `table:"edges" doc:"dependencies between phases"`
	Attempts      []Attempt      `table:"attempts" doc:"one row per execution of a task" cluster:"phase_id"`
	Machines      []Machine      `table:"machines" doc:"machines and their executors, with the time each was present"`
	MachineUsage  []MachineUsage `table:"machine_usage" doc:"samples of machine load"`
	Progress      []Progress     `table:"progress" doc:"samples of the progress of attempts"`
	Losses        []Loss         `table:"losses" doc:"outputs that were completed and then lost"`
	Transfers     []Transfer     `table:"transfers" doc:"what tasks read from where; only canonical tables contain it"`
	Queries       []Query        `table:"queries" doc:"executions of Spark SQL"`
	QuerySettings []QuerySetting `table:"query_settings" doc:"settings of a query's session that differ from those of its application"`
	QueryJobs     []QueryJob     `table:"query_jobs" doc:"the jobs that queries ran"`
	PlanNodes     []PlanNode     `table:"plan_nodes" doc:"the operators of the physical plans of queries"`
	NodeMetrics   []NodeMetric   `table:"node_metrics" doc:"the metrics of operators, summed over all tasks"`
	NodePhases    []NodePhase    `table:"node_phases" doc:"which operators ran in which phases"`
	NodeAttempts  []NodeAttempt  `table:"node_attempts" doc:"the metrics of operators in single attempts: those of a phase that read most or ran longest"`
	Rejects       []Reject       `table:"rejects" doc:"records that could not be used"`
}

// Batches returns the rows table by table, in the order of the tables, empty ones left out.
func (t *Trace) Batches() iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		for i, table := range traceTables {
			if b := (Batch{table, t.rows(i)}); b.Len() > 0 && !yield(b) {
				return
			}
		}
	}
}

// Append adds the rows of u. Keys are not touched: traces that are joined must not share any.
func (t *Trace) Append(u *Trace) {
	for b := range u.Batches() {
		b.AddTo(t)
	}
}

// Reset takes all rows out and keeps their memory for others.
func (t *Trace) Reset() {
	for i := range traceTables {
		t.rows(i).SetLen(0)
	}
}

// rows returns the slice of the i-th table.
func (t *Trace) rows(i int) reflect.Value { return reflect.ValueOf(t).Elem().Field(i) }

// traceTables are the tables of the fields of Trace.
var traceTables = func() []*Table {
	var tables []*Table
	for f := range reflect.TypeFor[Trace]().Fields() {
		tables = append(tables, declare(f.Type.Elem(), f.Tag.Get("table"), f.Tag.Get("doc"), f.Tag.Get("cluster")))
	}
	return tables
}()
