package schema_test

import (
	"testing"

	"straggler/schema"
)

// What differs in each run is replaced, and everything else is kept.
func TestLasting(t *testing.T) {
	for name, want := range map[string]string{
		// Spark 3.3, BroadcastExchangeExec
		"Broadcast exchange (runId 46de1d99-2d23-4dba-bdd1-96fa5c0cd456)": "Broadcast exchange (runId *)",
		// MicroBatchExecution
		"clicks<br/>id = 46de1d99-2d23-4dba-bdd1-96fa5c0cd456<br/>runId = 5336c977-cb83-40f5-8272-aeb30fb2875d<br/>batch = 17": "clicks<br/>id = *<br/>runId = *<br/>batch = *",
		// InMemoryFileIndex
		"Listing leaf files and directories for 261 paths:<br/>hdfs://nn:9000/inventory/inv_date_sk=2450815, ...": "Listing leaf files and directories*",
		"load of 2024-08-28":             "load of *",
		"load of 2024-08-28T22:36:20Z":   "load of *",
		"load of 2024-08-28 22:36:20.52": "load of *",
		"run_20240828_223620":            "run_*",
		"1000genome-20200402T034415Z-0":  "1000genome-*-0",
		"application_1724877841851_0016": "application_*",
		"Worker$$Lambda$42@1b2c3d4e run": "Worker$$Lambda$42* run",
		"saveAsTable at Main.scala:1042": "saveAsTable at Main.scala:1042",
		"job_2026-11-21":                 "job_*",
		"job 2026/11/21 06-30":           "job *",
		"etl.2026_11_21.daily":           "etl.*.daily",
		"events-1763676000":              "events-*",
		"run-42":                         "run-*",
		"etl_run_42":                     "etl_run_*",
		"nightly (build #7)":             "nightly (build #*)",
		"Run42":                          "Run*",
		"execution 3 of the loader":      "execution * of the loader",
		"tpcds q17":                      "tpcds q17",
		"etl-v2":                         "etl-v2",
		"model.2024":                     "model.2024",
		"dryrun7":                        "dryrun7",
		"partition-12":                   "partition-12",
		"job-3":                          "job-3",
		"10.0.0.12":                      "10.0.0.12",
		"join of part 12 with part 345":  "join of part 12 with part 345",
		"collect at /home/a/v2/run.py:9": "collect at /home/a/v2/run.py:9",
		"SELECT 0.25 FROM t LIMIT 10000": "SELECT 0.25 FROM t LIMIT 10000",
	} {
		if got := schema.Lasting(name); got != want {
			t.Errorf("%q is kept as %q, want %q", name, got, want)
		}
	}
}

// Lasting is idempotent.
func FuzzLasting(f *testing.F) {
	for _, name := range []string{"job_2026-11-21", "run-42", "a 46de1d99-2d23-4dba-bdd1-96fa5c0cd456 b", "batch = 17", "x@1b2c3d4e", "é\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		once := schema.Lasting(name)
		if twice := schema.Lasting(once); twice != once {
			t.Errorf("%q is %q, and that is %q", name, once, twice)
		}
	})
}
