package hadoop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// JobHistory returns the format of the history that MapReduce's application master writes (Hadoop 0.23 to 3.x).
func JobHistory() ingest.Format {
	return ingest.Format{
		Name: "jhist",
		Doc:  "Hadoop MapReduce job history (.jhist), Avro-JSON and Avro-Binary, with job_*_conf.xml beside it",
		Detail: `Phases are the maps and the reduces of the job. The bytes of a map are local or remote according to the locality with which it was
scheduled; the remote share of a reduce is estimated from where the maps ran (quality: bytes estimated). Progress comes from
clockSplits (source bucketed). A finished map that is given up ('Too many fetch failures', unusable node) is a loss. If the log
says nothing about speculation, an attempt that started while another one of its task ran is a copy. What a restarted application
master writes again counts once. Fetch wait, deserialization and scheduler delay are not in the log and stay NULL.
Avro-Binary was tested on files re-encoded from real Avro-JSON files; no real binary file was available.`,
		Claim:   claimHistory,
		Sniff:   sniffJobHistory,
		Instead: insteadOfJobHistory,
		Read:    readJobHistory,
	}
}

var jobID = regexp.MustCompile(`^job_\d+_\d+`)

// claimHistory groups a history and the configuration of the same job.
func claimHistory(dir ingest.Dir) []ingest.Group {
	confs := map[string]string{}
	for _, name := range dir.Names {
		if strings.Contains(name, "_conf.xml") {
			if id := jobID.FindString(name); id != "" {
				confs[id] = name
			}
		}
	}
	var groups []ingest.Group
	for _, name := range dir.Names {
		id := jobID.FindString(name)
		if id == "" || !strings.Contains(name, ".jhist") {
			continue
		}
		g := ingest.Group{Base: name, Names: []string{name}}
		if conf, ok := confs[id]; ok {
			g.Names = append(g.Names, conf)
			delete(confs, id)
		}
		groups = append(groups, g)
	}
	return groups
}

func sniffJobHistory(h ingest.Head) ingest.Match {
	b := bytes.TrimPrefix(h.Bytes, byteOrderMark)
	for _, word := range []string{"Avro-Json", "Avro-Binary"} {
		if rest, ok := bytes.CutPrefix(b, []byte(word)); ok && len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') {
			return ingest.Match{Confidence: ingest.Certain, Why: "starts with " + word}
		}
	}
	return ingest.Match{}
}

func insteadOfJobHistory(h ingest.Head) string {
	if !read.ProcessLog(h.Bytes, "MRAppMaster", "mapreduce.v2.app", "mapreduce.Job:", "mapred.JobClient:", "mapred.YarnChild", "mapred.MapTask", "mapred.ReduceTask") {
		return ""
	}
	return "the text log of a MapReduce client, application master or task; give the job's history, the .jhist file below mapreduce.jobhistory.done-dir"
}

var byteOrderMark = []byte("\xef\xbb\xbf")

const (
	maxSchema = 1 << 20  // bytes of the schema line; real ones have 8 KiB
	maxRecord = 16 << 20 // bytes of one event; counters take about 10 KiB
)

func readJobHistory(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	rows := newRows(in.Key, in.Name, "mapreduce")
	j := &job{}
	err := readEvents(ctx, in.Parts[0], out, j)
	for _, p := range in.Parts[1:] {
		j.settings = append(j.settings, confOf(ctx, p, out)...)
	}
	if j.id == "" && j.empty() {
		return err
	}
	rows.add(j)
	return errors.Join(err, rows.emit(out))
}

// confOf reads a configuration; if it cannot be read, only its settings are missing.
func confOf(ctx context.Context, p ingest.Part, out *ingest.Sink) []schema.Setting {
	r, err := p.Open(ctx)
	if err == nil {
		defer r.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(r, maxConf)); err == nil {
			var s []schema.Setting
			if s, err = readConf(b); err == nil {
				return s
			}
		}
	}
	out.Reject(schema.Reject{SourceFile: p.Name, Reason: "configuration is not used: " + err.Error()})
	return nil
}

func readEvents(ctx context.Context, p ingest.Part, out *ingest.Sink, j *job) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	br := bufio.NewReaderSize(r, 16<<10) // for the lines of the header; blocks bypass it
	e := eventReader{part: p, out: out, job: j}
	word, err := e.header(br)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if word == "Avro-Binary" {
		return e.binary(ctx, br)
	}
	return e.json(ctx, struct {
		io.Reader
		io.Closer
	}{br, io.NopCloser(nil)})
}

