package spark

import (
	"strings"
	"testing"

	"straggler/schema"
)

const newMetrics = `"Executor Deserialize Time":10,"Executor Run Time":700,"Executor CPU Time":500000000,"Peak Execution Memory":64,"Result Size":1000,` +
	`"JVM GC Time":20,"Result Serialization Time":5,"Memory Bytes Spilled":900,"Disk Bytes Spilled":90,` +
	`"Shuffle Read Metrics":{"Remote Blocks Fetched":1,"Local Blocks Fetched":1,"Fetch Wait Time":30,"Remote Bytes Read":400,"Remote Bytes Read To Disk":100,` +
	`"Local Bytes Read":50,"Total Records Read":7,"Push Based Shuffle":{"Merged Remote Bytes Read":300,"Merged Local Bytes Read":20}},` +
	`"Shuffle Write Metrics":{"Shuffle Bytes Written":11,"Shuffle Write Time":1,"Shuffle Records Written":2},` +
	`"Input Metrics":{"Bytes Read":2000,"Records Read":3},"Output Metrics":{"Bytes Written":12,"Records Written":1}`

// attemptWith returns the row of a task that ran from 1000 to 2000 ms.
func attemptWith(t *testing.T, locality, reason, metrics string) schema.Attempt {
	t.Helper()
	end := `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"` + reason + `"},` +
		`"Task Info":{"Task ID":1,"Index":0,"Attempt":0,"Launch Time":1000,"Executor ID":"1","Host":"h","Locality":"` + locality + `","Speculative":false,` +
		`"Getting Result Time":1900,"Finish Time":2000,"Failed":false}`
	if metrics != "" {
		end += `,"Task Metrics":{` + metrics + `}`
	}
	r := readText(t, `{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}`, appStart, end+"}", appEnd)
	if len(r.Attempts) != 1 {
		t.Fatalf("%+v", r.Trace.Rejects)
	}
	valid(t, &r.Trace)
	return r.Attempts[0]
}

func bytesAre(t *testing.T, what string, got schema.Null[int64], want int64) {
	t.Helper()
	if got.OK != (want >= 0) || got.OK && got.V != want {
		t.Errorf("%s: %+v, want %d (-1 is NULL)", what, got, want)
	}
}

func secondsAre(t *testing.T, what string, got schema.Null[float64], want float64) {
	t.Helper()
	if got.OK != (want >= 0) || got.OK && got.V != want {
		t.Errorf("%s: %+v, want %v (-1 is NULL)", what, got, want)
	}
}

// Parts longer than their attempt, as in a log whose times are in seconds, are unknown: attemptWith checks the laws of rows.
func TestPartsLongerThanTheAttempt(t *testing.T) {
	for _, part := range []string{`"Executor Deserialize Time":`, `"Result Serialization Time":`} {
		for ms, repaired := range map[string]bool{"1002": false, "1003": true, "9223372036854775807": true} {
			metrics := `"Executor Run Time":9223372036854775807,"Executor Deserialize Time":1,"Result Serialization Time":1`
			name, _, _ := strings.Cut(part, ":")
			metrics = strings.Replace(metrics, name+":1", part+ms, 1)
			a := attemptWith(t, "ANY", "Success", metrics)
			if got := a.Quality&schema.TimeRepaired != 0; got != repaired || a.DeserializeS.OK == repaired || a.ResultS.OK == repaired ||
				a.SchedulerDelayS.OK == repaired {
				t.Errorf("%s%s: %+v", part, ms, a)
			}
			if !repaired {
				secondsAre(t, "scheduler", a.SchedulerDelayS, 0)
			}
		}
	}
}

// Collections and waits longer than their attempt are unknown, whether it succeeded or not; the other parts are kept.
func TestCollectionsLongerThanTheAttempt(t *testing.T) {
	for _, reason := range []string{"Success", "TaskKilled"} {
		for _, c := range []struct {
			metric string
			of     func(*schema.Attempt) schema.Null[float64]
		}{
			{`"JVM GC Time":20`, func(a *schema.Attempt) schema.Null[float64] { return a.GCS }},
			{`"Fetch Wait Time":30`, func(a *schema.Attempt) schema.Null[float64] { return a.FetchWaitS }},
		} {
			for ms, want := range map[string]float64{"1002": 1.002, "1003": -1, "9223372036854775807": -1} {
				name, _, _ := strings.Cut(c.metric, ":")
				a := attemptWith(t, "ANY", reason, strings.Replace(newMetrics, c.metric, name+":"+ms, 1))
				secondsAre(t, name, c.of(&a), want)
				if repaired := a.Quality&schema.TimeRepaired != 0; repaired != (want < 0) || !a.DeserializeS.OK {
					t.Errorf("%s of %s ms: %+v", name, ms, a)
				}
			}
		}
	}
}

