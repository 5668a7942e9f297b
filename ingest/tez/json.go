package tez

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/schema"
)

// entity is what is recorded about a DAG, vertex, task or attempt at once. Loggers spell the keys in several ways.
type entity struct {
	ID         string       `json:"entity"`
	ID2        string       `json:"entityId"`
	Type       string       `json:"entitytype"`
	Type2      string       `json:"entityType"`
	Info       info         `json:"otherinfo"`
	Info2      info         `json:"otherInfo"`
	Events     []entityTime `json:"events"`
	PrimaryKey info         `json:"primaryfilters"`
}

type entityTime struct {
	TS        number `json:"ts"`
	Timestamp number `json:"timestamp"`
	Type      string `json:"eventtype"`
	Type2     string `json:"eventType"`
}

// info holds the values recorded about an entity, each as JSON.
type info map[string]jsontext.Value

func (m info) text(key string) string {
	v := m[key]
	if len(v) == 0 {
		return ""
	}
	if v[0] == '"' {
		var s string
		if json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil {
			return s
		}
	}
	if v[0] == '[' { // a filter: a list of one
		var list []string
		if json.Unmarshal(v, &list) == nil && len(list) > 0 {
			return list[0]
		}
	}
	return string(v)
}

func (m info) int(key string) int64 {
	n, err := strconv.ParseInt(m.text(key), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// number is a whole number, quoted or not.
type number int64

func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"', '0':
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		v, _ := strconv.ParseInt(t.String(), 10, 64)
		*n = number(v)
		return nil
	}
	return dec.SkipValue()
}

// event is an entity in a common form: type of event, time, and values.
type event struct {
	kind string // dag, vertex, task, attempt, app
	id   string
	word string // DAG_FINISHED, TASK_ATTEMPT_STARTED, …; "" in an export, which has only the last state
	time int64  // ms
	info info
	user string
}

func (e *entity) event() event {
	ev := event{id: e.ID, info: e.Info}
	if ev.id == "" {
		ev.id = e.ID2
	}
	if ev.info == nil {
		ev.info = e.Info2
	}
	typ := e.Type
	if typ == "" {
		typ = e.Type2
	}
	ev.kind = kinds[typ]
	ev.user = e.PrimaryKey.text("user")
	if len(e.Events) == 1 {
		t := e.Events[0]
		ev.word = t.Type
		if ev.word == "" {
			ev.word = t.Type2
		}
		if ev.time = int64(t.TS); ev.time == 0 {
			ev.time = int64(t.Timestamp)
		}
	}
	return ev
}

var kinds = map[string]string{
	"TEZ_DAG_ID": "dag", "TEZ_VERTEX_ID": "vertex", "TEZ_TASK_ID": "task", "TEZ_TASK_ATTEMPT_ID": "attempt", "TEZ_APPLICATION": "app",
}

// maxEntity bounds one entity: a DAG plan with large payloads has a few MiB.
const maxEntity = 64 << 20

// json reads entities that are followed by 0x01 and a line break, or an export, which is an object of lists of them.
func (f *fold) json(ctx context.Context, p ingest.Part, r io.Reader) error {
	br := bufio.NewReaderSize(r, 256<<10)
	var at int64
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, size, err := record(br)
		if len(bytes.TrimSpace(text)) > 0 {
			if jerr := f.record(text); jerr != nil {
				f.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at, Reason: jerr.Error(), Sample: string(text[:min(len(text), 256)])})
			}
		}
		at += size
		if err == io.EOF {
			return nil
		}
		if errors.Is(err, errLong) {
			f.out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: at - size, Reason: fmt.Sprintf("an entity of more than %d bytes", maxEntity)})
			continue
		}
		if err != nil {
			return err
		}
		if e := f.flush(false); e != nil {
			return e
		}
	}
}

var errLong = errors.New("record is too long")

// record reads up to the next 0x01, or the end. A record longer than maxEntity is skipped.
func record(br *bufio.Reader) (text []byte, size int64, err error) {
	long := false
	for {
		part, err := br.ReadSlice(1)
		size += int64(len(part))
		if len(text)+len(part) > maxEntity {
			long, text = true, nil
		}
		if !long {
			text = append(text, part...)
		}
		switch {
		case err == nil && long:
			return nil, size, errLong
		case err == nil:
			return text[:len(text)-1], size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if long && err == io.EOF {
				return nil, size, errLong
			}
			return text, size, err
		}
	}
}

// record processes an entity, or an object whose members are entities or lists of them.
func (f *fold) record(text []byte) error {
	options := []json.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
	var e entity
	err := json.Unmarshal(text, &e, json.JoinOptions(options...))
	if err == nil && (e.ID != "" || e.ID2 != "") {
		f.out.Decoded(1)
		f.take(e.event())
		return nil
	}
	var members map[string]jsontext.Value
	if merr := json.Unmarshal(text, &members, json.JoinOptions(options...)); merr != nil {
		return fmt.Errorf("not an entity: %w", merr)
	}
	found := false
	for _, key := range []string{"dag", "dags", "application", "app", "vertices", "tasks", "task_attempts", "taskAttempts", "entities"} {
		v := members[key]
		if len(v) == 0 {
			continue
		}
		list := []entity{{}}
		if v[0] == '[' {
			list = nil
			err = json.Unmarshal(v, &list, json.JoinOptions(options...))
		} else {
			err = json.Unmarshal(v, &list[0], json.JoinOptions(options...))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		found = true
		for i := range list {
			ev := list[i].event()
			ev.word = "" // the last state
			f.out.Decoded(1)
			f.take(ev)
			if err := f.flush(false); err != nil {
				return err
			}
		}
	}
	if !found {
		return errors.New("neither an entity nor a timeline export")
	}
	return nil
}
