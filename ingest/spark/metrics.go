package spark

import (
	"straggler/schema"
)

// measure fills a row with the metrics of its TaskEnd.
//
// Spark writes every metric as 0 until the executor reports it, so a zero is a measurement only if all were reported, that is,
// if the attempt succeeded. For a failed or killed attempt, an executor reports the run time and those counts of bytes and
// records that were positive; a zero is then unknown, a positive number is a lower bound, and the time outside the run is
// unknown.
//
// The duration is in milliseconds, and read where the row has one.
func (a *app) measure(row *schema.Attempt, e *taskEnd, duration int64) {
	if !e.metered || !e.reported() {
		row.Quality |= schema.MetricsMissing
		return
	}
	m := measured{e, e.reason == reasonSuccess, a.logsOutput()}
	row.CPUS = m.seconds(mCPU, 1e9)
	row.GCS = m.seconds(mGC, 1e3)
	row.SpillBytes = m.value(mDiskSpilled)
	row.PeakMemoryBytes = m.value(mPeakMemory)
	row.FetchWaitS = seconds(m.inGroup(groupShuffleRead, mFetchWait), 1e3)
	row.ShuffleWriteBytes = m.inGroup(groupShuffleWrite, mShuffleWritten)
	row.OutputBytes = m.inGroup(groupOutput, mOutputBytes)
	row.InputRecords = m.sum(m.inGroup(groupInput, mInputRecords), m.inGroup(groupShuffleRead, mShuffleRecords))
	m.readBytes(row)
	m.parts(row, duration)
	row.DropLongParts()
}

// reported reports whether the executor reported anything. A result has a positive size, so a success without one was not
// reported.
func (e *taskEnd) reported() bool {
	for m, v := range e.metrics {
		if v > 0 && e.has>>m&1 == 1 {
			return true
		}
	}
	return false
}

// logsOutput reports whether a missing output group means that nothing was written. Spark before 1.3, which does not log its
// version, may lack it anyway.
func (a *app) logsOutput() bool { return a.version != "" }

// measured reads the metrics of one TaskEnd.
type measured struct {
	*taskEnd
	success    bool
	logsOutput bool
}

func (m *measured) value(k metric) schema.Null[int64] {
	v, ok := m.metric(k)
	if !ok || v == 0 && !m.success {
		return schema.Null[int64]{}
	}
	return schema.Some(v)
}

func (m *measured) seconds(k metric, perSecond float64) schema.Null[float64] {
	return seconds(m.value(k), perSecond)
}

func seconds(v schema.Null[int64], perSecond float64) schema.Null[float64] {
	if !v.OK {
		return schema.Null[float64]{}
	}
	return schema.Some(float64(v.V) / perSecond)
}

// inGroup returns a metric of a group that Spark 1 omits if the task did not use it.
func (m *measured) inGroup(group uint8, k metric) schema.Null[int64] {
	switch {
	case m.groups&group != 0:
		return m.value(k)
	case !m.success, group == groupOutput && !m.logsOutput:
		return schema.Null[int64]{}
	}
	return schema.Some(int64(0))
}

// sum adds what was read from storage and from other stages. For a successful attempt both must be known.
func (m *measured) sum(a, b schema.Null[int64]) schema.Null[int64] {
	if m.success && !(a.OK && b.OK) || !a.OK && !b.OK {
		return schema.Null[int64]{}
	}
	if total := a.V + b.V; total >= 0 {
		return schema.Some(total)
	}
	return schema.Null[int64]{}
}

// readBytes fills in what was read from where.
//
// Shuffle blocks are counted as local or remote, push-merged ones among them. For storage Spark logs the bytes but not the
// location, so the locality of the attempt is used: node-local is local, rack-local and any are remote, and process-local is
// unknown, because Spark also uses it for attempts without preferred locations.
func (m *measured) readBytes(row *schema.Attempt) {
	input := m.inGroup(groupInput, mInputBytes)
	remote, local := m.inGroup(groupShuffleRead, mRemoteBytes), m.localBytes()
	row.InputBytes = m.sum(input, m.sum(remote, local))
	row.RemoteBytes, row.LocalBytes = remote, local
	if input.V == 0 {
		return
	}
	row.Quality |= schema.BytesEstimated
	switch row.Locality.V {
	case schema.NodeLocal:
		row.LocalBytes = m.sum(local, input)
	case schema.RackLocal, schema.AnyLocality:
		row.RemoteBytes = m.sum(remote, input)
	default:
		row.LocalBytes = schema.Null[int64]{}
	}
}

// localBytes returns the shuffle bytes read from the attempt's own machine. Spark before 1.3 counts their blocks only.
func (m *measured) localBytes() schema.Null[int64] {
	if v := m.inGroup(groupShuffleRead, mLocalBytes); v.OK || !m.success {
		return v
	}
	if blocks, ok := m.metric(mLocalBlocks); ok && blocks == 0 {
		return schema.Some(int64(0))
	}
	return schema.Null[int64]{}
}

// rounding is how much longer than its attempt a part may be, in milliseconds, to which logs round both.
const rounding = 2

// parts fills in what the attempt spent outside its run, as Spark's own pages define it (AppStatusUtils):
//
//	getting result  = finish − the time at which the driver began to fetch the result, 0 where it did not
//	scheduler delay = max(0, duration − run − deserialize − serialize − getting result)
//
// Parts longer than the attempt mean that its times are wrong, or in another unit; then all parts are unknown.
func (m *measured) parts(row *schema.Attempt, duration int64) {
	run, deserialize, serialize := m.value(mRun), m.value(mDeserialize), m.value(mSerialize)
	if row.DurationS.OK && max(deserialize.V, serialize.V) > duration+rounding {
		row.Quality |= schema.TimeRepaired
		return
	}
	row.DeserializeS = seconds(deserialize, 1e3)
	if !m.success || !row.DurationS.OK || !run.OK || !deserialize.OK || !serialize.OK {
		return
	}
	getting := int64(0)
	if at := millis(m.gettingAt); at > 0 {
		getting = min(max(m.finish-at, 0), duration)
	}
	delay := duration - min(run.V, duration) - deserialize.V - serialize.V - getting
	row.SchedulerDelayS = schema.Some(float64(max(delay, 0)) / 1e3)
	row.ResultS = schema.Some(float64(min(serialize.V+getting, duration)) / 1e3)
}
