package hadoop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// counts are the contents of a log, counted by other means than the reader's.
type counts struct{ jobs, tasks, attempts int }

func rowCounts(r *ingesttest.Result) counts {
	tasks := map[string]bool{}
	for _, a := range r.Attempts {
		tasks[fmt.Sprint(a.PhaseID, " ", a.Task)] = true
	}
	return counts{len(r.Jobs), len(tasks), len(r.Attempts)}
}

func distinct(b []byte, pattern string) int {
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(b, -1) {
		seen[string(m[1])] = true
	}
	return len(seen)
}

func checkValid(t *testing.T, r *ingesttest.Result) {
	t.Helper()
	for _, a := range r.Attempts {
		if a.DurationS.OK && (a.DurationS.V < 0 || a.DurationS.V != a.FinishTime.V.Sub(a.StartTime.V)) {
			t.Errorf("%s lasts %v s from %d to %d", a.NativeID, a.DurationS.V, a.StartTime.V, a.FinishTime.V)
		}
		if a.InputBytes.OK && a.LocalBytes.OK && a.RemoteBytes.OK && a.LocalBytes.V+a.RemoteBytes.V != a.InputBytes.V {
			t.Errorf("%s: %d local and %d remote of %d bytes", a.NativeID, a.LocalBytes.V, a.RemoteBytes.V, a.InputBytes.V)
		}
	}
	last := map[schema.Key]float64{}
	for _, p := range r.Trace.Progress {
		if p.Progress <= 0 || p.Progress > 1 {
			t.Errorf("progress %v of attempt %d", p.Progress, p.AttemptID)
		}
		last[p.AttemptID] = max(last[p.AttemptID], p.Progress)
	}
	for _, a := range r.Attempts {
		if p, ok := last[a.AttemptID]; ok && a.Status == schema.Success && p != 1 {
			t.Errorf("%s succeeded with progress %v", a.NativeID, p)
		}
	}
}

func TestRealJobHistories(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "jhist/*/*.jhist") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, JobHistory(), name, b)
			if r.Err != nil || r.Counts.Rejects > 0 {
				t.Fatalf("error %v, rejects %v", r.Err, r.Trace.Rejects)
			}
			events := bytes.Count(b, []byte(`"event":{"`)) + bytes.Count(b, []byte(`"event" : {"`))
			if int(r.Decoded) != events {
				t.Errorf("%d events read, the file has %d", r.Decoded, events)
			}
			want := counts{1, distinct(b, `"attemptId":"attempt_(\d+_\d+_[mr]_\d+)_`), distinct(b, `"attemptId":"(attempt_[^"]*)"`)}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			checkValid(t, &r)
		})
	}
}

func TestRealJobTrackerHistories(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "hadoop-jobtracker-log/*") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, JobTracker(), name, b)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			want := counts{
				distinct(b, `JOBID="(job_\d+_\d+)"`), distinct(b, `Attempt TASK_TYPE="[A-Z]+" TASKID="(\w+)"`),
				distinct(b, `TASK_ATTEMPT_ID="(\w+)"`),
			}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			// Every line belongs to a record, a mark, a configuration, or a reject; stack traces join lines.
			lines := bytes.Count(b, []byte("\n"))
			if n := int(r.Decoded + r.Counts.Rejects); n > lines+1 || n < lines-60 {
				t.Errorf("%d records in %d lines", n, lines)
			}
			for _, rej := range r.Trace.Rejects {
				line := bytes.Split(b, []byte("\n"))[rej.Line.V-1]
				if bytes.HasSuffix(bytes.TrimSpace(line), []byte(`" .`)) {
					t.Errorf("line %d is whole and was rejected: %s", rej.Line.V, rej.Reason)
				}
			}
			checkValid(t, &r)
		})
	}
}

