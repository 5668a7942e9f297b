package philly

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// log has a job that succeeded in its second attempt on two machines, one that never ran, and one without an end.
const log = `[{"status":"Pass","vc":"ee9e8c","jobid":"application_1","submitted_time":"2017-10-09 07:02:12","user":"u1","attempts":[
 {"start_time":"2017-10-09 07:02:19","end_time":"2017-10-09 07:03:13","detail":[{"ip":"m408","gpus":["gpu0","gpu1"]}]},
 {"start_time":"2017-10-09 07:04:00","end_time":"2017-10-09 08:04:00","detail":[{"ip":"m1","gpus":["gpu0"]},{"ip":"m2","gpus":["gpu3"]}]}]},
{"status":"Killed","vc":"v","jobid":"application_2","submitted_time":"None","user":"u2","attempts":[]},
{"status":"Failed","vc":"v","jobid":"application_3","submitted_time":"2017-10-09 07:00:00","user":"u2","attempts":[{"start_time":"2017-10-09 07:00:01","end_time":null,"detail":[]}]}]`

func TestJobLog(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "cluster_job_log", []byte(log))
	if r.Err != nil || r.Decoded != 3 || r.Counts.Rejects != 0 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	var got []string
	for _, a := range r.Attempts {
		got = append(got, fmt.Sprintln(a.NativeID, a.Number, a.Task, a.Machine.V, a.Status, a.DurationS.OK, a.DurationS.V))
	}
	want := []string{
		"application_1/0/0 0 0 m408 failed true 54\n", "application_1/1/0 1 0 m1 success true 3600\n",
		"application_1/1/1 1 1 m2 success true 3600\n", "application_3/0/0 0 0  failed false 0\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, p := range r.Phases {
		if !p.Gang {
			t.Errorf("phase %s is no gang", p.NativeID)
		}
	}
	if a := r.Applications[1]; a.StartTime.OK || a.Status != schema.RunKilled || a.Queue != schema.Some("v") {
		t.Errorf("application that never ran: %+v", a)
	}
}

func TestSubmittedLate(t *testing.T) {
	const log = `[{"status":"Pass","vc":"v","jobid":"application_1","submitted_time":"2017-10-09 07:00:05","attempts":[{"start_time":"2017-10-09 07:00:01","end_time":"2017-10-09 08:00:01","detail":[{"ip":"m1"}]}]}]`
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("cluster_job_log", []byte(log)))
	if j := r.Jobs[0]; j.SubmitTime != j.StartTime || r.Attempts[0].QueuedTime.OK {
		t.Errorf("%+v, %+v", j, r.Attempts[0])
	}
}

func TestSideTables(t *testing.T) {
	for name, table := range map[string]string{
		"cluster_cpu_util":     "time,machine_id,cpu_util\n2017-11-27 00:02:00 PST,m29,46.1\n2017-11-27 00:03:00 PST,m29,NA\nx,m29,1\n",
		"cluster_mem_util":     "time,machine_id,mem_total,mem_free\n2017-11-27 00:02:00 PST,m29,528272.0,132068.0\n",
		"cluster_machine_list": "machineId, number of GPUs, single GPU mem\nm1,8,24GB\nm2,2,12GB\n",
		"cluster_gpu_util":     "time,machineId,gpu0_util,gpu1_util,\n2017-10-03 00:00:00 PDT,m29,0.0,NA,\n",
	} {
		r := ingesttest.Bytes(t, Format(), name, []byte(table))
		if n := int(r.Decoded + r.Counts.Rejects); n != strings.Count(table, "\n") || r.Err != nil {
			t.Errorf("%s: %d records of %d, %v", name, n, strings.Count(table, "\n"), r.Err)
		}
		switch name {
		case "cluster_cpu_util":
			// 00:02 by the clock of the job log, whose times are taken as UTC.
			if u := r.MachineUsage; len(u) != 2 || u[0].CPU != schema.Some(0.461) || u[0].Time != 1511740920e6 || u[1].CPU.OK || r.Counts.Rejects != 1 {
				t.Errorf("usage %+v", u)
			}
		case "cluster_mem_util":
			if u := r.MachineUsage; len(u) != 1 || u[0].Memory != schema.Some(0.75) {
				t.Errorf("usage %+v", u)
			}
		case "cluster_machine_list":
			if m := r.Machines; len(m) != 2 || m[0].Slots != schema.Some(int64(8)) || m[0].Platform != schema.Some("24GB") {
				t.Errorf("machines %+v", m)
			}
		}
	}
}

func TestClaim(t *testing.T) {
	got := claim(ingest.Dir{Names: []string{"cluster_cpu_util", "cluster_job_log", "cluster_mem_util.csv", "notes.txt"}})
	want := []ingest.Group{{Base: "cluster_job_log", Names: []string{"cluster_job_log", "cluster_cpu_util", "cluster_mem_util.csv"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCutAnywhere(t *testing.T) {
	for cut := 1; cut < len(log); cut++ {
		r := ingesttest.Bytes(t, Format(), "cluster_job_log", []byte(log[:cut]))
		if r.Err == nil || len(r.Trace.Rejects) != 1 {
			t.Fatalf("cut at %d: error %v, %d rejects", cut, r.Err, len(r.Trace.Rejects))
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(log))
	f.Add([]byte("time,machine_id,cpu_util\n2017-11-27 00:02:00 PST,m29,46.1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Format(), "cluster_job_log", b)
		for _, a := range r.Attempts {
			if a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Missing values in any of the forms found in copies of the log, or of another type, invalidate at most their job.
func TestMissingValues(t *testing.T) {
	const log = `[{"status":"Pass","vc":null,"jobid":"j1","submitted_time":"None","user":7,"attempts":null},
{"status":null,"vc":"v","jobid":"j2","submitted_time":"2017-10-07 01:00:00","user":"None","attempts":[{"start_time":"None","end_time":null,"detail":null},{"start_time":"2017-10-07 01:02:00","end_time":"","detail":[{"ip":null,"gpus":null},{"ip":"m1"}]}]},
{"status":"Pass","jobid":"j3","attempts":"broken"},
{"status":"Killed","vc":"v","jobid":"j4","submitted_time":"2017-10-07 01:00:00","attempts":[{"start_time":"2017-10-07 01:02:00","end_time":"2017-10-07 01:01:00","detail":[]}]}]`
	r := ingesttest.Conformance(t, Format(), ingesttest.Input("cluster_job_log", []byte(log)))
	if r.Err != nil || r.Decoded != 3 || r.Counts.Rejects != 1 || len(r.Applications) != 3 || len(r.Attempts) != 4 {
		t.Fatalf("error %v, %d decoded, rejects %+v, %d attempts", r.Err, r.Decoded, r.Trace.Rejects, len(r.Attempts))
	}
	for _, a := range r.Applications {
		if a.User.V == "None" || a.Queue.V == "None" {
			t.Errorf("%+v", a)
		}
	}
	if a := r.Attempts[3]; a.FinishTime.OK || a.DurationS.OK || a.Status != schema.Killed {
		t.Errorf("%+v", a)
	}
}
