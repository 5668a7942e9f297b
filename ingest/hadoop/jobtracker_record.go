package hadoop

import (
	"bytes"
	"strings"
	"unsafe"

	"straggler/ingest/read"
)

// A JobTracker history (Hadoop 0.18 to 1.x) has one record per line, Type KEY="value" KEY="value" . with a backslash before
// characters that would end a value. A value may contain line breaks (stack traces do), so a record ends with the line that
// closes its last quote.

// recordDecoder decodes blocks of such records. It is used by one goroutine.
type recordDecoder struct {
	names    read.Interner
	counters counterNames
	fields   []field
	buf      []byte // an unescaped value
	pending  []byte // a record that is spread over lines
	inConf   bool   // within a configuration
	conf     []byte // the current one
	confFor  string // its job
}

type field struct{ key, raw []byte }

// record decodes a record. ok is false if it does not have this form.
func (d *recordDecoder) record(rec []byte, e *event) (ok bool) {
	typ, rest, _ := bytes.Cut(rec, []byte(" "))
	if len(typ) == 0 || len(typ) > 40 {
		return false
	}
	d.fields, ok = splitFields(rest, d.fields[:0])
	if !ok {
		return false
	}
	switch string(typ) {
	case "Job":
		d.job(e)
	case "Task":
		e.kind = taskStarted
		d.each(func(key string, f *field) {
			switch key {
			case "START_TIME":
				e.start = number(f.raw)
			case "SPLITS":
				e.split = string(d.text(f.raw))
			default:
				d.id(key, f, e)
			}
		})
		if e.start <= 0 && e.split == "" { // its end, which repeats what is known from the attempts
			e.kind = otherEvent
		}
	case "MapAttempt", "ReduceAttempt":
		d.attempt(e)
	}
	return true
}

func (d *recordDecoder) each(take func(key string, f *field)) {
	for i := range d.fields {
		f := &d.fields[i]
		take(unsafe.String(unsafe.SliceData(f.key), len(f.key)), f) // the key is compared, but not kept
	}
}

// id sets the task or job that a record is about.
func (d *recordDecoder) id(key string, f *field, e *event) {
	switch key {
	case "JOBID":
		e.job = d.names.Text(d.text(f.raw))
	case "TASKID":
		e.task, _, e.hasTask = parseID(f.raw)
		if e.job == "" {
			e.job = d.jobOf(f.raw)
		}
	case "TASK_TYPE":
		e.typed, e.isTyped = kindOf(f.raw)
	case "TASK_ATTEMPT_ID":
		e.attempt = read.Text(string(d.text(f.raw)))
		_, e.number, _ = parseID(f.raw)
	}
}

// jobOf derives the id of a job from that of one of its tasks, task_<cluster>_<job>_m_000001.
func (d *recordDecoder) jobOf(task []byte) string {
	const prefix = "task_"
	rest, ok := bytes.CutPrefix(task, []byte(prefix))
	cluster, rest, more := bytes.Cut(rest, []byte("_"))
	job, _, evenMore := bytes.Cut(rest, []byte("_"))
	if !ok || !more || !evenMore {
		return ""
	}
	d.buf = append(append(append(append(d.buf[:0], "job_"...), cluster...), '_'), job...)
	return d.names.Text(d.buf)
}

func (d *recordDecoder) job(e *event) {
	e.kind = jobChanged
	d.each(func(key string, f *field) {
		switch key {
		case "JOBNAME":
			e.name = read.Text(string(d.text(f.raw)))
		case "USER":
			e.user = d.names.Text(d.text(f.raw))
		case "JOB_QUEUE":
			e.queue = d.names.Text(d.text(f.raw))
		case "SUBMIT_TIME":
			e.submit = number(f.raw)
		case "LAUNCH_TIME":
			e.launch = number(f.raw)
		case "TOTAL_MAPS":
			e.maps = number(f.raw)
		case "TOTAL_REDUCES":
			e.reduces = number(f.raw)
		case "JOB_STATUS":
			e.status = d.names.Text(d.text(f.raw))
		case "FINISH_TIME":
			if e.finish = number(f.raw); e.finish > 0 {
				e.kind = jobEnded
			}
		default:
			d.id(key, f, e)
		}
	})
}

func (d *recordDecoder) attempt(e *event) {
	e.kind = attemptStarted
	var counted []byte
	d.each(func(key string, f *field) {
		switch key {
		case "START_TIME":
			e.start = number(f.raw)
		case "FINISH_TIME":
			e.finish = number(f.raw)
		case "SHUFFLE_FINISHED":
			e.copied = number(f.raw)
		case "SORT_FINISHED":
			e.sorted = number(f.raw)
		case "TRACKER_NAME":
			e.tracker = d.names.Text(trackerHost(d.text(f.raw)))
		case "HOSTNAME":
			e.host = d.names.Text(d.text(f.raw))
		case "TASK_STATUS":
			e.kind = endOf(f.raw)
		case "ERROR":
			e.error = read.Text(string(d.text(f.raw)))
		case "COUNTERS":
			counted = f.raw
		default:
			d.id(key, f, e)
		}
	})
	if i := strings.LastIndexByte(e.host, '/'); i >= 0 {
		e.host, e.rack = e.host[i+1:], e.host[:i]
	}
	if e.kind == attemptFinished {
		d.counters.parse(d.text(counted), &e.counters)
	}
}

func endOf(status []byte) eventKind {
	switch string(bytes.ToUpper(status)) {
	case "SUCCESS", "SUCCEEDED":
		return attemptFinished
	case "FAILED":
		return attemptFailed
	case "KILLED":
		return attemptKilled
	}
	return attemptStarted
}

// number returns 0 if a value is not a number.
func number(raw []byte) int64 {
	n, _ := digits(raw)
	return n
}

// text returns a value without the backslashes before characters that would end it, valid until the next call.
func (d *recordDecoder) text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	b := d.buf[:0]
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) {
			i++
		}
		b = append(b, raw[i])
	}
	d.buf = b
	return b
}

// trackerHost extracts the host from tracker_HOST:localhost/127.0.0.1:54153.
func trackerHost(s []byte) []byte {
	s, _, _ = bytes.Cut(bytes.TrimPrefix(s, []byte("tracker_")), []byte(":"))
	return s
}

// quoteOpen reports whether a quote is open at the end of text, given whether one was at its start.
func quoteOpen(text []byte, open bool) bool {
	for len(text) > 0 {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		if !escaped(text[:i]) {
			open = !open
		}
		text = text[i+1:]
	}
	return open
}

// splitFields splits KEY="value" pairs; they alias the record. ok is false if it does not have this form.
func splitFields(rest []byte, f []field) (_ []field, ok bool) {
	for {
		for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] == '.' || rest[0] == '\r' || rest[0] == '\n' {
			return f, len(f) > 0
		}
		eq := bytes.IndexByte(rest, '=')
		if eq <= 0 || eq+1 >= len(rest) || rest[eq+1] != '"' {
			return f, false
		}
		value := rest[eq+2:]
		end := closingQuote(value)
		if end < 0 {
			return f, false
		}
		f = append(f, field{rest[:eq], value[:end]})
		rest = value[end+1:]
	}
}

func closingQuote(b []byte) int {
	for i := 0; ; i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		if i += j; !escaped(b[:i]) {
			return i
		}
	}
}

// escaped reports whether the byte after b is preceded by an odd number of backslashes.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}
