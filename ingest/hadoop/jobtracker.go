package hadoop

import (
	"bytes"
	"context"
	"errors"
	"regexp"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// JobTracker returns the format of the text history of Hadoop 0.18 to 1.x.
func JobTracker() ingest.Format {
	return ingest.Format{
		Name: "jobtracker",
		Doc:  "Hadoop 0.18–1.x job history (Job JOBID=\"…\" lines), one job per file, or many concatenated with !!FILE= marks",
		Detail: `Phases are the maps, the reduces, and the job's set-up and clean-up tasks. Racks come from /rack/host names, and a map's locality
from the hosts of its split. Speculative copies are inferred: an attempt that started while another one of its task ran. The
format has no containers and, before 0.20.203, no processor time. The only progress is that of reduces at the end of copy and of sort,
a third each. Everything else that is missing is NULL.`,
		Sniff: sniffJobTracker,
		Read:  readJobTracker,
	}
}

// jobTrackerWords begin the lines of such a log. Every file of a directory is searched for them: a regular expression would
// take longer than all other formats together.
var jobTrackerWords = []string{`Meta VERSION="`, `Job JOBID="job_`, `Task TASKID="`, `MapAttempt TASK_TYPE="`, `ReduceAttempt TASK_TYPE="`}

func sniffJobTracker(h ingest.Head) ingest.Match {
	for line := range bytes.Lines(bytes.TrimPrefix(h.Bytes, byteOrderMark)) {
		for _, word := range jobTrackerWords {
			if bytes.HasPrefix(line, []byte(word)) {
				return ingest.Match{Confidence: ingest.Certain, Why: "has lines that start with " + word}
			}
		}
	}
	return ingest.Match{}
}

// maxTextRecord bounds a record that is spread over lines: a stack trace, or a quote that is never closed.
const maxTextRecord = 1 << 20

// maxHeld is the number of attempts that a file without marks may hold before its finished jobs are emitted.
const maxHeld = 200_000

func readJobTracker(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	h := jobTrackerReader{out: out, rows: newRows(in.Key, in.Name, "mapreduce")}
	p := read.Pipeline[recordBatch]{
		Cut: lastRecord,
		Decoder: func() func(*read.Chunk[recordBatch]) {
			var d recordDecoder
			return func(c *read.Chunk[recordBatch]) { d.block(&c.Block, &c.Made) }
		},
		Fold: func(c *read.Chunk[recordBatch]) error { return h.fold(c.Part.Name, &c.Made) },
	}
	err := p.Run(ctx, in.Parts, out)
	h.flush(false)
	return errors.Join(err, h.rows.emit(out))
}

// recordStarts are the words that start the records of a history, and the mark between concatenated ones.
var recordStarts = [][]byte{[]byte(`MapAttempt TASK_TYPE="`), []byte(`ReduceAttempt TASK_TYPE="`), []byte(`Task TASKID="`),
	[]byte(`Job JOBID="job_`), []byte(`Meta VERSION="`), []byte(`!!FILE=`)}

// lastRecord returns the start of the last record or mark in b; everything before it is whole.
func lastRecord(b []byte) int {
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 || startsRecord(b[i+1:]) {
			return i + 1
		}
		end = i
	}
}

// recordBatch is the contents of a block of a history.
type recordBatch struct {
	events  []event
	decoded int64
	rejects []schema.Reject
}

func (out *recordBatch) add() *event {
	out.events = append(out.events, event{})
	return &out.events[len(out.events)-1]
}

func (out *recordBatch) reject(at read.Line, text []byte, reason string) {
	out.rejects = append(out.rejects, schema.Reject{Line: schema.Some(at.Number), ByteOffset: at.Offset, Reason: reason, Sample: string(head(text))})
}

// block decodes a block, which starts with a record or with a mark.
func (d *recordDecoder) block(b *read.Block, out *recordBatch) {
	clear(out.events) // they reference strings
	out.events, out.rejects, out.decoded = out.events[:0], out.rejects[:0], 0
	d.pending, d.inConf = d.pending[:0], false
	var at read.Line
	for line := range b.Lines() {
		text := bytes.TrimLeft(line.Data, "\f")
		if line.Offset == 0 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if len(d.pending) > 0 {
			if len(d.pending)+len(text) <= maxTextRecord && !startsRecord(text) {
				d.pending = append(append(d.pending, '\n'), text...)
				if !quoteOpen(text, true) {
					d.take(at, d.pending, out)
					d.pending = d.pending[:0]
				}
				continue
			}
			out.reject(at, d.pending, "the record's last value is never closed")
			d.pending = d.pending[:0]
		}
		switch {
		case d.mark(text, out) || len(bytes.TrimSpace(text)) == 0:
			out.decoded++
		case d.inConf:
			d.confLine(text)
			out.decoded++
		default:
			at = line
			if quoteOpen(text, false) {
				d.pending = append(d.pending, text...)
				continue
			}
			d.take(at, text, out)
		}
	}
	if len(d.pending) > 0 {
		out.reject(at, d.pending, "the file ends within the record")
	}
	d.endConf(out)
}