func TestRealRumen(t *testing.T) {
	for name, b := range ingesttest.CorpusFiles(t, "rumen/*") {
		t.Run(name, func(t *testing.T) {
			r := ingesttest.Bytes(t, Rumen(), name, b)
			if r.Err != nil || r.Counts.Rejects > 0 {
				t.Fatalf("error %v, rejects %v", r.Err, r.Trace.Rejects)
			}
			if strings.Contains(name, "topology") {
				if want := distinct(b, `"name" : "([^"]*)",\s*"children" : null`); len(r.Machines) != want || want == 0 {
					t.Errorf("%d machines, the file has %d leaves", len(r.Machines), want)
				}
				return
			}
			var tasks int
			dec := json.NewDecoder(bytes.NewReader(b))
			for {
				var j map[string]any
				if err := dec.Decode(&j); err != nil {
					break
				}
				for _, k := range []string{"mapTasks", "reduceTasks", "otherTasks"} {
					list, _ := j[k].([]any)
					for _, task := range list {
						if as, _ := task.(map[string]any)["attempts"].([]any); len(as) > 0 {
							tasks++
						}
					}
				}
			}
			want := counts{distinct(b, `"jobID"\s*:\s*"([^"]*)"`), tasks, distinct(b, `"attemptID"\s*:\s*"([^"]*)"`)}
			if got := rowCounts(&r); got != want {
				t.Errorf("jobs, tasks, attempts: %v, want %v", got, want)
			}
			checkValid(t, &r)
			checkWaits(t, &r)
		})
	}
}

// checkWaits checks that each phase of a job waits for those before it: the time that a replay takes off the reduces ends the
// job earlier only if its cleanup waits for them.
func checkWaits(t *testing.T, r *ingesttest.Result) {
	t.Helper()
	kinds := map[schema.Key]string{}
	jobs := map[schema.Key]map[string]bool{}
	for _, p := range r.Phases {
		if kinds[p.PhaseID] = p.Kind; jobs[p.JobID] == nil {
			jobs[p.JobID] = map[string]bool{}
		}
		jobs[p.JobID][p.Kind] = true
	}
	got := map[schema.Key][]string{}
	for _, e := range r.Edges {
		arrow := " > "
		if e.Barrier {
			arrow = " | "
		}
		got[e.JobID] = append(got[e.JobID], kinds[e.FromPhase]+arrow+kinds[e.ToPhase])
	}
	orders := map[string]int{}
	for id, has := range jobs {
		var want []string
		switch {
		case has["map"] && has["reduce"]:
			want = []string{"setup | map", "map > reduce", "reduce | cleanup"}
		case has["map"]:
			want = []string{"setup | map", "map | cleanup"}
		case has["reduce"]:
			want = []string{"setup | reduce", "reduce | cleanup"}
		}
		want = slices.DeleteFunc(want, func(w string) bool {
			return !has["setup"] && strings.HasPrefix(w, "setup") || !has["cleanup"] && strings.HasSuffix(w, "cleanup")
		})
		if !slices.Equal(got[id], want) {
			t.Errorf("a job with %v has edges %v, want %v", has, got[id], want)
		}
		orders[strings.Join(want, ", ")]++
	}
	t.Log(orders)
}

// lostMap is a job whose map 0 finished on m1 and was run again because a reducer could not fetch from it.
const lostMap = `Avro-Json
{"type":"record","name":"Event","fields":[]}
{"type":"JOB_SUBMITTED","event":{"x.JobSubmitted":{"jobid":"job_1_0001","jobName":"<b>lost</b>","userName":"u","submitTime":1000,"jobQueueName":"q"}}}
{"type":"TASK_STARTED","event":{"x.TaskStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","startTime":1500,"splitLocations":"/r1/m1,/r2/m2"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"x.TaskAttemptStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","startTime":2000,"trackerName":"m1","containerId":"c1","locality":{"string":"NODE_LOCAL"},"avataar":{"string":"VIRGIN"}}}}

{"type":"MAP_ATTEMPT_FINISHED","event":{"x.MapAttemptFinished":{"taskid":"task_1_0001_m_000000","attemptId":"attempt_1_0001_m_000000_0","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":3900,"finishTime":4000,"hostname":"m1","rackname":"/r1","counters":{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","counts":[{"name":"FILE_BYTES_READ","value":5},{"name":"HDFS_BYTES_READ","value":700},{"name":"S3A_BYTES_READ","value":11}]}]},"clockSplits":[500,500,500,500]}}}
{"type":"MAP_ATTEMPT_FAILED","event":{"x.TaskAttemptUnsuccessfulCompletion":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_0","finishTime":4000,"hostname":"m1","rackname":"/r1","status":"FAILED","error":"Too many fetch failures. Failing the attempt. Last failure reported by attempt_1_0001_r_000000_0 from host m3"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"x.TaskAttemptStarted":{"taskid":"task_1_0001_m_000000","taskType":"MAP","attemptId":"attempt_1_0001_m_000000_1","startTime":9000,"trackerName":"m2","containerId":"c2","locality":"OFF_SWITCH","avataar":"VIRGIN"}}}
not json
{"type":"MAP_ATTEMPT_FINISHED","event":{"x.MapAttemptFinished":{"taskid":"task_1_0001_m_000000","attemptId":"attempt_1_0001_m_000000_1","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":10000,"finishTime":11000,"hostname":"m2","rackname":"/default-rack"}}}
{"type":"NEVER_SEEN","event":{"x.NeverSeen":{"jobid":"job_1_0001","deep":[[[1]]]}}}
{"type":"JOB_FINISHED","event":{"x.JobFinished":{"jobid":"job_1_0001","finishTime":12000,"finishedMaps":1}}}
`

