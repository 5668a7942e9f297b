package detect

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
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

// phaseTimes are the rows of a phase in the file.
type phaseTimes struct {
	at       int64
	rows     int
	longestS float64 // of those that may be slow against others
}

// timeBytes are those of a row: attempt, task, duration, input in bytes and in records, and a mark. The rows of a phase lie column by column.
const timeBytes = 41

// Marks of a row.
const (
	timeSucceeded = 1 << iota
	timeRecompute
	timeNoPartition
)

// taskRows are attempts that tasks are compared with, or that may be slow against others, column by column; NaN is an unknown number.
type taskRows struct {
	attempt, task            []int64
	duration, bytes, records []float64
	mark                     []byte
}

func (t *taskRows) len() int { return len(t.duration) }

// reset forgets the rows, and keeps the memory.
func (t *taskRows) reset() {
	t.attempt, t.task = t.attempt[:0], t.task[:0]
	t.duration, t.bytes, t.records, t.mark = t.duration[:0], t.bytes[:0], t.records[:0], t.mark[:0]
}

// grow makes room for n more rows without attempt and mark.
func (t *taskRows) grow(n int) {
	t.task, t.duration = slices.Grow(t.task, n), slices.Grow(t.duration, n)
	t.bytes, t.records = slices.Grow(t.bytes, n), slices.Grow(t.records, n)
}

// longest is the duration of the longest attempt that may be slow against others, or 0.
func (t *taskRows) longest() (s float64) {
	for i, d := range t.duration {
		if t.mark[i]&timeRecompute == 0 {
			s = max(s, d)
		}
	}
	return s
}

// addAttempts appends those of the attempts of a phase that may be such.
func (t *taskRows) addAttempts(a *attempts) {
	for i, flags := range a.flags {
		if flags&(succeeded|killed) == 0 || !inRange(a.duration[i]) {
			continue
		}
		var mark byte
		if flags&succeeded != 0 {
			mark |= timeSucceeded
		}
		if flags&(recompute|recomputeUnknown) != 0 {
			mark |= timeRecompute // as in candidates.sql, what may recompute is not compared
		}
		if flags&noPartition != 0 {
			mark |= timeNoPartition
		}
		t.attempt, t.task = append(t.attempt, a.id[i]), append(t.task, a.task[i])
		t.duration, t.bytes = append(t.duration, a.duration[i]), append(t.bytes, a.bytes[i])
		t.records, t.mark = append(t.records, a.records[i]), append(t.mark, mark)
	}
}

// appendTo appends the rows as they are in the file.
func (t *taskRows) appendTo(b []byte) []byte {
	for _, column := range [...][]int64{t.attempt, t.task} {
		for _, v := range column {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	for _, column := range [...][]float64{t.duration, t.bytes, t.records} {
		for _, v := range column {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return append(b, t.mark...)
}

// read appends the rows of a phase; buf is used again.
func (t *taskTimes) read(of phaseTimes, buf *[]byte, to *taskRows) error {
	n := of.rows
	*buf = slices.Grow((*buf)[:0], n*timeBytes)[:n*timeBytes]
	if _, err := t.file.ReadAt(*buf, of.at); err != nil {
		return fmt.Errorf("the times of tasks in %s: %w", t.file.Name(), err)
	}
	b := *buf
	for _, column := range [...]*[]int64{&to.attempt, &to.task} {
		for i := range n {
			*column = append(*column, int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
		b = b[8*n:]
	}
	for _, column := range [...]*[]float64{&to.duration, &to.bytes, &to.records} {
		for i := range n {
			*column = append(*column, math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
		b = b[8*n:]
	}
	to.mark = append(to.mark, b...)
	return nil
}
