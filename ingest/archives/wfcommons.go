package archives

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// WfCommons are workflow instances in WfFormat 1.0 to 1.5.
func WfCommons() ingest.Format {
	return ingest.Format{
		Name: "wfcommons",
		Doc:  "WfCommons workflow instances (WfFormat JSON, schema 1.0–1.5)",
		Detail: `A workflow is one application and one job; tasks of one name (1.5) or category are a phase. Start times are taken from
executedAt of each task where the instance has it; most have none, and then starts and ends stay NULL and only
durations are known. Input bytes are the task's read bytes, else the sizes of its input files (quality: bytes
estimated). There are no retries, racks, remote bytes or progress. Edges between phases come from the tasks' parents;
ones that would close a circle of phases are left out and counted.
Before 1.4, memory is in units of 1000 bytes, and read and written bytes too except for Pegasus, as WfCommons' own
migration takes them; file sizes are taken as bytes.`,
		Sniff: sniffWfCommons,
		Read:  readWfCommons,
	}
}

func sniffWfCommons(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return ingest.Match{}
	}
	has := func(key string) bool { return bytes.Contains(b, []byte(`"`+key+`"`)) }
	switch {
	case has("workflow") && has("schemaVersion"):
		return ingest.Match{Confidence: 3, Why: "one object with workflow and schemaVersion"}
	case has("workflow") && (has("wms") || has("runtimeSystem") || has("makespan") || has("makespanInSeconds")):
		return ingest.Match{Confidence: 2, Why: "one object with workflow and its makespan or system"}
	}
	return ingest.Match{}
}

// wfInstance holds the keys of all versions; a version fills its own.
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

// maxInstance bounds a workflow, which is one JSON object and is held whole.
const maxInstance = 256 << 20

func readWfCommons(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	for _, p := range in.Parts {
		r, err := p.Open(ctx)
		if err != nil {
			return err
		}
		var w wfInstance
		dec := jsontext.NewDecoder(read.JSONNumbers(io.LimitReader(r, maxInstance)), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		err = json.UnmarshalDecode(dec, &w)
		r.Close()
		if err != nil {
			err = read.JSONError(err)
			out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: dec.InputOffset(), Sample: string(head(dec.UnreadBuffer())),
				Reason: "the workflow can not be decoded: " + err.Error()})
			return fmt.Errorf("%s: byte %d: %w", p.Name, dec.InputOffset(), err)
		}
		if err := newWorkflow(in, &w).emit(out); err != nil {
			return err
		}
	}
	return nil
}

func head(b []byte) []byte { return b[:min(len(b), 256)] }

// workflow turns an instance into rows.
type workflow struct {
	in     *ingest.Input
	w      *wfInstance
	tasks  []wfTask
	files  map[string]*float64
	scale  float64 // of read and written bytes
	memory float64 // of memory
	app    schema.Key
	job    schema.Key
	phases map[string]int // index in the trace by name
	counts []int64        // tasks of each phase so far
	byID   map[string]int // phase of a task by id or name
	circle int64
	out    schema.Trace
}

