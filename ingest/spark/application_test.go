package spark

import (
	"testing"

	"straggler/ingest"
)

// An application is identified by its id and start, which differ between its attempts, whether the log begins with the event
// of its start or with settings that fill the part seen of it.
func TestApplication(t *testing.T) {
	const logStart = `{"Event":"SparkListenerLogStart","Spark Version":"3.5.1"}` + "\n"
	for _, c := range []struct{ name, head, want string }{
		{"start", logStart + `{"Event":"SparkListenerApplicationStart","App Name":"x \"App ID\":\"no\"","App ID":"app-1","Timestamp":1700000000123,"User":"u"}` + "\n", "app-1 1700000000123"},
		{"second attempt", logStart + `{"Event":"SparkListenerApplicationStart","App Name":"x","App ID":"app-1","Timestamp":1700000009123,"User":"u","App Attempt ID":"2"}` + "\n", "app-1 1700000009123"},
		{"start behind settings", logStart + `{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.id":"app-1","spark.app.startTime":"1699999999000"}}` + "\n" +
			`{"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": "app-1", "Timestamp": 1700000000123}` + "\n", "app-1 1700000000123"},
		{"settings only", logStart + `{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.app.id":"app-1","spark.app.startTime":"1699999999000","spark.jars":"`, "app-1 1699999999000"},
		{"no id, as before Spark 1.4", logStart + `{"Event":"SparkListenerApplicationStart","App Name":"x","Timestamp":1700000000123,"User":"u"}` + "\n", ""},
		{"tasks only", logStart + `{"Event":"SparkListenerTaskStart","Stage ID":0}` + "\n", ""},
	} {
		if got := Format().Application(ingest.Head{Bytes: []byte(c.head)}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
