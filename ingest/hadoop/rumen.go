package hadoop

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/pull"
	"straggler/schema"
)

// Rumen returns the format of the trace that Hadoop's Rumen makes from job histories, and its topology.
func Rumen() ingest.Format {
	return ingest.Format{
		Name: "rumen",
		Doc:  "Rumen job traces (concatenated LoggedJob objects) and topologies",
		Detail: `A trace is a job history without containers, localities and error texts: locality follows from preferredLocations and the host,
speculation from attempts that overlap. Lost outputs are not recorded. Times are those of the trace, which a Folder may have
shifted. A topology fills machines and their racks, for the cluster and not for a single application.`,
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
		return ingest.Match{Confidence: ingest.Certain, Why: "objects with jobID and mapTasks"}
	case has("jobID") && has("attemptID") && has("taskID"):
		return ingest.Match{Confidence: ingest.Certain, Why: "objects with jobID, taskID and attemptID"}
	case has("children") && has("name") && !has("traceEvents") && rootName.Match(b):
		return ingest.Match{Confidence: 2, Why: "one object of name and children: a topology"}
	}
	return ingest.Match{}
}

var rootName = regexp.MustCompile(`^\{\s*"(name|children)"`)

func readRumen(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	rows := newRows(in.Key, in.Name, "mapreduce")
	var errs []error
	for _, part := range in.Parts {
		var large *largeObject
		p := read.Pipeline[rumenBatch]{
			Cut: lastObject,
			Decoder: func() func(*read.Chunk[rumenBatch]) {
				var d rumenDecoder
				return func(c *read.Chunk[rumenBatch]) { d.block(&c.Block, &c.Made) }
			},
			Fold: func(c *read.Chunk[rumenBatch]) error { return c.Made.fold(part.Name, rows, out) },
		}
		err := p.Run(ctx, []ingest.Part{part}, out)
		if errors.As(err, &large) {
			err = readLarge(ctx, part, rows, out, large.offset)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// rumenBatch is the contents of a block of a trace or topology.
type rumenBatch struct {
	jobs     []*job
	machines []schema.Machine
	decoded  int64
	rejects  []schema.Reject
	large    *largeObject
}

// largeObject is the error of an object that does not fit into a block.
type largeObject struct{ offset int64 }

func (l *largeObject) Error() string { return "a job is larger than a block" }

func (b *rumenBatch) fold(source string, rows *rows, out *ingest.Sink) error {
	out.Decoded(b.decoded)
	for _, r := range b.rejects {
		r.SourceFile = source
		out.Reject(r)
	}
	rows.out.Machines = append(rows.out.Machines, b.machines...)
	for _, j := range b.jobs {
		rows.add(j)
		if len(rows.out.Attempts) > 8192 {
			if err := rows.emit(out); err != nil {
				return err
			}
		}
	}
	if err := rows.emit(out); err != nil {
		return err
	}
	if b.large != nil {
		return b.large
	}
	return nil
}

// lastObject returns the end of the last whole object in b. Between objects there may be anything except a brace.
func lastObject(b []byte) (end int) {
	for {
		i := bytes.IndexByte(b[end:], '{')
		if i < 0 {
			return end
		}
		next, whole := pull.EndOf(b, end+i)
		if !whole {
			return end
		}
		end = next
	}
}

// rumenDecoder decodes objects. It is used by one goroutine.
type rumenDecoder struct {
	pull  pull.Puller
	names read.Interner
	order int
	job   *job
	nodes int
}

// block decodes the objects of a block. After a damaged one it continues with the next line that starts with a brace.
func (d *rumenDecoder) block(b *read.Block, out *rumenBatch) {
	clear(out.jobs)
	*out = rumenBatch{jobs: out.jobs[:0], machines: out.machines[:0], rejects: out.rejects[:0]}
	text := b.Data
	for {
		i := bytes.IndexByte(text, '{')
		if i < 0 {
			return
		}
		text = text[i:]
		d.object(text, out)
		if d.pull.Why == "" {
			out.decoded++
			text = d.pull.Rest()
			continue
		}
		at := len(b.Data) - len(text)
		if d.pull.Short && len(text) > largeText {
			out.large = &largeObject{b.Offset + int64(at)}
			return
		}
		reason := "the object cannot be decoded: " + d.pull.Why
		if d.pull.Short {
			reason = "the file ends within the object"
		}
		line := b.Line + int64(bytes.Count(b.Data[:at], []byte("\n")))
		out.rejects = append(out.rejects, schema.Reject{Line: schema.Some(line), ByteOffset: b.Offset + int64(at), Reason: reason, Sample: string(head(text))})
		if text = nextObject(text[1:]); text == nil {
			return
		}
	}
}

// largeText is the size from which an object without an end may be one that is larger than a block.
const largeText = 16 << 20

// nextObject returns text from the next line that has a brace in its first two columns.
func nextObject(text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 || i+1 == len(text) {
			return nil
		}
		text = text[i+1:]
		if text[0] == '{' || text[0] == ' ' && len(text) > 1 && text[1] == '{' {
			return text
		}
		if text[0] == '}' && len(text) > 2 && text[1] == ' ' && text[2] == '{' {
			return text[2:]
		}
	}
}

// object decodes a LoggedJob (org.apache.hadoop.tools.rumen), or a node of a topology.
func (d *rumenDecoder) object(text []byte, out *rumenBatch) {
	p := &d.pull
	p.Reset(text)
	d.begin()
	var root node
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "mapTasks", "reduceTasks", "otherTasks":
			for ok := p.Array(); ok && p.Elem(); {
				d.task()
			}
		default:
			d.member(&root)
		}
	}
	if p.Why == "" {
		d.end(&root, out)
	}
}

