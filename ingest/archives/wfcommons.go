package archives

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// WfCommons returns the format of a workflow instance in WfFormat 1.0 to 1.5.
func WfCommons() ingest.Format {
	return ingest.Format{
		Name: "wfcommons",
		Doc:  "WfCommons workflow instances (WfFormat JSON, schema 1.0–1.5)",
		Detail: `A workflow is one application with one job; tasks of one name (1.5) or category are a phase. Start times are those of executedAt;
most instances have none, so that starts and ends stay NULL and only durations are known. Input bytes are the bytes a task read, or
else the sizes of its input files (quality: bytes estimated). There are no retries, racks, remote bytes or progress. Edges between
phases come from the parents of their tasks; those that would close a cycle of phases are left out and counted.
Before 1.4, memory is in units of 1000 bytes, and so are read and written bytes except in Pegasus's instances, as in WfCommons' own
migration; file sizes are taken as bytes.`,
		Sniff: sniffWfCommons,
		Read:  readWfCommons,
	}
}

func sniffWfCommons(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return ingest.Match{}
	}
	switch {
	case read.HasKeys(b, "workflow", "schemaVersion"):
		return ingest.Match{Confidence: ingest.Certain, Why: "one object with workflow and schemaVersion"}
	case read.HasKeys(b, "workflow", "wms"), read.HasKeys(b, "workflow", "runtimeSystem"), read.HasKeys(b, "workflow", "makespan"),
		read.HasKeys(b, "workflow", "makespanInSeconds"):
		return ingest.Match{Confidence: 2, Why: "one object with workflow and its makespan or system"}
	}
	return ingest.Match{}
}

// wfInstance has the keys of all versions; each version fills its own.
type wfInstance struct {
	Name          string   `json:"name"`
	SchemaVersion string   `json:"schemaVersion"`
	WMS           wfSystem `json:"wms"`
	RuntimeSystem wfSystem `json:"runtimeSystem"`
	Workflow      struct {
		Makespan          *float64    `json:"makespan"`
		MakespanInSeconds *float64    `json:"makespanInSeconds"`
		ExecutedAt        string      `json:"executedAt"`
		Machines          []wfMachine `json:"machines"`
		Jobs              []wfTask    `json:"jobs"`
		Tasks             []wfTask    `json:"tasks"`
		Specification     struct {
			Tasks []wfTask `json:"tasks"`
			Files []wfFile `json:"files"`
		} `json:"specification"`
		Execution struct {
			Makespan   *float64    `json:"makespanInSeconds"`
			ExecutedAt string      `json:"executedAt"`
			Tasks      []wfTask    `json:"tasks"`
			Machines   []wfMachine `json:"machines"`
		} `json:"execution"`
	} `json:"workflow"`
}

type wfSystem struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type wfMachine struct {
	NodeName string `json:"nodeName"`
	CPU      struct {
		Count     *float64 `json:"count"`
		CoreCount *float64 `json:"coreCount"`
	} `json:"cpu"`
	Memory        *float64 `json:"memory"`
	MemoryInBytes *float64 `json:"memoryInBytes"`
}

type wfFile struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Link        string   `json:"link"`
	Size        *float64 `json:"size"`
	SizeInBytes *float64 `json:"sizeInBytes"`
}

func (f *wfFile) bytes() *float64 {
	if f.SizeInBytes != nil {
		return f.SizeInBytes
	}
	return f.Size
}

