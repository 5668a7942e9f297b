package hadoop

import (
	"bytes"

	"straggler/ingest/read"
	"straggler/ingest/read/pull"
	"straggler/schema"
)

// eventBatch is the contents of a block of a history in Avro-JSON.
type eventBatch struct {
	events  []event
	decoded int64
	rejects []schema.Reject
}

// eventDecoder decodes blocks. It is used by one goroutine.
type eventDecoder struct {
	pull     pull.Puller
	names    read.Interner
	counters counterNames
	pending  []byte // the start of an event that continues on the next line
}

func (d *eventDecoder) block(b *read.Block, out *eventBatch) {
	clear(out.events) // they reference strings
	out.events, out.rejects, out.decoded = out.events[:0], out.rejects[:0], 0
	d.pending = d.pending[:0]
	var at read.Line
	for line := range b.Lines() {
		text := line.Data
		if len(d.pending) > 0 {
			if startsEvent(text) { // the previous one was cut off
				out.reject(at, d.pending, cutEvent)
				d.pending = d.pending[:0]
			} else {
				d.pending = append(append(d.pending, '\n'), text...)
				text = d.pending
			}
		}
		if len(d.pending) == 0 {
			at = read.Line{Number: line.Number, Offset: line.Offset}
		}
		rest, why := d.values(text, out)
		switch {
		case why == "":
			d.pending = d.pending[:0]
		case d.pull.Short && len(rest) <= maxRecord:
			d.pending = append(d.pending[:0:0], rest...)
		default:
			out.reject(at, rest, "the event is not valid JSON: "+why)
			d.pending = d.pending[:0]
		}
	}
	if len(d.pending) > 0 {
		out.reject(at, d.pending, cutEvent)
	}
}

const cutEvent = "the event is cut; the application master may have died while writing it"

func (out *eventBatch) reject(at read.Line, text []byte, reason string) {
	out.rejects = append(out.rejects, schema.Reject{Line: schema.Some(at.Number), ByteOffset: at.Offset, Reason: reason, Sample: string(head(text))})
}

func startsEvent(text []byte) bool {
	text, ok := bytes.CutPrefix(bytes.TrimLeft(text[:min(len(text), 64)], " \t"), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte(`"type"`))
}

// values decodes the events in text and returns what follows the last whole one, and why that is not an event.
func (d *eventDecoder) values(text []byte, out *eventBatch) (rest []byte, why string) {
	for {
		if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 {
			return nil, ""
		}
		if text[0] != '{' {
			return text, "it is not an object"
		}
		out.events = append(out.events, event{})
		e := &out.events[len(out.events)-1]
		d.event(text, e)
		if d.pull.Why != "" || e.kind == otherEvent { // which is of no use
			*e = event{}
			out.events = out.events[:len(out.events)-1]
		}
		if d.pull.Why != "" {
			return text, d.pull.Why
		}
		out.decoded++
		text = d.pull.Rest()
	}
}

// event decodes {"type": …, "event": {"org.apache.hadoop.mapreduce.jobhistory.TaskStarted": {…}}}: Avro-JSON names the
// record.
func (d *eventDecoder) event(text []byte, e *event) {
	p := &d.pull
	p.Reset(text)
	status, typed := "", false
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "type":
			word, _ := p.Str()
			e.kind, status = kindOfEvent(word)
			typed = true
		case "event":
			if typed && e.kind == otherEvent {
				p.Skip()
				continue
			}
			for ok := p.Object(); ok && p.Key(); {
				d.body(e)
			}
		default:
			p.Skip()
		}
	}
	if e.status == "" {
		e.status = status
	}
}

// body reads the members of a record.
func (d *eventDecoder) body(e *event) {
	p := &d.pull
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "counters":
			d.counters.pull(p, &e.counters)
			continue
		case "clockSplits":
			d.splits(e)
			continue
		}
		if at := e.numberAt(p.Name); at != nil {
			d.number(at)
			continue
		}
		d.text(e)
	}
}

// text reads a string, which newer schemas write as {"string": "x"} and older ones bare.
func (d *eventDecoder) text(e *event) {
	p := &d.pull
	switch p.Peek() {
	case '"':
		if !e.wants(p.Name) {
			p.Skip()
			return
		}
		var name [32]byte // the member's, which a wrapper would replace
		member := append(name[:0], p.Name...)
		if s, ok := p.Str(); ok {
			e.take(member, s, &d.names)
		}
	case '{':
		var name [32]byte
		member := append(name[:0], p.Name...)
		for ok := p.Object(); ok && p.Key(); {
			if s, ok := p.Str(); ok {
				e.take(member, s, &d.names)
			}
		}
	default:
		p.Skip()
	}
}

// number reads a number, which may be wrapped by a union.
func (d *eventDecoder) number(at *int64) {
	p := &d.pull
	if p.Peek() == '{' {
		for ok := p.Object(); ok && p.Key(); {
			d.number(at)
		}
		return
	}
	if n, ok := p.Number(); ok {
		*at = n
	}
}

// splits reads a list of numbers, which may be wrapped by a union.
func (d *eventDecoder) splits(e *event) {
	p := &d.pull
	if p.Peek() == '{' {
		for ok := p.Object(); ok && p.Key(); {
			d.splits(e)
		}
		return
	}
	e.splits = pullSplits(p)
}

// maxSplits bounds the buckets of a progress; Hadoop has twelve.
const maxSplits = 10_000

func pullSplits(p *pull.Puller) (splits []int64) {
	for ok := p.Array(); ok && p.Elem(); {
		n, ok := p.Number()
		if !ok {
			n = -1
		}
		if splits == nil {
			splits = make([]int64, 0, 12)
		}
		if len(splits) < maxSplits {
			splits = append(splits, n)
		}
	}
	return splits
}