func (d *rumenDecoder) begin() { d.job, d.order, d.nodes = &job{}, 0, 0 }

func (d *rumenDecoder) end(root *node, out *rumenBatch) {
	if d.job.id == "" {
		out.machines = root.machines("", out.machines)
		return
	}
	d.job.complete = d.job.finish > 0 || d.job.status != ""
	d.job.caveats = append(d.job.caveats,
		schema.Caveat{Code: "copies_inferred",
			Detail: "traces do not mark speculative copies: an attempt that starts while another one of its task runs counts as one"},
		schema.Caveat{Code: "no_losses", Detail: "traces have no error texts: lost outputs, and what was computed again because of them, are unknown"})
	out.jobs = append(out.jobs, d.job)
}

// member reads a member of a job, or of the root of a topology, after its name.
func (d *rumenDecoder) member(root *node) {
	p, j := &d.pull, d.job
	switch string(p.Name) {
	case "jobID":
		j.id = d.text()
	case "jobName":
		j.name = d.text()
	case "user":
		j.user = d.text()
	case "queue":
		j.queue = d.text()
	case "outcome":
		j.status = d.text()
	case "submitTime":
		j.submit = d.number()
	case "launchTime":
		j.launch = d.number()
	case "finishTime":
		j.finish = d.number()
	case "totalMaps":
		j.maps = d.number()
	case "totalReduces":
		j.reduces = d.number()
	default:
		d.topology(root)
	}
}

// text reads a name, bare or as {"value": name}.
func (d *rumenDecoder) text() (s string) {
	p := &d.pull
	if p.Peek() == '{' {
		for ok := p.Object(); ok && p.Key(); {
			if v := d.text(); v != "" {
				s = v
			}
		}
		return s
	}
	b, _ := p.Str()
	return d.names.Text(b)
}

func (d *rumenDecoder) number() int64 {
	n, ok := d.pull.Number()
	if !ok {
		return -1
	}
	return n
}

// loggedTask is a LoggedTask without its attempts.
type loggedTask struct {
	key      taskKey
	named    bool
	typed    kind
	isTyped  bool
	start    int64
	input    int64
	hosts    []location
	attempts []*attempt
}

// task reads a LoggedTask.
func (d *rumenDecoder) task() {
	p := &d.pull
	l := loggedTask{input: -1}
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "taskID":
			b, _ := p.Str()
			l.key, _, l.named = parseID(b)
		case "taskType":
			b, _ := p.Str()
			l.typed, l.isTyped = kindOf(b)
		case "startTime":
			l.start = d.number()
		case "inputBytes":
			l.input = d.number()
		case "preferredLocations":
			for ok := p.Array(); ok && p.Elem(); {
				if h := d.location(); h.host != "" && len(l.hosts) < 64 {
					l.hosts = append(l.hosts, h)
				}
			}
		case "attempts":
			for ok := p.Array(); ok && p.Elem(); {
				if a := d.attempt(); a != nil {
					l.attempts = append(l.attempts, a)
				}
			}
		default:
			p.Skip()
		}
	}
	if p.Why == "" && l.named {
		d.job.addLogged(&l)
	}
}

