package measure

import (
	"testing"
)

// A stage is the same stage tomorrow: what is new in each run is no part of its name, and all else is.
func TestLastingNames(t *testing.T) {
	for name, want := range map[string]string{
		"Broadcast exchange (runId 46de1d99-2d23-4dba-bdd1-96fa5c0cd456)":                                                      "Broadcast exchange (runId *)",                  // Spark 3.3, BroadcastExchangeExec
		"clicks<br/>id = 46de1d99-2d23-4dba-bdd1-96fa5c0cd456<br/>runId = 5336c977-cb83-40f5-8272-aeb30fb2875d<br/>batch = 17": "clicks<br/>id = *<br/>runId = *<br/>batch = *", // MicroBatchExecution
		"Listing leaf files and directories for 261 paths:<br/>hdfs://nn:9000/inventory/inv_date_sk=2450815, ...":              "Listing leaf files and directories*",           // InMemoryFileIndex
		"load of 2024-08-28":             "load of *",
		"load of 2024-08-28T22:36:20Z":   "load of *",
		"load of 2024-08-28 22:36:20.52": "load of *",
		"run_20240828_223620":            "run_*",
		"1000genome-20200402T034415Z-0":  "1000genome-*-0",
		"application_1724877841851_0016": "application_*",
		"Worker$$Lambda$42@1b2c3d4e run": "Worker$$Lambda$42* run",
		"saveAsTable at Main.scala:1042": "saveAsTable at Main.scala:1042",
		"join of part 12 with part 345":  "join of part 12 with part 345",
		"collect at /home/a/v2/run.py:9": "collect at /home/a/v2/run.py:9",
		"SELECT 0.25 FROM t LIMIT 10000": "SELECT 0.25 FROM t LIMIT 10000",
	} {
		if got := lasting(name); got != want {
			t.Errorf("%q is kept as %q, want %q", name, got, want)
		}
	}
}
