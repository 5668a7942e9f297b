package dask

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

const stream = `[{"key":"('sum-9f3a0b1c2d3e4f5a', 0)","worker":"tcp://10.0.0.1:4000","thread":1,"status":"OK","nbytes":28,"type":"int","startstops":[
  {"action":"transfer","start":1700000000.0,"stop":1700000000.5},{"action":"compute","start":1700000000.5,"stop":1700000002.25}]},
 {"key":"sum-aggregate-0123456789abcdef0123456789abcdef","worker":"tcp://10.0.0.2:4000","status":"error","startstops":[["compute",1700000003.0,1700000004.0]]},
 {"key":"inc-1","worker":"inproc://x","status":"OK","startstops":[{"action":"compute","start":5,"stop":1}]},
 {"key":"inc-2","worker":"tcp://10.0.0.1:4000","status":"OK","startstops":17}]`

func TestStream(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "stream.json", []byte(stream))
	if r.Err != nil || r.Decoded != 3 || r.Counts.Rejects != 1 || len(r.Attempts) != 3 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	var names []string
	for _, p := range r.Phases {
		names = append(names, p.NativeID)
	}
	if len(names) != 3 || names[0] != "sum" || names[1] != "sum-aggregate" || names[2] != "inc" {
		t.Errorf("phases %q", names)
	}
	a := r.Attempts[0]
	if a.DurationS != schema.Some(2.25) || a.FetchWaitS != schema.Some(0.5) || a.Machine != schema.Some("10.0.0.1") ||
		a.OutputBytes != schema.Some(int64(28)) || a.InputBytes.OK {
		t.Errorf("%+v", a)
	}
	if b := r.Attempts[1]; b.Status != schema.Failed || b.DurationS != schema.Some(1.0) {
		t.Errorf("%+v", b)
	}
	if c := r.Attempts[2]; c.StartTime.OK || c.DurationS.OK || c.Quality&schema.PartialRow == 0 {
		t.Errorf("a span that ends before it starts is none: %+v", c)
	}
}

// Python writes NaN for a missing number.
func TestNaN(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "stream.json",
		[]byte(`[{"key": "inc-1", "worker": "tcp://h:1", "status": "OK", "nbytes": NaN, "startstops": [{"action": "compute", "start": 5, "stop": 6}]},
 {"key": "inc-2", "worker": "tcp://h:1", "status": "OK", "nbytes": Infinity, "startstops": [{"action": "compute", "start": 5, "stop": 7}]}]`))
	if r.Err != nil || r.Decoded != 2 || r.Counts.Rejects != 0 || len(r.Attempts) != 2 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	for _, a := range r.Attempts {
		if a.OutputBytes.OK || !a.DurationS.OK {
			t.Errorf("%+v", a)
		}
	}
}

