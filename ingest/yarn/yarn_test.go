package yarn

import (
	"testing"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

const log = `2026-01-02 03:04:05,678 INFO org.apache.hadoop.yarn.server.resourcemanager.RMAppManager$ApplicationSummary: appId=application_1526555215992_0001,name=Sort\, then \= join,user=user,queue=default,state=FINISHED,trackingUrl=http://h:8088/proxy/x/,appMasterHost=h1,submitTime=1526555642677,startTime=1526555642700,launchTime=1526555643000,finishTime=1526555658299,finalStatus=SUCCEEDED,memorySeconds=56832,vcoreSeconds=26,preemptedMemorySeconds=0,preemptedAMContainers=0,preemptedResources=<memory:0\, vCores:0>,applicationType=MAPREDUCE
2026-01-02 03:04:06,000 INFO something else
appId=application_1526555215992_0002,name=x,user=u,queue=q,state=KILLED,submitTime=10,finishTime=5,finalStatus=KILLED
`

func TestSummaries(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "rm.log", []byte(log))
	if r.Err != nil || r.Decoded != 3 || len(r.Applications) != 2 || len(r.Jobs) != 2 || len(r.Attempts) != 0 {
		t.Fatalf("error %v, %d decoded, %d applications", r.Err, r.Decoded, len(r.Applications))
	}
	a, b := r.Applications[0], r.Applications[1]
	if a.Name != schema.Some("Sort, then = join") || a.Queue != schema.Some("default") || a.Status != schema.RunSucceeded || a.Framework != "mapreduce" {
		t.Errorf("%+v", a)
	}
	if a.FinishTime.V.Sub(a.StartTime.V) != 15.622 || r.Jobs[0].StartTime.V.Sub(r.Jobs[0].SubmitTime.V) != 0.323 {
		t.Errorf("from %+v to %+v", a.StartTime, a.FinishTime)
	}
	if b.Status != schema.RunKilled || b.FinishTime.OK {
		t.Errorf("an end before the start is no end: %+v", b)
	}
	settings := map[string]string{}
	for _, s := range r.Settings {
		settings[s.Name] = s.Value
	}
	if settings["yarn.memory_seconds"] != "56832" || settings["yarn.vcore_seconds"] != "26" {
		t.Errorf("settings %v", settings)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(log))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Format(), "rm.log", b)
		if len(r.Jobs) != len(r.Applications) {
			t.Errorf("%d jobs, %d applications", len(r.Jobs), len(r.Applications))
		}
	})
}
