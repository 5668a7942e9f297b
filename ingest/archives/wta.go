package archives

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/ingest/read/parquet"
	"straggler/schema"
)

// WTA returns the format of a trace of the Workflow Trace Archive.
func WTA() ingest.Format {
	return ingest.Format{
		Name: "wta",
		Doc:  "Workflow Trace Archive (Parquet: tasks, resources; schema-1.0)",
		Detail: `The trace is one application, a workflow is a job, and tasks of one type are a phase; if the trace has no types, tasks of one depth
in the workflow are. A task starts at its submission plus its wait and ends its run time later. Dummy tasks, which stand for wide
fan-outs, are left out, and their dependencies are passed on. machine is the id of the resource that a task used. Retries, racks and
bytes are not in the archive. Times before 1973 are taken to count from the start of the trace. task-states and resource-states are
skipped.`,
		Claim: claimWTA,
		Sniff: sniffWTA,
		Read:  readWTA,
	}
}

// claimWTA claims <trace>/tasks/schema-1.0/*.parquet and the same for resources.
func claimWTA(dir ingest.Dir) []ingest.Group {
	if dir.List == nil || !slices.Contains(dir.Names, "tasks/") {
		return nil
	}
	var g ingest.Group
	for _, table := range []string{"tasks", "resources"} {
		sub := path.Join(table, "schema-1.0")
		for _, name := range dir.List(sub) {
			if strings.HasSuffix(name, ".parquet") {
				g.Names = append(g.Names, path.Join(sub, name))
			}
		}
	}
	if len(g.Names) == 0 {
		return nil
	}
	for _, table := range []string{"workflows", "task-states", "resource-states", "resource_states", "datatransfers", "workload"} {
		sub := path.Join(table, "schema-1.0")
		for _, name := range dir.List(sub) {
			g.Drop = append(g.Drop, path.Join(sub, name))
		}
	}
	return []ingest.Group{g}
}

func sniffWTA(h ingest.Head) ingest.Match {
	has := func(names ...string) bool {
		for _, n := range names {
			if !slices.Contains(h.Columns, n) {
				return false
			}
		}
		return true
	}
	if has("id", "ts_submit", "runtime", "workflow_id") || has("id", "ts_submit", "runtime", "parents") {
		return ingest.Match{Confidence: ingest.Certain, Why: "Parquet with id, ts_submit, runtime and workflow_id"}
	}
	return ingest.Match{}
}

// wtaTask is a row of the tasks table; NaN is unknown.
type wtaTask struct {
	ID, Workflow          int64
	Submit, Wait, Runtime float64 // ms
	Type                  string
	User                  string
	Resource              string
	Parents               []int64
}

const wtaSort = 64 << 20

func readWTA(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	w := &wtaReader{in: in, out: out, sorter: extsort.New("", wtaSort), attempts: schema.NewKeys(in.Key, "attempts"), phases: schema.NewKeys(in.Key, "phases")}
	defer w.sorter.Close()
	for _, p := range in.Parts {
		take := w.task
		if strings.Contains(p.Name, "resources/") {
			take = w.resource
		}
		err := parquet.EachBatch(ctx, p, func(batch *parquet.Batch) error {
			columns := map[string]int{}
			for i, name := range batch.Columns {
				columns[name] = i
			}
			for i := range batch.Rows {
				if err := take(parquetRow{batch, columns, i}); err != nil {
					return err
				}
			}
			out.Decoded(int64(batch.Rows))
			return nil
		})
		if err != nil {
			out.Reject(schema.Reject{SourceFile: p.Name, Reason: "the file cannot be read from here on: " + err.Error()})
			return errors.Join(err, w.finish(ctx))
		}
	}
	return w.finish(ctx)
}

type wtaReader struct {
	in               *ingest.Input
	out              *ingest.Sink
	sorter           *extsort.Sorter
	attempts, phases *schema.Keys
	app              schema.Key
	first, last      schema.Null[schema.Time]
	dummies, cycles  int64
	startless        int64 // tasks that ran at an unknown time
	trace            schema.Trace
}

// parquetRow reads values by column name; archives write the same column in different types.
type parquetRow struct {
	batch   *parquet.Batch
	columns map[string]int
	row     int
}

func (r parquetRow) value(column string) parquet.Value {
	i, ok := r.columns[column]
	if !ok {
		return parquet.Value{}
	}
	return r.batch.Value(r.row, i)
}

// number returns NaN if the column is absent, NULL, or not a number.
func (r parquetRow) number(column string) float64 { return r.value(column).Number() }

func (r parquetRow) integer(column string) (int64, bool) {
	v := r.value(column)
	if v.Kind == parquet.Int {
		return v.Int(), true
	}
	f := v.Number()
	return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
}

func (r parquetRow) text(column string) string {
	if v := r.value(column); v.Kind == parquet.Text {
		return v.String()
	}
	if n, ok := r.integer(column); ok {
		return strconv.FormatInt(n, 10)
	}
	return ""
}

