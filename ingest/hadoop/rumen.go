package hadoop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/schema"
)

// loggedJob is a job of a Rumen trace (LoggedJob of org.apache.hadoop.tools.rumen); -1 stands for unknown.
type loggedJob struct {
	JobID       string       `json:"jobID"`
	JobName     wrapped      `json:"jobName"`
	User        wrapped      `json:"user"`
	Queue       wrapped      `json:"queue"`
	SubmitTime  int64        `json:"submitTime"`
	LaunchTime  int64        `json:"launchTime"`
	FinishTime  int64        `json:"finishTime"`
	Outcome     string       `json:"outcome"`
	MapTasks    []loggedTask `json:"mapTasks"`
	ReduceTasks []loggedTask `json:"reduceTasks"`
	OtherTasks  []loggedTask `json:"otherTasks"`
}

type loggedTask struct {
	TaskID             string          `json:"taskID"`
	TaskType           string          `json:"taskType"`
	StartTime          int64           `json:"startTime"`
	InputBytes         unknown         `json:"inputBytes"`
	InputRecords       unknown         `json:"inputRecords"`
	PreferredLocations []location      `json:"preferredLocations"`
	Attempts           []loggedAttempt `json:"attempts"`
}

type location struct {
	Layers []string `json:"layers"`
}

type loggedAttempt struct {
	AttemptID            string   `json:"attemptID"`
	Result               string   `json:"result"`
	StartTime            int64    `json:"startTime"`
	FinishTime           int64    `json:"finishTime"`
	HostName             string   `json:"hostName"`
	Location             location `json:"location"`
	ShuffleFinished      int64    `json:"shuffleFinished"`
	SortFinished         int64    `json:"sortFinished"`
	ClockSplits          splits   `json:"clockSplits"`
	HDFSBytesRead        unknown  `json:"hdfsBytesRead"`
	HDFSBytesWritten     unknown  `json:"hdfsBytesWritten"`
	FileBytesWritten     unknown  `json:"fileBytesWritten"`
	MapInputBytes        unknown  `json:"mapInputBytes"`
	MapInputRecords      unknown  `json:"mapInputRecords"`
	MapOutputBytes       unknown  `json:"mapOutputBytes"`
	ReduceShuffleBytes   unknown  `json:"reduceShuffleBytes"`
	ReduceInputRecords   unknown  `json:"reduceInputRecords"`
	SpilledRecords       unknown  `json:"spilledRecords"`
	ResourceUsageMetrics struct {
		CumulativeCPU  unknown `json:"cumulativeCpuUsage"`
		PhysicalMemory unknown `json:"physicalMemoryUsage"`
	} `json:"resourceUsageMetrics"`
}

// unknown is a number that is unknown when negative or absent; absent is told by the zero value's ok.
type unknown struct {
	n  int64
	ok bool
}

func (u *unknown) UnmarshalJSON(b []byte) error {
	s := string(b)
	neg := strings.HasPrefix(s, "-")
	n, ok := digits(strings.TrimPrefix(s, "-"))
	u.n, u.ok = n, ok && !neg
	return nil
}

func (u unknown) null() schema.Null[int64] {
	return schema.Null[int64]{V: u.n, OK: u.ok}
}

// job turns a logged job into the common model.
func (l *loggedJob) job() *job {
	j := &job{
		id: l.JobID, name: string(l.JobName), user: string(l.User), queue: string(l.Queue),
		submit: l.SubmitTime, launch: l.LaunchTime, finish: l.FinishTime, status: l.Outcome,
		complete: l.FinishTime > 0 || l.Outcome != "",
	}
	order := 0
	for _, list := range [][]loggedTask{l.MapTasks, l.ReduceTasks, l.OtherTasks} {
		for i := range list {
			order = j.addLogged(&list[i], order)
		}
	}
	return j
}

