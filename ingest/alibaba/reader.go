package alibaba

import (
	"slices"
	"strconv"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// reader holds state across the files of a trace: partial sums of tasks, which spill to disk.
type reader struct {
	in       *ingest.Input
	out      *ingest.Sink
	app      schema.Key
	attempts *schema.Keys
	at       int   // the current file
	before   int64 // lines of the files before it
	lines    int64 // of it, as far as read
	err      error

	sums     map[taskID]*window
	sorter   *extsort.Sorter
	defects  map[string]int64
	machines map[string]bool
	trace    schema.Trace // of finish
}

// taskID identifies a task by its keys.
type taskID struct{ job, phase schema.Key }

// window aggregates the instances of a task read so far.
type window struct {
	id          taskID
	job, task   string // names
	first, last int64  // µs; -1 unknown
	count       int64
}

const (
	maxSums   = 200_000  // tasks whose windows are held before they spill
	sortBytes = 64 << 20 // of a chunk in memory
	flushRows = 4096
)

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	return &reader{
		in: in, out: out, app: schema.NewKeys(in.Key, "applications").Nth(0), attempts: schema.NewKeys(in.Key, "attempts"),
		sums: map[taskID]*window{}, sorter: extsort.New("", sortBytes), defects: map[string]int64{}, machines: map[string]bool{},
	}
}

func (r *reader) close() { r.sorter.Close() }

// fold processes a decoded block, in the order of the files.
func (r *reader) fold(c *read.Chunk[block]) error {
	b := &c.Made
	if c.At != r.at {
		r.at, r.before, r.lines = c.At, r.before+r.lines, 0
	}
	r.lines = c.Line - 1 + b.lines
	for i := range b.rows.Attempts {
		row := &b.rows.Attempts[i]
		if row.AttemptID = r.attempts.Next(); row.NativeID == "" {
			row.Task += r.before
			row.NativeID = "row " + strconv.FormatInt(row.Task, 10)
		}
	}
	b.rows.Machines = slices.DeleteFunc(b.rows.Machines, func(m schema.Machine) bool { return !r.first(m.Machine) })
	for i := range b.windows {
		r.widen(&b.windows[i])
	}
	for _, p := range b.plans {
		r.add(p.key, p.payload)
	}
	for code, n := range b.defects {
		r.defects[code] += n
	}
	r.out.Decoded(b.decoded)
	for _, reject := range b.rows.Rejects {
		r.out.Reject(reject)
	}
	if r.err != nil {
		return r.err
	}
	return ingest.EmitTrace(r.out, &b.rows)
}

// maxMachines bounds the machines remembered; a trace has a few thousand.
const maxMachines = 1_000_000

// first reports whether a machine was not seen before; later rows are other states of it.
func (r *reader) first(machine string) bool {
	if r.machines[machine] {
		return false
	}
	if len(r.machines) < maxMachines {
		r.machines[machine] = true
	}
	return true
}

// widen merges a block's window of a task into the known one.
func (r *reader) widen(w *window) {
	sum := r.sums[w.id]
	if sum == nil {
		if len(r.sums) >= maxSums {
			r.spill()
		}
		sum = new(window)
		*sum = *w
		r.sums[w.id] = sum
		return
	}
	sum.count += w.count
	if w.first >= 0 && (sum.first < 0 || w.first < sum.first) {
		sum.first = w.first
	}
	sum.last = max(sum.last, w.last)
}

// spill moves the windows to the sorter, which does not depend on their order.
func (r *reader) spill() {
	var payload []byte
	for id, w := range r.sums {
		p := planned{job: w.job, task: w.task, instances: w.count, start: w.first, end: w.last}
		payload = p.append(payload[:0])
		r.add(extsort.Key{id.job, id.phase, kindWindow}, payload)
	}
	clear(r.sums)
}

func (r *reader) add(k extsort.Key, payload []byte) {
	if err := r.sorter.Add(k, payload); err != nil && r.err == nil {
		r.err = err
	}
}

// flush sends on the rows that finish makes.
func (r *reader) flush(all bool) error {
	if r.err != nil {
		return r.err
	}
	if t := &r.trace; !all && len(t.Phases) < flushRows && len(t.Jobs) < flushRows && len(t.Attempts) < flushRows {
		return nil
	}
	err := ingest.EmitTrace(r.out, &r.trace)
	r.trace.Reset()
	return err
}
