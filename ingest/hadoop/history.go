package hadoop

import (
	"bytes"
	"strconv"
	"strings"

	"straggler/schema"
)

// A JobTracker history (Hadoop 0.18 to 1.x) has one record a line, Type KEY="value" KEY="value" . with a backslash
// before the characters that would end a value. A value may hold line breaks (stack traces do), so a record ends
// with the line that closes its last quote.

// fields are the pairs of a record, in the order of the log. Values are unescaped only when asked for.
type fields []field

type field struct{ key, raw []byte }

func (f fields) get(key string) string {
	for i := range f {
		if string(f[i].key) == key {
			return unescape(f[i].raw)
		}
	}
	return ""
}

func (f fields) int(key string) int64 {
	for i := range f {
		if string(f[i].key) == key {
			n, err := strconv.ParseInt(string(f[i].raw), 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) {
			i++
		}
		b = append(b, raw[i])
	}
	return string(b)
}

// quoteOpen says whether a quote is open at the end of text, given whether one was at its start.
func quoteOpen(text []byte, open bool) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			open = !open
		}
	}
	return open
}

// splitRecord reads a record into its type and pairs; the pairs alias the record. ok is false when it is not of
// that form.
func splitRecord(rec []byte, dst fields) (typ string, f fields, ok bool) {
	i := bytes.IndexByte(rec, ' ')
	if i <= 0 || i > 40 {
		return "", nil, false
	}
	typ, rest, f := string(rec[:i]), rec[i+1:], dst[:0]
	for {
		rest = bytes.TrimLeft(rest, " \t")
		if len(rest) == 0 || rest[0] == '.' || rest[0] == '\r' || rest[0] == '\n' {
			return typ, f, len(f) > 0
		}
		eq := bytes.IndexByte(rest, '=')
		if eq <= 0 || eq+1 >= len(rest) || rest[eq+1] != '"' {
			return typ, f, false
		}
		value := rest[eq+2:]
		end := closingQuote(value)
		if end < 0 {
			return typ, f, false
		}
		f = append(f, field{rest[:eq], value[:end]})
		rest = value[end+1:]
	}
}

func closingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		// The quote is escaped when an odd number of backslashes stands before it.
		i += j
		n := 0
		for k := i - 1; k >= 0 && b[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			return i
		}
	}
	return -1
}

// applyRecord folds a record of a history into its job.
func (j *job) applyRecord(typ string, f fields, order int) {
	switch typ {
	case "Job":
		j.applyJob(f)
	case "Task":
		j.applyTask(f)
	case "MapAttempt", "ReduceAttempt":
		j.applyHistoryAttempt(f, order)
	}
}

func (j *job) applyJob(f fields) {
	set := func(dst *string, key string) {
		if v := f.get(key); v != "" {
			*dst = v
		}
	}
	set(&j.name, "JOBNAME")
	set(&j.user, "USER")
	set(&j.queue, "JOB_QUEUE")
	if ms := f.int("SUBMIT_TIME"); ms > 0 {
		j.submit = ms
	}
	if ms := f.int("LAUNCH_TIME"); ms > 0 {
		j.launch = ms
	}
	set(&j.status, "JOB_STATUS")
	if ms := f.int("FINISH_TIME"); ms > 0 {
		j.finish, j.complete = ms, true
	}
}

func (j *job) applyTask(f fields) {
	t := j.taskOf(f.get("TASKID"), f.get("TASK_TYPE"))
	if t == nil {
		return
	}
	if ms := f.int("START_TIME"); ms > 0 && t.scheduled <= 0 {
		t.scheduled = ms
	}
	if s := f.get("SPLITS"); s != "" {
		t.hosts = splitHosts(s)
	}
}

func (j *job) applyHistoryAttempt(f fields, order int) {
	t := j.taskOf(f.get("TASKID"), f.get("TASK_TYPE"))
	id := f.get("TASK_ATTEMPT_ID")
	if t == nil || id == "" {
		return
	}
	a := t.attempt(id, order)
	_, _, a.number, _ = parseID(id)
	b := eventBody{
		StartTime: f.int("START_TIME"), FinishTime: f.int("FINISH_TIME"), Error: wrapped(f.get("ERROR")),
		ShuffleFinishTime: f.int("SHUFFLE_FINISHED"), SortFinishTime: f.int("SORT_FINISHED"), MapFinishTime: f.int("MAP_FINISHED"),
	}
	if b.StartTime > 0 {
		b.TrackerName = trackerHost(f.get("TRACKER_NAME"))
		a.started(&b)
	}
	status := f.get("TASK_STATUS")
	if status == "" {
		return
	}
	p := placeOf(f.get("HOSTNAME"))
	b.HostName, b.RackName = wrapped(p.host), wrapped(p.rack)
	switch strings.ToUpper(status) {
	case "SUCCESS", "SUCCEEDED":
		parseCounters(f.get("COUNTERS"), (*counters)(&b.Counters))
		a.ended(&b, schema.Success)
		a.mapEnd, a.shuffleEnd, a.sortEnd = b.MapFinishTime, b.ShuffleFinishTime, b.SortFinishTime
	case "FAILED":
		a.gaveUp(&b, schema.Failed)
	case "KILLED":
		a.gaveUp(&b, schema.Killed)
	}
}

// trackerHost takes the host out of tracker_HOST:localhost/127.0.0.1:54153.
func trackerHost(s string) string {
	s = strings.TrimPrefix(s, "tracker_")
	if i := strings.IndexByte(s, ':'); i >= 0 {
		s = s[:i]
	}
	return s
}

// parseCounters reads {(group)(display)[(name)(display)(value)]…}…, or the older 'Group.display name:value,…'.
func parseCounters(s string, c *counters) {
	if !strings.HasPrefix(s, "{") {
		for _, part := range strings.Split(s, ",") {
			i := strings.LastIndexByte(part, ':')
			if i < 0 {
				continue
			}
			name := part[:i]
			if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
				name = name[dot+1:]
			}
			if v, err := strconv.ParseInt(strings.TrimSpace(part[i+1:]), 10, 64); err == nil {
				c.set(name, v)
			}
		}
		return
	}
	for {
		i := strings.IndexByte(s, '[')
		if i < 0 {
			return
		}
		end := strings.IndexByte(s[i:], ']')
		if end < 0 {
			return
		}
		entry := s[i+1 : i+end]
		s = s[i+end+1:]
		open := strings.IndexByte(entry, ')')
		last := strings.LastIndexByte(entry, '(')
		if len(entry) < 2 || entry[0] != '(' || open < 1 || last < 0 || !strings.HasSuffix(entry, ")") {
			continue
		}
		if v, err := strconv.ParseInt(entry[last+1:len(entry)-1], 10, 64); err == nil {
			c.set(entry[1:open], v)
		}
	}
}
