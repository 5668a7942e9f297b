package sparkrest

import (
	"strings"
	"time"

	"straggler/schema"
)

// The answers of Spark's REST API (org.apache.spark.status.api.v1), limited to the fields that are used.

type application struct {
	ID       string
	Name     string
	Attempts []applicationAttempt
}

type applicationAttempt struct {
	AttemptID       string
	StartTime       stamp
	EndTime         stamp
	LastUpdated     stamp
	Duration        int64 // ms; for a running one until now, by the server's clock
	SparkUser       string
	Completed       bool
	AppSparkVersion string
}

type environment struct {
	SparkProperties [][]string
}

type job struct {
	JobID          int64
	Name           string
	SubmissionTime stamp
	CompletionTime stamp
	StageIDs       []int64
	Status         string
}

type stage struct {
	Status           string
	StageID          int64
	AttemptID        int32
	NumTasks         int64
	NumActiveTasks   int64
	NumCompleteTasks int64
	NumFailedTasks   int64
	NumKilledTasks   int64
	SubmissionTime   stamp
	FirstTaskLaunch  stamp `json:"firstTaskLaunchedTime"`
	CompletionTime   stamp
	Name             string
}

type executor struct {
	ID         string
	HostPort   string
	TotalCores int64
	MaxTasks   int64
	MaxMemory  int64
	AddTime    stamp
	RemoveTime stamp
	IsActive   bool
}

type task struct {
	TaskID        int64
	Index         int64
	Attempt       int32
	PartitionID   *int64 // since Spark 3.2
	LaunchTime    stamp
	Duration      *int64
	ExecutorID    string
	Host          string
	Status        string
	TaskLocality  string
	Speculative   bool
	ErrorMessage  string
	TaskMetrics   *metrics
	SchedulerWait *int64 `json:"schedulerDelay"`
	ResultFetch   int64  `json:"gettingResultTime"`
}

type metrics struct {
	ExecutorDeserializeTime int64
	ExecutorRunTime         int64
	ExecutorCPUTime         int64
	JVMGCTime               int64
	ResultSerializationTime int64
	DiskBytesSpilled        int64
	PeakExecutionMemory     int64
	InputMetrics            struct{ BytesRead, RecordsRead int64 }
	OutputMetrics           struct{ BytesWritten int64 }
	ShuffleReadMetrics      struct{ FetchWaitTime, RemoteBytesRead, LocalBytesRead, RecordsRead int64 }
	ShuffleWriteMetrics     struct{ BytesWritten int64 }
}

// stamp is a time as the API writes it: 2026-11-22T14:37:52.061GMT. One millisecond before the epoch means none.
type stamp struct{ schema.Null[schema.Time] }

func (s *stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse("2006-01-02T15:04:05.000GMT", string(text))
	if err != nil {
		t, err = time.Parse(time.RFC3339Nano, strings.Replace(string(text), "GMT", "Z", 1))
	}
	if err == nil && t.UnixMilli() > 0 && t.Year() < 10000 {
		s.Null = schema.Some(schema.FromMillis(t.UnixMilli()))
	}
	return nil // an invalid time is unknown, which does not affect other fields
}