func TestCut(t *testing.T) {
	for cut := 1; cut < len(stream)-1; cut++ {
		if r := ingesttest.Bytes(t, Format(), "stream.json", []byte(stream[:cut])); r.Err == nil {
			t.Fatalf("cut at %d: no error", cut)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(stream))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range ingesttest.Bytes(t, Format(), "stream.json", b).Attempts {
			if a.DurationS.OK && !(a.DurationS.V >= 0) {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Before 2018 streams have a pair of members for each kind of span.
func TestOldStream(t *testing.T) {
	const old = `[{"key":"inc-1234567890ab","worker":"10.0.0.1:3456","thread":1,"status":"OK","nbytes":28,"type":"b'int'","compute_start":100.5,"compute_stop":102.5,"transfer_start":100.0,"transfer_stop":100.5,"disk_load_start":null,"disk_load_stop":null}]`
	r := ingesttest.Bytes(t, Format(), "stream.json", []byte(old))
	if r.Err != nil || len(r.Attempts) != 1 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	if a := r.Attempts[0]; a.DurationS.V != 2.5 || a.FetchWaitS.V != 0.5 || a.OutputBytes.V != 28 || a.Machine.V == "" {
		t.Errorf("%+v", a)
	}
}

// Simultaneous transfers from several workers count once.
func TestTransfersAtOnce(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "stream.json", []byte(`[{"key":"inc-1","worker":"tcp://h:1","status":"OK","startstops":[
		{"action":"transfer","start":15,"stop":18},{"action":"transfer","start":10,"stop":12},{"action":"transfer","start":10,"stop":14},{"action":"transfer","start":11,"stop":12},
		{"action":"compute","start":18,"stop":20}]}]`))
	if r.Err != nil || len(r.Attempts) != 1 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	if a := r.Attempts[0]; a.FetchWaitS != schema.Some(7.0) || a.DurationS != schema.Some(10.0) {
		t.Errorf("waits %+v of %+v", a.FetchWaitS, a.DurationS)
	}
}

// Fetching a task's input while its thread still runs another task delays neither: the task is queued until then. On one
// thread, attempts do not overlap.
func TestQueuedForAThread(t *testing.T) {
	const at = `"worker":"tcp://h:1","status":"OK","startstops":`
	r := ingesttest.Bytes(t, Format(), "stream.json", []byte(`[
		{"key":"f-1","thread":1,`+at+`[{"action":"compute","start":100,"stop":110}]},
		{"key":"f-2","thread":2,`+at+`[{"action":"transfer","start":101,"stop":103},{"action":"compute","start":103,"stop":104}]},
		{"key":"f-3","thread":1,`+at+`[{"action":"transfer","start":102,"stop":104},{"action":"transfer","start":108,"stop":113},{"action":"deserialize","start":109,"stop":111},{"action":"compute","start":113,"stop":115}]},
		{"key":"f-4","thread":1,`+at+`[{"action":"transfer","start":105,"stop":106},{"action":"compute","start":115,"stop":116}]},
		{"key":"f-5","thread":1,`+at+`[{"action":"transfer","start":90,"stop":91},{"action":"compute","start":92,"stop":93}]},
		{"key":"f-6",`+at+`[{"action":"transfer","start":105,"stop":106},{"action":"compute","start":120,"stop":121}]}]`))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var got []string
	for _, a := range r.Attempts {
		got = append(got, fmt.Sprint(a.NativeID, " queued ", a.QueuedTime.V/1e6, " started ", a.StartTime.V/1e6, " took ",
			a.DurationS.V, " fetch ", a.FetchWaitS.V, " deserialize ", a.DeserializeS.V))
	}
	want := []string{
		"f-1 queued 0 started 100 took 10 fetch 0 deserialize 0",
		"f-2 queued 0 started 101 took 3 fetch 2 deserialize 0",
		"f-3 queued 102 started 110 took 5 fetch 3 deserialize 1",
		"f-4 queued 105 started 115 took 1 fetch 0 deserialize 0",
		"f-5 queued 0 started 90 took 3 fetch 1 deserialize 0",   // a stream in another order
		"f-6 queued 0 started 105 took 16 fetch 1 deserialize 0", // no thread
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Values among the tasks that are not tasks are rejected, and the tasks after them are read.
func TestAmongTasks(t *testing.T) {
	const task = `{"key":"f-1","worker":"tcp://10.0.0.1:1","status":"OK","startstops":[{"action":"compute","start":1,"stop":2}]}`
	for log, want := range map[string][2]int{
		"[" + task + `,1,"x",[2],null,` + task + "]": {2, 4},
		task + "\n7\n" + task:                        {2, 1},
		"[" + task + "]\n[" + task + "]\n":           {2, 0},
		task + "\nwhat is this\n" + task:             {1, 1}, // nothing after it can be decoded
		"root:x:0:0\n":                               {0, 1},
	} {
		r := ingesttest.Bytes(t, Format(), "stream.json", []byte(log))
		if len(r.Attempts) != want[0] || r.Counts.Rejects != int64(want[1]) {
			t.Errorf("%s: %d tasks, %d rejects, want %v; error %v", log, len(r.Attempts), r.Counts.Rejects, want, r.Err)
		}
		if n := len(r.Applications); n != min(want[0], 1) {
			t.Errorf("%s: %d applications", log, n)
		}
	}
}

func TestInstead(t *testing.T) {
	for head, want := range map[string]bool{
		"scheduler:\n  address: tcp://127.0.0.1:45725\n  clients:\n": true,
		"\x83\xa9scheduler\xde\x00\x13\xa4type\xa9Scheduler\xa2id":   true,
		"scheduler: slurm\n": false,
		"":                   false,
	} {
		if got := instead(ingest.Head{Bytes: []byte(head)}); strings.Contains(got, "get_task_stream") != want {
			t.Errorf("%q: %s", head, got)
		}
	}
}
