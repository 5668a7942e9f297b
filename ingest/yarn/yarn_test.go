package yarn

import (
	"strings"
	"testing"

	"straggler/ingest"
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

// list is formatted as by ApplicationCLI of Hadoop 3, report as by that of 2.8.
const list = `2021-07-17 02:39:40,107 INFO client.RMProxy: Connecting to ResourceManager at rm.example/10.1.1.136:8032
Total number of applications (application-types: [], states: [RUNNING, FINISHED] and tags: []):2
                Application-Id	    Application-Name	    Application-Type	      User	     Queue	             State	       Final-State	       Progress	                       Tracking-URL
application_1626484111706_0009	HIVE-fa944d87-830d-4f30-b704-80d1a15ec80c	                 TEZ	    hadoop	   default	           RUNNING	         UNDEFINED	             0%	http://am.example:46459/ui/
application_1626484111706_0011	          word count	           MAPREDUCE	    hadoop	      prod	          FINISHED	         SUCCEEDED	           100%	                                N/A
application_1626484111706_0012	short
`

const report = `Application Report : 
	Application-Id : application_1438998625140_0001
	Application-Name : wc : all
	Application-Type : MAPREDUCE
	User : hadoop
	Queue : default
	Start-Time : 1438998659321
	Finish-Time : 1438998679321
	Progress : 100%
	State : FINISHED
	Final-State : SUCCEEDED
	AM Host : worker-1
	Aggregate Resource Allocation : 4266786 MB-seconds, 4162 vcore-seconds
	Diagnostics : 
`

func TestCommandLine(t *testing.T) {
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("apps.txt", []byte(list+report)))
	if r.Err != nil || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 6 || len(r.Applications) != 3 {
		t.Fatalf("error %v, rejects %+v, %d applications", r.Err, r.Trace.Rejects, len(r.Applications))
	}
	byID := map[string]schema.Application{}
	for _, a := range r.Applications {
		byID[a.NativeID] = a
	}
	if a := byID["application_1626484111706_0009"]; a.Status != schema.RunRunning || a.Complete || a.Framework != "tez" || a.StartTime.OK {
		t.Errorf("%+v", a)
	}
	if a := byID["application_1626484111706_0011"]; a.Status != schema.RunSucceeded || a.Name != schema.Some("word count") || a.Queue != schema.Some("prod") {
		t.Errorf("%+v", a)
	}
	if a := byID["application_1438998625140_0001"]; a.Name != schema.Some("wc : all") || a.FinishTime.V.Sub(a.StartTime.V) != 20 {
		t.Errorf("%+v", a)
	}
	settings := map[string]string{}
	for _, s := range r.Settings {
		settings[s.Name] = s.Value
	}
	codes := map[string]int64{}
	for _, c := range r.Caveats {
		codes[c.Code] = c.Count.V
	}
	if settings["yarn.memory_seconds"] != "4266786" || settings["yarn.vcore_seconds"] != "4162" || codes["no_times"] != 2 {
		t.Errorf("settings %v, caveats %v", settings, codes)
	}
	for _, text := range []string{list, report} {
		if m := sniff(ingest.Head{Bytes: []byte(text), Whole: true}); m.Confidence != 3 {
			t.Errorf("recognised as %+v", m)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(`{"apps":{"app":[{"id":"application_1_1","finalStatus":"FAILED","state":"FINISHED","startedTime":5}]}}`))
	f.Add([]byte(log))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Format(), "rm.log", b)
		if len(r.Jobs) != len(r.Applications) {
			t.Errorf("%d jobs, %d applications", len(r.Jobs), len(r.Applications))
		}
	})
}

// A second description of an application, as written by a restarted ResourceManager, is rejected.
func TestApplicationTwice(t *testing.T) {
	const one = `{"id":"application_1_0001","state":"FINISHED","finalStatus":"SUCCEEDED","startedTime":1000,"finishedTime":9000}`
	for name, text := range map[string]string{"summaries": log + log, "table": list + list, "reports": report + report,
		"lists": `{"apps":{"app":[` + one + "]}}\n" + `{"apps":{"app":[` + one + "]}}\n"} {
		r := ingesttest.Bytes(t, Format(), "apps", []byte(text))
		ids := map[string]bool{}
		for _, a := range r.Applications {
			ids[a.NativeID] = true
		}
		again := 0
		for _, reject := range r.Trace.Rejects {
			if reject.Reason == twice {
				again++
				if name == "lists" && !strings.HasPrefix(text[reject.ByteOffset:], one) {
					t.Errorf("the record is not at byte %d", reject.ByteOffset)
				}
			}
		}
		if r.Err != nil || len(ids) == 0 || len(ids) != len(r.Applications) || again != len(ids) || len(r.Jobs) != len(ids) {
			t.Errorf("%s: %v, %d applications of %d ids, rejects %+v", name, r.Err, len(r.Applications), len(ids), r.Trace.Rejects)
		}
	}
}

// The ResourceManager's list of applications gives the same rows as its summaries.
func TestListOfApplications(t *testing.T) {
	const list = `{"apps":{"app":[{"id":"application_1_0001","user":"u","name":"a, b","queue":"q","state":"FINISHED","finalStatus":"SUCCEEDED","progress":100.0,
"applicationType":"MAPREDUCE","startedTime":1000,"launchTime":1500,"finishedTime":9000,"memorySeconds":151730,"vcoreSeconds":103,"resourceInfo":{"x":[1]}},
{"id":"application_1_0002","user":"u","name":null,"queue":"q","state":"RUNNING","finalStatus":"UNDEFINED","startedTime":2000,"finishedTime":0}]}}`
	r := ingesttest.Bytes(t, Format(), "apps.json", []byte(list))
	if r.Err != nil || r.Decoded != 2 || r.Counts.Rejects != 0 || len(r.Applications) != 2 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	first := r.Applications[0]
	if first.NativeID != "application_1_0001" || first.Name.V != "a, b" || first.Framework != "mapreduce" || first.Status != schema.RunSucceeded ||
		first.StartTime.V != schema.FromMillis(1000) || first.FinishTime.V != schema.FromMillis(9000) {
		t.Errorf("%+v", first)
	}
	if running := r.Applications[1]; running.Status != schema.RunRunning || running.FinishTime.OK || running.Name.OK {
		t.Errorf("%+v", running)
	}
	if len(r.Settings) != 2 || sniff(ingest.Head{Bytes: []byte(list)}).Confidence != 3 {
		t.Errorf("settings %+v", r.Settings)
	}
	cut := ingesttest.Bytes(t, Format(), "apps.json", []byte(list[:len(list)-20]))
	if cut.Counts.Rejects != 1 || cut.Decoded != 1 {
		t.Errorf("a list that is cut: %d decoded, rejects %+v", cut.Decoded, cut.Trace.Rejects)
	}
}
