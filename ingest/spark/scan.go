package spark

import (
	"bytes"

	"straggler/ingest/read/pull"
	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// The fast scanner. Nine tenths of a log are task events, and Spark writes the keys of a task event in a fixed order without
// white space, so they can be compared instead of parsed. Every function here either reads exactly what the general scanner
// would, or returns false and leaves the record to it.
//
// After a mismatch the position is the end of the record, where nothing more matches: a scan checks success only once, at the
// last brace.

// scanTaskStart reads a SparkListenerTaskStart.
func (d *decoder) scanTaskStart(b []byte, t *task) bool {
	t.stage, t.stageAttempt, t.partition = 0, 0, none
	i := expect(b, 0, `{"Event":"SparkListenerTaskStart","Stage ID":`)
	i = scanStage(b, i, t)
	i = expect(b, i, `,"Task Info":{`)
	i = d.scanTaskInfo(b, i, t)
	i = skipAccumulables(b, i)
	return i == len(b)-1 && b[i] == '}'
}

// scanTaskEnd reads a SparkListenerTaskEnd that succeeded and has metrics.
func (d *decoder) scanTaskEnd(b []byte, e *taskEnd) bool {
	e.partition = none
	i := expect(b, 0, `{"Event":"SparkListenerTaskEnd","Stage ID":`)
	i = scanStage(b, i, &e.task)
	if next, ok := try(b, i, `,"Task Type":"ShuffleMapTask"`); ok {
		i, e.kind = next, taskShuffleMap
	} else {
		i, e.kind = expect(b, i, `,"Task Type":"ResultTask"`), taskResult
	}
	i = expect(b, i, `,"Task End Reason":{"Reason":"Success"},"Task Info":{`)
	i = d.scanTaskInfo(b, i, &e.task)
	start := i
	i = skipAccumulables(b, i)
	e.accumulables = b[start-1 : max(i-1, start-1)]
	if next, ok := try(b, i, `,"Task Executor Metrics":{`); ok {
		i = skipFlat(b, next)
	}
	i = expect(b, i, `,"Task Metrics":{`)
	i = scanMetrics(b, i, e)
	return i == len(b)-1 && b[i] == '}'
}

// scanStage reads a stage's id and what follows, up to the number of its attempt.
func scanStage(b []byte, i int, t *task) int {
	t.stage, i = digits(b, i)
	i = expect(b, i, `,"Stage Attempt ID":`)
	v, i := digits(b, i)
	if v > 1<<31-1 {
		return len(b)
	}
	t.stageAttempt = int32(v)
	return i
}

// scanTaskInfo reads a `Task Info` up to the opening bracket of its Accumulables, its last member.
func (d *decoder) scanTaskInfo(b []byte, i int, t *task) int {
	t.id, i = digits(b, expect(b, i, `"Task ID":`))
	t.index, i = digits(b, expect(b, i, `,"Index":`))
	attempt, i := digits(b, expect(b, i, `,"Attempt":`))
	if attempt > 1<<31-1 {
		return len(b)
	}
	t.attempt = int32(attempt)
	if next, ok := try(b, i, `,"Partition ID":`); ok {
		t.partition, i = digits(b, next)
	}
	t.launch, i = digits(b, expect(b, i, `,"Launch Time":`))
	i = d.scanExecutor(b, expect(b, i, `,"Executor ID":"`), t)
	locality, i := word(b, expect(b, i, `,"Locality":"`))
	t.locality = localityOf(locality)
	speculative, i := boolean(b, expect(b, i, `,"Speculative":`))
	t.speculative = schema.Some(speculative)
	t.gettingAt, i = digits(b, expect(b, i, `,"Getting Result Time":`))
	t.finish, i = digits(b, expect(b, i, `,"Finish Time":`))
	_, i = boolean(b, expect(b, i, `,"Failed":`))
	if next, ok := try(b, i, `,"Killed":`); ok {
		_, i = boolean(b, next)
	}
	return expect(b, i, `,"Accumulables":[`)
}

// boolean reads true or false.
func boolean(b []byte, i int) (v bool, next int) {
	if next, ok := try(b, i, "false"); ok {
		return false, next
	}
	return true, expect(b, i, "true")
}

// hostCache caches the strings of id and host for recent executors, since every task names both.
type hostCache [256]struct{ executor, host string }

// scanExecutor reads an executor's id, after its opening quote, and the host that follows it.
func (d *decoder) scanExecutor(b []byte, i int, t *task) int {
	id, i := word(b, i)
	i = expect(b, i, `,"Host":"`)
	slot := len(id)
	for _, c := range id {
		slot = slot*31 + int(c)
	}
	known := &d.hosts[slot&(len(d.hosts)-1)]
	if known.executor == string(id) {
		if next, ok := try(b, i, known.host); ok && next < len(b) && b[next] == '"' {
			t.executor, t.host = known.executor, known.host
			return next + 1
		}
	}
	host, i := word(b, i)
	t.executor, t.host = d.intern.Text(id), d.intern.Text(host)
	if t.executor == string(id) && t.host == string(host) {
		known.executor, known.host = t.executor, t.host
	}
	return i
}

// skipAccumulables moves from inside the Accumulables of a `Task Info` past the end of both.
//
// Only a square bracket can end the list, and where it does, a comma and a key, the end of the info and a key, or the
// ends of the info and the record follow it: the first such bracket is the end, or one inside a value of the list that
// looks like it. With a comma it is most often the latter, and the brackets are counted. With a brace, the rest of a
// well-formed record then lacks a brace to the end.
func skipAccumulables(b []byte, start int) int {
	for i := start; ; {
		n := bytes.IndexByte(b[i:], ']')
		if n < 0 || len(b)-i-n < 3 {
			return len(b)
		}
		i += n + 1
		switch {
		case b[i] == ',' && b[i+1] == '"':
			return expect(b, skipArray(b, start-1), "}")
		case b[i] != '}':
		case i+2 == len(b) || b[i+1] == ',' && b[i+2] == '"':
			return i + 1
		}
	}
}

// scanMetrics reads a `Task Metrics`.
func scanMetrics(b []byte, i int, e *taskEnd) int {
	e.metered = true
	if next, ok := try(b, i, `"Host Name":"`); ok {
		_, i = word(b, next)
		i = expect(b, i, ",")
	}
	i = e.must(b, i, `"Executor Deserialize Time":`, mDeserialize)
	i = e.may(b, i, `,"Executor Deserialize CPU Time":`, mDeserializeCPU)
	i = e.must(b, i, `,"Executor Run Time":`, mRun)
	i = e.may(b, i, `,"Executor CPU Time":`, mCPU)
	i = e.may(b, i, `,"Peak Execution Memory":`, mPeakMemory)
	if next, ok := try(b, i, `,"Peak On Heap Execution Memory":`); ok {
		_, i = digits(b, next)
		_, i = digits(b, expect(b, i, `,"Peak Off Heap Execution Memory":`))
	}
	i = e.must(b, i, `,"Result Size":`, mResultSize)
	i = e.must(b, i, `,"JVM GC Time":`, mGC)
	i = e.must(b, i, `,"Result Serialization Time":`, mSerialize)
	_, i = digits(b, expect(b, i, `,"Memory Bytes Spilled":`))
	i = e.must(b, i, `,"Disk Bytes Spilled":`, mDiskSpilled)
	if next, ok := try(b, i, `,"Shuffle Read Metrics":{`); ok {
		i = scanShuffleRead(b, next, e)
	}
	if next, ok := try(b, i, `,"Shuffle Write Metrics":{`); ok {
		i = scanShuffleWrite(b, next, e)
	}
	if next, ok := try(b, i, `,"Input Metrics":{`); ok {
		i = scanInput(b, next, e)
	}
	if next, ok := try(b, i, `,"Output Metrics":{`); ok {
		i = scanOutput(b, next, e)
	}
	if next, ok := try(b, i, `,"Updated Blocks":`); ok {
		i = skipArray(b, next)
	}
	return expect(b, i, "}")
}

// must reads a metric after its key.
func (e *taskEnd) must(b []byte, i int, key string, m metric) int {
	e.metrics[m], i = digits(b, expect(b, i, key))
	e.has |= 1 << m
	return i
}

// may reads a metric if its key comes next.
func (e *taskEnd) may(b []byte, i int, key string, m metric) int {
	next, ok := try(b, i, key)
	if !ok {
		return i
	}
	e.metrics[m], i = digits(b, next)
	e.has |= 1 << m
	return i
}

// Groups that a task did not use are all zeros, and are compared in one go.
const (
	noShuffleRead = `"Remote Blocks Fetched":0,"Local Blocks Fetched":0,"Fetch Wait Time":0,"Remote Bytes Read":0,` +
		`"Remote Bytes Read To Disk":0,"Local Bytes Read":0,"Total Records Read":0`
	noShuffleWrite = `"Shuffle Bytes Written":0,"Shuffle Write Time":0,"Shuffle Records Written":0}`
)

func scanShuffleRead(b []byte, i int, e *taskEnd) int {
	e.groups |= groupShuffleRead
	if next, ok := try(b, i, noShuffleRead); ok {
		i = next
		e.has |= 1<<mLocalBlocks | 1<<mFetchWait | 1<<mRemoteBytes | 1<<mLocalBytes | 1<<mShuffleRecords
	} else {
		_, i = digits(b, expect(b, i, `"Remote Blocks Fetched":`))
		i = e.must(b, i, `,"Local Blocks Fetched":`, mLocalBlocks)
		i = e.must(b, i, `,"Fetch Wait Time":`, mFetchWait)
		i = skipCount(b, i, `,"Fetch Backoff Count":`)
		i = e.must(b, i, `,"Remote Bytes Read":`, mRemoteBytes)
		i = skipCount(b, i, `,"Remote Bytes Read To Disk":`)
		i = e.may(b, i, `,"Local Bytes Read":`, mLocalBytes)
		i = e.may(b, i, `,"Total Records Read":`, mShuffleRecords)
	}
	i = skipCount(b, i, `,"Remote Requests Duration":`)
	if next, ok := try(b, i, `,"Push Based Shuffle":{`); ok {
		i = skipFlat(b, next)
	} else if next, ok := try(b, i, `,"Shuffle Push Read Metrics":{`); ok {
		i = skipFlat(b, next)
	}
	return expect(b, i, "}")
}

// skipFlat moves past the end of an object of numbers. In one of anything else it stops early, and nothing then fits.
func skipFlat(b []byte, i int) int {
	n := bytes.IndexByte(b[i:], '}')
	if n < 0 {
		return len(b)
	}
	return i + n + 1
}

func scanShuffleWrite(b []byte, i int, e *taskEnd) int {
	e.groups |= groupShuffleWrite
	if next, ok := try(b, i, noShuffleWrite); ok {
		e.has |= 1 << mShuffleWritten
		return next
	}
	i = e.must(b, i, `"Shuffle Bytes Written":`, mShuffleWritten)
	_, i = digits(b, expect(b, i, `,"Shuffle Write Time":`))
	i = skipCount(b, i, `,"Shuffle Records Written":`)
	return expect(b, i, "}")
}

func scanInput(b []byte, i int, e *taskEnd) int {
	e.groups |= groupInput
	if next, ok := try(b, i, `"Data Read Method":"`); ok {
		_, i = word(b, next)
		i = expect(b, i, ",")
	}
	i = e.must(b, i, `"Bytes Read":`, mInputBytes)
	i = e.may(b, i, `,"Records Read":`, mInputRecords)
	return expect(b, i, "}")
}

func scanOutput(b []byte, i int, e *taskEnd) int {
	e.groups |= groupOutput
	if next, ok := try(b, i, `"Data Write Method":"`); ok {
		_, i = word(b, next)
		i = expect(b, i, ",")
	}
	i = e.must(b, i, `"Bytes Written":`, mOutputBytes)
	i = skipCount(b, i, `,"Records Written":`)
	return expect(b, i, "}")
}

// skipCount skips an unused metric, if its key comes next.
func skipCount(b []byte, i int, key string) int {
	next, ok := try(b, i, key)
	if !ok {
		return i
	}
	_, i = digits(b, next)
	return i
}

// skipFlag skips true or false, if its key comes next.
func skipFlag(b []byte, i int, key string) int {
	if next, ok := try(b, i, key); ok {
		_, i = boolean(b, next)
	}
	return i
}

// skipText skips a string with escapes, if its key and opening quote come next.
func skipText(b []byte, i int, key string) int {
	next, ok := try(b, i, key)
	if !ok {
		return i
	}
	for start := next; ; {
		n := bytes.IndexByte(b[next:], '"')
		if n < 0 {
			return len(b)
		}
		next += n + 1
		escapes := 0
		for at := next - 2; at >= start && b[at] == '\\'; at-- {
			escapes++
		}
		if escapes%2 == 0 {
			return next
		}
	}
}

// scanPlanMetrics reads the list of the metrics of an operator that b begins with, if the keys are in Spark's order, and returns
// its end, or −1 if they are not.
func (d *decoder) scanPlanMetrics(b []byte, metrics []sqlplan.Metric) (_ []sqlplan.Metric, next int) {
	i, before := expect(b, 0, "["), len(metrics)
	if next, ok := try(b, i, "]"); ok {
		return metrics, next
	}
	for more := true; more; i, more = try(b, i, ",") {
		var m sqlplan.Metric
		name, next := word(b, expect(b, i, `{"name":"`))
		m.ID, i = digits(b, expect(b, next, `,"accumulatorId":`))
		kind, next := word(b, expect(b, i, `,"metricType":"`))
		if i = expect(b, next, "}"); i < len(b) && len(name) > 0 && len(metrics)-before < maxNodeMetric {
			m.Name, m.Kind = d.intern.Text(name), d.intern.Text(kind)
			metrics = append(metrics, m)
		}
	}
	if next, ok := try(b, i, "]"); ok {
		return metrics, next
	}
	return metrics[:before], -1
}

// digits reads a natural number of at most 18 digits. The next comparison checks what follows.
func digits(b []byte, i int) (v int64, next int) {
	start := i
	for i < len(b) {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		v = v*10 + int64(c)
		i++
	}
	if i == start || i-start > 18 {
		return 0, len(b)
	}
	return v, i
}

// word moves past the closing quote of a string without escapes.
func word(b []byte, i int) (s []byte, next int) {
	n := bytes.IndexByte(b[i:], '"')
	if n < 0 {
		return nil, len(b)
	}
	s = b[i : i+n]
	for _, c := range s {
		if c == '\\' {
			return nil, len(b)
		}
	}
	return s, i + n + 1
}

// expect skips s, or moves to the end if the record has something else.
func expect(b []byte, i int, s string) int {
	if len(b)-i >= len(s) && string(b[i:i+len(s)]) == s {
		return i + len(s)
	}
	return len(b)
}

// skipArray moves past an array.
func skipArray(b []byte, i int) int {
	if next, ok := try(b, i, "[]"); ok {
		return next
	}
	if i >= len(b) || b[i] != '[' {
		return len(b)
	}
	i, _ = pull.EndOf(b, i)
	return i
}

// try skips s if the record has it.
func try(b []byte, i int, s string) (int, bool) {
	if len(b)-i >= len(s) && string(b[i:i+len(s)]) == s {
		return i + len(s), true
	}
	return i, false
}