func newWorkflow(in *ingest.Input, w *wfInstance) *workflow {
	f := &workflow{
		in: in, w: w, scale: 1, memory: 1, files: map[string]*float64{}, phases: map[string]int{}, byID: map[string]int{},
		app: schema.NewKeys(in.Key, "applications").Nth(0), job: schema.NewKeys(in.Key, "jobs").Nth(0),
	}
	f.join()
	old := len(f.w.Workflow.Jobs) > 0 || w.SchemaVersion != "" && w.SchemaVersion < "1.4"
	if w.SchemaVersion == "" && w.Workflow.Makespan != nil { // 1.4 renamed it
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

// join brings specification and execution of 1.5 together; older versions have one list.
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

func (f *workflow) emit(out *ingest.Sink) error {
	f.build()
	out.Decoded(1)
	return ingest.EmitTrace(out, &f.out)
}

func (f *workflow) build() {
	w := &f.w.Workflow
	started := instant(w.ExecutedAt)
	if !started.OK {
		started = instant(w.Execution.ExecutedAt)
	}
	ended := schema.Null[schema.Time]{}
	for _, m := range []*float64{w.Makespan, w.MakespanInSeconds, w.Execution.Makespan} {
		if m != nil && *m >= 0 && started.OK {
			ended = schema.Some(started.V.Add(*m))
		}
	}
	sys := f.system()
	f.out.Applications = []schema.Application{{
		ApplicationID: f.app, NativeID: read.NullText(f.w.Name).Or(f.in.Base), Name: read.NullText(f.w.Name), Framework: strings.ToLower(read.NullText(sys.Name).Or("workflow")),
		FrameworkVersion: read.NullText(sys.Version), StartTime: started, FinishTime: ended, Status: schema.RunUnknown,
		SourceFile: f.in.Name, Complete: true, TimeOrigin: "epoch",
	}}
	f.out.Jobs = []schema.Job{{
		JobID: f.job, ApplicationID: f.app, NativeID: "workflow", Name: read.NullText(f.w.Name),
		SubmitTime: started, StartTime: started, FinishTime: ended, Status: schema.RunUnknown,
	}}
	f.buildPhases()
	f.buildAttempts()
	f.buildEdges()
	f.buildMachines()
}

func (f *workflow) buildPhases() {
	keys := schema.NewKeys(f.in.Key, "phases")
	for i := range f.tasks {
		t := &f.tasks[i]
		name := t.phase()
		n, ok := f.phases[name]
		if !ok {
			n = len(f.out.Phases)
			f.phases[name] = n
			f.counts = append(f.counts, 0)
			f.out.Phases = append(f.out.Phases, schema.Phase{
				PhaseID: keys.Next(), JobID: f.job, NativeID: read.Text(name), Name: read.NullText(name), Kind: t.kind(), Status: schema.RunUnknown,
			})
		}
		if t.ID != "" {
			f.byID[t.ID] = n
		}
		if _, taken := f.byID[t.Name]; !taken {
			f.byID[t.Name] = n
		}
	}
}

// phase is the set of tasks that a task does the same as: its category; or its program, where the name starts with it
// (names go on with the data's); or its name without the number at its end.
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

func (f *workflow) buildAttempts() {
	keys := schema.NewKeys(f.in.Key, "attempts")
	for i := range f.tasks {
		t := &f.tasks[i]
		n := f.phases[t.phase()]
		row := schema.Attempt{
			AttemptID: keys.Next(), PhaseID: f.out.Phases[n].PhaseID, JobID: f.job, ApplicationID: f.app,
			Task: f.counts[n], NativeID: read.Text(read.NullText(t.ID).Or(t.Name)), Machine: f.machineOf(t), Status: schema.Success,
			StartTime: instant(t.ExecutedAt), DurationS: positive(t.RuntimeInSeconds), Quality: schema.RackUnknown,
			OutputBytes: scaled(t.WrittenBytes, t.BytesWritten, f.scale), PeakMemoryBytes: scaled(t.MemoryInBytes, t.Memory, f.memory),
		}
		f.counts[n]++
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
			f.out.Phases[n].Cover(&row)
		} else {
			row.Quality |= schema.PartialRow
		}
		f.out.Attempts = append(f.out.Attempts, row)
	}
	for n := range f.out.Phases {
		f.out.Phases[n].TaskCount = schema.Some(f.counts[n])
	}
}

func (f *workflow) machineOf(t *wfTask) schema.Null[string] {
	if t.Machine != "" {
		return read.NullText(t.Machine)
	}
	if len(t.Machines) == 1 { // several are a gang, and no one of them the task's place
		return read.NullText(t.Machines[0])
	}
	return schema.Null[string]{}
}

// input sets the bytes read, or else the sizes of the input files, which is an estimate of them.
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

func (f *workflow) buildEdges() {
	type edge struct{ from, to int }
	seen := map[edge]bool{}
	g := graph{next: make([][]int, len(f.out.Phases))}
	for i := range f.tasks {
		to := f.phases[f.tasks[i].phase()]
		for _, parent := range f.tasks[i].Parents {
			from, ok := f.byID[parent]
			e := edge{from, to}
			if !ok || from == to || seen[e] {
				continue
			}
			seen[e] = true
			if g.reaches(to, from) {
				f.circle++
				continue
			}
			g.next[from] = append(g.next[from], to)
			f.out.Edges = append(f.out.Edges, schema.Edge{
				JobID: f.job, FromPhase: f.out.Phases[from].PhaseID, ToPhase: f.out.Phases[to].PhaseID, Pattern: schema.UnknownPattern,
			})
		}
	}
	f.caveat("phase_circle", f.circle, "dependencies between tasks would close a circle of phases; those edges are left out")
	f.caveat("no_rack", int64(len(f.out.Attempts)), "the format has no racks and no remote bytes: network causes can not be told")
	var timeless int64
	for i := range f.out.Attempts {
		if !f.out.Attempts[i].StartTime.OK {
			timeless++
		}
	}
	f.caveat("no_times", timeless, "tasks have a duration and no start: nothing can be replayed or drawn on a timeline")
}

func (f *workflow) caveat(code string, n int64, detail string) {
	if n > 0 {
		f.out.Caveats = append(f.out.Caveats, schema.Caveat{ApplicationID: f.app, Code: code, Count: schema.Some(n), Detail: detail})
	}
}

func (f *workflow) buildMachines() {
	for _, m := range append(f.w.Workflow.Machines, f.w.Workflow.Execution.Machines...) {
		cores := m.CPU.CoreCount
		if cores == nil {
			cores = m.CPU.Count
		}
		f.out.Machines = append(f.out.Machines, schema.Machine{
			ApplicationID: schema.Some(f.app), Machine: read.Text(m.NodeName), Cores: positive(cores),
			MemoryBytes: scaled(m.MemoryInBytes, m.Memory, f.memory),
		})
	}
}

// graph finds out whether an edge would close a circle.
type graph struct{ next [][]int }

func (g *graph) reaches(from, to int) bool {
	seen := make([]bool, len(g.next))
	stack := []int{from}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == to {
			return true
		}
		if !seen[n] {
			seen[n] = true
			stack = append(stack, g.next[n]...)
		}
	}
	return false
}

// instant reads the ways in which instances write a time: RFC 3339, and its forms without colons.
func instant(s string) schema.Null[schema.Time] {
	for _, layout := range []string{time.RFC3339Nano, "20060102T150405-0700", "2006-01-02T15:04:05-0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1970 && t.Year() < 10000 {
			return schema.Some(schema.Time(t.UnixMicro()))
		}
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && f > 0 && f < 1e11 {
		return schema.Some(schema.Time(f * 1e6))
	}
	return schema.Null[schema.Time]{}
}

func positive(f *float64) schema.Null[float64] {
	if f == nil || !(*f >= 0 && *f < 1e12) {
		return schema.Null[float64]{}
	}
	return schema.Some(*f)
}

// scaled is bytes as they are, or old ones in their unit.
func scaled(bytes, old *float64, unit float64) schema.Null[int64] {
	switch {
	case bytes != nil && *bytes >= 0 && *bytes < 1<<62:
		return schema.Some(int64(*bytes))
	case bytes == nil && old != nil && *old >= 0 && *old*unit < 1<<62:
		return schema.Some(int64(*old * unit))
	}
	return schema.Null[int64]{}
}