// integers reads a list, which may contain doubles.
func (r parquetRow) integers(column string) []int64 {
	items := r.value(column).Items()
	out := make([]int64, 0, len(items))
	for _, v := range items {
		if f := v.Number(); !math.IsNaN(f) {
			out = append(out, int64(f))
		}
	}
	return out
}

func (w *wtaReader) task(r parquetRow) error {
	id, ok := r.integer("id")
	if !ok {
		w.out.Decoded(-1)
		w.out.Reject(schema.Reject{SourceFile: w.in.Name, ByteOffset: int64(r.row), Reason: "a task without an id (byte_offset is the row in its batch)"})
		return nil
	}
	t := wtaTask{
		ID: id, Submit: r.number("ts_submit"), Wait: r.number("wait_time"), Runtime: r.number("runtime"), Type: r.text("type"),
		User: r.text("user_id"), Resource: r.text("resource_used"), Parents: r.integers("parents"),
	}
	t.Workflow, _ = r.integer("workflow_id")
	for _, ms := range []*float64{&t.Submit, &t.Wait, &t.Runtime} {
		if !(*ms >= 0 && *ms < 2.5e14) {
			*ms = -1
		}
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return w.sorter.Add(extsort.Key{t.Workflow, t.ID}, b)
}

func (w *wtaReader) resource(r parquetRow) error {
	m := schema.Machine{Machine: read.Text(r.text("id")), Platform: read.NullText(r.text("proc_model"))}
	if n := r.number("num_resources"); n > 0 {
		m.Cores = schema.Some(n)
	}
	if gb := r.number("memory"); gb > 0 && gb < 1e9 {
		m.MemoryBytes = schema.Some(int64(gb * (1 << 30)))
	}
	w.trace.Machines = append(w.trace.Machines, m)
	return nil
}

// finish emits the rows workflow by workflow, holding the tasks of one workflow at a time.
func (w *wtaReader) finish(ctx context.Context) error {
	w.app = schema.NewKeys(w.in.Key, "applications").Nth(0)
	var tasks []wtaTask
	for rec, err := range w.sorter.Merge() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var t wtaTask
		if err := json.Unmarshal(rec.Payload, &t); err != nil {
			return err
		}
		if len(tasks) > 0 && tasks[0].Workflow != t.Workflow {
			if err := w.workflow(tasks); err != nil {
				return err
			}
			tasks = tasks[:0]
		}
		tasks = append(tasks, t)
	}
	if len(tasks) > 0 {
		if err := w.workflow(tasks); err != nil {
			return err
		}
	}
	w.application()
	return w.flush(true)
}

func (w *wtaReader) flush(all bool) error {
	if !all && len(w.trace.Attempts) < flushRows {
		return nil
	}
	err := ingest.EmitTrace(w.out, &w.trace)
	w.trace = schema.Trace{}
	return err
}

func (w *wtaReader) application() {
	a := schema.Application{
		ApplicationID: w.app, NativeID: w.in.Base, Framework: "wta", StartTime: w.first, FinishTime: w.last, Status: schema.RunUnknown,
		SourceFile: w.in.Name, Complete: true, TimeOrigin: "epoch",
	}
	if w.first.OK && w.first.V < 1e17 { // before 1973
		a.TimeOrigin = "trace"
	}
	w.trace.Applications = append(w.trace.Applications, a)
	caveat := func(code string, n int64, detail string) {
		if n != 0 {
			c := schema.Caveat{ApplicationID: w.app, Code: code, Detail: detail}
			if n > 0 {
				c.Count = schema.Some(n)
			}
			w.trace.Caveats = append(w.trace.Caveats, c)
		}
	}
	caveat("dummy_tasks", w.dummies, "tasks that only stand for a wide fan-out are left out")
	caveat("phase_cycle", w.cycles, "dependencies between tasks that would close a cycle of phases are left out")
	caveat("no_start", w.startless, "tasks have no wait time: how long they ran is known, when is not")
	caveat("no_bytes", -1, "the archive has no bytes and no records: slowness is judged by duration alone")
}

func (t *wtaTask) dummy() bool { return strings.EqualFold(t.Type, "dummy") && t.Runtime <= 0 }