func TestLostMapOutput(t *testing.T) {
	r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(lostMap))
	if r.Err != nil || r.Decoded != 9 || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 10 {
		t.Fatalf("error %v, %d events, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	first, second := r.Attempts[0], r.Attempts[1]
	if first.Status != schema.Success || first.Recompute || second.Status != schema.Success || !second.Recompute {
		t.Errorf("first %v %v, second %v %v", first.Status, first.Recompute, second.Status, second.Recompute)
	}
	want := []schema.Loss{{
		PhaseID: first.PhaseID, AttemptID: schema.Some(first.AttemptID), Machine: schema.Some("m1"),
		Time: schema.Some(schema.FromMillis(9000)), RecomputedBy: schema.Some(second.AttemptID),
	}}
	if d := cmp.Diff(want, r.Losses); d != "" {
		t.Error(d)
	}
	if first.InputBytes != schema.Some(int64(711)) || first.LocalBytes != first.InputBytes {
		t.Errorf("input %+v, local %+v; the local file system's bytes do not count", first.InputBytes, first.LocalBytes)
	}
	if second.Rack.OK || second.Quality&schema.RackUnknown == 0 || first.Rack != schema.Some("r1") {
		t.Errorf("racks %+v and %+v", first.Rack, second.Rack)
	}
	if n := len(r.Trace.Progress); n != 4 || r.Trace.Progress[0].Time != schema.FromMillis(2500) || r.Trace.Progress[0].Progress != 0.25 {
		t.Errorf("progress %+v", r.Trace.Progress)
	}
}

// A reduce without splits has completed a third when all is copied and two thirds when all is sorted.
func TestProgressAnchors(t *testing.T) {
	row := schema.Attempt{AttemptID: 7, DurationS: schema.Some(9.0), Status: schema.Success}
	for _, x := range []struct {
		what string
		kind kind
		a    attempt
		want []schema.Progress
	}{
		{"a reduce", reduceTask, attempt{start: 1000, copied: 4000, sorted: 5000, finish: 10_000}, []schema.Progress{
			{AttemptID: 7, Time: schema.FromMillis(4000), Progress: 1.0 / 3, Source: schema.Reported},
			{AttemptID: 7, Time: schema.FromMillis(5000), Progress: 2.0 / 3, Source: schema.Reported},
			{AttemptID: 7, Time: schema.FromMillis(10_000), Progress: 1, Source: schema.Reported}}},
		{"a map", mapTask, attempt{start: 1000, copied: 4000, sorted: 5000, finish: 10_000}, nil},
		{"an end that is not known", reduceTask, attempt{start: 1000, sorted: 5000, finish: 10_000}, nil},
		{"a sort before the copy", reduceTask, attempt{start: 1000, copied: 6000, sorted: 5000, finish: 10_000}, nil},
	} {
		b := &jobRows{rows: &rows{}}
		b.progress(&row, x.kind, &x.a)
		if d := cmp.Diff(x.want, b.out.Progress); d != "" {
			t.Errorf("%s: %s", x.what, d)
		}
	}
}

// An attempt that ended, by its machine's clock, before its task was scheduled was queued at an unknown time, started or not.
func TestScheduledByAnotherClock(t *testing.T) {
	const log = `Meta VERSION="1" .
Job JOBID="job_1_0001" SUBMIT_TIME="1000" .
Task TASKID="task_1_0001_m_000000" TASK_TYPE="MAP" START_TIME="1500" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" TASK_STATUS="KILLED" FINISH_TIME="1400" HOSTNAME="/r1/m1" .
Job JOBID="job_1_0001" FINISH_TIME="900" JOB_STATUS="KILLED" .
`
	r := ingesttest.Conformance(t, JobTracker(), ingesttest.Input("history", []byte(log)))
	if len(r.Attempts) != 1 || r.Attempts[0].QueuedTime.OK || r.Jobs[0].FinishTime.OK {
		t.Errorf("%+v, %+v", r.Attempts, r.Jobs)
	}
}

// An attempt that starts while another of its task runs is a copy, if the log does not say.
func TestSpeculationInferred(t *testing.T) {
	const log = `Meta VERSION="1" .
Job JOBID="job_1_0001" JOBNAME="a \"quoted\" name\." USER="u" SUBMIT_TIME="1000" .
Task TASKID="task_1_0001_m_000000" TASK_TYPE="MAP" START_TIME="1500" SPLITS="/r1/m1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" START_TIME="2000" TRACKER_NAME="tracker_m1:localhost/127\.0\.0\.1:1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_1" START_TIME="5000" TRACKER_NAME="tracker_m2:localhost/127\.0\.0\.1:1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="6000" HOSTNAME="/r2/m2" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(42)]}{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_INPUT_RECORDS)(Map input records)(7)][(CPU_MILLISECONDS)(CPU time spent \\(ms\\))(640)][(PHYSICAL_MEMORY_BYTES)(Physical memory \\(bytes\\) snapshot)(4096)]}" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_000000" TASK_ATTEMPT_ID="attempt_1_0001_m_000000_0" TASK_STATUS="KILLED" FINISH_TIME="6500" HOSTNAME="/r1/m1" ERROR="killed
  at over = \"two\" lines" .
Job JOBID="job_1_0001" FINISH_TIME="7000" JOB_STATUS="SUCCESS" .
`
	r := ingesttest.Bytes(t, JobTracker(), "history", []byte(log))
	if r.Err != nil || r.Counts.Rejects > 0 || r.Decoded != 8 {
		t.Fatalf("error %v, %d records, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	original, copied := r.Attempts[0], r.Attempts[1]
	if original.Speculative != schema.Some(false) || copied.Speculative != schema.Some(true) {
		t.Errorf("speculative: original %+v, copy %+v", original.Speculative, copied.Speculative)
	}
	if original.Status != schema.Killed || original.Reason != schema.Some("killed") {
		t.Errorf("original %v %+v", original.Status, original.Reason)
	}
	if original.Locality != schema.Some(schema.NodeLocal) || copied.Locality != schema.Some(schema.AnyLocality) {
		t.Errorf("locality: original %+v, copy %+v", original.Locality, copied.Locality)
	}
	if copied.InputBytes != schema.Some(int64(42)) || copied.InputRecords != schema.Some(int64(7)) || copied.RemoteBytes != schema.Some(int64(42)) {
		t.Errorf("input %+v, records %+v, remote %+v", copied.InputBytes, copied.InputRecords, copied.RemoteBytes)
	}
	// Names in parentheses are escaped twice: within the counters, and then as part of a value.
	if copied.CPUS != schema.Some(0.64) || copied.PeakMemoryBytes != schema.Some(int64(4096)) {
		t.Errorf("processor time %+v, memory %+v", copied.CPUS, copied.PeakMemoryBytes)
	}
	if r.Jobs[0].Name != schema.Some(`a "quoted" name.`) || r.Jobs[0].Status != schema.RunSucceeded {
		t.Errorf("job %+v", r.Jobs[0])
	}
}

// Only settings relevant to stragglers are kept; a credential never is.
func TestConfigurationKeepsNoSecrets(t *testing.T) {
	const conf = `<?xml version="1.0"?><configuration>
<property><name>mapreduce.map.speculative</name><value>true</value></property>
<property><name>fs.s3a.secret.key</name><value>hunter2</value></property>
<!-- <property><name>mapreduce.job.maps</name><value>1</value></property> -->
<property><name>mapreduce.job.queuename</name><value>a&amp;b&#x41;</value></property>
<property><name>mapreduce.job.reduces</name><value>7</value><source>x</source></property>
</configuration>`
	got, err := readConf([]byte(conf))
	want := []schema.Setting{{Name: "mapreduce.job.queuename", Value: "a&bA"}, {Name: "mapreduce.job.reduces", Value: "7"},
		{Name: "mapreduce.map.speculative", Value: "true"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
}

// A file truncated anywhere yields what precedes the cut and never panics.
func TestCutAnywhere(t *testing.T) {
	for cut := range len(lostMap) {
		r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(lostMap[:cut]))
		if len(r.Attempts) > 2 || r.Counts.Rejects > 2 {
			t.Fatalf("cut at %d: %d attempts, %d rejects", cut, len(r.Attempts), r.Counts.Rejects)
		}
	}
}

func FuzzJobHistory(f *testing.F) {
	f.Add([]byte(lostMap))
	for _, b := range corpusOrNone("jhist/hadoop-2015/job_0*.jhist") {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", b)
		checkValid(t, &r)
	})
}

func FuzzJobTracker(f *testing.F) {
	for _, b := range corpusOrNone("hadoop-jobtracker-log/trunc*") {
		f.Add(b)
	}
	f.Add([]byte("Job JOBID=\"job_1_1\" X=\"a\\\" b\" .\nMapAttempt TASK_TYPE=\"MAP\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, JobTracker(), "history", b)
		checkValid(t, &r)
	})
}

func FuzzRumen(f *testing.F) {
	f.Add([]byte(`{"jobID":"job_1_1","mapTasks":[{"taskID":"task_1_1_m_0","attempts":[{"attemptID":"attempt_1_1_m_0_0","startTime":5,"finishTime":9,"clockSplits":[2,2]}]}]}`))
	f.Add([]byte(`{"name":"root","children":[{"name":"r","children":[{"name":"h","children":null}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Rumen(), "trace.json", b)
		checkValid(t, &r)
	})
}

// corpusOrNone returns seeds if the real logs are available.
func corpusOrNone(glob string) [][]byte {
	var out [][]byte
	for _, p := range ingesttest.CorpusOrNone(glob) {
		if b, err := os.ReadFile(p); err == nil {
			out = append(out, b)
		}
	}
	return out
}

func BenchmarkJobHistory(b *testing.B) {
	benchmark(b, JobHistory(), "jhist/hadoop-2015/job_1329348432655_0001-10.jhist")
}
func BenchmarkJobTracker(b *testing.B) {
	benchmark(b, JobTracker(), "hadoop-jobtracker-log/dispatch-sample-v20-jt-log.gz")
}
func BenchmarkRumen(b *testing.B) { benchmark(b, Rumen(), "rumen/19-jobs.trace.json.gz") }

func benchmark(b *testing.B, f ingest.Format, path string) {
	for name, data := range ingesttest.CorpusFiles(b, path) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			ingesttest.Bytes(b, f, name, data)
		}
	}
}

// Two attempts of a task whose ids, in a damaged log, have the same number have different ones in the table.
func TestAttemptNumbersAreUnique(t *testing.T) {
	log := strings.ReplaceAll(lostMap, "attempt_1_0001_m_000000_1", "attempt_9_0001_m_000000_0")
	r := ingesttest.Bytes(t, JobHistory(), "job_1_0001.jhist", []byte(log))
	if r.Err != nil || len(r.Attempts) != 2 || r.Attempts[0].Number == r.Attempts[1].Number {
		t.Errorf("error %v, attempts %+v", r.Err, r.Attempts)
	}
}
