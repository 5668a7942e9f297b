package sparklog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// MaxTemplate is the largest log that can be repeated: it is kept in memory.
const MaxTemplate = 512 << 20

// ErrTemplate is wrapped by the errors about a log that can not be repeated.
var ErrTemplate = errors.New("can not be repeated")

// Repeated says what Like wrote.
type Repeated struct {
	Repetitions int64
	Events      int64
	Bytes       int64
}

// Like repeats a Spark event log, decompressed, until the result has at least the given bytes. The result is one
// application: what a log has once (application, environment, executors) it has once, and in each repetition the jobs,
// stages, tasks, RDDs, shuffles and SQL executions have new ids and take place after the repetition before.
func Like(ctx context.Context, w io.Writer, log io.Reader, size int64) (Repeated, error) {
	text, err := io.ReadAll(io.LimitReader(log, MaxTemplate+1))
	if err != nil {
		return Repeated{}, err
	}
	if len(text) > MaxTemplate {
		return Repeated{}, fmt.Errorf("%w: it is larger than %d bytes; take a smaller one", ErrTemplate, MaxTemplate)
	}
	t := newTemplate(text)
	if len(t.again.pieces) == 0 {
		return Repeated{}, fmt.Errorf("%w: it holds no job, stage or task of Spark", ErrTemplate)
	}
	return t.write(ctx, w, size)
}

// id is a kind of number that a repetition changes.
type id int8

const (
	idNone id = iota
	idJob
	idStage
	idTask
	idRDD
	idShuffle
	idExecution
	idTime
	ids
)

// template is a log cut into what is copied and what is counted on.
type template struct {
	first, again, end section
	low, high         [ids]int64 // of the numbers in what is repeated
	seen              [ids]bool
}

type section struct {
	pieces []piece
	tail   []byte // after the last number
	events int64
}

// piece is text, and the number after it.
type piece struct {
	text  []byte
	id    id
	value int64
}

func newTemplate(text []byte) *template {
	t := &template{}
	ended := false
	for len(text) > 0 {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line = text[:i+1]
		}
		text = text[len(line):]
		numbers, event, err := numbersOf(line)
		ended = ended || event == "SparkListenerApplicationEnd"
		switch {
		case err != nil: // a line that nobody can read: a log cut short, or damage
		case ended:
			t.end.add(line, numbers)
		default:
			t.first.add(line, numbers)
			if !once[event] {
				t.again.add(line, numbers)
				t.note(numbers)
			}
		}
	}
	return t
}

// once are the events that a log has once, whatever the application does.
var once = map[string]bool{
	"SparkListenerLogStart": true, "SparkListenerApplicationStart": true, "SparkListenerEnvironmentUpdate": true,
	"SparkListenerResourceProfileAdded": true, "SparkListenerExecutorAdded": true, "SparkListenerExecutorRemoved": true,
	"SparkListenerBlockManagerAdded": true, "SparkListenerBlockManagerRemoved": true,
}

type number struct {
	start, end int
	id         id
	value      int64
}

// numbersOf finds the numbers of a line that repetitions change, and the name of its event.
func numbersOf(line []byte) (found []number, event string, err error) {
	byIndex := bytes.Contains(line, []byte(`"Map Index"`)) // since Spark 3.0 the map's id is that of its attempt
	err = walk(bytes.TrimRight(line, "\r\n"), func(keys [][]byte, start, end int) {
		if len(keys) == 1 && string(keys[0]) == "Event" {
			event = string(line[start:end])
			return
		}
		kind := kindOf(keys, byIndex)
		if kind == idNone {
			return
		}
		v, err := strconv.ParseInt(string(line[start:end]), 10, 64)
		if err != nil || v < 0 || v > math.MaxInt64/4 || kind == idTime && v == 0 { // 0 stands for no time
			return
		}
		found = append(found, number{start, end, kind, v})
	})
	return found, event, err
}

