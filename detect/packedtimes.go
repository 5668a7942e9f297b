package detect

import (
	"encoding/binary"
	"math"
	"slices"
)

// timeWidths are the bytes per row of the columns of a phase. A column of width 0 has one value for all rows, which is stored
// before the columns, as are the least attempt and task, to which the others are relative. Durations of whole microseconds, which
// logs mostly have, take 4 bytes.
type timeWidths struct{ attempt, task, duration, bytes, records, mark uint8 }

// asTask is the width of attempts that are numbered as their tasks are: these are not stored.
const asTask = 1

const (
	timeHead  = 8 + 8 + 1 // the least attempt and task, and the mark
	timeBytes = 41        // largest size of a row, if its phase has several
)

// size returns the bytes that the rows take.
func (p *phaseTimes) size() int {
	w := &p.widths
	row := int(w.task) + int(w.duration) + int(w.bytes) + int(w.records) + int(w.mark)
	if w.attempt != asTask {
		row += int(w.attempt)
	}
	return timeHead + int(p.rows)*row
}

// appendTo appends the rows in the format of the file.
func (t *taskRows) appendTo(b []byte) ([]byte, timeWidths) {
	if t.len() == 0 {
		return append(b, make([]byte, timeHead)...), timeWidths{}
	}
	firstAttempt, attemptWidth := widthOf(t.attempt)
	firstTask, taskWidth := widthOf(t.task)
	w := timeWidths{attemptWidth, taskWidth, secondsWidth(t.duration), wholeWidth(t.bytes), wholeWidth(t.records), 0}
	if attemptWidth == taskWidth && t.numberedAsTasks(firstAttempt-firstTask) {
		w.attempt = asTask
	}
	for _, m := range t.mark {
		if m != t.mark[0] {
			w.mark = 1
			break
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(firstAttempt))
	b = binary.LittleEndian.AppendUint64(b, uint64(firstTask))
	b = append(b, t.mark[0])
	if w.attempt != asTask {
		b = appendNarrow(b, t.attempt, firstAttempt, w.attempt)
	}
	b = appendNarrow(b, t.task, firstTask, w.task)
	b = appendSeconds(b, t.duration, w.duration)
	b = appendWholes(b, t.bytes, w.bytes)
	b = appendWholes(b, t.records, w.records)
	if w.mark > 0 {
		b = append(b, t.mark...)
	}
	return b, w
}

// widthOf returns the least of some integers, and the width in bytes of the others relative to it: 0, 2, 4 or 8.
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

// numberedAsTasks reports whether each attempt has the number of its task and a difference.
func (t *taskRows) numberedAsTasks(difference int64) bool {
	for i, attempt := range t.attempt {
		if attempt-t.task[i] != difference {
			return false
		}
	}
	return true
}

// secondsWidth returns the width in bytes of some durations: 4 if they are whole microseconds under 2^32, or 8.
func secondsWidth(values []float64) uint8 {
	for _, v := range values {
		if !(v*1e6 < math.MaxUint32) || ofMicros(micros(v)) != v {
			return 8
		}
	}
	return 4
}

// micros returns a duration in microseconds, and ofMicros one from that.
func micros(s float64) uint32   { return uint32(float64(s*1e6) + 0.5) }
func ofMicros(t uint32) float64 { return float64(t) / 1e6 }

// wholeWidth returns the width in bytes of some numbers: 0 if none is known, 4 if they are whole and small, or 8.
func wholeWidth(values []float64) uint8 {
	if i := slices.IndexFunc(values, func(v float64) bool { return v != float64(uint32(v)) }); i < 0 {
		return 4
	}
	if slices.ContainsFunc(values, func(v float64) bool { return v == v }) {
		return 8
	}
	return 0
}

func appendNarrow(b []byte, values []int64, from int64, width uint8) []byte {
	b, room := added(b, len(values)*int(width))
	switch width {
	case 2:
		for i, v := range values {
			binary.LittleEndian.PutUint16(room[2*i:], uint16(v-from))
		}
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(room[4*i:], uint32(v-from))
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(room[8*i:], uint64(v-from))
		}
	}
	return b
}

func appendWholes(b []byte, values []float64, width uint8) []byte {
	b, room := added(b, len(values)*int(width))
	switch width {
	case 4:
		for i, v := range values {
			binary.LittleEndian.PutUint32(room[4*i:], uint32(v))
		}
	case 8:
		for i, v := range values {
			binary.LittleEndian.PutUint64(room[8*i:], math.Float64bits(v))
		}
	}
	return b
}