// workflow emits the rows of a workflow.
func (w *wtaReader) workflow(tasks []wtaTask) error {
	native := strconv.FormatInt(tasks[0].Workflow, 10)
	job := schema.Job{JobID: schema.HashKey(w.in.Key, "jobs", []byte(native)), ApplicationID: w.app, NativeID: native, Status: schema.RunUnknown}
	at := make(map[int64]int, len(tasks))
	for i := range tasks {
		at[tasks[i].ID] = i
	}
	parents := rewired(tasks, at)
	names := phaseNames(tasks, parents)
	phases := map[string]int{}
	of := make([]int, len(tasks))
	first := len(w.trace.Phases)
	for i := range tasks {
		t := &tasks[i]
		if t.dummy() {
			w.dummies++
			continue
		}
		n, ok := phases[names[i]]
		if !ok {
			n = len(w.trace.Phases)
			phases[names[i]] = n
			w.trace.Phases = append(w.trace.Phases, schema.Phase{
				PhaseID: w.phases.Next(), JobID: job.JobID, NativeID: read.Text(names[i]), Name: read.NullText(names[i]),
				Kind: "task", Status: schema.RunUnknown,
				TaskCount: schema.Some(int64(0)),
			})
		}
		of[i] = n
		p := &w.trace.Phases[n]
		row := w.attempt(t, p)
		p.ExtendWindow(&row)
		w.trace.Attempts = append(w.trace.Attempts, row)
	}
	for i := first; i < len(w.trace.Phases); i++ {
		p := &w.trace.Phases[i]
		read.Widen(&job.StartTime, &job.FinishTime, p.StartTime, p.FinishTime)
		read.Widen(&job.SubmitTime, &job.FinishTime, p.SubmitTime, schema.Null[schema.Time]{})
	}
	read.Widen(&w.first, &w.last, job.StartTime, job.FinishTime)
	w.edges(job.JobID, first, tasks, parents, of)
	w.trace.Jobs = append(w.trace.Jobs, job)
	return w.flush(false)
}

func (w *wtaReader) attempt(t *wtaTask, p *schema.Phase) schema.Attempt {
	row := schema.Attempt{
		AttemptID: w.attempts.Next(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: w.app, Task: p.TaskCount.V,
		NativeID: strconv.FormatInt(t.ID, 10), Status: schema.UnknownStatus, Quality: schema.RackUnknown | schema.MetricsMissing,
	}
	// Some traces have a list as text, such as [] for none.
	if id := strings.Trim(t.Resource, "[] "); id != "-1" && !strings.Contains(id, ",") {
		row.Machine = read.NullText(id)
	}
	p.TaskCount.V++
	if t.Submit >= 0 {
		row.QueuedTime = schema.Some(schema.Time(t.Submit * 1000))
		if !p.SubmitTime.OK || row.QueuedTime.V < p.SubmitTime.V {
			p.SubmitTime = row.QueuedTime
		}
		if t.Wait >= 0 {
			row.StartTime = schema.Some(row.QueuedTime.V + schema.Time(t.Wait*1000))
		}
	}
	switch {
	case row.StartTime.OK && t.Runtime >= 0:
		row.FinishTime = schema.Some(row.StartTime.V + schema.Time(t.Runtime*1000))
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	case t.Runtime >= 0:
		row.DurationS = schema.Some(t.Runtime / 1000)
		row.Quality |= schema.PartialRow
		w.startless++
	default:
		row.Quality |= schema.PartialRow
	}
	if t.Runtime >= 0 { // the archive has completed tasks only
		row.Status = schema.Success
	}
	return row
}

// rewired returns the positions of each task's parents, with dummy tasks replaced by their own parents.
func rewired(tasks []wtaTask, at map[int64]int) [][]int {
	out := make([][]int, len(tasks))
	for i := range tasks {
		seen := map[int]bool{i: true}
		stack := []int{i}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, id := range tasks[n].Parents {
				p, ok := at[id]
				if !ok || seen[p] {
					continue
				}
				seen[p] = true
				if tasks[p].dummy() {
					stack = append(stack, p)
				} else {
					out[i] = append(out[i], p)
				}
			}
		}
		slices.Sort(out[i])
	}
	return out
}

// phaseNames returns the types of the tasks, or, without types, their depths in the workflow.
func phaseNames(tasks []wtaTask, parents [][]int) []string {
	names := make([]string, len(tasks))
	depth := depths(parents)
	for i := range tasks {
		if names[i] = tasks[i].Type; names[i] == "" {
			names[i] = "level " + strconv.Itoa(depth[i])
		}
	}
	return names
}

// depths returns the lengths of the longest paths to each task from one without parents; tasks on a cycle have depth 0.
func depths(parents [][]int) []int {
	depth := make([]int, len(parents))
	left := make([]int, len(parents))
	children := make([][]int, len(parents))
	var ready []int
	for i, ps := range parents {
		if left[i] = len(ps); left[i] == 0 {
			ready = append(ready, i)
		}
		for _, p := range ps {
			children[p] = append(children[p], i)
		}
	}
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, c := range children[n] {
			depth[c] = max(depth[c], depth[n]+1)
			if left[c]--; left[c] == 0 {
				ready = append(ready, c)
			}
		}
	}
	for i := range depth {
		if left[i] > 0 {
			depth[i] = 0
		}
	}
	return depth
}

func (w *wtaReader) edges(job schema.Key, first int, tasks []wtaTask, parents [][]int, of []int) {
	g := read.NewDAG(len(w.trace.Phases) - first)
	for i := range tasks {
		if tasks[i].dummy() {
			continue
		}
		for _, p := range parents[i] {
			added, cycle := g.Add(of[p]-first, of[i]-first)
			if added {
				w.trace.Edges = append(w.trace.Edges, schema.Edge{
					JobID: job, FromPhase: w.trace.Phases[of[p]].PhaseID, ToPhase: w.trace.Phases[of[i]].PhaseID, Pattern: schema.UnknownPattern,
				})
			}
			if cycle {
				w.cycles++
			}
		}
	}
}