// kindOf says what a number or string with these keys around it is.
func kindOf(keys [][]byte, byIndex bool) id {
	if len(keys) == 0 {
		return idNone
	}
	switch string(keys[len(keys)-1]) {
	case "Job ID":
		return idJob
	case "Stage ID", "Stage IDs", "stageId":
		return idStage
	case "Task ID":
		return idTask
	case "RDD ID":
		return idRDD
	case "Shuffle ID":
		return idShuffle
	case "Map ID":
		if byIndex {
			return idTask
		}
	case "Parent IDs":
		if len(keys) > 1 && string(keys[len(keys)-2]) == "RDD Info" {
			return idRDD
		}
		return idStage
	case "executionId", "rootExecutionId", "spark.sql.execution.id", "spark.sql.execution.root.id":
		return idExecution
	case "Timestamp", "Submission Time", "Completion Time", "Launch Time", "Finish Time", "Getting Result Time", "time":
		return idTime
	}
	return idNone
}

// add puts a line at the end of a section.
func (s *section) add(line []byte, numbers []number) {
	at := 0
	for _, n := range numbers {
		s.pieces = append(s.pieces, piece{text: join(s.tail, line[at:n.start]), id: n.id, value: n.value})
		s.tail = nil
		at = n.end
	}
	s.tail = join(s.tail, line[at:])
	if line[len(line)-1] != '\n' {
		s.tail = join(s.tail, []byte("\n"))
	}
	s.events++
}

// join gives both texts as one, without copying where they lie side by side.
func join(a, b []byte) []byte {
	if len(a) == 0 {
		return b
	}
	if len(b) > 0 && cap(a) > len(a) && &a[:len(a)+1][len(a)] == &b[0] {
		return a[:len(a)+len(b)]
	}
	return append(a[:len(a):len(a)], b...)
}

func (t *template) note(numbers []number) {
	for _, n := range numbers {
		if !t.seen[n.id] || n.value < t.low[n.id] {
			t.low[n.id] = n.value
		}
		if !t.seen[n.id] || n.value > t.high[n.id] {
			t.high[n.id] = n.value
		}
		t.seen[n.id] = true
	}
}

// steps is how far each kind of number moves from one repetition to the next.
func (t *template) steps() [ids]int64 {
	var steps [ids]int64
	for k := range steps {
		steps[k] = t.high[k] - min(t.low[k], 0) + 1
	}
	steps[idTime] = t.high[idTime] - t.low[idTime] + 1000
	return steps
}

func (t *template) write(ctx context.Context, w io.Writer, size int64) (Repeated, error) {
	var r Repeated
	const block = 1 << 20
	buf := make([]byte, 0, block+64<<10)
	var shift [ids]int64
	steps := t.steps()
	flush := func(least int) error {
		if len(buf) < least || len(buf) == 0 {
			return nil
		}
		n, err := w.Write(buf)
		r.Bytes += int64(n)
		buf = buf[:0]
		if err == nil {
			err = ctx.Err()
		}
		return err
	}
	copySection := func(s *section) error {
		for i := range s.pieces {
			p := &s.pieces[i]
			buf = append(buf, p.text...)
			buf = strconv.AppendInt(buf, p.value+shift[p.id], 10)
			if len(buf) >= block {
				if err := flush(block); err != nil {
					return err
				}
			}
		}
		buf = append(buf, s.tail...)
		r.Events += s.events
		return flush(block)
	}
	for s := &t.first; ; s = &t.again {
		if err := copySection(s); err != nil {
			return r, err
		}
		r.Repetitions++
		if r.Bytes+int64(len(buf)) >= size {
			break
		}
		for k := range shift {
			if shift[k] += steps[k]; shift[k] > math.MaxInt64/4 {
				return r, fmt.Errorf("%w: ids run over after %d repetitions; take a larger log", ErrTemplate, r.Repetitions)
			}
		}
	}
	if err := copySection(&t.end); err != nil {
		return r, err
	}
	return r, flush(0)
}
