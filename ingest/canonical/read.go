package canonical

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// headBytes is how much of a file is read to identify its table; a header is shorter.
const headBytes = 256 << 10

var errNoTable = errors.New("neither the file's name nor its columns are those of a table; see 'straggler schema'")

// part reads a file in any of the three encodings.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	f, err := p.Open(ctx)
	if err != nil {
		return err
	}
	br := bufio.NewReaderSize(f, headBytes)
	head, err := br.Peek(headBytes)
	if err != nil && len(head) == 0 {
		f.Close()
		if err == io.EOF {
			return nil
		}
		return err
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return errors.Join(f.Close(), r.parquet(ctx, p))
	}
	t, err := r.textFile(p, head)
	if err != nil {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		read.RejectLine(r.out, p, read.Line{Data: line, Number: 1}, err.Error())
		return errors.Join(fmt.Errorf("%s: %w", p.Name, err), f.Close())
	}
	if _, err := br.Discard(t.used); err != nil {
		return errors.Join(err, f.Close())
	}
	r.out.Decoded(t.records)
	// The rest is read from the same reader, because it counts the bytes.
	p.Open = func(context.Context) (io.ReadCloser, error) {
		return struct {
			io.Reader
			io.Closer
		}{br, f}, nil
	}
	return t.read(ctx, r, p)
}

// textFile is what is known about a CSV or JSON lines file from its head.
type textFile struct {
	table     *schema.Table
	columns   []string // of CSV; nil of JSON lines
	delimiter byte
	used      int   // bytes of the head that hold no row
	lines     int64 // in them
	records   int64 // in them
}

func (r *reader) textFile(p ingest.Part, head []byte) (t textFile, err error) {
	t.table = tableNamed(p.Name)
	rest := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \r\n\t")
	t.used = len(head) - len(rest)
	if len(rest) > 0 && rest[0] == '{' {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if t.table == nil {
			t.table = tableFitting(jsonKeys(line))
		}
	} else {
		var end int
		t.columns, t.delimiter, end = header(rest)
		if t.table == nil {
			t.table = tableFitting(t.columns)
		}
		t.used += end
		t.records = 1
	}
	t.lines = int64(bytes.Count(head[:t.used], []byte("\n")))
	if t.table == nil || t.columns != nil && known(t.table, t.columns) == 0 {
		return t, errNoTable
	}
	return t, nil
}

func (t *textFile) read(ctx context.Context, r *reader, p ingest.Part) error {
	whole := newFiler(t.table, t.columns, t.delimiter)
	for _, name := range whole.unknown {
		r.skip(t.table.Name, name)
	}
	pipeline := read.Pipeline[batch]{
		Decoder: func() func(*read.Chunk[batch]) {
			f := newFiler(t.table, t.columns, t.delimiter)
			return func(c *read.Chunk[batch]) {
				c.Line, c.Offset = c.Line+t.lines, c.Offset+int64(t.used)
				f.block(&c.Block, &c.Made)
			}
		},
		Fold: func(c *read.Chunk[batch]) error {
			if err := r.fold(whole, p.Name, &c.Made); err != nil {
				return err
			}
			return ctx.Err()
		},
	}
	if t.table.Name == "attempts" {
		pipeline.Bytes = 128 << 10 // a row is several times as large as its text
	}
	if t.columns != nil {
		pipeline.Cut = func(b []byte) int { return lastRecord(b, t.delimiter) }
	}
	return pipeline.Run(ctx, []ingest.Part{p}, r.out)
}

// block decodes the records of a block.
func (f *filer) block(b *read.Block, out *batch) {
	out.reset(f.table)
	if f.delimiter == 0 {
		for line := range b.Lines() {
			f.record(line.Data, line.Number, line.Offset, out)
		}
		return
	}
	if bytes.IndexByte(b.Data, '"') < 0 { // each line is a record
		for line := range b.Lines() {
			if line.Cut {
				line.Data = trimCR(line.Data)
			}
			f.record(line.Data, line.Number, line.Offset, out)
		}
		return
	}
	number := b.Line
	for rest := b.Data; len(rest) > 0; {
		record, next := cutRecord(rest, f.delimiter)
		if next < 0 { // never closed: the line alone is bad
			next = min(bytes.IndexByte(rest, '\n')+1, len(rest))
			if next <= 0 {
				next = len(rest)
			}
		}
		f.record(record, number, b.Offset+int64(len(b.Data)-len(rest)), out)
		number += int64(bytes.Count(rest[:next], []byte("\n")))
		rest = rest[next:]
	}
}

func (f *filer) record(text []byte, line, offset int64, out *batch) {
	if len(trimmed(text)) == 0 {
		out.decoded++
		return
	}
	var err error
	if f.delimiter == 0 {
		err = f.json(text, out)
	} else {
		err = f.csv(text, out)
	}
	if err != nil {
		out.rejects = append(out.rejects,
			schema.Reject{Line: schema.Some(line), ByteOffset: offset, Reason: err.Error(), Sample: string(text[:min(len(text), 200)])})
		return
	}
	out.where = append(out.where, position{line, offset})
	out.n++
}