func (j *job) addLogged(l *loggedTask) {
	if l.isTyped {
		l.key.kind = l.typed
	}
	t := j.task(l.key)
	t.scheduled, t.hosts = l.start, l.hosts
	for _, a := range l.attempts {
		// Old traces have the input of a map at its task rather than at its attempt.
		if c := &a.counters; t.kind == mapTask && a.status == schema.Success && !c.get(bytesRead).OK && !c.get(mapInputBytes).OK && l.input >= 0 {
			c.set(mapInputBytes, l.input)
		}
		if known := t.attempt(a.id, a.order); known != a {
			*known = *a
		}
	}
}

// attempt reads a LoggedTaskAttempt, in which -1 means unknown.
func (d *rumenDecoder) attempt() *attempt {
	p := &d.pull
	a := &attempt{status: schema.Running, order: d.order}
	d.order++
	c := &a.counters
	var at, host location
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "attemptID":
			b, _ := p.Str()
			a.id = read.Text(string(b))
			_, a.number, _ = parseID(b)
		case "result":
			b, _ := p.Str()
			a.status = loggedStatus(b)
		case "startTime":
			a.start = d.number()
		case "finishTime":
			a.finish = d.number()
		case "shuffleFinished":
			a.copied = d.number()
		case "sortFinished":
			a.sorted = d.number()
		case "hostName":
			b, _ := p.Str()
			host = locationOf(d.names.Text(b))
		case "location":
			at = d.location()
		case "clockSplits":
			a.splits = pullSplits(p)
		case "resourceUsageMetrics":
			for ok := p.Object(); ok && p.Key(); {
				d.count(c, loggedUse(p.Name))
			}
		default:
			d.count(c, loggedCounter(p.Name))
		}
	}
	if a.location = host; at.host != "" {
		a.location = at
	}
	if a.location.host == "UNKNOWN" {
		a.location = location{}
	}
	return a
}

func (d *rumenDecoder) count(c *counters, k counter) {
	if k == notUsed {
		d.pull.Skip()
		return
	}
	if n := d.number(); n >= 0 {
		c.set(k, n)
	}
}

// location reads {"layers": [rack, host]}.
func (d *rumenDecoder) location() (at location) {
	p := &d.pull
	for ok := p.Object(); ok && p.Key(); {
		if string(p.Name) != "layers" {
			p.Skip()
			continue
		}
		var layers []string
		for ok := p.Array(); ok && p.Elem(); {
			b, _ := p.Str()
			if len(layers) < 16 {
				layers = append(layers, d.names.Text(b))
			}
		}
		switch len(layers) {
		case 0:
		case 1:
			at = locationOf(layers[0])
		case 2:
			at = location{rack: rackOf(dotted(layers[0])), host: dotted(layers[1])}
		default:
			at = locationOf("/" + strings.Join(layers, "/"))
		}
	}
	return at
}

// maxNodes bounds a topology.
const maxNodes = 2_000_000

// readLarge reads the jobs of a part from an offset on, the first of which is larger than a block, task by task.
func readLarge(ctx context.Context, part ingest.Part, rows *rows, out *ingest.Sink, offset int64) error {
	var d rumenDecoder
	var b rumenBatch
	return readObjects(ctx, part, out, offset, func(dec *jsontext.Decoder) error {
		b = rumenBatch{}
		if err := d.stream(dec, &b); err != nil {
			return err
		}
		return b.fold(part.Name, rows, out)
	})
}

// stream decodes an object without holding its text.
func (d *rumenDecoder) stream(dec *jsontext.Decoder, out *rumenBatch) error {
	if k := dec.PeekKind(); k != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	d.begin()
	var root node
	for dec.PeekKind() != '}' {
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		tasks := (name == "mapTasks" || name == "reduceTasks" || name == "otherTasks") && dec.PeekKind() == '['
		if tasks {
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
		}
		for first := true; first || tasks && dec.PeekKind() != ']'; first = false {
			if tasks && dec.PeekKind() == ']' {
				break
			}
			value, err := dec.ReadValue()
			if err != nil {
				return err
			}
			if d.pull.Reset(value); tasks {
				d.task()
			} else {
				d.pull.Name = []byte(name)
				d.member(&root)
			}
		}
		if tasks {
			if _, err := dec.ReadToken(); err != nil {
				return err
			}
		}
	}
	d.end(&root, out)
	_, err := dec.ReadToken()
	return err
}
