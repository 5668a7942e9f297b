package spark

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"straggler/ingest/read"
	"straggler/schema"
)

func (d *decoder) pullTaskStart(out *batch) (why string) {
	p := &d.pull
	t := emptyTask()
	for ok := p.Object(); ok && p.Key(); {
		d.taskKey(&t)
	}
	if !p.End() {
		return p.Why
	}
	if why := t.missing(); why != "" {
		return why
	}
	t.accumulables = nil // a start has none of use
	out.kinds = append(out.kinds, kindTaskStart)
	out.starts = append(out.starts, t)
	return ""
}

func (d *decoder) pullTaskEnd(out *batch) (why string) {
	p := &d.pull
	e := taskEnd{task: emptyTask(), reason: reasonOther}
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "Task Type":
			e.kind = taskKindOf(d.text())
		case "Task End Reason":
			d.pullReason(&e)
		case "Task Metrics":
			d.pullMetrics(&e)
		default:
			d.taskKey(&e.task)
		}
	}
	if !p.End() {
		return p.Why
	}
	if why := e.missing(); why != "" {
		return why
	}
	out.kinds = append(out.kinds, kindTaskEnd)
	out.ends = append(out.ends, e)
	return ""
}

// emptyTask returns a task without any values. Logs of Spark 1.0 number neither stage attempts nor attempts.
func emptyTask() task {
	return task{stage: none, id: none, index: none, partition: none, attempt: none, launch: none, finish: none}
}

func (t *task) missing() string {
	switch {
	case t.stage < 0:
		return "it has no Stage ID"
	case t.stageAttempt < 0:
		return "its Stage Attempt ID is not a count"
	case t.id < 0:
		return "it has no Task ID"
	case t.index < 0 && t.partition < 0:
		return "it has no Index"
	}
	return ""
}

// taskKey reads the member of a task event whose key was read.
func (d *decoder) taskKey(t *task) {
	switch string(d.pull.Name) {
	case "Stage ID":
		t.stage = d.integer()
	case "Stage Attempt ID":
		t.stageAttempt = d.small()
	case "Task Info":
		for ok := d.pull.Object(); ok && d.pull.Key(); {
			d.taskInfoKey(t)
		}
	default:
		d.pull.Skip()
	}
}

func (d *decoder) taskInfoKey(t *task) {
	p := &d.pull
	switch string(p.Name) {
	case "Task ID":
		t.id = d.integer()
	case "Index":
		t.index = d.integer()
	case "Attempt":
		t.attempt = d.small()
	case "Partition ID":
		t.partition = d.integer()
	case "Launch Time":
		t.launch = d.integer()
	case "Executor ID":
		t.executor = d.text()
	case "Host":
		t.host = d.text()
	case "Locality":
		b, _ := p.Str()
		t.locality = localityOf(b)
	case "Speculative":
		if v, ok := p.Flag(); ok {
			t.speculative = schema.Some(v)
		}
	case "Getting Result Time":
		t.gettingAt = max(d.integer(), 0)
	case "Finish Time":
		t.finish = d.integer()
	case "Accumulables":
		p.Peek()
		rest := p.Rest()
		p.Skip()
		t.accumulables = rest[:len(rest)-len(p.Rest())]
	default:
		p.Skip()
	}
}

func localityOf(name []byte) schema.Locality {
	switch string(name) {
	case "PROCESS_LOCAL":
		return schema.ProcessLocal
	case "NODE_LOCAL":
		return schema.NodeLocal
	case "NO_PREF":
		return schema.NoPreference
	case "RACK_LOCAL":
		return schema.RackLocal
	case "ANY":
		return schema.AnyLocality
	}
	return ""
}

func taskKindOf(name string) taskKind {
	switch name {
	case "ShuffleMapTask":
		return taskShuffleMap
	case "ResultTask":
		return taskResult
	}
	return taskUnknown
}

