package alibaba

import (
	"bytes"
	"context"
	"errors"
	"path"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// decoder turns blocks of lines into rows. Each goroutine has its own.
type decoder struct {
	input  schema.Key
	app    schema.Key
	text   read.Interner
	fields [][]byte
	line   int64  // in the file
	names  []byte // native ids of the block's attempts, concatenated
	out    *block

	job, task          []byte // names whose keys these are: the rows of a task are mostly adjacent
	jobHash, phaseHash schema.Key
}

// block is the result of decoding a block of lines.
type block struct {
	rows    schema.Trace
	ends    []int        // where the name of each attempt ends; equal to the previous end if it has none
	windows []window     // of the tasks that rows name, in the order of the rows
	plans   []plannedRow // of task and job tables
	defects map[string]int64
	lines   int64
	decoded int64
}

// plannedRow is a record for the sorter.
type plannedRow struct {
	key     extsort.Key
	payload []byte
}

func (b *block) reset() {
	b.rows.Reset()
	b.ends, b.windows, b.plans = b.ends[:0], b.windows[:0], b.plans[:0]
	b.lines, b.decoded = 0, 0
	if b.defects == nil {
		b.defects = map[string]int64{}
	}
	clear(b.defects)
}

// file is what the head of a file reveals about it.
type file struct {
	named string // the table that the file is named after
	table *table // nil if its first rows fit none
}

// look finds the table from the first row that has its shape.
func (f *file) look(head []byte, whole bool) bool {
	var fields [][]byte
	for len(head) > 0 && f.table == nil {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && !whole {
			break
		}
		head = rest
		if fields = split(line, fields[:0]); len(line) > 0 && !header(fields) {
			f.table = tableOf(f.named, fields)
		}
	}
	return true
}

// tableOf finds the table of a row.
func (f *file) tableOf(fields [][]byte) *table {
	if f.table != nil {
		return f.table
	}
	if t := tableOf(f.named, fields); t != nil {
		return t
	}
	return tableLike(f.named, fields)
}

// blockBytes is small because a row is seven times as large as its text.
const blockBytes = 128 << 10

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := newReader(in, out)
	defer r.close()
	parts, files := make([]ingest.Part, len(in.Parts)), make([]*file, len(in.Parts))
	for i, p := range in.Parts {
		files[i] = newFile(p)
		parts[i] = read.Peeking(p, files[i].look)
	}
	pipeline := read.Pipeline[block]{
		Decoder: func() func(*read.Chunk[block]) {
			d := &decoder{input: in.Key, app: r.app}
			return func(c *read.Chunk[block]) { d.block(files[c.At], c) }
		},
		Fold:  r.fold,
		Bytes: blockBytes,
	}
	err := pipeline.Run(ctx, parts, out)
	if e := errors.Join(ctx.Err(), r.err, out.Err()); e != nil {
		return e
	}
	return errors.Join(err, r.finish(ctx))
}

func newFile(p ingest.Part) *file {
	f := new(file)
	for i := range tables {
		if name := tables[i].name; startsAny(path.Base(p.Name), []string{name}) {
			f.named = name
		}
	}
	return f
}

func (d *decoder) block(f *file, c *read.Chunk[block]) {
	b := &c.Made
	b.reset()
	d.out, d.names = b, d.names[:0]
	for line := range c.Lines() {
		b.lines++
		d.line = line.Number
		if d.fields = split(line.Data, d.fields[:0]); len(line.Data) == 0 || d.line == 1 && header(d.fields) {
			b.decoded++
			continue
		}
		if t := f.tableOf(d.fields); t == nil || len(d.fields) != t.columns || !t.row(d, d.fields) {
			b.rows.Rejects = append(b.rows.Rejects, read.LineReject(c.Part, line, "the row does not fit a table of the trace; see 'straggler formats alibaba'"))
			continue
		}
		b.decoded++
	}
	all, start := string(d.names), 0 // one allocation for all of them
	for i, end := range b.ends {
		b.rows.Attempts[i].NativeID, start = read.Text(all[start:end]), end
	}
}

func (d *decoder) jobKey(job []byte) schema.Key {
	if !bytes.Equal(job, d.job) || d.jobHash == 0 {
		d.job, d.jobHash = append(d.job[:0], job...), schema.HashKey(d.input, "jobs", job)
		d.phaseHash = 0
	}
	return d.jobHash
}

func (d *decoder) phaseKey(job, task []byte) schema.Key {
	if d.jobKey(job); !bytes.Equal(task, d.task) || d.phaseHash == 0 {
		d.task, d.phaseHash = append(d.task[:0], task...), schema.HashKey(d.input, "phases", job, task)
	}
	return d.phaseHash
}

func (d *decoder) nullText(b []byte) schema.Null[string] {
	if len(b) == 0 {
		return schema.Null[string]{}
	}
	return schema.Some(d.text.Text(b))
}
