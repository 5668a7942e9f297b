package generate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// number is what a number in a log counts, which determines by how much a repetition shifts it.
type number int

const (
	jobID number = iota
	stageID
	taskID
	rddID
	shuffleID
	executionID
	instant // ms
	taskIndex
	taskCount
	numbers // number of kinds
)

// keys are the keys of a Spark event log whose values are such numbers, or lists of them.
var keys = []struct {
	key string
	is  number
}{
	{"Job ID", jobID}, {"Stage ID", stageID}, {"Stage IDs", stageID}, {"Task ID", taskID}, {"Map ID", taskID}, {"RDD ID", rddID},
	{"Parent IDs", rddID}, {"Shuffle ID", shuffleID}, {"executionId", executionID}, {"spark.sql.execution.id", executionID},
	{"spark.sql.execution.root.id", executionID}, {"rootExecutionId", executionID}, {"Submission Time", instant}, {"Completion Time", instant},
	{"Launch Time", instant}, {"Finish Time", instant}, {"Getting Result Time", instant}, {"Timestamp", instant}, {"time", instant},
	{"Index", taskIndex}, {"Partition ID", taskIndex}, {"Number of Tasks", taskCount},
}

// patch is a number in a line.
type patch struct {
	start, end int // of its digits
	is         number
	value      int64
}

// line is a line of the log and the numbers in it.
type line struct {
	text    []byte // with its line break
	event   string
	patches []patch
}

// template is a parsed log: what occurs once before and after the repetitions, and what is repeated.
type template struct {
	head, body, tail []line
	span             [numbers]int64 // one more than the largest number minus the smallest
	bytes            int64          // of body
}

// maxTemplate bounds the repeated log, which is held in memory.
const maxTemplate = 1 << 30

var (
	// ErrNoTasks is returned when a log has nothing to repeat.
	ErrNoTasks = errors.New("the log has no task that ended: there is nothing to repeat")
	// ErrTooLarge is returned when a log is over 1 GiB.
	ErrTooLarge = errors.New("the log to repeat is larger than 1 GiB; take a smaller one")
)

// once lists events that belong to the application rather than to its work.
var once = map[string]bool{
	"SparkListenerLogStart": true, "SparkListenerApplicationStart": true, "SparkListenerEnvironmentUpdate": true,
	"SparkListenerResourceProfileAdded": true, "SparkListenerBlockManagerAdded": true, "SparkListenerExecutorAdded": true,
	"DBCEventLoggingListenerMetadata": true,
}

// last lists events that end the application.
var last = map[string]bool{
	"SparkListenerApplicationEnd": true, "SparkListenerExecutorRemoved": true, "SparkListenerBlockManagerRemoved": true,
}

// readTemplate reads a decompressed event log.
func readTemplate(r io.Reader) (*template, error) {
	t := &template{}
	var low, high [numbers]int64
	var seen [numbers]bool
	br := bufio.NewReaderSize(r, 1<<20)
	size, ends := 0, 0
	for {
		text, err := br.ReadBytes('\n')
		if size += len(text); size > maxTemplate {
			return nil, ErrTooLarge
		}
		if err == io.EOF { // a last line without its line break may be truncated
			break
		}
		if err != nil {
			return nil, err
		}
		l := line{text: text, event: eventOf(text)}
		switch {
		case once[l.event]:
			t.head = append(t.head, l)
			continue
		case last[l.event]:
			l.patches = patches(text)
			t.tail = append(t.tail, l)
		default:
			l.patches = patches(text)
			t.body = append(t.body, l)
			t.bytes += int64(len(text))
		}
		if l.event == "SparkListenerTaskEnd" {
			ends++
		}
		for _, p := range l.patches {
			if !seen[p.is] || p.value < low[p.is] {
				low[p.is] = p.value
			}
			if !seen[p.is] || p.value > high[p.is] {
				high[p.is] = p.value
			}
			seen[p.is] = true
		}
	}
	if ends == 0 {
		return nil, ErrNoTasks
	}
	for i := range t.span {
		t.span[i] = high[i] - low[i] + 1
	}
	t.span[instant] += 1000 // a second between two repetitions
	t.span[taskIndex], t.span[taskCount] = 0, 0
	return t, nil
}

// eventOf returns the name of a line's event.
func eventOf(text []byte) string {
	_, rest, ok := bytes.Cut(text[:min(len(text), 300)], []byte(`"Event":`))
	if !ok {
		return ""
	}
	_, rest, _ = bytes.Cut(rest, []byte(`"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}

// patches finds the numbers of a line.
func patches(text []byte) []patch {
	var ps []patch
	for at := 0; ; {
		q := bytes.IndexByte(text[at:], '"')
		if q < 0 {
			return ps
		}
		start := at + q + 1
		end := endOfString(text, start)
		if end < 0 {
			return ps
		}
		at = end + 1
		colon := skipSpace(text, at)
		if colon >= len(text) || text[colon] != ':' {
			continue
		}
		if is, ok := numberOf(text[start:end]); ok {
			ps = values(text, skipSpace(text, colon+1), is, ps)
		}
	}
}

func numberOf(key []byte) (number, bool) {
	for i := range keys {
		if string(key) == keys[i].key {
			return keys[i].is, true
		}
	}
	return 0, false
}

func endOfString(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at
		}
		at++
	}
	return -1
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// values adds a number, a quoted one, or a list of them. 0 means no time, and negative numbers mean unknown.
func values(text []byte, at int, is number, ps []patch) []patch {
	if at >= len(text) {
		return ps
	}
	first := len(ps)
	switch c := text[at]; {
	case c == '[':
		for at++; at < len(text) && text[at] != ']'; at++ {
			if text[at] >= '0' && text[at] <= '9' {
				before := len(ps)
				if ps = values(text, at, is, ps); len(ps) == before {
					return ps[:first] // not a valid number
				}
				at = ps[len(ps)-1].end - 1
			} else if text[at] != ',' && text[at] != ' ' {
				return ps[:first]
			}
		}
		// A stage's parents are stages; an RDD's are RDDs and precede its storage level.
		if is == rddID && bytes.HasPrefix(text[min(at+1, len(text)):], []byte(`,"Details"`)) || is == rddID &&
			bytes.HasPrefix(text[min(at+1, len(text)):], []byte(`, "Details"`)) {
			for i := first; i < len(ps); i++ {
				ps[i].is = stageID
			}
		}
		return ps
	case c == '"':
		at++
	}
	end := at
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[at:end]), 10, 64)
	if err != nil || is == instant && n == 0 {
		return ps
	}
	return append(ps, patch{at, end, is, n})
}

// appendTo appends the line with its numbers shifted.
func (l *line) appendTo(dst []byte, move *[numbers]int64) []byte {
	at := 0
	for _, p := range l.patches {
		if move[p.is] == 0 {
			continue
		}
		dst = append(dst, l.text[at:p.start]...)
		dst = strconv.AppendInt(dst, p.value+move[p.is], 10)
		at = p.end
	}
	return append(dst, l.text[at:]...)
}

func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// first returns the first number of a kind in a line, -1 if it has none.
func first(l *line, is number) int64 {
	for _, p := range l.patches {
		if p.is == is {
			return p.value
		}
	}
	return -1
}

func index(l *line) int64 { return first(l, taskIndex) }

func has(l *line, is number, value int64) bool {
	for _, p := range l.patches {
		if p.is == is && p.value == value {
			return true
		}
	}
	return false
}
