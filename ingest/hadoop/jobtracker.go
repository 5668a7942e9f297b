package hadoop

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"

	"straggler/ingest"
	"straggler/schema"
)

// JobTracker is the text history of Hadoop 0.18 to 1.x.
func JobTracker() ingest.Format {
	return ingest.Format{
		Name: "jobtracker",
		Doc:  "Hadoop 0.18–1.x job history (Job JOBID=\"…\" lines), one job a file or many concatenated with !!FILE= marks",
		Detail: `Phases are the maps, the reduces and the job's set-up and clean-up tasks. Racks come from /rack/host names; a map's locality
from its split's hosts. Speculative copies are inferred: an attempt that started while another of its task ran. The
format has no container, no processor time before 0.21, and no progress; those columns stay NULL.`,
		Sniff: sniffJobTracker,
		Read:  readJobTracker,
	}
}

var historyLine = regexp.MustCompile(`(?m)^(Meta VERSION="|Job JOBID="job_|Task TASKID="|(Map|Reduce)Attempt TASK_TYPE=")`)

func sniffJobTracker(h ingest.Head) ingest.Match {
	if m := historyLine.Find(h.Bytes); m != nil {
		return ingest.Match{Sure: 3, Why: "has lines that start with " + string(m)}
	}
	return ingest.Match{}
}

// maxTextRecord bounds a record that is spread over lines: a stack trace, or a quote that is never closed.
const maxTextRecord = 1 << 20

// maxHeld is how many attempts a file without marks may hold before its finished jobs are written out.
const maxHeld = 200_000

func readJobTracker(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	h := historyReader{out: out, rows: newRows(in.Key, in.Name, "mapreduce")}
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, h.read(ctx, p))
	}
	h.flush(false)
	return errors.Join(append(errs, h.rows.emit(out))...)
}

type historyReader struct {
	out     *ingest.Sink
	rows    *rows
	jobs    []*job // in the order of their first record
	byID    map[string]*job
	held    int // attempts of jobs
	order   int
	fields  fields
	conf    []byte // the configuration that is being read
	confFor string
	inConf  bool
}

func (h *historyReader) read(ctx context.Context, p ingest.Part) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	lines := ingest.NewLines(r, p.Name, h.out)
	var pending []byte
	var at ingest.Line
	for line := range lines.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		text := bytes.TrimLeft(line.Data, "\f")
		if len(pending) > 0 {
			if len(pending)+len(text) > maxTextRecord || startsRecord(text) {
				h.reject(p.Name, at, pending, "the record's last value is never closed")
				pending = pending[:0]
			} else {
				pending = append(append(pending, '\n'), text...)
				if quoteOpen(text, true) {
					continue
				}
				h.record(p.Name, at, pending)
				pending = pending[:0]
				continue
			}
		}
		if h.mark(text) || len(bytes.TrimSpace(text)) == 0 {
			h.out.Decoded(1)
			continue
		}
		if h.inConf {
			h.confLine(text)
			h.out.Decoded(1)
			continue
		}
		if at = line; quoteOpen(text, false) {
			pending = append(pending, text...)
			continue
		}
		h.record(p.Name, at, text)
		if err := h.emitFull(); err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		h.reject(p.Name, at, pending, "the file ends within the record")
	}
	h.endConf()
	return lines.Err()
}

func startsRecord(text []byte) bool { return historyLine.Match(text[:min(len(text), 64)]) }

var (
	fileMark = regexp.MustCompile(`^!!FILE=(.*)!!\s*$`)
	jobInDoc = regexp.MustCompile(`job_\d+_\d+`)
)

// mark recognises the line between concatenated files.
func (h *historyReader) mark(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("!!FILE=")) {
		return false
	}
	m := fileMark.FindSubmatch(text)
	if m == nil {
		return false
	}
	h.endConf()
	name := string(m[1])
	if h.inConf = strings.Contains(name, "_conf.xml"); h.inConf {
		h.confFor = jobInDoc.FindString(name)
	} else {
		h.flush(true)
	}
	return true
}

const maxConf = 4 << 20

func (h *historyReader) confLine(text []byte) {
	if len(h.conf)+len(text) <= maxConf {
		h.conf = append(append(h.conf, text...), '\n')
	}
}

func (h *historyReader) endConf() {
	if h.inConf && len(h.conf) > 0 && h.confFor != "" {
		if settings, err := readConf(bytes.NewReader(h.conf)); err == nil {
			h.job(h.confFor).settings = settings
		}
	}
	h.inConf, h.conf = false, h.conf[:0]
}

// record applies one record to the job it names.
func (h *historyReader) record(part string, at ingest.Line, text []byte) {
	typ, f, ok := splitRecord(text, h.fields)
	h.fields = f
	if !ok {
		h.reject(part, at, text, `not of the form Type KEY="value" … .`)
		return
	}
	h.out.Decoded(1)
	id := f.get("JOBID")
	if id == "" {
		if t := strings.SplitN(f.get("TASKID"), "_", 4); len(t) == 4 {
			id = "job_" + t[1] + "_" + t[2]
		}
	}
	if id == "" { // Meta
		return
	}
	if strings.HasSuffix(typ, "Attempt") {
		h.held++
	}
	h.job(id).applyRecord(typ, f, h.order)
	h.order++
}

func (h *historyReader) job(id string) *job {
	j := h.byID[id]
	if j == nil {
		j = &job{id: id}
		if h.byID == nil {
			h.byID = map[string]*job{}
		}
		h.byID[id] = j
		h.jobs = append(h.jobs, j)
	}
	return j
}

// flush writes jobs out: all of them, or those that have ended. A configuration may come before its history, so a
// job without tasks waits.
func (h *historyReader) flush(endedOnly bool) {
	keep := h.jobs[:0]
	for _, j := range h.jobs {
		if endedOnly && !j.complete {
			keep = append(keep, j)
			continue
		}
		if j.complete || len(j.tasks) > 0 || j.submit > 0 {
			h.rows.add(j)
		}
		delete(h.byID, j.id)
	}
	h.jobs = keep
	h.held = 0
}

// emitFull keeps memory bounded in a file of many jobs.
func (h *historyReader) emitFull() error {
	if h.held > maxHeld {
		h.flush(true)
	}
	if len(h.rows.out.Attempts) > 8192 {
		return h.rows.emit(h.out)
	}
	return nil
}

func (h *historyReader) reject(part string, at ingest.Line, text []byte, reason string) {
	h.out.Reject(schema.Reject{SourceFile: part, Line: schema.Some(at.Number), ByteOffset: at.Offset, Reason: reason, Sample: string(head(text))})
}
