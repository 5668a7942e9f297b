package sparklog

import (
	"math"
	"strings"

	"straggler/schema"
	"straggler/schema/synth"
)

var localities = map[schema.Locality]string{schema.ProcessLocal: "PROCESS_LOCAL", schema.NodeLocal: "NODE_LOCAL",
	schema.NoPreference: "NO_PREF", schema.RackLocal: "RACK_LOCAL", schema.AnyLocality: "ANY"}

// info writes a task up to its accumulables, with how it ended if it has.
func (l *Writer) info(n *sent, a *schema.Attempt, ended bool) *Writer {
	finish, status := int64(0), schema.Running
	if ended {
		finish, status = int64(a.FinishTime.V)/1000, a.Status
	}
	index := a.Task
	if n.index != nil {
		var ok bool
		if index, ok = n.index[a.Task]; !ok {
			index = int64(len(n.index))
			n.index[a.Task] = index
		}
	}
	return l.raw(`,"Task Info":{"Task ID":`).raw(a.NativeID).raw(`,"Index":`).int(index).raw(`,"Attempt":`).int(int64(a.Number)).
		raw(`,"Partition ID":`).int(a.Task).raw(`,"Launch Time":`).int(int64(a.StartTime.V) / 1000).raw(`,"Executor ID":`).text(a.Executor.V).
		raw(`,"Host":`).text(a.Machine.V).raw(`,"Locality":"`).raw(localities[a.Locality.V]).raw(`","Speculative":`).bool(a.Speculative.V).
		raw(`,"Getting Result Time":0,"Finish Time":`).int(finish).raw(`,"Failed":`).bool(status == schema.Failed ||
		status == schema.Lost).raw(`,"Killed":`).bool(status == schema.Killed).
		raw(`,"Accumulables":[`)
}

func (l *Writer) taskStarted(e *synth.Event) {
	n := l.phases[e.Attempt.PhaseID]
	if n == nil {
		return
	}
	l.raw(`{"Event":"SparkListenerTaskStart","Stage ID":`).int(n.stage.id).raw(`,"Stage Attempt ID":`).int(int64(n.number))
	l.info(n, e.Attempt, false).raw("]}}\n")
}

func (l *Writer) taskEnded(e *synth.Event, resubmitted bool) {
	a := e.Attempt
	n := l.phases[a.PhaseID]
	if n == nil {
		return
	}
	l.raw(`{"Event":"SparkListenerTaskEnd","Stage ID":`).int(n.stage.id).raw(`,"Stage Attempt ID":`).int(int64(n.number)).raw(`,"Task Type":`)
	if n.stage.result {
		l.raw(`"ResultTask","Task End Reason":`)
	} else {
		l.raw(`"ShuffleMapTask","Task End Reason":`)
	}
	if resubmitted {
		l.raw(`{"Reason":"Resubmitted"}`)
	} else {
		l.reason(e)
	}
	l.info(n, a, true)
	metered := !resubmitted && a.Quality&schema.MetricsMissing == 0
	var v [len(metrics)]int64
	if metered {
		v = measure(a, n.stage)
		if !l.o.Terse {
			l.accumulables(n.stage, &v)
		}
	}
	l.raw(executorMetrics)
	if metered {
		l.metrics(&v)
	}
	l.raw("}\n")
}

// reason writes how an attempt ended.
func (l *Writer) reason(e *synth.Event) {
	a := e.Attempt
	switch {
	case a.Status == schema.Success:
		l.raw(`{"Reason":"Success"}`)
	case a.Status == schema.Killed:
		l.raw(`{"Reason":"TaskKilled","Kill Reason":`).text(a.Reason.V).raw(`,"Accumulator Updates":[]}`)
	case a.Status == schema.Lost:
		l.raw(`{"Reason":"ExecutorLostFailure","Executor ID":`).text(a.Executor.V).raw(`,"Exit Caused By App":true,"Loss Reason":`).text(a.Reason.V).raw("}")
	case e.Loss != nil:
		shuffle := int64(0)
		if n := l.phases[e.Loss.PhaseID]; n != nil {
			shuffle = n.stage.id
		}
		l.raw(`{"Reason":"FetchFailed","Block Manager Address":`).manager(e.Maker.Executor, e.Loss.Machine.V).raw(`,"Shuffle ID":`).int(shuffle).
			raw(`,"Map ID":`).raw(e.Maker.Task).raw(`,"Map Index":`).int(e.Loss.Task).raw(`,"Reduce ID":`).int(a.Task).raw(`,"Message":`).text(a.Reason.V).raw("}")
	case strings.HasPrefix(a.Reason.V, "fetch failed"):
		l.raw(`{"Reason":"FetchFailed","Block Manager Address":null,"Shuffle ID":0,"Map ID":-1,"Map Index":-1,"Reduce ID":`).int(a.Task).
			raw(`,"Message":`).text(a.Reason.V).raw("}")
	default:
		class, text, _ := strings.Cut(a.Reason.V, ": ")
		l.raw(`{"Reason":"ExceptionFailure","Class Name":`).text(class).raw(`,"Description":`).text(text).
			raw(`,"Stack Trace":[],"Full Stack Trace":`).text(a.Reason.V + "\n\tat synth.Main$.work(Main.scala:1)\n").raw(`,"Accumulator Updates":[]}`)
	}
}

