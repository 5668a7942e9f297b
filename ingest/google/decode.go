package google

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// decoder turns blocks of records into events. Each goroutine has its own.
type decoder struct {
	fields [][]byte
	out    *block
}

// block is the result of decoding a block of lines.
type block struct {
	events   records // by (job, task, time, kind)
	usage    records // by (machine, window, start, end)
	machines []machineEvent
	rejects  []schema.Reject
	decoded  int64
}

// records are for a sorter.
type records struct {
	keys  []extsort.Key
	ends  []int // where the payload of each ends
	arena []byte
}

func (b *block) reset() {
	b.events.reset()
	b.usage.reset()
	b.machines, b.rejects, b.decoded = b.machines[:0], b.rejects[:0], 0
}

func (r *records) reset() { r.keys, r.ends, r.arena = r.keys[:0], r.ends[:0], r.arena[:0] }

// add adds a record whose payload is already at the end of the arena.
func (r *records) add(k extsort.Key) {
	r.keys, r.ends = append(r.keys, k), append(r.ends, len(r.arena))
}

func (r *records) addTo(s *extsort.Sorter) error {
	start := 0
	for i, end := range r.ends {
		if err := s.Add(r.keys[i], r.arena[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// file is what the head of a file reveals about it.
type file struct {
	table   *table   // nil if unknown from its name and its first rows
	columns []string // of a flattened file
	header  bool     // of 2011: the first row is the names of columns
	parquet bool
}

func (f *file) look(head []byte, whole bool) (text bool) {
	if f.parquet = bytes.HasPrefix(head, []byte("PAR1")); f.parquet {
		return false
	}
	for first := true; len(head) > 0; first = false {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole {
			break
		}
		head, line = rest, bytes.TrimSuffix(line, []byte("\r"))
		fields := read.Fields(line, ',', nil)
		if first {
			f.columns = header2019(line)
			f.header = header2011(fields)
		}
		if f.columns != nil || f.table != nil && f.table.csv != nil {
			break
		}
		if len(line) > 0 && line[0] != '{' && !(first && f.header) {
			f.table = shapeOf(fields)
		}
	}
	return true
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := newReader(in, out)
	defer r.close()
	parts, files := make([]ingest.Part, len(in.Parts)), make([]*file, len(in.Parts))
	for i, p := range in.Parts {
		files[i] = &file{table: tableOf(p.Name)}
		parts[i] = read.Peeking(p, files[i].look)
	}
	pipeline := read.Pipeline[block]{
		Decoder: func() func(*read.Chunk[block]) {
			d := new(decoder)
			return func(c *read.Chunk[block]) { d.block(files[c.At], c) }
		},
		Fold: func(c *read.Chunk[block]) error { return r.fold(&c.Made) },
	}
	errs := []error{pipeline.Run(ctx, parts, out)}
	for i, f := range files {
		if f.parquet && ctx.Err() == nil {
			errs = append(errs, r.parquet(ctx, f.table, in.Parts[i]))
		}
	}
	if e := errors.Join(ctx.Err(), r.err, out.Err()); e != nil {
		return e
	}
	return errors.Join(append(errs, r.finish(ctx))...)
}

func (d *decoder) block(f *file, c *read.Chunk[block]) {
	b := &c.Made
	b.reset()
	d.out = b
	for line := range c.Lines() {
		if d.line(f, line) {
			b.decoded++
			continue
		}
		b.rejects = append(b.rejects, read.LineReject(c.Part, line, "the record does not fit a table of the trace; see 'straggler formats google'"))
	}
}

func (d *decoder) line(f *file, line read.Line) bool {
	switch {
	case len(line.Data) == 0:
		return true
	case line.Data[0] == '{':
		return d.jsonLine(f.table, line.Data)
	case line.Number == 1 && (f.columns != nil || f.header):
		return true
	}
	d.fields = read.Fields(line.Data, ',', d.fields[:0])
	if f.columns != nil {
		return d.flat(f.table, f.columns, d.fields)
	}
	t := f.table
	if t == nil || t.csv == nil {
		t = shapeOf(d.fields)
	}
	// task_usage has 19 columns in the first release and 20 since.
	return t != nil && (len(d.fields) == t.columns || t.name == "task_usage" && len(d.fields) == t.columns-1) && t.csv(d, d.fields)
}

// event adds an event to be sorted by (job, task, time, kind). Events of other kinds contribute nothing to rows, but one of
// them may be all that is known of a job.
func (d *decoder) event(e event) {
	if e.kind == other && e.index >= 0 {
		return
	}
	r := &d.out.events
	r.arena = binary.AppendVarint(r.arena, e.machine)
	if e.user != "" || e.name != "" || len(e.after) > 0 {
		r.arena = appendText(appendText(r.arena, e.user), e.name)
		for _, id := range e.after {
			r.arena = binary.AppendVarint(r.arena, id)
		}
	}
	r.add(extsort.Key{e.job, e.index, e.time, int64(e.kind)})
}

func (d *decoder) machine(e machineEvent) {
	e.platform, e.rack = read.Text(e.platform), read.Text(e.rack)
	d.out.machines = append(d.out.machines, e)
}

// use adds a task's use of a machine from start to end; it counts in the window in which it started.
func (d *decoder) use(machine, start, end int64, cpus float64) {
	if math.IsNaN(cpus) || start < 0 {
		return
	}
	r := &d.out.usage
	r.arena = binary.LittleEndian.AppendUint64(r.arena, math.Float64bits(cpus*float64(end-start)))
	r.add(extsort.Key{machine, start / windowUS, start, end})
}