// No attempt uses more processor time than a thousand cores have while it runs.
func TestMoreCoresThanAMachineHas(t *testing.T) {
	for ns, want := range map[string]float64{"500000000": 0.5, "64000000000": 64, "1003000000000": -1, "9223372036854775807": -1} {
		a := attemptWith(t, "ANY", "Success", strings.Replace(newMetrics, `"Executor CPU Time":500000000`, `"Executor CPU Time":`+ns, 1))
		secondsAre(t, ns+" ns", a.CPUS, want)
		if repaired := a.Quality&schema.TimeRepaired != 0; repaired != (want < 0) || !a.GCS.OK {
			t.Errorf("%s ns: %+v", ns, a)
		}
	}
}

func TestMeasuresOfSuccess(t *testing.T) {
	a := attemptWith(t, "NODE_LOCAL", "Success", newMetrics)
	secondsAre(t, "cpu", a.CPUS, 0.5)
	secondsAre(t, "gc", a.GCS, 0.02)
	secondsAre(t, "deserialize", a.DeserializeS, 0.01)
	secondsAre(t, "fetch wait", a.FetchWaitS, 0.03)
	secondsAre(t, "result", a.ResultS, 0.105)            // 5 ms to serialise, 100 ms to fetch
	secondsAre(t, "scheduler", a.SchedulerDelayS, 0.185) // 1000 − 700 − 10 − 5 − 100
	bytesAre(t, "spill", a.SpillBytes, 90)
	bytesAre(t, "peak", a.PeakMemoryBytes, 64)
	bytesAre(t, "shuffle write", a.ShuffleWriteBytes, 11)
	bytesAre(t, "output", a.OutputBytes, 12)
	bytesAre(t, "records", a.InputRecords, 10)
	bytesAre(t, "input", a.InputBytes, 2450) // push-merged bytes are included in the remote and local ones
	bytesAre(t, "local", a.LocalBytes, 2050)
	bytesAre(t, "remote", a.RemoteBytes, 400)
	if a.Quality != schema.RackUnknown|schema.BytesEstimated {
		t.Errorf("quality %b", a.Quality)
	}
}

// The locality tells where input from storage was, or it is unknown.
func TestLocality(t *testing.T) {
	for locality, want := range map[string][2]int64{"NODE_LOCAL": {2050, 400}, "RACK_LOCAL": {50, 2400}, "ANY": {50, 2400},
		"PROCESS_LOCAL": {-1, 400}, "NO_PREF": {-1, 400}, "MOON": {-1, 400}} {
		a := attemptWith(t, locality, "Success", newMetrics)
		bytesAre(t, locality+" local", a.LocalBytes, want[0])
		bytesAre(t, locality+" remote", a.RemoteBytes, want[1])
		bytesAre(t, locality+" input", a.InputBytes, 2450)
	}
	a := attemptWith(t, "ANY", "Success", strings.Replace(newMetrics, `"Bytes Read":2000`, `"Bytes Read":0`, 1))
	if a.RemoteBytes.V != 400 || a.Quality&schema.BytesEstimated != 0 {
		t.Errorf("without input nothing is estimated: %+v", a)
	}
}

// A zero of an attempt that did not succeed was never measured.
func TestMeasuresOfFailure(t *testing.T) {
	// As in the log of a killed copy: only its run time was reported.
	zeros := `"Executor Deserialize Time":0,"Executor Run Time":53178,"Executor CPU Time":0,"Result Size":0,"JVM GC Time":0,"Result Serialization Time":0,` +
		`"Disk Bytes Spilled":0,"Shuffle Read Metrics":{"Local Blocks Fetched":0,"Fetch Wait Time":0,"Remote Bytes Read":70,"Local Bytes Read":0,"Total Records Read":0},` +
		`"Shuffle Write Metrics":{"Shuffle Bytes Written":0},"Input Metrics":{"Bytes Read":0,"Records Read":0},"Output Metrics":{"Bytes Written":0}`
	a := attemptWith(t, "ANY", "TaskKilled", zeros)
	for what, v := range map[string]schema.Null[float64]{"cpu": a.CPUS, "gc": a.GCS, "deserialize": a.DeserializeS,
		"wait": a.FetchWaitS, "scheduler": a.SchedulerDelayS, "result": a.ResultS} {
		secondsAre(t, what, v, -1)
	}
	for what, v := range map[string]schema.Null[int64]{"spill": a.SpillBytes, "write": a.ShuffleWriteBytes, "output": a.OutputBytes,
		"records": a.InputRecords, "local": a.LocalBytes} {
		bytesAre(t, what, v, -1)
	}
	bytesAre(t, "remote", a.RemoteBytes, 70)
	bytesAre(t, "input", a.InputBytes, 70)
	if a.Status != schema.Killed || a.Quality&schema.MetricsMissing != 0 {
		t.Errorf("%+v", a)
	}
	for name, metrics := range map[string]string{"none": "", "only zeros": strings.NewReplacer("53178", "0", "70", "0").Replace(zeros)} {
		for _, reason := range []string{"Success", "ExceptionFailure"} {
			if a := attemptWith(t, "ANY", reason, metrics); a.Quality&schema.MetricsMissing == 0 || a.InputBytes.OK || a.CPUS.OK || !a.DurationS.OK {
				t.Errorf("%s, %s: %+v", name, reason, a)
			}
		}
	}
}

