package detect

import (
	"context"
	"math"
	"slices"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/store/parquet"
)

// attemptReader reads the columns of one row group after another that the statistics, the rules and the history of stages need.
type attemptReader struct {
	phase, id, application, task, quality storedColumn[int64]
	start, finish, bytes, remote, records storedColumn[int64]
	number                                storedColumn[int32]
	duration, cpu, wait                   storedColumn[float64]
	status                                storedColumn[uint8]
	recompute                             storedColumn[bool]
	input                                 storedColumn[int64]

	attempts attempts
	integers []int64
	truths   []bool
	known    []bool
}

func newAttemptReader() *attemptReader {
	return &attemptReader{
		phase: numbers[int64]("phase_id"), id: numbers[int64]("attempt_id"), application: numbers[int64]("application_id"),
		task: numbers[int64]("task"), quality: numbers[int64]("quality"), start: numbers[int64]("start_time"), finish: numbers[int64]("finish_time"),
		bytes: numbers[int64]("input_bytes"), remote: numbers[int64]("remote_bytes"), records: numbers[int64]("input_records"),
		number: numbers[int32]("number"), duration: numbers[float64]("duration_s"), cpu: numbers[float64]("cpu_s"), wait: numbers[float64]("fetch_wait_s"),
		status:    storedColumn[uint8]{name: "status", column: parquet.Texts("status", flagOfStatus)},
		recompute: numbers[bool]("recompute"), input: numbers[int64](store.InputColumn)}
}

func flagOfStatus(status []byte) uint8 {
	switch schema.AttemptStatus(status) {
	case schema.Success:
		return succeeded
	case schema.Killed:
		return killed
	case schema.Running:
		return running
	}
	return 0
}

// storedColumn is a column that a file may lack: then it is NULL.
type storedColumn[T any] struct {
	name   string
	column *parquet.Column[T]
	has    bool
}

func numbers[T bool | int32 | int64 | float64](name string) storedColumn[T] {
	return storedColumn[T]{name: name, column: parquet.Numbers[T](name)}
}

func (c *storedColumn[T]) open(g *attemptGroup) error {
	c.has = c.name == store.InputColumn || slices.ContainsFunc(g.slice.Columns, func(have string) bool { return strings.HasPrefix(have, c.name+" ") })
	if !c.has {
		return nil
	}
	return c.column.Open(&g.RowGroup)
}

// read reads the values of the next rows into out, with unknown in the places of NULLs. known, unless it is nil, receives which
// are not NULL.
func (c *storedColumn[T]) read(out []T, unknown T, known []bool) error {
	if c.has {
		return c.column.Read(out, unknown, known)
	}
	for i := range out {
		out[i] = unknown
	}
	clear(known)
	return nil
}

// read passes on the attempts of a row group, in order, some at a time, in memory that is reused.
func (r *attemptReader) read(ctx context.Context, g *attemptGroup, atOnce int, emit func(*attempts) error) error {
	for _, c := range []interface{ open(*attemptGroup) error }{&r.phase, &r.id, &r.application, &r.task, &r.quality, &r.start, &r.finish,
		&r.bytes, &r.remote, &r.records, &r.number, &r.duration, &r.cpu, &r.wait, &r.status, &r.recompute, &r.input} {
		if err := c.open(g); err != nil {
			return g.damaged(err)
		}
	}
	for left := g.Rows(); left > 0; left -= atOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.next(min(left, atOnce), g.restricted()); err != nil {
			return g.damaged(err)
		}
		if err := emit(&r.attempts); err != nil {
			return err
		}
	}
	return nil
}

// next reads n attempts, and their inputs if only some are part of the table.
func (r *attemptReader) next(n int, inputs bool) error {
	a := &r.attempts
	a.resize(n)
	r.integers, r.truths, r.known = engine.Resized(r.integers, n), engine.Resized(r.truths, n), engine.Resized(r.known, n)
	var failed error
	try := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	try(r.phase.read(a.phase, 0, nil))
	try(r.id.read(a.id, 0, nil))
	try(r.application.read(a.application, 0, nil))
	try(r.task.read(a.task, 0, nil))
	try(r.number.read(a.number, 0, nil))
	try(r.start.read(a.start, noTime, nil))
	try(r.finish.read(a.finish, noTime, nil))
	try(r.duration.read(a.duration, math.NaN(), nil))
	try(r.status.read(a.flags, 0, nil))
	for _, c := range [...]struct {
		from *storedColumn[int64]
		to   []float64
	}{{&r.bytes, a.bytes}, {&r.remote, a.remote}, {&r.records, a.records}} {
		try(c.from.read(r.integers, 0, r.known))
		for i, v := range r.integers { // as doubles, which all later computations use
			c.to[i] = float64(v)
			if !r.known[i] {
				c.to[i] = math.NaN()
			}
		}
	}
	try(r.cpu.read(a.cpu, math.NaN(), r.known))
	a.mark(r.known, cpuKnown)
	try(r.wait.read(a.wait, math.NaN(), r.known))
	a.mark(r.known, waitKnown)
	try(r.recompute.read(r.truths, false, r.known))
	a.mark(r.truths, recompute)
	for i, known := range r.known {
		if !known {
			a.flags[i] |= recomputeUnknown
		}
	}
	try(r.quality.read(r.integers, 0, nil))
	for i, q := range r.integers {
		if q&int64(schema.TaskUnknown) != 0 {
			a.flags[i] |= noPartition
		}
	}
	a.input = a.input[:0]
	if inputs {
		a.input = engine.Resized(a.input, n)
		try(r.input.read(a.input, 0, nil))
	}
	return failed
}
