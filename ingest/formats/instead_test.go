package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/ingest/discover"
)

// The text log of a process is refused with the name of the file to give instead. The lines are from published logs.
func TestInstead(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"am":      {"2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.mapreduce.v2.app.MRAppMaster: Created MRAppMaster for application appattempt_1445144423722_0020_000001", ".jhist"},
		"client":  {"15/10/18 18:01:47 INFO mapreduce.Job:  map 0% reduce 0%", ".jhist"},
		"spark":   {"17/06/09 20:10:40 INFO executor.CoarseGrainedExecutorBackend: Registered signal handlers\n17/06/09 20:10:46 INFO executor.Executor: Starting executor ID 5 on host mesos-slave-07", "spark.eventLog.dir"},
		"driver":  {"23/11/07 10:59:24.346 main INFO SparkContext: Submitted application: Test", "spark.eventLog.dir"},
		"tez":     {"2021-08-25 14:37:24,329 [INFO] [Dispatcher thread {Central}] |HistoryEventHandler.criticalEvents|: [HISTORY][DAG:dag_1612602874723_344108_1][Event:TASK_ATTEMPT_FINISHED]: vertexName=Map 1, timeTaken=2263, status=FAILED", "history.txt"},
		"another": {"2021-08-25 14:37:24,329 INFO kafka.Server: started", `it starts with "2021-08-25`},
	} {
		path := filepath.Join(t.TempDir(), name+".log")
		if err := os.WriteFile(path, []byte(c.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := discover.Find(t.Context(), All(), []string{path}, discover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Inputs) != 0 || len(found.Skipped) != 1 || !strings.Contains(found.Skipped[0].Reason, c.want) {
			t.Errorf("%s: %+v, want %q", name, found.Skipped, c.want)
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
}