// Spark 1 omits groups that a task did not use, and Spark 1.2 has no local bytes and no records.
func TestMeasuresOfOldSpark(t *testing.T) {
	const base = `"Host Name":"h","Executor Deserialize Time":10,"Executor Run Time":500,"Result Size":5,"JVM GC Time":0,"Result Serialization Time":0,"Memory Bytes Spilled":0,"Disk Bytes Spilled":0`
	a := attemptWith(t, "ANY", "Success", base)
	bytesAre(t, "input", a.InputBytes, 0)
	bytesAre(t, "shuffle write", a.ShuffleWriteBytes, 0)
	secondsAre(t, "wait", a.FetchWaitS, 0)
	secondsAre(t, "cpu", a.CPUS, -1)
	bytesAre(t, "peak", a.PeakMemoryBytes, -1)
	a = attemptWith(t, "ANY", "Success", base+
		`,"Shuffle Read Metrics":{"Remote Blocks Fetched":1,"Local Blocks Fetched":1,"Fetch Wait Time":0,"Remote Bytes Read":70}`)
	bytesAre(t, "remote", a.RemoteBytes, 70)
	bytesAre(t, "local", a.LocalBytes, -1)
	bytesAre(t, "input with unknown local bytes", a.InputBytes, -1)
	bytesAre(t, "records", a.InputRecords, -1)
	a = attemptWith(t, "ANY", "Success", base+
		`,"Shuffle Read Metrics":{"Remote Blocks Fetched":1,"Local Blocks Fetched":0,"Fetch Wait Time":0,"Remote Bytes Read":70}`)
	bytesAre(t, "input without local blocks", a.InputBytes, 70)
}

func TestStatuses(t *testing.T) {
	for reason, want := range map[string]schema.AttemptStatus{"Success": schema.Success, "FetchFailed": schema.Failed, "ExceptionFailure": schema.Failed,
		"TaskKilled": schema.Killed, "TaskCommitDenied": schema.Killed, "ExecutorLostFailure": schema.Lost,
		"TaskResultLost": schema.Failed, "UnknownReason": schema.Failed, "Meteor": schema.Failed} {
		a := attemptWith(t, "ANY", reason, newMetrics)
		if a.Status != want || a.Reason.OK != (reason != "Success") || a.Reason.OK && a.Reason.V != reason {
			t.Errorf("%s: %s because %+v", reason, a.Status, a.Reason)
		}
	}
	// A page of diagnostics is truncated to its first line.
	r := readText(t, appStart, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"ExceptionFailure","Class Name":"java.io.IOException","Description":"disk\nat a\nat b"},`+
		`"Task Info":{"Task ID":1,"Index":0}}`, appEnd)
	if len(r.Attempts) != 1 || r.Attempts[0].Reason.V != "ExceptionFailure: java.io.IOException: disk" {
		t.Errorf("%+v", r.Attempts)
	}
}

// How jobs, stages and the application ended.
func TestEndings(t *testing.T) {
	job := func(id, result string) string {
		return `{"Event":"SparkListenerJobStart","Job ID":` + id + `,"Submission Time":1000,"Stage IDs":[` + id + `]}` + "\n" +
			`{"Event":"SparkListenerJobEnd","Job ID":` + id + `,"Completion Time":2000,"Job Result":{"Result":` + result + `}}`
	}
	r := readText(t, appStart, job("0", `"JobSucceeded"`), job("1", `"JobFailed","Exception":{"Message":"Job aborted due to stage failure"}`),
		job("2", `"JobFailed","Exception":{"Message":"Job 2 cancelled part of cancelled job group x"}`), job("3", `"What"`),
		`{"Event":"SparkListenerJobStart","Job ID":4,"Submission Time":1000,"Stage IDs":[4]}`)
	want := []schema.RunStatus{schema.RunSucceeded, schema.RunFailed, schema.RunKilled, schema.RunUnknown, schema.RunRunning}
	for i, j := range r.Jobs {
		if j.Status != want[i] {
			t.Errorf("job %s %s, want %s", j.NativeID, j.Status, want[i])
		}
	}
	if r.Applications[0].Status != schema.RunRunning {
		t.Errorf("%+v", r.Applications[0])
	}
	for exit, want := range map[string]schema.RunStatus{``: schema.RunUnknown, `,"ExitCode":0`: schema.RunSucceeded, `,"ExitCode":137`: schema.RunFailed} {
		r := readText(t, appStart, `{"Event":"SparkListenerApplicationEnd","Timestamp":9000`+exit+`}`)
		if r.Applications[0].Status != want {
			t.Errorf("exit %q: %s", exit, r.Applications[0].Status)
		}
	}
}
