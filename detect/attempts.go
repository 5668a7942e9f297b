package detect

import (
	"math"

	"straggler/engine"
	"straggler/schema"
)

// attemptsSQL reads the columns of attempts that the statistics, the rules and the history of stages need. It computes nothing
// but comparisons: a single CASE over the status takes DuckDB as long as reading five columns.
const attemptsSQL = "SELECT phase_id, attempt_id, application_id, task, number, start_time, finish_time, duration_s," +
	" input_bytes, remote_bytes, input_records, cpu_s, fetch_wait_s, quality," +
	" status = 'success' AS succeeded, status = 'killed' AS killed, status = 'running' AS running, recompute FROM "

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

// attempts are some rows, column by column. NaN is an unknown number; a duration that is not a number counts as unknown too.
type attempts struct {
	phase, id, application, task, start, finish []int64
	number                                      []int32
	duration, bytes, remote, records, cpu, wait []float64
	flags                                       []uint8
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

// read appends a batch of attemptsSQL.
func (a *attempts) read(b *engine.Batch) {
	c := b.Columns
	a.phase = append(a.phase, c[0].Int64s[:b.Len]...)
	a.id = append(a.id, c[1].Int64s[:b.Len]...)
	a.application = append(a.application, c[2].Int64s[:b.Len]...)
	a.task = append(a.task, c[3].Int64s[:b.Len]...)
	a.number = append(a.number, c[4].Int32s[:b.Len]...)
	a.start = appendKnown(a.start, c[5].Int64s, &c[5], b.Len, noTime)
	a.finish = appendKnown(a.finish, c[6].Int64s, &c[6], b.Len, noTime)
	a.duration = appendKnown(a.duration, c[7].Float64s, &c[7], b.Len, math.NaN())
	a.bytes = appendWhole(a.bytes, &c[8], b.Len)
	a.remote = appendWhole(a.remote, &c[9], b.Len)
	a.records = appendWhole(a.records, &c[10], b.Len)
	a.cpu = appendKnown(a.cpu, c[11].Float64s, &c[11], b.Len, math.NaN())
	a.wait = appendKnown(a.wait, c[12].Float64s, &c[12], b.Len, math.NaN())
	at := len(a.flags)
	a.flags = append(a.flags, make([]uint8, b.Len)...)
	flags := a.flags[at:]
	setFlag(flags, &c[11], cpuKnown)
	setFlag(flags, &c[12], waitKnown)
	for i, q := range c[13].Int64s[:b.Len] {
		if !c[13].Null(i) && q&int64(schema.TaskUnknown) != 0 {
			flags[i] |= noPartition
		}
	}
	for k, flag := range [...]uint8{succeeded, killed, running, recompute} {
		is := &c[14+k]
		for i, yes := range is.Bools[:b.Len] {
			switch {
			case !is.Null(i) && yes:
				flags[i] |= flag
			case is.Null(i) && flag == recompute:
				flags[i] |= recomputeUnknown
			}
		}
	}
}

func setFlag(flags []uint8, known *engine.Vector, flag uint8) {
	if known.Valid == nil {
		for i := range flags {
			flags[i] |= flag
		}
		return
	}
	for i := range flags {
		if !known.Null(i) {
			flags[i] |= flag
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