type wfTask struct {
	Name             string   `json:"name"`
	ID               string   `json:"id"`
	Category         string   `json:"category"`
	Type             string   `json:"type"`
	Parents          []string `json:"parents"`
	InputFiles       []string `json:"inputFiles"`
	Files            []wfFile `json:"files"`
	Runtime          *float64 `json:"runtime"`
	RuntimeInSeconds *float64 `json:"runtimeInSeconds"`
	ExecutedAt       string   `json:"executedAt"`
	AvgCPU           *float64 `json:"avgCPU"`
	BytesRead        *float64 `json:"bytesRead"`
	BytesWritten     *float64 `json:"bytesWritten"`
	ReadBytes        *float64 `json:"readBytes"`
	WrittenBytes     *float64 `json:"writtenBytes"`
	Memory           *float64 `json:"memory"`
	MemoryInBytes    *float64 `json:"memoryInBytes"`
	Machine          string   `json:"machine"`
	Machines         []string `json:"machines"`
	Command          struct {
		Program string `json:"program"`
	} `json:"command"`
}

var errNoTasks = errors.New("it holds no task of a workflow; is it another kind of file?")

// maxInstance bounds a workflow, a single JSON object that is held in memory.
const maxInstance = 256 << 20

func readWfCommons(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	for _, p := range in.Parts {
		w, err := readInstance(ctx, p, out, maxInstance)
		if err != nil {
			return err
		}
		f := newWorkflow(in, out, w)
		if len(f.tasks) == 0 {
			return fmt.Errorf("%s: %w", p.Name, errNoTasks)
		}
		out.Decoded(1)
		if err := f.emit(); err != nil {
			return err
		}
	}
	return nil
}

// readInstance decodes a workflow of at most limit bytes.
func readInstance(ctx context.Context, p ingest.Part, out *ingest.Sink, limit int64) (*wfInstance, error) {
	r, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: limit}
	dec := read.NewJSON(read.JSONNumbers(limited))
	w := new(wfInstance)
	err = json.UnmarshalDecode(dec, w)
	switch {
	case err != nil && limited.N == 0:
		return nil, fmt.Errorf("%w: %s: a workflow of more than %d bytes", ingest.ErrLimit, p.Name, limit)
	case err != nil:
		return nil, read.Broken(p, dec, out, err)
	}
	at := dec.InputOffset()
	dec.PeekKind() // the start of what follows is then in the buffer
	rest := bytes.TrimLeft(dec.UnreadBuffer(), " \t\r\n")
	rest = slices.Clone(rest[:min(len(rest), ingest.SampleBytes)])
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		read.Reject(out, p, at, rest, "text follows the workflow and is not read; a file holds one workflow")
	}
	return w, nil
}

// workflow turns an instance into rows.
type workflow struct {
	*read.Application
	w      *wfInstance
	tasks  []wfTask
	files  map[string]*float64
	scale  float64        // factor for read and written bytes
	memory float64        // factor for memory
	byID   map[string]int // phase of a task, by its id or name
}

func newWorkflow(in *ingest.Input, out *ingest.Sink, w *wfInstance) *workflow {
	f := &workflow{Application: read.NewApplication(in, out, "workflow"), w: w, scale: 1, memory: 1, files: map[string]*float64{}, byID: map[string]int{}}
	f.join()
	old := len(f.w.Workflow.Jobs) > 0 || w.SchemaVersion != "" && w.SchemaVersion < "1.4"
	if w.SchemaVersion == "" && w.Workflow.Makespan != nil { // renamed in 1.4
		old = true
	}
	if old {
		f.memory = 1000
		if !strings.EqualFold(f.system().Name, "pegasus") {
			f.scale = 1000
		}
	}
	return f
}

func (f *workflow) system() wfSystem {
	if f.w.RuntimeSystem.Name != "" {
		return f.w.RuntimeSystem
	}
	return f.w.WMS
}

// join merges specification and execution of 1.5; older versions have one list.
func (f *workflow) join() {
	w := &f.w.Workflow
	switch {
	case len(w.Jobs) > 0:
		f.tasks = w.Jobs
	case len(w.Tasks) > 0:
		f.tasks = w.Tasks
	default:
		f.tasks = w.Specification.Tasks
		ran := map[string]*wfTask{}
		for i := range w.Execution.Tasks {
			ran[w.Execution.Tasks[i].ID] = &w.Execution.Tasks[i]
		}
		for i := range f.tasks {
			t := &f.tasks[i]
			if e := ran[t.ID]; e != nil {
				name, parents, inputs := t.Name, t.Parents, t.InputFiles
				*t = *e
				t.Name, t.Parents, t.InputFiles = name, parents, inputs
			}
		}
		for i := range w.Specification.Files {
			f.files[w.Specification.Files[i].ID] = w.Specification.Files[i].bytes()
		}
	}
}