func (j *job) addLogged(l *loggedTask, order int) int {
	t := j.taskOf(l.TaskID, l.TaskType)
	if t == nil {
		return order
	}
	t.scheduled = l.StartTime
	for _, p := range l.PreferredLocations {
		t.hosts = append(t.hosts, p.place())
	}
	for i := range l.Attempts {
		t.addLogged(&l.Attempts[i], l, order)
		order++
	}
	return order
}

func (t *task) addLogged(l *loggedAttempt, lt *loggedTask, order int) {
	a := t.attempt(l.AttemptID, order)
	_, _, a.number, _ = parseID(l.AttemptID)
	a.start, a.finish = l.StartTime, l.FinishTime
	a.shuffleEnd, a.sortEnd, a.splits = l.ShuffleFinished, l.SortFinished, l.ClockSplits
	a.place = placeOf(l.HostName)
	if p := l.Location.place(); p.host != "" {
		a.place = p
	}
	if a.place.host == "UNKNOWN" {
		a.place = place{}
	}
	switch strings.ToUpper(l.Result) {
	case "SUCCESS", "SUCCEEDED":
		a.status = schema.Success
	case "FAILED":
		a.status = schema.Failed
	case "KILLED":
		a.status = schema.Killed
	}
	a.counters = counters{
		read: l.HDFSBytesRead.null(), written: l.HDFSBytesWritten.null(), localWritten: l.FileBytesWritten.null(),
		mapInput: l.MapInputBytes.null(), inputRecords: l.MapInputRecords.null(), outputBytes: l.MapOutputBytes.null(),
		shuffle: l.ReduceShuffleBytes.null(), reduceRecords: l.ReduceInputRecords.null(), spilledRecords: l.SpilledRecords.null(),
		cpuMillis: l.ResourceUsageMetrics.CumulativeCPU.null(), physicalMemory: l.ResourceUsageMetrics.PhysicalMemory.null(),
	}
	// Old traces carry the input of a map at its task and not at its attempt.
	if t.kind == mapTask && a.status == schema.Success && !a.counters.read.OK && !a.counters.mapInput.OK {
		a.counters.mapInput = lt.InputBytes.null()
	}
	c := a.counters
	a.counters.known = c.read.OK || c.mapInput.OK || c.shuffle.OK || c.inputRecords.OK || c.reduceRecords.OK || c.written.OK || c.cpuMillis.OK
}

// place reads the layers of a topology, rack first.
func (l location) place() place {
	switch n := len(l.Layers); n {
	case 0:
		return place{}
	case 1:
		return placeOf(l.Layers[0])
	default:
		return placeOf("/" + strings.Join(l.Layers, "/"))
	}
}

// topology is a node of a Rumen topology: root, racks, hosts.
type topology struct {
	Name     string     `json:"name"`
	Children []topology `json:"children"`
}

// machines lists the leaves below a node with the path to them as rack.
func (n *topology) machines(rack string, dst []schema.Machine) []schema.Machine {
	for i := range n.Children {
		c := &n.Children[i]
		name := strings.ReplaceAll(c.Name, `\.`, ".")
		if len(c.Children) == 0 {
			dst = append(dst, schema.Machine{Machine: name, Rack: ingest.NullText(rack)})
			continue
		}
		below := name
		if rack != "" {
			below = rack + "/" + name
		}
		dst = c.machines(below, dst)
	}
	return dst
}

// Rumen is the trace that Hadoop's Rumen makes of job histories, and its topology.
func Rumen() ingest.Format {
	return ingest.Format{
		Name: "rumen",
		Doc:  "Rumen job traces (concatenated LoggedJob objects) and topologies",
		Detail: `A trace is a job history without container, locality and error text: locality is told from preferredLocations and the
host, speculation from attempts that overlap, lost outputs can not be told. Times are those of the trace, which a
Folder may have rebased. A topology fills machines with their racks, for the cluster and not for one application.`,
		Sniff: sniffRumen,
		Read:  readRumen,
	}
}

