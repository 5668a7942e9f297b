package detect

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"straggler/schema"
)

// What is found when attempts are read and needed when all have been lies in a file, phase by phase: the attempts that a rule
// calls slow, which are written in the order of phases; and of each attempt what the rule needs that compares tasks with their
// own history, since the executions of a stage lie all over the store. Nothing of the store is read a second time, and in
// memory are a few phases, or a stage or two.

// phaseFile is that file, which is there once something is put into it.
type phaseFile struct {
	mu   sync.Mutex
	file *os.File
	end  int64
}

// close removes the file.
func (t *phaseFile) close() {
	if t.file != nil {
		t.file.Close()
		os.Remove(t.file.Name())
	}
}

// append writes what is known of some phases and says where.
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

// place makes room for n bytes at the end.
func (t *phaseFile) place(n int) (at int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		if t.file, err = os.CreateTemp("", "straggler-tasks-"); err != nil {
			return 0, err
		}
	}
	at = t.end
	t.end += int64(n)
	return at, nil
}

// read gives bytes of it in memory that is used again.
func (t *phaseFile) read(at int64, n int, buf *[]byte) ([]byte, error) {
	*buf = slices.Grow((*buf)[:0], n)[:n]
	if _, err := t.file.ReadAt(*buf, at); err != nil {
		return nil, fmt.Errorf("the times of tasks in %s: %w", t.file.Name(), err)
	}
	return *buf, nil
}

// slowBytes are those of a slow attempt: id, ratio and excess, each in a column, and the rule.
const slowBytes = 25

// appendSlow appends the slow attempts of a phase as they are in the file.
func appendSlow(b []byte, slow []slowAttempt) []byte {
	for i := range slow {
		b = binary.LittleEndian.AppendUint64(b, uint64(slow[i].id))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(slow[i].ratio))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(slow[i].excess))
		b = append(b, slow[i].rule)
	}
	return b
}

// readSlow appends the slow attempts of a phase.
func (t *phaseFile) readSlow(of *scannedPhase, to []slowAttempt, buf *[]byte) ([]slowAttempt, error) {
	n := slowBytes * int(of.slow)
	b, err := t.read(of.times.at-int64(n), n, buf)
	for ; len(b) > 0; b = b[slowBytes:] {
		to = append(to, slowAttempt{schema.Key(binary.LittleEndian.Uint64(b)), math.Float64frombits(binary.LittleEndian.Uint64(b[8:])),
			math.Float64frombits(binary.LittleEndian.Uint64(b[16:])), b[24]})
	}
	return to, err
}

// phaseTimes are the rows of a phase in the file.
type phaseTimes struct {
	at       int64
	longestS float64 // of those that may be slow against others
	rows     uint32
	widths   timeWidths
}

// scannedOf is a phase of the part, or nil where none of its attempts were read.
func (p *part) scannedOf(phase schema.Key) *scannedPhase {
	i, found := findScanned(p.scanned, phase)
	if !found || p.scanned[i].attempts == 0 {
		return nil
	}
	return &p.scanned[i]
}

// timeWidths are how many bytes of each row the columns of a phase take, but for the duration, which takes 8. A column of 0 has
// one value for all rows, which stands before the columns, as do the least attempt and task, from which the others are counted.
type timeWidths struct{ attempt, task, bytes, records, mark uint8 }

const (
	timeHead  = 8 + 8 + 1 // of the least attempt and task, and the mark
	timeBytes = 41        // that a row takes at most, where its phase has several
)

// size is how many bytes the rows take.
func (p *phaseTimes) size() int {
	w := &p.widths
	return timeHead + int(p.rows)*(8+int(w.attempt)+int(w.task)+int(w.bytes)+int(w.records)+int(w.mark))
}

// Marks of a row.
const (
	timeSucceeded = 1 << iota
	timeRecompute
	timeNoPartition
)