func (f *workflow) emit() error {
	w := &f.w.Workflow
	started := instant(w.ExecutedAt)
	if !started.OK {
		started = instant(w.Execution.ExecutedAt)
	}
	ended := schema.Null[schema.Time]{}
	for _, m := range []*float64{w.Makespan, w.MakespanInSeconds, w.Execution.Makespan} {
		if took := positive(m); took.OK && started.OK {
			ended = schema.Some(started.V.Add(took.V))
		}
	}
	sys, name := f.system(), read.NullText(f.w.Name)
	app := &f.Trace.Applications[0]
	app.NativeID, app.Name = name.Or(app.NativeID), name
	app.Framework, app.FrameworkVersion = strings.ToLower(read.NullText(sys.Name).Or(app.Framework)), read.NullText(sys.Version)
	app.StartTime, app.FinishTime = started, ended
	job := &f.Trace.Jobs[f.Job("workflow")]
	job.Name, job.SubmitTime, job.StartTime, job.FinishTime = name, started, started, ended
	f.phases()
	if err := f.attempts(); err != nil {
		return err
	}
	f.edges()
	f.machines()
	return f.Emit()
}

func (f *workflow) phases() {
	for i := range f.tasks {
		t := &f.tasks[i]
		n := f.Phase(0, t.phase(), t.kind())
		if t.ID != "" {
			f.byID[t.ID] = n
		}
		if _, taken := f.byID[t.Name]; !taken {
			f.byID[t.Name] = n
		}
	}
}

// phase names the set of tasks that do the same work: the task's category; or its program, if the task's name starts with it
// (such names continue with the name of the data); or its name without the number at its end.
func (t *wfTask) phase() string {
	if t.Category != "" {
		return t.Category
	}
	name := t.Name
	if name == "" {
		name = t.ID
	}
	if rest, ok := strings.CutPrefix(name, t.Command.Program); ok && t.Command.Program != "" && (rest == "" || rest[0] == '_' || rest[0] == '.') {
		return t.Command.Program
	}
	short := strings.TrimRight(name, "0123456789")
	short = strings.TrimSuffix(short, "ID")
	if short = strings.TrimRight(short, "_-."); short == "" {
		return name
	}
	return short
}

func (t *wfTask) kind() string {
	if t.Type == "" {
		return "compute"
	}
	return read.Text(t.Type)
}

func (f *workflow) attempts() error {
	var timeless int64
	for i := range f.tasks {
		t := &f.tasks[i]
		n := f.Phase(0, t.phase(), t.kind())
		row := f.Attempt(n)
		row.Task, row.NativeID, row.Machine, row.Status = f.Task(n), read.Text(cmp.Or(t.ID, t.Name)), f.machineOf(t), schema.Success
		row.StartTime, row.DurationS = instant(t.ExecutedAt), positive(t.RuntimeInSeconds)
		row.OutputBytes, row.PeakMemoryBytes = scaled(t.WrittenBytes, t.BytesWritten, f.scale), scaled(t.MemoryInBytes, t.Memory, f.memory)
		if !row.DurationS.OK {
			row.DurationS = positive(t.Runtime)
		}
		if row.DurationS.OK && t.AvgCPU != nil && *t.AvgCPU >= 0 {
			row.CPUS = schema.Some(*t.AvgCPU / 100 * row.DurationS.V)
		}
		f.input(t, &row)
		if row.StartTime.OK && row.DurationS.OK {
			row.FinishTime = schema.Some(row.StartTime.V.Add(row.DurationS.V))
			row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
		} else {
			row.Quality |= schema.PartialRow
		}
		if !row.StartTime.OK {
			timeless++
		}
		if err := f.Add(n, &row); err != nil {
			return err
		}
	}
	f.CaveatOf(int64(len(f.tasks)), "no_rack", "the format has no racks and no remote bytes: network causes cannot be found")
	f.CaveatOf(timeless, "no_times", "tasks have a duration but no start: nothing can be replayed or drawn on a timeline")
	return nil
}

