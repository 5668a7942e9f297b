package spark

import (
	"bytes"
	"reflect"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/pull"
	"straggler/schema"
)

// batch holds the decoded records of a block, in order.
type batch struct {
	kinds   []kind // of the records that are of use
	starts  []task
	ends    []taskEnd
	others  []any // the events of all other kinds
	decoded int64 // records decoded or knowingly skipped
	foreign int64 // of those, events of something else than Spark, as listeners of others add to its logs
	rejects []schema.Reject
}

func (b *batch) reset() {
	clear(b.others)
	*b = batch{kinds: b.kinds[:0], starts: b.starts[:0], ends: b.ends[:0], others: b.others[:0], rejects: b.rejects[:0]}
}

func (b *batch) add(k kind, event any) {
	b.kinds = append(b.kinds, k)
	b.others = append(b.others, event)
}

// decoder decodes records. It must not be used concurrently.
type decoder struct {
	pull   pull.Puller
	intern read.Interner
	hosts  hostCache

	layouts map[reflect.Type]*layout
	line    read.Line    // that is being decoded
	held    []heldUpdate // of the block
	values  stageValues  // of the last list of accumulables
	lineage rdds         // of the last stage

	lastPlan struct{ nodes, metrics int } // how many it had
}

// block decodes the records of a block of the file that source names.
func (d *decoder) block(blk *read.Block, source string, out *batch) {
	for d.line = range records(blk) {
		record := bytes.TrimRight(d.line.Data, " \t\r")
		if len(record) > 0 && record[0] != '{' {
			record = bytes.TrimLeft(record, " \t\ufeff,")
		}
		if len(record) == 0 {
			continue
		}
		if why := d.record(record, out); why != "" {
			out.reject(source, d.line, record, why)
		} else {
			out.decoded++
		}
	}
	for _, u := range d.release() {
		out.decoded--
		out.reject(source, u.line, u.record, u.why)
	}
}

func (b *batch) reject(source string, line read.Line, record []byte, why string) {
	reason := "no event of a Spark log: " + why + "; the rest of the log is read without it"
	if line.Cut {
		reason = "the log stops within this event; read it again when it is whole"
	}
	b.rejects = append(b.rejects, schema.Reject{SourceFile: source, Line: schema.Some(line.Number),
		ByteOffset: line.Offset, Reason: reason, Sample: ingest.Sample(record)})
}

const eventPrefix = `{"Event":"`

// record decodes one record and returns why it cannot be used; "" if it can.
func (d *decoder) record(record []byte, out *batch) (why string) {
	if record[0] != '{' || record[len(record)-1] != '}' {
		return "it is no JSON object"
	}
	k, named := leadingEvent(record)
	if !named {
		return d.anyOrder(record, out)
	}
	switch k {
	case kindForeign:
		out.foreign++
		return ""
	case kindIgnored:
		return ""
	case kindTaskStart:
		out.starts = append(out.starts, task{})
		if d.scanTaskStart(record, &out.starts[len(out.starts)-1]) {
			out.kinds = append(out.kinds, kindTaskStart)
			return ""
		}
		out.starts = out.starts[:len(out.starts)-1]
	case kindTaskEnd:
		out.ends = append(out.ends, taskEnd{})
		if d.scanTaskEnd(record, &out.ends[len(out.ends)-1]) {
			out.kinds = append(out.kinds, kindTaskEnd)
			return ""
		}
		out.ends = out.ends[:len(out.ends)-1]
	case kindPlanUpdate:
		if d.hold(record, out) {
			return ""
		}
	}
	return d.pullEvent(k, record, out)
}

// leadingEvent returns the kind of a record that starts with the name of its event, as all records written by Spark do.
func leadingEvent(record []byte) (kind, bool) {
	if !bytes.HasPrefix(record, []byte(eventPrefix)) {
		return 0, false
	}
	name := record[len(eventPrefix):]
	end := bytes.IndexByte(name, '"')
	if end < 0 || bytes.IndexByte(name[:end], '\\') >= 0 {
		return 0, false
	}
	return kindOf(name[:end]), true
}

