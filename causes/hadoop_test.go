package causes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/ingest"
	"straggler/ingest/hadoop"
	ingestrun "straggler/ingest/run"
	"straggler/schema"
	"straggler/store"
)

// lostMapHistory returns a job history in the layout of Hadoop 2 (Avro as JSON): twelve maps of ten seconds, and twelve reduces
// of ten that start at 20 s. The output of map 3 on m3 cannot be fetched: reduce 2 reports it, the map runs again on m5 from 25
// to 45 s, and the reduces 2 and 7, which still lacked it, end at 50 s.
func lostMapHistory() string {
	var b strings.Builder
	b.WriteString("Avro-Json\n{\"type\":\"record\",\"name\":\"Event\",\"fields\":[]}\n")
	event := func(kind, record, format string, a ...any) {
		fmt.Fprintf(&b, "{\"type\":%q,\"event\":{\"org.apache.hadoop.mapreduce.jobhistory.%s\":{%s}}}\n", kind, record, fmt.Sprintf(format, a...))
	}
	const zero = 1_700_000_000_000
	event("JOB_SUBMITTED", "JobSubmitted", `"jobid":"job_1_0001","jobName":"lost","userName":"u","submitTime":%d,"jobQueueName":"q"`, zero)
	event("JOB_INITED", "JobInited", `"jobid":"job_1_0001","launchTime":%d,"totalMaps":12,"totalReduces":12,"jobStatus":"INITED","uberized":false`, zero)
	attempt := func(kind string, task, number, machine, start, finish int) {
		letter, record := strings.ToLower(kind[:1]), "MapAttemptFinished"
		if kind == "REDUCE" {
			record = "ReduceAttemptFinished"
		}
		id := fmt.Sprintf("attempt_1_0001_%s_%06d_%d", letter, task, number)
		who := fmt.Sprintf(`"taskid":"task_1_0001_%s_%06d","taskType":%q,"attemptId":%q`, letter, task, kind, id)
		event(kind+"_ATTEMPT_STARTED", "TaskAttemptStarted", `%s,"startTime":%d,"trackerName":"m%d","containerId":"c%s"`, who, zero+start, machine, id)
		event(kind+"_ATTEMPT_FINISHED", record, `%s,"taskStatus":"SUCCEEDED","finishTime":%d,"hostname":"m%d","rackname":"/r1","counters":{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","counts":[{"name":"HDFS_BYTES_READ","value":64000000}]}]}`,
			who, zero+finish, machine)
	}
	for i := range 12 {
		attempt("MAP", i, 0, i%6, 0, 10_000+100*(i%5))
	}
	for i := range 12 {
		finish := 30_000 + 100*(i%5)
		if i == 2 || i == 7 {
			finish = 50_000
		}
		attempt("REDUCE", i, 0, i%6, 20_000, finish)
	}
	event("MAP_ATTEMPT_FAILED", "TaskAttemptUnsuccessfulCompletion", `"taskid":"task_1_0001_m_000003","taskType":"MAP","attemptId":"attempt_1_0001_m_000003_0","finishTime":%d,"hostname":"m3","rackname":"/r1","status":"FAILED","error":"Too many fetch failures. Failing the attempt. Last failure reported by attempt_1_0001_r_000002_0 from host m2"`, zero+10_300)
	attempt("MAP", 3, 1, 5, 25_000, 45_000)
	event("JOB_FINISHED", "JobFinished", `"jobid":"job_1_0001","finishTime":%d,"finishedMaps":12,"finishedReduces":12`, zero+50_500)
	return b.String()
}

// In Hadoop's history of a lost output, the repeated map is recompute as a whole, and the reduces that waited for it have
// recompute for their wait. The SQL of both shows where the output was, who missed it, and when it was available again.
func TestLostOutputOfHadoop(t *testing.T) {
	log := filepath.Join(t.TempDir(), "job_1_0001-1700000000000-u-lost-1700000050500-12-12-SUCCEEDED-q.jhist")
	if err := os.WriteFile(log, []byte(lostMapHistory()), 0o600); err != nil {
		t.Fatal(err)
	}
	st, eng := causes.Stored(t, func(st *store.Store) error {
		_, err := ingestrun.Run(t.Context(), st, []ingest.Format{hadoop.JobHistory()}, []string{log}, ingestrun.Options{})
		return err
	})
	if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Native   string       `col:"native_id"`
		Cause    schema.Cause `col:"cause"`
		Seconds  float64      `col:"seconds"`
		Evidence string       `col:"evidence"`
	}
	// all of 20 s; 30 s less the median of 10.2
	want := map[string]float64{"attempt_1_0001_m_000003_1": 20, "attempt_1_0001_r_000002_0": 19.8, "attempt_1_0001_r_000007_0": 19.8}
	for _, r := range rowsOf[row](t, eng, "SELECT a.native_id, t.cause, t.seconds, t.evidence FROM attributions t JOIN attempts a ON a.attempt_id = t.attempt_id WHERE t.rank = 1 ORDER BY a.native_id NULLS LAST") {
		seconds, ok := want[r.Native]
		delete(want, r.Native)
		if !ok || r.Cause != schema.Recompute || r.Seconds < 0.95*seconds || r.Seconds > 1.05*seconds {
			t.Errorf("%s has %g s of %s, want about %g of recompute: %s", r.Native, r.Seconds, r.Cause, seconds, r.Evidence)
		}
		var e causes.Evidence
		if err := json.Unmarshal([]byte(r.Evidence), &e); err != nil {
			t.Fatal(err)
		}
		columns, rows := answer(t, eng, e.SQL)
		shown := fmt.Sprint(columns, rows)
		switch {
		case len(rows) != 1 || !strings.Contains(shown, "m3"):
			t.Errorf("%s shows %s", e.SQL, shown)
		case e.Predictor == "recompute":
			if !strings.Contains(shown, "m2") || !strings.Contains(e.Text, "on m3") {
				t.Errorf("%s: %s shows %s; the output was on m3, reduce 2 on m2 missed it", e.Text, e.SQL, shown)
			}
		case e.Predictor == "losses":
			v := table{columns, rows}
			if gap := v.of("restored_at")[0] - v.of("lost_at")[0]; gap != 20 || e.Value > gap {
				t.Errorf("%s: lost for %g s, want 20; the evidence says %g", e.SQL, gap, e.Value)
			}
		default:
			t.Errorf("%s is read off %s", r.Native, e.Predictor)
		}
	}
	if len(want) > 0 {
		t.Errorf("no verdict on %v", want)
	}
}