// taskRows are attempts that tasks are compared with, or that may be slow against others, column by column; NaN is an unknown
// number.
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
		if flags&(succeeded|killed) == 0 || !schema.IsDuration(a.duration[i]) {
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
func (t *taskRows) appendTo(b []byte) ([]byte, timeWidths) {
	if t.len() == 0 {
		return append(b, make([]byte, timeHead)...), timeWidths{}
	}
	firstAttempt, attemptWidth := widthOf(t.attempt)
	firstTask, taskWidth := widthOf(t.task)
	w := timeWidths{attemptWidth, taskWidth, wholeWidth(t.bytes), wholeWidth(t.records), 0}
	for _, m := range t.mark {
		if m != t.mark[0] {
			w.mark = 1
			break
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(firstAttempt))
	b = binary.LittleEndian.AppendUint64(b, uint64(firstTask))
	b = append(b, t.mark[0])
	b = appendNarrow(b, t.attempt, firstAttempt, w.attempt)
	b = appendNarrow(b, t.task, firstTask, w.task)
	b = appendWide(b, t.duration)
	b = appendWholes(b, t.bytes, w.bytes)
	b = appendWholes(b, t.records, w.records)
	if w.mark > 0 {
		b = append(b, t.mark...)
	}
	return b, w
}

// widthOf is the least of some integers, and how many bytes the others take that are counted from it: 0, 2, 4 or 8.
func widthOf(values []int64) (least int64, width uint8) {
	least, most := values[0], values[0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	switch above := uint64(most) - uint64(least); {
	case above == 0:
		return least, 0
	case above < 1<<16:
		return least, 2
	case above < 1<<32:
		return least, 4
	}
	return least, 8
}

// wholeWidth is how many bytes some numbers take: 0 where none is known, 4 where they are whole and small, or 8.
func wholeWidth(values []float64) uint8 {
	unknown, small := 0, 0
	for _, v := range values {
		switch {
		case v != v:
			unknown++
		case v >= 0 && v < 1<<32 && v == float64(uint32(v)):
			small++
		}
	}
	switch len(values) {
	case unknown:
		return 0
	case small:
		return 4
	}
	return 8
}

func appendNarrow(b []byte, values []int64, from int64, width uint8) []byte {
	for _, v := range values {
		switch above := uint64(v) - uint64(from); width {
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(above))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(above))
		case 8:
			b = binary.LittleEndian.AppendUint64(b, above)
		}
	}
	return b
}

func appendWide(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func appendWholes(b []byte, values []float64, width uint8) []byte {
	switch width {
	case 4:
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	case 8:
		b = appendWide(b, values)
	}
	return b
}

// readTimes appends rows; buf is used again.
func (t *phaseFile) readTimes(of *phaseTimes, to *taskRows, buf *[]byte) error {
	b, err := t.read(of.at, of.size(), buf)
	if err != nil {
		return err
	}
	n, w := int(of.rows), &of.widths
	firstAttempt, firstTask, mark := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), b[16]
	b = b[timeHead:]
	to.attempt, b = readNarrow(to.attempt, b, n, firstAttempt, w.attempt)
	to.task, b = readNarrow(to.task, b, n, firstTask, w.task)
	to.duration, b = readWide(to.duration, b, n)
	to.bytes, b = readWholes(to.bytes, b, n, w.bytes)
	to.records, b = readWholes(to.records, b, n, w.records)
	if w.mark > 0 {
		to.mark = append(to.mark, b...)
		return nil
	}
	for range n {
		to.mark = append(to.mark, mark)
	}
	return nil
}

// added makes room for n more values, and gives it.
func added[T any](to []T, n int) (all, room []T) {
	at := len(to)
	to = slices.Grow(to, n)[:at+n]
	return to, to[at:]
}

func readNarrow(to []int64, b []byte, n int, from int64, width uint8) ([]int64, []byte) {
	to, room := added(to, n)
	switch width {
	case 0:
		for i := range room {
			room[i] = from
		}
	case 2:
		for i := range room {
			room[i] = from + int64(binary.LittleEndian.Uint16(b[2*i:]))
		}
	case 4:
		for i := range room {
			room[i] = from + int64(binary.LittleEndian.Uint32(b[4*i:]))
		}
	default:
		for i := range room {
			room[i] = from + int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
	return to, b[n*int(width):]
}

func readWide(to []float64, b []byte, n int) ([]float64, []byte) {
	to, room := added(to, n)
	for i := range room {
		room[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return to, b[8*n:]
}

func readWholes(to []float64, b []byte, n int, width uint8) ([]float64, []byte) {
	switch width {
	case 8:
		return readWide(to, b, n)
	case 4:
		to, room := added(to, n)
		for i := range room {
			room[i] = float64(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return to, b[4*n:]
	}
	to, room := added(to, n)
	for i := range room {
		room[i] = math.NaN()
	}
	return to, b
}
