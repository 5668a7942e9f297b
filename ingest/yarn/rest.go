package yarn

import (
	"fmt"
	"io"

	"straggler/ingest"
	"straggler/ingest/read/pull"
	"straggler/schema"
)

// maxList bounds the list of applications, a single JSON object that is held in memory.
const maxList = 256 << 20

// names maps members of a list to the names used in summaries, where they differ.
var names = map[string]string{"id": "appId", "startedTime": "startTime", "finishedTime": "finishTime"}

// list reads {"apps": {"app": [{"id": "application_…", "user": …, …}, …]}}, or {"app": {…}} for a single application.
func (r *reader) list(p ingest.Part, from io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(from, maxList+1))
	if err != nil && !ingest.IsCut(err) {
		return err
	}
	if len(text) > maxList {
		return fmt.Errorf("%w: %s: a list of applications of more than %d bytes", ingest.ErrLimit, p.Name, maxList)
	}
	var q pull.Puller
	for q.Reset(text); q.Peek() == '{'; q.Reset(q.Rest()) { // or concatenated objects
		if err := r.object(p, &q, len(text)); err != nil {
			return err
		}
		if q.Why != "" {
			break
		}
	}
	if q.Why != "" || q.Peek() != 0 {
		r.out.Reject(schema.Reject{SourceFile: p.Name, Reason: "the list of applications cannot be decoded to its end: " + q.Why,
			Sample: string(text[max(0, len(text)-200):])})
	}
	return err
}

// object reads an object of a text of size bytes: an application, or an object that contains some.
func (r *reader) object(p ingest.Part, q *pull.Puller, size int) error {
	at := int64(size - len(q.Rest())) // q has peeked at the bracket
	m := map[string]string{}
	for ok := q.Object(); ok && q.Key(); {
		name := string(q.Name)
		if to, ok := names[name]; ok {
			name = to
		}
		switch q.Peek() {
		case '{':
			if err := r.object(p, q, size); err != nil {
				return err
			}
		case '[':
			for ok := q.Array(); ok && q.Elem(); {
				if q.Peek() != '{' {
					q.Skip()
				} else if err := r.object(p, q, size); err != nil {
					return err
				}
			}
		case '"':
			if b, ok := q.Str(); ok && len(m) < 200 {
				m[name] = string(b)
			}
		default:
			if b := q.Literal(); string(b) != "null" && len(m) < 200 {
				m[name] = string(b)
			}
		}
	}
	if q.Why != "" || m["appId"] == "" || m["finalStatus"] == "" && m["state"] == "" {
		return nil
	}
	if !r.application(m) {
		r.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at, Reason: twice, Sample: m["appId"]})
		return nil
	}
	r.out.Decoded(1)
	return r.flush(false)
}