func (f *workflow) machineOf(t *wfTask) schema.Null[string] {
	if t.Machine != "" {
		return read.NullText(t.Machine)
	}
	if len(t.Machines) == 1 { // several machines are a gang, and none of them is the task's machine
		return read.NullText(t.Machines[0])
	}
	return schema.Null[string]{}
}

// input sets the bytes read, or the sum of the sizes of the input files as an estimate.
func (f *workflow) input(t *wfTask, row *schema.Attempt) {
	row.InputBytes = scaled(t.ReadBytes, t.BytesRead, f.scale)
	if row.InputBytes.OK {
		return
	}
	var sum float64
	known := false
	for i := range t.Files {
		if b := t.Files[i].bytes(); b != nil && strings.EqualFold(t.Files[i].Link, "input") {
			sum, known = sum+*b, true
		}
	}
	for _, id := range t.InputFiles {
		if b := f.files[id]; b != nil {
			sum, known = sum+*b, true
		}
	}
	if known && sum >= 0 && sum < 1<<62 {
		row.InputBytes = schema.Some(int64(sum))
		row.Quality |= schema.BytesEstimated
	}
}

func (f *workflow) edges() {
	var cycles int64
	g := read.NewDAG(len(f.Trace.Phases))
	for i := range f.tasks {
		to := f.Phase(0, f.tasks[i].phase(), f.tasks[i].kind())
		for _, parent := range f.tasks[i].Parents {
			from, ok := f.byID[parent]
			if !ok {
				continue
			}
			added, cycle := g.Add(from, to)
			if added {
				f.Edge(from, to)
			}
			if cycle {
				cycles++
			}
		}
	}
	f.CaveatOf(cycles, "phase_cycle", "dependencies between tasks that would close a cycle of phases are left out")
}

func (f *workflow) machines() {
	for _, m := range append(f.w.Workflow.Machines, f.w.Workflow.Execution.Machines...) {
		cores := m.CPU.CoreCount
		if cores == nil {
			cores = m.CPU.Count
		}
		f.Trace.Machines = append(f.Trace.Machines, schema.Machine{
			ApplicationID: schema.Some(f.Trace.Applications[0].ApplicationID), Machine: read.Text(m.NodeName), Cores: positive(cores),
			MemoryBytes: scaled(m.MemoryInBytes, m.Memory, f.memory),
		})
	}
}

// instant parses the forms of times found in instances: RFC 3339, its forms without colons, or seconds.
func instant(s string) schema.Null[schema.Time] {
	t := read.ParseTime(s, time.RFC3339Nano, "20060102T150405-0700", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05.999999999", time.DateTime)
	if f, err := strconv.ParseFloat(s, 64); !t.OK && err == nil && f > 0 && f < 1e11 {
		return schema.Some(schema.Time(f * 1e6))
	}
	return t
}

func positive(f *float64) schema.Null[float64] {
	if f == nil || !(*f >= 0 && *f < 1e12) {
		return schema.Null[float64]{}
	}
	return schema.Some(*f)
}

// scaled returns bytes, or the old value in its unit.
func scaled(bytes, old *float64, unit float64) schema.Null[int64] {
	switch {
	case bytes != nil && *bytes >= 0 && *bytes < 1<<62:
		return schema.Some(int64(*bytes))
	case bytes == nil && old != nil && *old >= 0 && *old*unit < 1<<62:
		return schema.Some(int64(*old * unit))
	}
	return schema.Null[int64]{}
}
