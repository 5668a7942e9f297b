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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/schema"
)

// JobHistory is the history that MapReduce's application master writes (Hadoop 0.23 to 3.x).
func JobHistory() ingest.Format {
	return ingest.Format{
		Name: "jhist",
		Doc:  "Hadoop MapReduce job history (.jhist), Avro-JSON and Avro-Binary, with job_*_conf.xml beside it",
		Detail: `Phases are the maps and the reduces of the job. A map's bytes are local or remote by the locality it was scheduled
with; a reduce's remote share is estimated from where the maps wrote (quality: bytes estimated). Progress comes from
clockSplits (source bucketed). A finished map that is given up ('Too many fetch failures', unusable node) is a loss.
Fetch wait, deserialisation and scheduler delay are not in the log and stay NULL.
Avro-Binary was tried on files re-encoded from real Avro-JSON ones; no real binary file was available.`,
		Claim: claimHistory,
		Sniff: sniffJobHistory,
		Read:  readJobHistory,
	}
}

var jobID = regexp.MustCompile(`^job_\d+_\d+`)

// claimHistory puts a history and the configuration of the same job together.
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
	for _, word := range []string{"Avro-Json", "Avro-Binary"} {
		if rest, ok := bytes.CutPrefix(h.Bytes, []byte(word)); ok && len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') {
			return ingest.Match{Sure: 3, Why: "starts with " + word}
		}
	}
	return ingest.Match{}
}

const (
	maxSchema = 1 << 20  // bytes of the schema line; real ones have 8 KiB
	maxRecord = 16 << 20 // bytes of one event; counters make some 10 KiB
)

func readJobHistory(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	rows := newRows(in.Key, in.Name, "mapreduce")
	j := &job{}
	err := readEvents(ctx, in.Parts[0], out, j)
	for _, p := range in.Parts[1:] {
		j.settings = append(j.settings, confOf(ctx, p, out)...)
	}
	if j.id == "" && len(j.tasks) == 0 {
		return err
	}
	rows.add(j)
	return errors.Join(err, rows.emit(out))
}

// confOf reads a configuration; one that can not be read costs its settings and no more.
func confOf(ctx context.Context, p ingest.Part, out *ingest.Sink) []schema.Setting {
	r, err := p.Open(ctx)
	if err == nil {
		defer r.Close()
		var s []schema.Setting
		if s, err = readConf(io.LimitReader(r, 64<<20)); err == nil {
			return s
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
	br := bufio.NewReaderSize(r, 256<<10)
	e := eventReader{part: p.Name, out: out, job: j}
	word, err := e.header(br)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	if word == "Avro-Binary" {
		return e.binary(ctx, br)
	}
	return e.json(ctx, br)
}

type eventReader struct {
	part   string
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
	if word = strings.TrimSpace(word); word == "Avro-Binary" {
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

// json reads events that stand one a line, several on a line, or spread over lines.
func (e *eventReader) json(ctx context.Context, br *bufio.Reader) error {
	var pending []byte // the start of an event that goes on in the next line
	var at ingest.Line
	lines := ingest.NewLines(br, e.part, e.out)
	for line := range lines.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		line.Number, line.Offset = line.Number+2, line.Offset+e.start
		text := line.Data
		if len(pending) > 0 {
			if startsEvent(text) { // the one before was cut
				e.reject(at, pending, io.ErrUnexpectedEOF)
				pending = pending[:0]
			} else {
				pending = append(append(pending, '\n'), text...)
				text = pending
			}
		}
		if len(pending) == 0 {
			at = ingest.Line{Number: line.Number, Offset: line.Offset}
		}
		rest, err := e.values(text)
		switch {
		case err == nil:
			pending = pending[:0]
		case errors.Is(err, io.ErrUnexpectedEOF) && len(rest) <= maxRecord:
			pending = append(pending[:0:0], rest...)
		default:
			e.reject(at, rest, err)
			pending = pending[:0]
		}
	}
	if len(pending) > 0 {
		e.reject(at, pending, io.ErrUnexpectedEOF)
	}
	return lines.Err()
}

func startsEvent(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte(`{"type":`))
}

// values applies the events in text and gives back what follows the last whole one.
func (e *eventReader) values(text []byte) (rest []byte, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for {
		done := dec.InputOffset()
		var ev event
		switch err := json.UnmarshalDecode(dec, &ev); {
		case err == io.EOF:
			return nil, nil
		case err != nil:
			return text[done:], err
		}
		e.take(&ev)
	}
}

func (e *eventReader) take(ev *event) {
	e.out.Decoded(1)
	e.job.apply(ev, e.order)
	e.order++
}

// binary reads bare datums. There are no sync marks: after one that does not fit, nothing more can be told apart.
func (e *eventReader) binary(ctx context.Context, br *bufio.Reader) error {
	count := &countingReader{br: br, n: e.start}
	var buf []byte
	for ctx.Err() == nil {
		at := count.n
		var err error
		buf, err = e.schema.appendJSON(buf[:0], count)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			_, err = e.values(buf)
		}
		if err != nil {
			e.out.Reject(schema.Reject{SourceFile: e.part, ByteOffset: at, Sample: string(buf),
				Reason: "the event can not be decoded, and without marks between events nothing after it can: " + err.Error()})
			if errors.Is(err, errAvroDatum) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
	}
	return ctx.Err()
}

func (e *eventReader) reject(at ingest.Line, text []byte, err error) {
	reason := "the event is not valid JSON: " + err.Error()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		reason = "the event is cut; the application master may have died while writing it"
	}
	e.out.Reject(schema.Reject{SourceFile: e.part, Line: schema.Some(at.Number), ByteOffset: at.Offset, Reason: reason, Sample: string(head(text))})
}

type countingReader struct {
	br *bufio.Reader
	n  int64
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.br.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.br.Read(p)
	c.n += int64(n)
	return n, err
}
