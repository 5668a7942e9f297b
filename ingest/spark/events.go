package spark

import "straggler/schema"

// The events that a log is decoded into. Integers are as the log writes them: milliseconds, nanoseconds, bytes.
// none stands for an id, index or time that the record does not give.
const none = -1

// kind says which event a record is.
type kind uint8

const (
	kindIgnored kind = iota // known or unknown, and of no use here
	kindTaskStart
	kindTaskEnd
	kindLogStart
	kindRollover // Databricks starts each of an application's files with it
	kindApplicationStart
	kindApplicationEnd
	kindEnvironment
	kindJobStart
	kindJobEnd
	kindStageSubmitted
	kindStageCompleted
	kindExecutorAdded
	kindExecutorRemoved
	kindBlockManagerAdded
	kindBlockManagerRemoved
	kindResourceProfile
	kindExcluded    // an executor or node is no longer used
	kindBlacklisted // the same, as Spark before 3.1 calls it
)

// task is a `Task Info` and the stage it belongs to.
type task struct {
	stage        int64
	stageAttempt int32
	attempt      int32 // of the task, from 0; none where the log does not number them
	id           int64
	index        int64 // position in the task set
	partition    int64 // none before Spark 3.3
	launch       int64
	gettingAt    int64 // when the driver began to fetch the result, 0 where it did not
	finish       int64
	executor     string
	host         string
	locality     schema.Locality // "" unknown
	speculative  schema.Null[bool]
}

// taskKind is a `Task Type`.
type taskKind uint8

const (
	taskUnknown taskKind = iota
	taskShuffleMap
	taskResult
)

// reason is a `Task End Reason`.
type reason uint8

const (
	reasonSuccess reason = iota
	reasonResubmitted
	reasonFetchFailed
	reasonException
	reasonKilled
	reasonCommitDenied
	reasonExecutorLost
	reasonOther // a failure of another name
)

// taskEnd is a SparkListenerTaskEnd.
type taskEnd struct {
	task
	kind    taskKind
	reason  reason
	text    string        // why, where it did not succeed
	fetch   *fetchFailure // where reason is reasonFetchFailed
	metered bool          // it has a `Task Metrics` object
	groups  uint8         // metric groups present, bits below
	has     uint32        // metrics present, bit 1<<metric
	metrics [metricCount]int64
}

// The metric groups that logs before Spark 2 leave out where they were not used.
const (
	groupShuffleRead = 1 << iota
	groupShuffleWrite
	groupInput
	groupOutput
)

// metric names a value of `Task Metrics`.
type metric uint8

const (
	mDeserialize       metric = iota // ms
	mRun                             // ms
	mCPU                             // ns
	mDeserializeCPU                  // ns
	mPeakMemory                      // bytes
	mResultSize                      // bytes
	mGC                              // ms
	mSerialize                       // ms
	mDiskSpilled                     // bytes
	mLocalBlocks                     // blocks
	mFetchWait                       // ms
	mRemoteBytes                     // bytes
	mLocalBytes                      // bytes
	mShuffleRecords                  // records
	mMergedRemoteBytes               // bytes, of push-merged blocks
	mMergedLocalBytes                // bytes
	mShuffleWritten                  // bytes
	mInputBytes                      // bytes
	mInputRecords                    // records
	mOutputBytes                     // bytes
	metricCount
)

func (e *taskEnd) set(m metric, v int64) {
	e.metrics[m] = v
	e.has |= 1 << m
}

// metric is the value of m, where the log gives one that can be: no metric is negative.
func (e *taskEnd) metric(m metric) (int64, bool) {
	return e.metrics[m], e.has>>m&1 == 1 && e.metrics[m] >= 0
}

// fetchFailure says which output could not be read.
type fetchFailure struct {
	executor string // "" where the log has no address
	host     string
	shuffle  int64
	mapID    int64 // the map's partition before Spark 3.0, the Task ID of its attempt since
	mapIndex int64 // the map's partition since Spark 3.0
}

// application is a SparkListenerApplicationStart.
type application struct {
	name    schema.Null[string]
	id      string
	attempt string
	user    schema.Null[string]
	time    int64
}

// ended is a SparkListenerApplicationEnd.
type ended struct {
	time int64
	code schema.Null[int64] // since Spark 4
}

// property is one of the `Spark Properties`.
type property struct{ name, value string }

// jobStart is a SparkListenerJobStart.
type jobStart struct {
	id          int64
	time        int64
	stages      []stageInfo // in the order of the log, without tasks where only ids are given
	description string
}

// jobEnd is a SparkListenerJobEnd.
type jobEnd struct {
	id     int64
	time   int64
	status schema.RunStatus
}

// stageInfo is a `Stage Info`.
type stageInfo struct {
	id         int64
	attempt    int32
	name       string
	tasks      int64 // none where the log does not say
	parents    []int64
	hasParents bool // `Parent IDs` is there: an empty one says that it has none
	rdd        int64
	partitions int64   // of the first RDD, which is the stage's own
	rdds       []int64 // only where there is no `Parent IDs`
	rddParents []int64 // likewise
	barrier    bool
	submit     int64
	complete   int64
	failure    string
	profile    int64
}

// executorAdded is a SparkListenerExecutorAdded.
type executorAdded struct {
	id      string
	host    string
	cores   int64
	time    int64
	profile int64
}

// executorRemoved is a SparkListenerExecutorRemoved.
type executorRemoved struct {
	id   string
	time int64
}

// blockManager is a SparkListenerBlockManagerAdded or Removed.
type blockManager struct {
	executor string
	host     string
	time     int64
}

// resourceProfile is a SparkListenerResourceProfileAdded.
type resourceProfile struct {
	id       int64
	taskCPUs float64
}