func startsRecord(text []byte) bool {
	for _, s := range recordStarts {
		if bytes.HasPrefix(text, s) {
			return true
		}
	}
	return false
}

func (d *recordDecoder) take(at read.Line, text []byte, out *recordBatch) {
	e := out.add()
	if !d.record(text, e) {
		out.events = out.events[:len(out.events)-1]
		out.reject(at, text, `not of the form Type KEY="value" … .`)
		return
	}
	out.decoded++
	if e.kind == otherEvent {
		*e = event{}
		out.events = out.events[:len(out.events)-1]
	}
}

var (
	fileMark = regexp.MustCompile(`^!!FILE=(.*)!!\s*$`)
	jobInDoc = regexp.MustCompile(`job_\d+_\d+`)
)

// mark recognises the line between concatenated files.
func (d *recordDecoder) mark(text []byte, out *recordBatch) bool {
	if !bytes.HasPrefix(text, []byte("!!FILE=")) {
		return false
	}
	m := fileMark.FindSubmatch(text)
	if m == nil {
		return false
	}
	d.endConf(out)
	if d.inConf = bytes.Contains(m[1], []byte("_conf.xml")); d.inConf {
		d.confFor = string(jobInDoc.Find(m[1]))
	} else {
		out.add().kind = fileStarted
	}
	return true
}

func (d *recordDecoder) confLine(text []byte) {
	if len(d.conf)+len(text) <= maxConf {
		d.conf = append(append(d.conf, text...), '\n')
	}
}

func (d *recordDecoder) endConf(out *recordBatch) {
	if d.inConf && len(d.conf) > 0 && d.confFor != "" {
		if settings, err := readConf(d.conf); err == nil {
			e := out.add()
			e.kind, e.job, e.settings = configured, d.confFor, settings
		}
	}
	d.inConf, d.conf = false, d.conf[:0]
}

// jobTrackerReader folds the records of all jobs of an input.
type jobTrackerReader struct {
	out   *ingest.Sink
	rows  *rows
	jobs  []*job // in the order of their first record
	byID  map[string]*job
	last  *job
	held  int // attempts of jobs
	order int
}

func (h *jobTrackerReader) fold(source string, b *recordBatch) error {
	h.out.Decoded(b.decoded)
	for _, r := range b.rejects {
		r.SourceFile = source
		h.out.Reject(r)
	}
	for i := range b.events {
		e := &b.events[i]
		switch {
		case e.kind == fileStarted:
			h.flush(true)
		case e.job == "": // Meta
		case e.kind == configured:
			h.job(e.job).settings = e.settings
		default:
			if e.attempt != "" {
				h.held++
			}
			h.job(e.job).apply(e, h.order)
			h.order++
		}
		if err := h.emitFull(); err != nil {
			return err
		}
	}
	return nil
}

func (h *jobTrackerReader) job(id string) *job {
	if h.last != nil && h.last.id == id {
		return h.last
	}
	j := h.byID[id]
	if j == nil {
		j = &job{id: id}
		if h.byID == nil {
			h.byID = map[string]*job{}
		}
		h.byID[id] = j
		h.jobs = append(h.jobs, j)
	}
	h.last = j
	return j
}

// flush emits jobs: all of them, or those that have ended. A configuration may precede its history, so a job without tasks
// waits.
func (h *jobTrackerReader) flush(endedOnly bool) {
	keep := h.jobs[:0]
	for _, j := range h.jobs {
		if endedOnly && !j.complete {
			keep = append(keep, j)
			continue
		}
		if j.complete || !j.empty() || j.submit > 0 {
			h.rows.add(j)
		}
		delete(h.byID, j.id)
	}
	clear(h.jobs[len(keep):])
	h.jobs, h.last, h.held = keep, nil, 0
}

// emitFull bounds the memory for a file of many jobs.
func (h *jobTrackerReader) emitFull() error {
	if h.held > maxHeld {
		h.flush(true)
	}
	if len(h.rows.out.Attempts) > 8192 {
		return h.rows.emit(h.out)
	}
	return nil
}