// The metrics of a task that are in a generated trace, in the order of Spark's accumulators.
const (
	mDeserialize = iota
	mDeserializeCPU
	mRun
	mCPU
	mResultSize
	mGC
	mSerialize
	mMemorySpilled
	mDiskSpilled
	mPeakMemory
	mRemoteBlocks
	mLocalBlocks
	mRemoteBytes
	mLocalBytes
	mFetchWait
	mShuffleRecords
	mWritten
	mWrittenRecords
	mWriteTime
	mInputBytes
	mInputRecords
	mOutputBytes
	mOutputRecords
)

// metrics has the names of the metrics as accumulables, and their ids relative to the first of their stage, which has 35.
var metrics = [...]struct {
	name string
	id   int64
}{
	{"internal.metrics.executorDeserializeTime", 0}, {"internal.metrics.executorDeserializeCpuTime", 1}, {"internal.metrics.executorRunTime", 2},
	{"internal.metrics.executorCpuTime", 3}, {"internal.metrics.resultSize", 4}, {"internal.metrics.jvmGCTime", 5},
	{"internal.metrics.resultSerializationTime", 6}, {"internal.metrics.memoryBytesSpilled", 7}, {"internal.metrics.diskBytesSpilled", 8},
	{"internal.metrics.peakExecutionMemory", 9}, {"internal.metrics.shuffle.read.remoteBlocksFetched", 11},
	{"internal.metrics.shuffle.read.localBlocksFetched", 12}, {"internal.metrics.shuffle.read.remoteBytesRead", 13},
	{"internal.metrics.shuffle.read.localBytesRead", 15}, {"internal.metrics.shuffle.read.fetchWaitTime", 16},
	{"internal.metrics.shuffle.read.recordsRead", 17}, {"internal.metrics.shuffle.write.bytesWritten", 28},
	{"internal.metrics.shuffle.write.recordsWritten", 29}, {"internal.metrics.shuffle.write.writeTime", 30},
	{"internal.metrics.input.bytesRead", 31}, {"internal.metrics.input.recordsRead", 32}, {"internal.metrics.output.bytesWritten", 33},
	{"internal.metrics.output.recordsWritten", 34},
}

// measure converts a row to Spark's metrics. The run time of an attempt that succeeded is the rest of its duration, so that
// a reader computes the same scheduler delay.
func measure(a *schema.Attempt, s *stage) (v [len(metrics)]int64) {
	millis := func(x schema.Null[float64]) int64 { return int64(math.Round(x.V * 1000)) }
	v[mDeserialize], v[mSerialize], v[mGC] = millis(a.DeserializeS), millis(a.ResultS), millis(a.GCS)
	v[mDeserializeCPU] = v[mDeserialize] * 500_000
	v[mRun] = max(0, millis(a.DurationS)-v[mDeserialize]-v[mSerialize]-millis(a.SchedulerDelayS))
	v[mCPU] = millis(a.CPUS) * 1_000_000
	v[mResultSize] = 1084
	v[mMemorySpilled], v[mDiskSpilled], v[mPeakMemory] = 2*a.SpillBytes.V, a.SpillBytes.V, a.PeakMemoryBytes.V
	if len(s.parents) == 0 {
		v[mInputBytes], v[mInputRecords] = a.InputBytes.V, a.InputRecords.V
	} else {
		v[mRemoteBytes], v[mLocalBytes], v[mShuffleRecords] = a.RemoteBytes.V, a.LocalBytes.V, a.InputRecords.V
		v[mFetchWait] = millis(a.FetchWaitS)
		v[mRemoteBlocks], v[mLocalBlocks] = blocks(a.RemoteBytes.V), blocks(a.LocalBytes.V)
	}
	v[mWritten], v[mOutputBytes] = a.ShuffleWriteBytes.V, a.OutputBytes.V
	v[mWrittenRecords], v[mOutputRecords] = v[mWritten]/100, v[mOutputBytes]/100
	v[mWriteTime] = v[mWritten] * 5
	return v
}

