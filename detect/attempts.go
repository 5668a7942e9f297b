package detect

import (
	"math"

	"straggler/engine"
)

// Flags of an attempt.
const (
	succeeded = 1 << iota
	killed
	running
	recompute
	cpuKnown
	waitKnown
	noPartition      // the number of its task is not that of a partition
	recomputeUnknown // unknown whether it recomputes
)

// noTime is a time that is not in the log.
const noTime = math.MinInt64

// attempts holds rows column by column. NaN is an unknown number; a duration that is not a number counts as unknown too.
type attempts struct {
	phase, id, application, task, start, finish []int64
	number                                      []int32
	duration, bytes, remote, records, cpu, wait []float64
	flags                                       []uint8
	input                                       []int64 // of a block of a file with rows that are not part of the table
}

func (a *attempts) len() int { return len(a.phase) }

// slice returns the rows from to to.
func (a *attempts) slice(from, to int) attempts {
	return attempts{
		phase: a.phase[from:to], id: a.id[from:to], application: a.application[from:to], task: a.task[from:to], start: a.start[from:to], finish: a.finish[from:to],
		number: a.number[from:to], duration: a.duration[from:to], bytes: a.bytes[from:to], remote: a.remote[from:to], records: a.records[from:to],
		cpu: a.cpu[from:to], wait: a.wait[from:to], flags: a.flags[from:to]}
}

// reset discards the rows, but keeps the memory.
func (a *attempts) reset() { *a = a.slice(0, 0) }

// grow makes room for n rows.
func (a *attempts) grow(n int) {
	*a = attempts{
		phase: make([]int64, 0, n), id: make([]int64, 0, n), application: make([]int64, 0, n), task: make([]int64, 0, n), start: make([]int64, 0, n),
		finish: make([]int64, 0, n), number: make([]int32, 0, n), duration: make([]float64, 0, n), bytes: make([]float64, 0, n), remote: make([]float64, 0, n),
		records: make([]float64, 0, n), cpu: make([]float64, 0, n), wait: make([]float64, 0, n), flags: make([]uint8, 0, n)}
}

// add appends rows.
func (a *attempts) add(rows attempts) {
	a.phase, a.id, a.application = append(a.phase, rows.phase...), append(a.id, rows.id...), append(a.application, rows.application...)
	a.task, a.start, a.finish = append(a.task, rows.task...), append(a.start, rows.start...), append(a.finish, rows.finish...)
	a.number, a.duration, a.bytes = append(a.number, rows.number...), append(a.duration, rows.duration...), append(a.bytes, rows.bytes...)
	a.remote, a.records = append(a.remote, rows.remote...), append(a.records, rows.records...)
	a.cpu, a.wait, a.flags = append(a.cpu, rows.cpu...), append(a.wait, rows.wait...), append(a.flags, rows.flags...)
}

// run returns the end of the rows from a row on that have its phase, and its input if inputs were read.
func (a *attempts) run(from int) (to int) {
	phase := a.phase[from]
	for to = from + 1; to < len(a.phase) && a.phase[to] == phase; to++ {
		if len(a.input) > 0 && a.input[to] != a.input[from] {
			break
		}
	}
	return to
}

// resize makes room for n rows, whose values are arbitrary.
func (a *attempts) resize(n int) {
	if cap(a.phase) < n {
		a.grow(n)
	}
	*a = attempts{
		phase: a.phase[:n], id: a.id[:n], application: a.application[:n], task: a.task[:n], start: a.start[:n], finish: a.finish[:n],
		number: a.number[:n], duration: a.duration[:n], bytes: a.bytes[:n], remote: a.remote[:n], records: a.records[:n],
		cpu: a.cpu[:n], wait: a.wait[:n], flags: a.flags[:n], input: a.input}
}

// mark adds a flag to rows.
func (a *attempts) mark(which []bool, flag uint8) {
	for i, yes := range which {
		if yes {
			a.flags[i] |= flag
		}
	}
}

// appendKnown appends values, and the given substitute for unknown ones.
func appendKnown[T any](to, values []T, v *engine.Vector, n int, unknown T) []T {
	at := len(to)
	to = append(to, values[:n]...)
	if v.Valid != nil {
		for i := range n {
			if v.Null(i) {
				to[at+i] = unknown
			}
		}
	}
	return to
}

// appendWhole appends integers as doubles, which all later computations use.
func appendWhole(to []float64, v *engine.Vector, n int) []float64 {
	for _, x := range v.Int64s[:n] {
		to = append(to, float64(x))
	}
	if v.Valid != nil {
		for i := range n {
			if v.Null(i) {
				to[len(to)-n+i] = math.NaN()
			}
		}
	}
	return to
}
