package hadoop

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

func TestSLS(t *testing.T) {
	const log = `{"num.nodes":2,"num.racks":1}
{"am.type":"mapreduce","job.start.ms":0,"job.end.ms":9000,"job.queue.name":"q","job.id":"job_1","job.user":"u","job.tasks":[
 {"count":2,"container.host":"/r1/n1","container.start.ms":0,"container.end.ms":4000,"container.priority":20,"container.type":"map"},
 {"container.host":"/r1/n2","container.start.ms":4000,"duration.ms":5000,"container.type":"reduce"}]}
{"rack":"r1","nodes":[{"node":"n1"},{"node":"n2"}]}
`
	r := ingesttest.Bytes(t, SLS(), "sls.json", []byte(log))
	if r.Err != nil || r.Decoded != 3 || r.Counts.Rejects != 0 {
		t.Fatalf("error %v, %d objects, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	var durations []float64
	for _, a := range r.Attempts {
		durations = append(durations, a.DurationS.V)
		if a.InputBytes.OK || !a.StartTime.OK || a.Rack != schema.Some("r1") {
			t.Errorf("attempt %+v", a)
		}
	}
	if d := cmp.Diff([]float64{4, 4, 5}, durations); d != "" {
		t.Error(d)
	}
	if len(r.Caveats) != 2 || r.Caveats[1].Code != "no_bytes" {
		t.Errorf("caveats %+v", r.Caveats)
	}
	if len(r.Machines) != 2 || len(r.Phases) != 2 || r.Applications[0].TimeOrigin != "trace" {
		t.Errorf("%d machines, %d phases, origin %s", len(r.Machines), len(r.Phases), r.Applications[0].TimeOrigin)
	}
}

// The contents of the samples of Hadoop's own simulator (hadoop-sls/src/test/resources: sls_dag.json,
// nodes-with-resources.json, nodes.json).
func TestSLSVariants(t *testing.T) {
	const log = `{"yarn.sls.am.type":"dag","job.start.ms":2000,"job.id":"job_1","job.tasks":[
 {"container.request.delay":1000,"container.start.ms":6664,"container.end.ms":23707,"container.execution.type":"GUARANTEED"},
 {"container.duration.ms":1500},
 {"container.start.ms":6664}]}
{"rack":"rack1","nodes":[{"node":"node1","memory-mb":2048,"vcores":6},{"node":"node2","labels":"l"},{}]}
`
	r := ingesttest.Bytes(t, SLS(), "x.json", []byte(log))
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 3 {
		t.Fatalf("error %v, rejects %+v, attempts %+v", r.Err, r.Trace.Rejects, r.Attempts)
	}
	first, timeless, endless := r.Attempts[0], r.Attempts[1], r.Attempts[2]
	if first.QueuedTime != schema.Some(schema.FromMillis(3000)) || first.DurationS != schema.Some(17.043) || first.Status != schema.Success {
		t.Errorf("%+v", first)
	}
	if timeless.DurationS != schema.Some(1.5) || timeless.StartTime.OK || timeless.QueuedTime.OK {
		t.Errorf("%+v", timeless)
	}
	if endless.Status != schema.UnknownStatus || endless.DurationS.OK {
		t.Errorf("a container without an end: %+v", endless)
	}
	want := []schema.Machine{
		{Machine: "node1", Rack: schema.Some("rack1"), Cores: schema.Some(6.0), MemoryBytes: schema.Some[int64](2 << 30)},
		{Machine: "node2", Rack: schema.Some("rack1")},
	}
	if d := cmp.Diff(want, r.Machines); d != "" {
		t.Error(d)
	}
}
