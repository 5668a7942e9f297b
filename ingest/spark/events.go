package spark

import "straggler/schema"

// The events that a log is decoded into. Integers are as the log writes them: milliseconds, nanoseconds, bytes. none stands for
// a missing id, index or time.
const none = -1

// kind is the kind of an event.
type kind uint8

const (
	kindIgnored kind = iota // of Spark, and of no use here
	kindForeign             // of no kind that Spark or a vendor of it writes
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
	kindQueryStart
	kindQueryEnd
	kindPlanUpdate
	kindMetricUpdate
	kindDriverUpdates
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
	accumulables []byte // the list as the log has it, until the event is folded
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

// The metric groups that logs before Spark 2 omit if unused.
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

// metric returns the value of m if it is valid: no metric is negative.
func (e *taskEnd) metric(m metric) (int64, bool) {
	return e.metrics[m], e.has>>m&1 == 1 && e.metrics[m] >= 0
}

// fetchFailure identifies the output that could not be read.
type fetchFailure struct {
	address  // "" where the log has none
	shuffle  int64
	mapID    int64 // the map's partition before Spark 3.0, the Task ID of its attempt since
	mapIndex int64 // the map's partition since Spark 3.0
}

// The events of other kinds are decoded into structs, by the tags of their fields (decode_other.go). Those that a struct
// has no tag for are skipped.

// logStart is a SparkListenerLogStart, or its equivalent in logs of Databricks.
type logStart struct {
	Version string `json:"Spark Version"`
}

// applicationStart is a SparkListenerApplicationStart.
type applicationStart struct {
	Name    schema.Null[string] `json:"App Name"`
	ID      string              `json:"App ID"`
	Attempt string              `json:"App Attempt ID"`
	User    schema.Null[string] `json:"User"`
	Time    int64               `json:"Timestamp"`
}

// applicationEnd is a SparkListenerApplicationEnd.
type applicationEnd struct {
	Time int64              `json:"Timestamp"`
	Code schema.Null[int64] `json:"ExitCode"` // since Spark 4
}

// environmentUpdate is a SparkListenerEnvironmentUpdate.
type environmentUpdate struct {
	Properties properties `json:"Spark Properties"`
}

// properties are the settings to keep, in the order of the log.
type properties []property

type property struct{ name, value string }

// jobStart is a SparkListenerJobStart.
type jobStart struct {
	ID         int64       `json:"Job ID"`
	Time       int64       `json:"Submission Time"`
	Stages     []stageInfo `json:"Stage Infos"` // in the order of the log, without tasks where only ids are given
	IDs        []int64     `json:"Stage IDs"`   // all that there is before Spark 1.2
	Properties struct {
		Description oneLine `json:"spark.job.description"`
		Execution   string  `json:"spark.sql.execution.id"` // of the query that runs it
	} `json:"Properties"`
}

// jobEnd is a SparkListenerJobEnd.
type jobEnd struct {
	ID     int64 `json:"Job ID"`
	Time   int64 `json:"Completion Time"`
	Result struct {
		Result    string `json:"Result"`
		Exception struct {
			Message firstLine `json:"Message"`
		} `json:"Exception"`
	} `json:"Job Result"`
}

// stageEvent is a SparkListenerStageSubmitted or Completed.
type stageEvent struct {
	Info stageInfo `json:"Stage Info"`
}

// stageInfo is a `Stage Info`.
type stageInfo struct {
	ID       int64       `json:"Stage ID"`
	Attempt  int32       `json:"Stage Attempt ID"`
	Name     oneLine     `json:"Stage Name"`
	Tasks    int64       `json:"Number of Tasks"`
	Parents  []int64     `json:"Parent IDs"` // nil where the log does not say; an empty list says that it has none
	RDDs     rdds        `json:"RDD Info"`
	Submit   int64       `json:"Submission Time"`
	Complete int64       `json:"Completion Time"`
	Failure  firstLine   `json:"Failure Reason"`
	Values   stageValues `json:"Accumulables"`
}

// rdds is an `RDD Info`, as far as it is about the stage, whose own RDD is the first.
type rdds struct {
	Own        int64
	Partitions int64 // of it
	Barrier    bool
	All        []int64 // ids and their parents', where the log does not name the stage's parents
	Parents    []int64
}

// rddInfo is an element of an `RDD Info`.
type rddInfo struct {
	ID         int64   `json:"RDD ID"`
	Partitions int64   `json:"Number of Partitions"`
	Parents    []int64 `json:"Parent IDs"`
	Barrier    bool    `json:"Barrier"`
}

// executorAdded is a SparkListenerExecutorAdded.
type executorAdded struct {
	ID   string `json:"Executor ID"`
	Time int64  `json:"Timestamp"`
	Info struct {
		Host    string `json:"Host"`
		Cores   int64  `json:"Total Cores"`
		Profile int64  `json:"Resource Profile Id"`
	} `json:"Executor Info"`
}

// executorRemoved is a SparkListenerExecutorRemoved.
type executorRemoved struct {
	ID   string `json:"Executor ID"`
	Time int64  `json:"Timestamp"`
}

// blockManager is a SparkListenerBlockManagerAdded or Removed.
type blockManager struct {
	ID   address `json:"Block Manager ID"`
	Time int64   `json:"Timestamp"`
}

// address is an executor and the machine that it runs on.
type address struct {
	Executor string `json:"Executor ID"`
	Host     string `json:"Host"`
}

// resourceProfile is a SparkListenerResourceProfileAdded.
type resourceProfile struct {
	ID    int64 `json:"Resource Profile Id"`
	Tasks struct {
		CPUs struct {
			Amount float64 `json:"Amount"`
		} `json:"cpus"`
	} `json:"Task Resource Requests"`
}
