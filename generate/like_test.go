package generate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// realLog reads a labelled log, decompressed.
func realLog(t testing.TB, pattern string) []byte {
	t.Helper()
	names, err := filepath.Glob("../testdata/labelled/" + pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(names[0], ".zstd") {
		d, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		r = d
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// logEvent is the part of an event that the tests examine, read by a separate decoder.
type logEvent struct {
	Event     string
	JobID     *int64  `json:"Job ID"`
	StageID   *int64  `json:"Stage ID"`
	StageIDs  []int64 `json:"Stage IDs"`
	StageInfo struct {
		StageID   int64   `json:"Stage ID"`
		Attempt   int64   `json:"Stage Attempt ID"`
		ParentIDs []int64 `json:"Parent IDs"`
		RDDInfo   []struct {
			RDDID     int64   `json:"RDD ID"`
			ParentIDs []int64 `json:"Parent IDs"`
		} `json:"RDD Info"`
	} `json:"Stage Info"`
	TaskInfo struct {
		TaskID int64 `json:"Task ID"`
		Launch int64 `json:"Launch Time"`
		Finish int64 `json:"Finish Time"`
	} `json:"Task Info"`
	Reason struct {
		Reason    string
		ShuffleID int64 `json:"Shuffle ID"`
		MapID     int64 `json:"Map ID"`
	} `json:"Task End Reason"`
	ExecutionID *int64            `json:"executionId"`
	Properties  map[string]string `json:"Properties"`
	Timestamp   int64
}

func decodeLog(t *testing.T, text []byte) []logEvent {
	t.Helper()
	var events []logEvent
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var e logEvent
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("line %d: %v: %.200s", i+1, err, line)
		}
		events = append(events, e)
	}
	return events
}

func count(events []logEvent) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.Event]++
	}
	return n
}

// TestLikeRepeats: what a log has once occurs once, the rest as often as it was repeated, with new ids and later.
func TestLikeRepeats(t *testing.T) {
	for _, name := range []string{"plain/app-*", "recompute/app-*.zstd", "sql/app-*.zstd", "dynamic-allocation/app-*.zstd",
		"spark4-bad-machine/eventlog_v2_*/events_1_*"} {
		t.Run(name, func(t *testing.T) {
			log := realLog(t, name)
			var out bytes.Buffer
			n, err := Like(t.Context(), &out, bytes.NewReader(log), int64(5*len(log)/2))
			if err != nil {
				t.Fatal(err)
			}
			if n != int64(out.Len()) || n < int64(5*len(log)/2) {
				t.Errorf("%d bytes reported of a log of %d bytes, %d written", n, len(log), out.Len())
			}
			before, after := decodeLog(t, log), decodeLog(t, out.Bytes())
			counts := count(after)
			for event, want := range count(before) {
				if !once[event] && !last[event] {
					want *= 3
				}
				if counts[event] != want {
					t.Errorf("%s: %d, want %d", event, counts[event], want)
				}
			}
			checkIDs(t, before, after)
		})
	}
}

// checkIDs: every repetition has its own ids, which refer to each other as in the original log.
func checkIDs(t *testing.T, before, after []logEvent) {
	t.Helper()
	tasks, jobs, stages := map[int64]int{}, map[int64]int{}, map[[2]int64]int{}
	made := map[int64]bool{}
	var end int64
	for _, e := range after {
		switch e.Event {
		case "SparkListenerTaskStart":
			tasks[e.TaskInfo.TaskID]++
		case "SparkListenerTaskEnd":
			made[e.TaskInfo.TaskID] = true
			end = max(end, e.TaskInfo.Finish)
			if e.Reason.Reason == "FetchFailed" && !made[e.Reason.MapID] {
				t.Errorf("fetch failed of the output of task %d, which had not run", e.Reason.MapID)
			}
		case "SparkListenerJobStart":
			jobs[*e.JobID]++
			if id := e.Properties["spark.sql.execution.id"]; id != "" && !strings.Contains(id, "null") {
				if len(id) == 0 || id[0] < '0' || id[0] > '9' {
					t.Errorf("execution id %q", id)
				}
			}
		case "SparkListenerStageSubmitted":
			stages[[2]int64{e.StageInfo.StageID, e.StageInfo.Attempt}]++
			for _, p := range e.StageInfo.ParentIDs {
				if p >= e.StageInfo.StageID {
					t.Errorf("stage %d reads stage %d", e.StageInfo.StageID, p)
				}
			}
			for i, rdd := range e.StageInfo.RDDInfo {
				for _, p := range rdd.ParentIDs {
					if i+1 < len(e.StageInfo.RDDInfo) && p == rdd.RDDID {
						t.Errorf("RDD %d reads itself", p)
					}
				}
			}
		case "SparkListenerApplicationEnd":
			if e.Timestamp < end {
				t.Errorf("the application ends at %d, its last task at %d", e.Timestamp, end)
			}
		}
	}
	n := count(before)
	if len(tasks) != 3*n["SparkListenerTaskStart"] || len(jobs) != 3*n["SparkListenerJobStart"] || len(stages) != 3*n["SparkListenerStageSubmitted"] {
		t.Errorf("%d tasks, %d jobs, %d stages with ids of their own in three repetitions of %v", len(tasks), len(jobs), len(stages), n)
	}
}

// FuzzLike: any bytes are repeated or refused.
func FuzzLike(f *testing.F) {
	log := realLog(f, "plain/app-*")
	for _, line := range bytes.SplitAfterN(log, []byte("\n"), 40) {
		if len(line) < 20_000 {
			f.Add(line)
		}
	}
	f.Add([]byte(`{"Event":"SparkListenerTaskEnd","Stage ID":007,"Stage IDs":[99999999999999999999,1],"Task ID":-5,"time":0}` + "\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		var out bytes.Buffer
		if n, err := Like(t.Context(), &out, bytes.NewReader(log), int64(3*len(log))); err == nil && n != int64(out.Len()) {
			t.Fatalf("%d bytes reported, %d written", n, out.Len())
		}
		if _, err := Wide(t.Context(), &out, bytes.NewReader(log), 3); err != nil && !errors.Is(err, ErrNoTasks) {
			t.Fatal(err)
		}
	})
}