// eventReader reads the events of a history, and folds them one by one.
type eventReader struct {
	part   ingest.Part
	out    *ingest.Sink
	job    *job
	order  int
	schema *avroType
	start  int64 // offset of the first event
}

// header reads the two lines before the events.
func (e *eventReader) header(br *bufio.Reader) (string, error) {
	word, err := e.line(br, 64)
	if err != nil {
		return "", err
	}
	text, err := e.line(br, maxSchema)
	if err != nil {
		return "", fmt.Errorf("the second line should be the schema: %w", err)
	}
	if word = strings.TrimSpace(strings.TrimPrefix(word, string(byteOrderMark))); word == "Avro-Binary" {
		e.schema, err = parseAvro([]byte(text))
	}
	return word, err
}

func (e *eventReader) line(br *bufio.Reader, limit int) (string, error) {
	var b []byte
	for len(b) <= limit {
		part, err := br.ReadSlice('\n')
		b = append(b, part...)
		if err == nil {
			e.start += int64(len(b))
			return string(b), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
	return "", fmt.Errorf("a header line has more than %d bytes", limit)
}

// json reads events that are one per line, several on a line, or spread over lines.
func (e *eventReader) json(ctx context.Context, r io.ReadCloser) error {
	part := e.part
	part.Open = func(context.Context) (io.ReadCloser, error) { return r, nil }
	p := read.Pipeline[eventBatch]{
		Cut: lastEvent,
		Decoder: func() func(*read.Chunk[eventBatch]) {
			var d eventDecoder
			return func(c *read.Chunk[eventBatch]) {
				c.Line, c.Offset = c.Line+2, c.Offset+e.start
				d.block(&c.Block, &c.Made)
			}
		},
		Fold: func(c *read.Chunk[eventBatch]) error {
			for i := range c.Made.events {
				e.job.apply(&c.Made.events[i], e.order)
				e.order++
			}
			e.out.Decoded(c.Made.decoded)
			for _, r := range c.Made.rejects {
				r.SourceFile = e.part.Name
				e.out.Reject(r)
			}
			return ctx.Err()
		},
	}
	return p.Run(ctx, []ingest.Part{part}, e.out)
}

// lastEvent returns the start of the last event in b that begins a line; everything before it is whole.
func lastEvent(b []byte) int {
	for end := len(b); ; {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 || startsEvent(b[i+1:]) {
			return i + 1
		}
		end = i
	}
}

// binary reads bare datums. There are no sync marks: after an invalid one, no other can be found.
func (e *eventReader) binary(ctx context.Context, br *bufio.Reader) error {
	d := avroDecoder{schema: e.schema}
	var events eventDecoder
	buf := make([]byte, 0, 256<<10)
	at := e.start // of buf
	var end error
	for used := 0; ctx.Err() == nil; {
		var ev event
		text, n, err := d.json(buf[used:])
		if err == nil {
			if events.event(text, &ev); events.pull.Why != "" {
				err = errors.New(events.pull.Why)
			}
		}
		switch {
		case err == nil:
			e.out.Decoded(1)
			e.job.apply(&ev, e.order)
			e.order++
			used += n
			continue
		case end == nil && errors.Is(err, io.ErrUnexpectedEOF) && len(buf)-used < maxRecord: // more of it may follow
			at += int64(used)
			buf, end = refill(br, buf[:copy(buf, buf[used:])])
			used = 0
			continue
		case len(buf) == used && (end == nil || end == io.EOF):
			return nil
		case len(buf) == used:
			return end
		}
		e.out.Reject(schema.Reject{SourceFile: e.part.Name, ByteOffset: at + int64(used), Sample: string(head(buf[used:])),
			Reason: "the event cannot be decoded, and without marks between events nothing after it can: " + err.Error()})
		if end != io.EOF {
			return end
		}
		return nil
	}
	return ctx.Err()
}

// refill appends more data to buf; the error is that of the reader's end.
func refill(r io.Reader, buf []byte) ([]byte, error) {
	if cap(buf)-len(buf) < cap(buf)/2 {
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
	n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
	buf = buf[:len(buf)+n]
	if err == io.ErrUnexpectedEOF && n < cap(buf) {
		// ReadFull returns this at the regular end too; the next read distinguishes them.
		_, err = r.Read(make([]byte, 1))
		if err == nil {
			err = io.ErrNoProgress
		}
	}
	return buf, err
}

func head(b []byte) []byte { return b[:min(len(b), 256)] }