// blocks returns the number of shuffle blocks for a number of bytes, at least one.
func blocks(bytes int64) int64 { return (bytes + 4<<20 - 1) / (4 << 20) }

// accumulables writes the metrics that are not zero, with the sums of the stage so far.
func (l *Writer) accumulables(s *stage, v *[len(metrics)]int64) {
	first := true
	for k := range v {
		if v[k] == 0 {
			continue
		}
		s.values[k] += v[k]
		if !first {
			l.raw(",")
		}
		first = false
		l.raw(`{"ID":`).int(35*s.id + metrics[k].id).raw(`,"Name":"`).raw(metrics[k].name).raw(`","Update":`).int(v[k]).
			raw(`,"Value":`).int(s.values[k]).raw(`,"Internal":true,"Count Failed Values":true}`)
	}
}

const executorMetrics = `]},"Task Executor Metrics":{"JVMHeapMemory":0,"JVMOffHeapMemory":0,"OnHeapExecutionMemory":0,"OffHeapExecutionMemory":0,"OnHeapStorageMemory":0,"OffHeapStorageMemory":0,"OnHeapUnifiedMemory":0,"OffHeapUnifiedMemory":0,"DirectPoolMemory":0,"MappedPoolMemory":0,"ProcessTreeJVMVMemory":0,"ProcessTreeJVMRSSMemory":0,"ProcessTreePythonVMemory":0,"ProcessTreePythonRSSMemory":0,"ProcessTreeOtherVMemory":0,"ProcessTreeOtherRSSMemory":0,"MinorGCCount":0,"MinorGCTime":0,"MajorGCCount":0,"MajorGCTime":0,"TotalGCTime":0}`

func (l *Writer) metrics(v *[len(metrics)]int64) {
	l.raw(`,"Task Metrics":{"Executor Deserialize Time":`).int(v[mDeserialize]).raw(`,"Executor Deserialize CPU Time":`).int(v[mDeserializeCPU]).
		raw(`,"Executor Run Time":`).int(v[mRun]).raw(`,"Executor CPU Time":`).int(v[mCPU]).raw(`,"Peak Execution Memory":`).int(v[mPeakMemory]).
		raw(`,"Result Size":`).int(v[mResultSize]).raw(`,"JVM GC Time":`).int(v[mGC]).raw(`,"Result Serialization Time":`).int(v[mSerialize]).
		raw(`,"Memory Bytes Spilled":`).int(v[mMemorySpilled]).raw(`,"Disk Bytes Spilled":`).int(v[mDiskSpilled]).
		raw(`,"Shuffle Read Metrics":{"Remote Blocks Fetched":`).int(v[mRemoteBlocks]).raw(`,"Local Blocks Fetched":`).int(v[mLocalBlocks]).
		raw(`,"Fetch Wait Time":`).int(v[mFetchWait]).raw(`,"Remote Bytes Read":`).int(v[mRemoteBytes]).
		raw(`,"Remote Bytes Read To Disk":0,"Local Bytes Read":`).int(v[mLocalBytes]).raw(`,"Total Records Read":`).int(v[mShuffleRecords]).
		raw(`,"Remote Requests Duration":`).int(v[mFetchWait]).
		raw(`,"Push Based Shuffle":{"Corrupt Merged Block Chunks":0,"Merged Fetch Fallback Count":0,"Merged Remote Blocks Fetched":0,"Merged Local Blocks Fetched":0,"Merged Remote Chunks Fetched":0,"Merged Local Chunks Fetched":0,"Merged Remote Bytes Read":0,"Merged Local Bytes Read":0,"Merged Remote Requests Duration":0}},"Shuffle Write Metrics":{"Shuffle Bytes Written":`).
		int(v[mWritten]).raw(`,"Shuffle Write Time":`).int(v[mWriteTime]).raw(`,"Shuffle Records Written":`).int(v[mWrittenRecords]).
		raw(`},"Input Metrics":{"Bytes Read":`).int(v[mInputBytes]).raw(`,"Records Read":`).int(v[mInputRecords]).
		raw(`},"Output Metrics":{"Bytes Written":`).int(v[mOutputBytes]).raw(`,"Records Written":`).int(v[mOutputRecords]).raw(`},"Updated Blocks":[]}`)
}