func appendSeconds(b []byte, values []float64, width uint8) []byte {
	if width == 8 {
		return appendWholes(b, values, 8)
	}
	b, room := added(b, len(values)*4)
	for i, v := range values {
		binary.LittleEndian.PutUint32(room[4*i:], micros(v))
	}
	return b
}

// packedTimes are rows in the format of the file, with access to each value.
type packedTimes struct {
	rows           int
	attempt, task  narrowColumn
	duration       secondsColumn
	bytes, records wholeColumn
	marks          []byte // nil: the same for all rows
	same           byte
}

// narrowColumn is integers relative to the least of them.
type narrowColumn struct {
	data  []byte
	from  int64
	width uint8
}

// secondsColumn is durations in 8 bytes each, or whole microseconds in 4.
type secondsColumn struct {
	data  []byte
	width uint8
}

// wholeColumn is numbers in 8 bytes each, whole ones in 4, or unknown ones in none.
type wholeColumn struct {
	data  []byte
	width uint8
}

// readPacked reads rows; they are valid until buf is reused.
func (t *phaseFile) readPacked(of *phaseTimes, buf *[]byte) (packedTimes, error) {
	b, err := t.read(of.at, of.size(), buf)
	if err != nil {
		return packedTimes{}, err
	}
	n, w := int(of.rows), &of.widths
	firstAttempt, firstTask, mark := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), b[16]
	b = b[timeHead:]
	next := func(width uint8) (data []byte) {
		data, b = b[:n*int(width)], b[n*int(width):]
		return data
	}
	p := packedTimes{rows: n, same: mark}
	if w.attempt != asTask {
		p.attempt = narrowColumn{next(w.attempt), firstAttempt, w.attempt}
	}
	p.task = narrowColumn{next(w.task), firstTask, w.task}
	if w.attempt == asTask {
		p.attempt = narrowColumn{p.task.data, firstAttempt, w.task}
	}
	p.duration = secondsColumn{next(w.duration), w.duration}
	p.bytes, p.records = wholeColumn{next(w.bytes), w.bytes}, wholeColumn{next(w.records), w.records}
	if w.mark > 0 {
		p.marks = b
	}
	return p, nil
}

func (p *packedTimes) mark(i int) byte {
	if p.marks == nil {
		return p.same
	}
	return p.marks[i]
}

func (c *narrowColumn) at(i int) int64 {
	switch c.width {
	case 0:
		return c.from
	case 2:
		return c.from + int64(binary.LittleEndian.Uint16(c.data[2*i:]))
	case 4:
		return c.from + int64(binary.LittleEndian.Uint32(c.data[4*i:]))
	}
	return c.from + int64(binary.LittleEndian.Uint64(c.data[8*i:]))
}

func (c *secondsColumn) at(i int) float64 {
	if c.width == 4 {
		return ofMicros(binary.LittleEndian.Uint32(c.data[4*i:]))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.data[8*i:]))
}

func (c *wholeColumn) at(i int) float64 {
	switch c.width {
	case 0:
		return math.NaN()
	case 4:
		return float64(binary.LittleEndian.Uint32(c.data[4*i:]))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(c.data[8*i:]))
}

// readTimes appends rows; buf is reused.
func (t *phaseFile) readTimes(of *phaseTimes, to *taskRows, buf *[]byte) error {
	p, err := t.readPacked(of, buf)
	if err != nil {
		return err
	}
	to.attempt, to.task = p.attempt.appendTo(to.attempt, p.rows), p.task.appendTo(to.task, p.rows)
	to.duration = p.duration.appendTo(to.duration, p.rows)
	to.bytes, to.records = p.bytes.appendTo(to.bytes, p.rows), p.records.appendTo(to.records, p.rows)
	if p.marks != nil {
		to.mark = append(to.mark, p.marks...)
		return nil
	}
	for range p.rows {
		to.mark = append(to.mark, p.same)
	}
	return nil
}

// added makes room for n more values, and returns it.
func added[T any](to []T, n int) (all, room []T) {
	at := len(to)
	to = slices.Grow(to, n)[:at+n]
	return to, to[at:]
}

// appendTo appends the n values.
func (c *narrowColumn) appendTo(to []int64, n int) []int64 {
	to, room := added(to, n)
	for i := range room {
		room[i] = c.at(i)
	}
	return to
}

// appendTo appends the n values.
func (c *secondsColumn) appendTo(to []float64, n int) []float64 {
	to, room := added(to, n)
	for i := range room {
		room[i] = c.at(i)
	}
	return to
}

// appendTo appends the n values.
func (c *wholeColumn) appendTo(to []float64, n int) []float64 {
	to, room := added(to, n)
	for i := range room {
		room[i] = c.at(i)
	}
	return to
}