func sniffRumen(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) == 0 || b[0] != '{' {
		return ingest.Match{}
	}
	has := func(key string) bool { return bytes.Contains(b, []byte(`"`+key+`"`)) }
	switch {
	case has("jobID") && (has("mapTasks") || has("reduceTasks")):
		return ingest.Match{Sure: 3, Why: "objects with jobID and mapTasks"}
	case has("jobID") && has("attemptID") && has("taskID"):
		return ingest.Match{Sure: 3, Why: "objects with jobID, taskID and attemptID"}
	case has("children") && has("name") && !has("traceEvents") && rootName.Match(b):
		return ingest.Match{Sure: 2, Why: "one object of name and children: a topology"}
	}
	return ingest.Match{}
}

var rootName = regexp.MustCompile(`^\{\s*"(name|children)"`)

func readRumen(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	rows := newRows(in.Key, in.Name, "mapreduce")
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, readObjects(ctx, p, out, func(dec *jsontext.Decoder) error {
			var o rumenObject
			if err := json.UnmarshalDecode(dec, &o); err != nil {
				return err
			}
			if o.JobID == "" {
				rows.out.Machines = o.topology.machines("", rows.out.Machines)
			} else {
				rows.add(o.loggedJob.job())
			}
			return rows.emit(out)
		}))
	}
	return errors.Join(errs...)
}

// rumenObject is either of the two things that a file may hold.
type rumenObject struct {
	loggedJob
	topology
}

// readObjects gives each object of a stream of JSON objects to take, which must read it whole. An object that can not
// be read is rejected, and reading goes on with the next that starts a line.
func readObjects(ctx context.Context, p ingest.Part, out *ingest.Sink, take func(*jsontext.Decoder) error) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	src := &cutReader{r: bufio.NewReaderSize(r, 256<<10)}
	var base int64
	for {
		dec := jsontext.NewDecoder(src, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		start, err := takeAll(ctx, dec, out, take)
		if err == io.EOF {
			return src.err
		}
		if e := out.Err(); e != nil {
			return e
		}
		if e := ctx.Err(); e != nil {
			return e
		}
		reason := "the object can not be decoded: " + err.Error()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "the file ends within the object"
		}
		out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: base + start, Reason: reason, Sample: string(head(dec.UnreadBuffer()))})
		if src.err != nil {
			return src.err
		}
		at := dec.InputOffset()
		src.unread(dec.UnreadBuffer())
		skipped, err := src.skipToObject()
		if err != nil {
			return src.err
		}
		base += at + skipped
	}
}

func head(b []byte) []byte { return b[:min(len(b), 256)] }

// takeAll gives the offset of the object that err is about.
func takeAll(ctx context.Context, dec *jsontext.Decoder, out *ingest.Sink, take func(*jsontext.Decoder) error) (start int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return start, err
		}
		start = dec.InputOffset()
		if err := take(dec); err != nil {
			return start, err
		}
		out.Decoded(1)
	}
}

// cutReader reads what was put back, then r; it keeps the error of r.
type cutReader struct {
	back []byte
	r    *bufio.Reader
	err  error // of r, but io.EOF
}

func (c *cutReader) Read(p []byte) (int, error) {
	if len(c.back) > 0 {
		n := copy(p, c.back)
		c.back = c.back[n:]
		return n, nil
	}
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func (c *cutReader) unread(b []byte) { c.back = append(bytes.Clone(b), c.back...) }

// skipToObject moves to the next line that starts with a brace in its first two columns.
func (c *cutReader) skipToObject() (skipped int64, err error) {
	var b [1]byte
	column, space := 1<<20, true // the line that failed is not one
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return skipped, err
		}
		switch {
		case b[0] == '\n':
			column, space = 0, true
		case b[0] == '{' && space && column <= 1:
			c.unread(b[:])
			return skipped, nil
		default:
			space = space && b[0] == ' '
			column++
		}
		skipped++
	}
}
