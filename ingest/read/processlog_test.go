package read

import "testing"

// The lines are those of the default patterns of Hadoop, Tez, Spark 2 and 3, and Databricks.
func TestProcessLog(t *testing.T) {
	for head, want := range map[string]bool{
		"2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.mapreduce.v2.app.MRAppMaster: Created\n":                  true,
		"2021-08-25 14:37:24,329 [INFO] [Dispatcher thread {Central}] |HistoryEventHandler|: MRAppMaster\n":              true,
		"17/06/09 20:10:40 INFO executor.MRAppMaster: Registered\n":                                                      true,
		"23/11/07 10:59:24.335 main INFO MRAppMaster: Started\n":                                                         true,
		"2023-11-07T10:59:24.335Z [main] ERROR MRAppMaster - Started\n":                                                  true,
		"Container: container_1_2_3 on node\n====\nLogType:syslog\n2015-10-18 18:01:47,978 WARN [main] MRAppMaster: x\n": true,
		"2015-10-18 18:01:47,978 INFO [main] another\n":                                                                  false,
		"2015-10-18 18:01:47 MRAppMaster\n":                                                                              false,
		`{"time":"2015-10-18 18:01:47","level":"INFO MRAppMaster"}`:                                                      false,
		"": false,
	} {
		if got := ProcessLog([]byte(head), "MRAppMaster"); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}