// pullReason reads a `Task End Reason`.
func (d *decoder) pullReason(e *taskEnd) {
	p := &d.pull
	var name, class string
	var texts [4]firstLine // of the keys that say why, surest first
	f := fetchFailure{shuffle: none, mapID: none, mapIndex: none}
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "Reason":
			name = d.text()
		case "Class Name":
			class = d.text()
		case "Description":
			texts[0] = d.firstLine()
		case "Kill Reason":
			texts[1] = d.firstLine()
		case "Loss Reason":
			texts[2] = d.firstLine()
		case "Message":
			texts[3] = d.firstLine()
		case "Metrics":
			// Spark 1 has the metrics of a failed task here.
			if !e.metered {
				d.pullMetrics(e)
			} else {
				p.Skip()
			}
		case "Block Manager Address":
			d.value(reflect.ValueOf(&f.address).Elem())
		case "Shuffle ID":
			f.shuffle = d.integer()
		case "Map ID":
			f.mapID = d.integer()
		case "Map Index":
			f.mapIndex = d.integer()
		default:
			p.Skip()
		}
	}
	e.reason = reasonOf(name)
	if e.reason == reasonSuccess {
		return
	}
	e.text = joinReason(name, class, string(texts[0]+texts[1]+texts[2]+texts[3]))
	if e.reason == reasonFetchFailed {
		e.fetch = &f
	}
}

func reasonOf(name string) reason {
	switch name {
	case "Success":
		return reasonSuccess
	case "Resubmitted":
		return reasonResubmitted
	case "FetchFailed":
		return reasonFetchFailed
	case "ExceptionFailure":
		return reasonException
	case "TaskKilled":
		return reasonKilled
	case "TaskCommitDenied":
		return reasonCommitDenied
	case "ExecutorLostFailure":
		return reasonExecutorLost
	}
	return reasonOther
}

// maxReason bounds the text of a failure, which may be a page of diagnostics.
const maxReason = 300

// firstLine is the first line of a text, truncated.
type firstLine string

func (d *decoder) firstLine() firstLine {
	b, _ := d.pull.Str()
	s := strings.TrimSpace(string(b[:min(len(b), 4*maxReason)]))
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxReason {
		end := maxReason
		for !utf8.RuneStart(s[end]) && end > maxReason-utf8.UTFMax {
			end--
		}
		s = s[:end] + "…"
	}
	return firstLine(read.Text(s))
}

func joinReason(parts ...string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, ": ")
}

// pullMetrics reads a `Task Metrics`.
func (d *decoder) pullMetrics(e *taskEnd) {
	p := &d.pull
	if !p.Object() {
		return
	}
	e.metered = true
	for p.Key() {
		switch string(p.Name) {
		case "Shuffle Read Metrics":
			d.pullGroup(e, groupShuffleRead, shuffleReadMetrics)
		case "Shuffle Write Metrics":
			d.pullGroup(e, groupShuffleWrite, shuffleWriteMetrics)
		case "Input Metrics":
			d.pullGroup(e, groupInput, inputMetrics)
		case "Output Metrics":
			d.pullGroup(e, groupOutput, outputMetrics)
		default:
			d.pullMetric(e, taskMetrics)
		}
	}
}

// pullGroup reads a group of metrics.
func (d *decoder) pullGroup(e *taskEnd, group uint8, names []metricName) {
	p := &d.pull
	if !p.Object() {
		return
	}
	e.groups |= group
	for p.Key() {
		d.pullMetric(e, names)
	}
}

func (d *decoder) pullMetric(e *taskEnd, names []metricName) {
	for _, n := range names {
		if n.key == string(d.pull.Name) {
			if v, ok := d.pull.Number(); ok {
				e.set(n.metric, v)
			}
			return
		}
	}
	d.pull.Skip()
}

// metricName is a key of `Task Metrics` or of one of its groups.
type metricName struct {
	key    string
	metric metric
}

var (
	taskMetrics = []metricName{
		{"Executor Deserialize Time", mDeserialize},
		{"Executor Deserialize CPU Time", mDeserializeCPU},
		{"Executor Run Time", mRun},
		{"Executor CPU Time", mCPU},
		{"Peak Execution Memory", mPeakMemory},
		{"Result Size", mResultSize},
		{"JVM GC Time", mGC},
		{"Result Serialization Time", mSerialize},
		{"Disk Bytes Spilled", mDiskSpilled},
	}
	shuffleReadMetrics = []metricName{
		{"Local Blocks Fetched", mLocalBlocks},
		{"Fetch Wait Time", mFetchWait},
		{"Remote Bytes Read", mRemoteBytes},
		{"Local Bytes Read", mLocalBytes},
		{"Total Records Read", mShuffleRecords},
	}
	shuffleWriteMetrics = []metricName{{"Shuffle Bytes Written", mShuffleWritten}}
	inputMetrics        = []metricName{{"Bytes Read", mInputBytes}, {"Records Read", mInputRecords}}
	outputMetrics       = []metricName{{"Bytes Written", mOutputBytes}}
)
