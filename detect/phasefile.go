package detect

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"straggler/schema"
	"straggler/tempfile"
)

// What is computed while attempts are read and needed once all have been is stored in a file, phase by phase: the attempts that
// a rule calls slow, which are written in the order of phases; and, for each attempt, the columns needed by the rule that
// compares tasks with their own history, since the executions of a stage are spread over the whole store. Nothing of the store
// is read a second time, and memory holds a few phases, or a stage or two.

// phaseFile is that file, created on first use.
type phaseFile struct {
	mu   sync.Mutex
	file *os.File
	end  int64
}

// close frees the file.
func (t *phaseFile) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// append writes the data of some phases and returns their location.
func (t *phaseFile) append(b []byte) (at int64, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	if at, err = t.place(len(b)); err != nil {
		return 0, fmt.Errorf("a file for the times of tasks: %w", err)
	}
	if _, err := t.file.WriteAt(b, at); err != nil {
		return 0, fmt.Errorf("the times of tasks go to %s, which takes up to %d bytes an attempt; set TMPDIR to a directory that has room: %w",
			t.file.Name(), timeBytes+slowerThanUsual*slowBytes, err)
	}
	return at, nil
}

// place reserves n bytes at the end.
func (t *phaseFile) place(n int) (at int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		if t.file, err = tempfile.File("", "tasks"); err != nil {
			return 0, err
		}
	}
	at = t.end
	t.end += int64(n)
	return at, nil
}

// read reads bytes of it into reused memory.
func (t *phaseFile) read(at int64, n int, buf *[]byte) ([]byte, error) {
	*buf = slices.Grow((*buf)[:0], n)[:n]
	if _, err := t.file.ReadAt(*buf, at); err != nil {
		return nil, fmt.Errorf("the times of tasks in %s: %w", t.file.Name(), err)
	}
	return *buf, nil
}

// slowBytes is the largest size of a slow attempt: the rule, the ratio, the excess and the id.
const slowBytes = 25

// slowAgain is added to the rule of an attempt that is slow by another rule too, with the same excess: these are not repeated.
const slowAgain = 0x80

// appendSlow appends the slow attempts of a phase in the format of the file.
func appendSlow(b []byte, slow []slowAttempt) []byte {
	for i := range slow {
		rule, excess := slow[i].rule, math.Float64bits(slow[i].excess)
		again := i > 0 && slow[i].id == slow[i-1].id && excess == math.Float64bits(slow[i-1].excess)
		if again {
			rule |= slowAgain
		}
		b = binary.LittleEndian.AppendUint64(append(b, rule), math.Float64bits(slow[i].ratio))
		if !again {
			b = binary.LittleEndian.AppendUint64(b, excess)
			b = binary.LittleEndian.AppendUint64(b, uint64(slow[i].id))
		}
	}
	return b
}

// readSlow appends the slow attempts of a phase.
func (t *phaseFile) readSlow(of *scannedPhase, to []slowAttempt, buf *[]byte) ([]slowAttempt, error) {
	b, err := t.read(of.times.at-of.slow, int(of.slow), buf)
	var a slowAttempt
	for len(b) > 0 {
		rule := b[0]
		a.rule, a.ratio, b = rule&^slowAgain, math.Float64frombits(binary.LittleEndian.Uint64(b[1:])), b[9:]
		if rule&slowAgain == 0 {
			a.excess, a.id, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), schema.Key(binary.LittleEndian.Uint64(b[8:])), b[16:]
		}
		to = append(to, a)
	}
	return to, err
}

// phaseTimes locates the rows of a phase in the file.
type phaseTimes struct {
	at       int64
	longestS float64 // of those that may be slow compared with others
	rows     uint32
	widths   timeWidths
}

// scannedOf returns the phase of an execution, or nil if it is not of the part or none of its attempts were read.
func (p *part) scannedOf(e *stageExecution) *scannedPhase {
	if e.phase < 0 || p.scanned[e.phase].attempts == 0 {
		return nil
	}
	return &p.scanned[e.phase]
}

// Marks of a row.
const (
	timeSucceeded = 1 << iota
	timeRecompute
	timeNoPartition
)

// taskRows are attempts that tasks are compared with, or that may be slow compared with others, column by column; NaN is an
// unknown number.
type taskRows struct {
	attempt, task            []int64
	duration, bytes, records []float64
	mark                     []byte
}

func (t *taskRows) len() int { return len(t.duration) }

// reset discards the rows, but keeps the memory.
func (t *taskRows) reset() {
	t.attempt, t.task = t.attempt[:0], t.task[:0]
	t.duration, t.bytes, t.records, t.mark = t.duration[:0], t.bytes[:0], t.records[:0], t.mark[:0]
}

// grow makes room for n more rows without attempt and mark.
func (t *taskRows) grow(n int) {
	t.task, t.duration = slices.Grow(t.task, n), slices.Grow(t.duration, n)
	t.bytes, t.records = slices.Grow(t.bytes, n), slices.Grow(t.records, n)
}

// longest returns the duration of the longest attempt that may be slow compared with others, or 0.
func (t *taskRows) longest() (s float64) {
	for i, d := range t.duration {
		if t.mark[i]&timeRecompute == 0 {
			s = max(s, d)
		}
	}
	return s
}

// ofAttempts returns the attempts of a phase that may be such rows: the columns of the attempts themselves if all are, else
// rows, which are reused, as are the marks.
func (t *taskRows) ofAttempts(a *attempts) taskRows {
	t.reset()
	all := true
	for i, flags := range a.flags {
		all = all && flags&(succeeded|killed) != 0 && schema.IsDuration(a.duration[i])
	}
	if all {
		t.mark = slices.Grow(t.mark, a.len())[:a.len()]
		for i, flags := range a.flags {
			t.mark[i] = marks[flags]
		}
		return taskRows{attempt: a.id, task: a.task, duration: a.duration, bytes: a.bytes, records: a.records, mark: t.mark}
	}
	for i, flags := range a.flags {
		if flags&(succeeded|killed) == 0 || !schema.IsDuration(a.duration[i]) {
			continue
		}
		t.attempt, t.task = append(t.attempt, a.id[i]), append(t.task, a.task[i])
		t.duration, t.bytes = append(t.duration, a.duration[i]), append(t.bytes, a.bytes[i])
		t.records, t.mark = append(t.records, a.records[i]), append(t.mark, marks[flags])
	}
	return *t
}

// marks has the marks of attempts by their flags. As in candidates.sql, attempts that may recompute are not compared.
var marks = func() (of [256]byte) {
	for flags := range of {
		for _, m := range [...]struct{ flags, mark int }{{succeeded, timeSucceeded}, {recompute | recomputeUnknown, timeRecompute}, {noPartition, timeNoPartition}} {
			if flags&m.flags != 0 {
				of[flags] |= byte(m.mark)
			}
		}
	}
	return of
}()
