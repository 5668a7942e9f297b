package detect

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync"
)

// The attempts of a stage's executions lie all over the store, and the rule that compares tasks with their own history wants them together. What it
// needs of each attempt is kept in a file, phase by phase, when the attempts are read: nothing of the store is read a second time, and nothing is in
// memory but a stage or two.

// taskTimes is that file.
type taskTimes struct {
	file *os.File
	mu   sync.Mutex
	end  int64
}

func newTaskTimes() (*taskTimes, error) {
	f, err := os.CreateTemp("", "straggler-tasks-")
	if err != nil {
		return nil, fmt.Errorf("a file for the times of tasks: %w", err)
	}
	return &taskTimes{file: f}, nil
}

// close removes the file.
func (t *taskTimes) close() {
	t.file.Close()
	os.Remove(t.file.Name())
}

// append writes the times of some phases and says where.
func (t *taskTimes) append(b []byte) (at int64, err error) {
	t.mu.Lock()
	at = t.end
	t.end += int64(len(b))
	t.mu.Unlock()
	if _, err := t.file.WriteAt(b, at); err != nil {
		return 0, fmt.Errorf("the times of tasks go to %s, which takes 41 bytes an attempt; set TMPDIR to a directory that has room: %w", t.file.Name(), err)
	}
	return at, nil
}

// timeBytes are those of a row: attempt, task, duration, input in bytes and in records, and a mark.
const timeBytes = 41

// Marks of a row.
const (
	timeSucceeded = 1 << iota
	timeRecompute
	timeNoPartition
)

// appendTaskTimes appends the rows of the attempts of a phase that tasks are compared with, or that may be slow against others.
func appendTaskTimes(b []byte, a *attempts) (_ []byte, rows int64) {
	for i, flags := range a.flags {
		if flags&(succeeded|killed) == 0 || !inRange(a.duration[i]) {
			continue
		}
		var mark byte
		if flags&succeeded != 0 {
			mark |= timeSucceeded
		}
		if flags&recompute != 0 {
			mark |= timeRecompute
		}
		if flags&noPartition != 0 {
			mark |= timeNoPartition
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(a.id[i]))
		b = binary.LittleEndian.AppendUint64(b, uint64(a.task[i]))
		for _, v := range [...]float64{a.duration[i], a.bytes[i], a.records[i]} {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		b = append(b, mark)
		rows++
	}
	return b, rows
}

// timeRow is a row.
type timeRow struct {
	attempt, task            int64
	duration, bytes, records float64
	mark                     byte
}

// read gives rows of a phase; buf is used again.
func (t *taskTimes) read(at, rows int64, buf *[]byte, yield func(timeRow)) error {
	if n := int(rows * timeBytes); cap(*buf) < n {
		*buf = make([]byte, n)
	} else {
		*buf = (*buf)[:n]
	}
	if _, err := t.file.ReadAt((*buf)[:rows*timeBytes], at); err != nil {
		return fmt.Errorf("the times of tasks in %s: %w", t.file.Name(), err)
	}
	word := func(i int64) uint64 { return binary.LittleEndian.Uint64((*buf)[i:]) }
	number := func(i int64) float64 { return math.Float64frombits(word(i)) }
	for i := int64(0); i < rows*timeBytes; i += timeBytes {
		yield(timeRow{int64(word(i)), int64(word(i + 8)), number(i + 16), number(i + 24), number(i + 32), (*buf)[i+40]})
	}
	return nil
}