// anyOrder decodes a record that does not start with the name of its event.
func (d *decoder) anyOrder(record []byte, out *batch) (why string) {
	p := &d.pull
	p.Reset(record)
	k, named := kindIgnored, false
	for ok := p.Object(); ok && p.Key(); {
		if string(p.Name) != "Event" {
			p.Skip()
		} else if name, ok := p.Str(); ok {
			k, named = kindOf(name), true
		}
	}
	if !p.End() {
		return p.Why
	}
	if !named {
		return "it has no Event"
	}
	switch k {
	case kindForeign:
		out.foreign++
		return ""
	case kindIgnored:
		return ""
	}
	return d.pullEvent(k, record, out)
}

func kindOf(name []byte) kind {
	switch string(name) {
	case "SparkListenerTaskStart":
		return kindTaskStart
	case "SparkListenerTaskEnd":
		return kindTaskEnd
	case "SparkListenerLogStart":
		return kindLogStart
	case "DBCEventLoggingListenerMetadata":
		return kindRollover
	case "SparkListenerApplicationStart":
		return kindApplicationStart
	case "SparkListenerApplicationEnd":
		return kindApplicationEnd
	case "SparkListenerEnvironmentUpdate":
		return kindEnvironment
	case "SparkListenerJobStart":
		return kindJobStart
	case "SparkListenerJobEnd":
		return kindJobEnd
	case "SparkListenerStageSubmitted":
		return kindStageSubmitted
	case "SparkListenerStageCompleted":
		return kindStageCompleted
	case "SparkListenerExecutorAdded":
		return kindExecutorAdded
	case "SparkListenerExecutorRemoved":
		return kindExecutorRemoved
	case "SparkListenerBlockManagerAdded":
		return kindBlockManagerAdded
	case "SparkListenerBlockManagerRemoved":
		return kindBlockManagerRemoved
	case "SparkListenerResourceProfileAdded":
		return kindResourceProfile
	}
	return kindOfClass(string(name))
}

// kindOfClass returns the kind of an event that is named by its full class name.
func kindOfClass(name string) kind {
	class, ok := strings.CutPrefix(name, "org.apache.spark.scheduler.SparkListener")
	if !ok {
		k := kindOfQuery(name[strings.LastIndexByte(name, '.')+1:])
		if k == kindIgnored && !ofSpark([]byte(name)) {
			return kindForeign
		}
		return k
	}
	switch strings.TrimSuffix(class, "ForStage") {
	case "ExecutorExcluded", "NodeExcluded":
		return kindExcluded
	case "ExecutorBlacklisted", "NodeBlacklisted":
		return kindBlacklisted
	}
	return kindIgnored
}

// kindOfQuery returns the kind of an event of Spark SQL by the simple name of its class, since vendors move classes to other
// packages.
func kindOfQuery(class string) kind {
	switch class {
	case "SparkListenerSQLExecutionStart":
		return kindQueryStart
	case "SparkListenerSQLExecutionEnd":
		return kindQueryEnd
	case "SparkListenerSQLAdaptiveExecutionUpdate":
		return kindPlanUpdate
	case "SparkListenerSQLAdaptiveSQLMetricUpdates":
		return kindMetricUpdate
	case "SparkListenerDriverAccumUpdates":
		return kindDriverUpdates
	}
	return kindIgnored
}

// pullEvent decodes a record of kind k with the general scanner.
func (d *decoder) pullEvent(k kind, record []byte, out *batch) (why string) {
	d.pull.Reset(record)
	switch k {
	case kindTaskStart:
		return d.pullTaskStart(out)
	case kindTaskEnd:
		return d.pullTaskEnd(out)
	case kindQueryStart, kindPlanUpdate, kindMetricUpdate:
		e := &planEvent{}
		if why := d.pullPlanEvent(e); why != "" {
			return why
		}
		out.add(k, e)
		return ""
	}
	event := newEvent(k)
	d.value(reflect.ValueOf(event).Elem())
	if !d.pull.End() {
		return d.pull.Why
	}
	if why := missing(event); why != "" {
		return why
	}
	out.add(k, event)
	return ""
}

// text reads an interned string; "" if there is none.
func (d *decoder) text() string {
	b, ok := d.pull.Str()
	if !ok {
		return ""
	}
	return d.intern.Text(b)
}

// integer reads an integer; none if it is missing or cannot be an id, a count or a time.
func (d *decoder) integer() int64 {
	v, ok := d.pull.Number()
	if !ok || v < 0 {
		return none
	}
	return v
}

// small reads an integer that must fit in 32 bits; none if it does not.
func (d *decoder) small() int32 {
	v := d.integer()
	if v > 1<<31-1 {
		return none
	}
	return int32(v)
}
