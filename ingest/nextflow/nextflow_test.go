package nextflow

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// Lines of a real trace with the default fields (a public run of a phylogeny pipeline), one of them damaged.
const defaults = `task_id	hash	native_id	name	status	exit	submit	duration	realtime	%cpu	peak_rss	peak_vmem	rchar	wchar
3	b2/0b1fdf	87306	generate_trees (seatoxin.parttreednd0)	COMPLETED	0	2020-05-09 12:34:02.229	5.1s	2.2s	62.5%	7.4 MB	40.3 MB	724.7 KB	48.2 KB
2	90/0e71c8	87332	generate_trees (seatoxin.famsaSL)	COMPLETED	0	2020-05-09 12:34:07.394	3.5s	110ms	48.0%	2.7 MB	19.6 MB	47.6 KB	2.7 KB
1	ea/22553e	87357	align	CACHED	0	2020-05-09 12:34:10.873	3s	546ms	117.5%	7.1 MB	175.2 MB	53.3 KB	10.4 KB
	spoilt
4	ea/22553f	87358	align	FAILED	1	2020-05-09 12:34:10.873	1m 3s	-	-	-	-	-	-
`

func TestDefaultFields(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(defaults))
	if r.Err != nil || r.Decoded != 5 || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 5 {
		t.Fatalf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
	if len(r.Attempts) != 3 || len(r.Phases) != 2 {
		t.Fatalf("%d attempts, %d phases", len(r.Attempts), len(r.Phases))
	}
	a := r.Attempts[0]
	if a.DurationS != schema.Some(2.2) || a.Quality&schema.TimeSynthetic == 0 || a.FinishTime.V.Sub(a.QueuedTime.V) != 5.1 {
		t.Errorf("lasts %+v, ends %v s after its submission, quality %d", a.DurationS, a.FinishTime.V.Sub(a.QueuedTime.V), a.Quality)
	}
	if math.Abs(a.CPUS.V-1.375) > 1e-9 || a.InputBytes != schema.Some(int64(742093)) || a.PeakMemoryBytes != schema.Some(int64(7759462)) {
		t.Errorf("cpu %v, read %+v, memory %+v", a.CPUS, a.InputBytes, a.PeakMemoryBytes)
	}
	if f := r.Attempts[2]; f.Status != schema.Failed || f.DurationS.OK || f.CPUS.OK || f.InputBytes.OK {
		t.Errorf("failed attempt %+v", f)
	}
}

// The processor time is a share of the run, without what it took to stage files.
func TestProcessorTime(t *testing.T) {
	const trace = "task_id\thash\tname\tstatus\tstart\tcomplete\trealtime\t%cpu\n1\ta\tP (x)\tCOMPLETED\t1589027640000\t1589027650000\t4000\t200.0\n" +
		"2\tb\tP (y)\tCOMPLETED\t1589027640000\t1589027650000\t-\t200.0\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	if a := r.Attempts; len(a) != 2 || a[0].DurationS != schema.Some(10.0) || a[0].CPUS != schema.Some(8.0) || a[1].CPUS != schema.Some(20.0) {
		t.Errorf("%+v", a)
	}
}

// Of a task that ends before it was measured, old versions write 0 for everything.
func TestUnmeasuredTask(t *testing.T) {
	const trace = "task_id\thash\tname\tstatus\tsubmit\tduration\trealtime\t%cpu\trss\trchar\twchar\n" +
		"2\t23/95a314\tsort (a)\tCOMPLETED\t2018-11-02 16:09:40.348\t601ms\t49ms\t0.0%\t0\t0\t0\n" +
		"1\te9/198d97\tsort (b)\tCOMPLETED\t2018-11-02 16:09:40.459\t1.1s\t33ms\t0.0%\t1 MB\t2 KB\t0\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	if len(r.Attempts) != 2 {
		t.Fatal(r.Attempts)
	}
	if a := r.Attempts[0]; a.InputBytes.OK || a.OutputBytes.OK || a.CPUS.OK {
		t.Errorf("not measured: %+v", a)
	}
	if a := r.Attempts[1]; a.InputBytes != schema.Some(int64(2048)) || a.OutputBytes != schema.Some(int64(0)) || a.CPUS != schema.Some(0.0) {
		t.Errorf("measured: %+v", a)
	}
}

// A trace of chosen fields may have the bytes written and not those read.
func TestWrittenBytesAlone(t *testing.T) {
	const trace = "task_id\thash\tname\tstatus\tsubmit\tduration\trealtime\twchar\n1\te9/198d97\tsort (b)\tCOMPLETED\t2018-11-02 16:09:40.459\t1.1s\t33ms\t2 KB\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	if a := r.Attempts; len(a) != 1 || a[0].InputBytes.OK || a[0].OutputBytes != schema.Some(int64(2048)) {
		t.Errorf("%+v", a)
	}
}

// With raw numbers, start, complete and attempt, nothing is derived, and a retry belongs to its task.
func TestRawFields(t *testing.T) {
	const trace = "task_id\thash\tprocess\tname\tstatus\tattempt\tsubmit\tstart\tcomplete\trealtime\thostname\trchar\n" +
		"1\ta\tP\tP (x)\tFAILED\t1\t1589027642000\t1589027643000\t1589027645500\t2500\tn1\t10\n" +
		"2\tb\tP\tP (y)\tCOMPLETED\t1\t1589027642000\t1589027643000\t1589027644000\t1000\tn2\t20\n" +
		"3\tc\tP\tP (x)\tCOMPLETED\t2\t1589027646000\t1589027647000\t1589027648000\t1000\tn2\t10\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	type row struct {
		Task    int64
		Number  int32
		Machine string
		Seconds float64
		Quality schema.Quality
	}
	var got []row
	for _, a := range r.Attempts {
		got = append(got, row{a.Task, a.Number, a.Machine.V, a.DurationS.V, a.Quality})
	}
	want := []row{{0, 0, "n1", 2.5, schema.RackUnknown}, {1, 0, "n2", 1, schema.RackUnknown}, {0, 1, "n2", 1, schema.RackUnknown}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if j := r.Jobs[0]; j.FinishTime.V.Sub(j.StartTime.V) != 5 || r.Phases[0].TaskCount != schema.Some(int64(2)) {
		t.Errorf("job of %v s, %+v tasks", j.FinishTime.V.Sub(j.StartTime.V), r.Phases[0].TaskCount)
	}
}

func TestUnits(t *testing.T) {
	for s, want := range map[string]schema.Null[float64]{
		"1h 2m 3.5s": schema.Some(3723.5), "110ms": schema.Some(0.11), "2500": schema.Some(2.5), "1d": schema.Some(86400.0), "": {}, "5 parsecs": {}, "-3s": {},
	} {
		if got := duration(s); got.OK != want.OK || math.Abs(got.V-want.V) > 1e-9 {
			t.Errorf("duration %q: %+v, want %+v", s, got, want)
		}
	}
	for s, want := range map[string]schema.Null[int64]{
		"3.1 GB": schema.Some(int64(3328599654)), "12": schema.Some(int64(12)), "1e30": {}, "x": {}, "4 QB": {}, "-1": {},
	} {
		if got := size(s); got != want {
			t.Errorf("size %q: %+v, want %+v", s, got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte(defaults))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := ingesttest.Bytes(t, Format(), "trace.txt", b)
		for _, a := range r.Attempts {
			if a.DurationS.OK && !(a.DurationS.V >= 0) || a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
				t.Errorf("%+v", a)
			}
		}
	})
}

// Traces with non-default fields, separators and units.
func TestVariants(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // of the first attempt: task, number, status, seconds, bytes read
		rows int
	}{
		"comma":       {"task_id,hash,name,status,submit,start,complete,realtime,rchar\n1,a/b,f (1),COMPLETED,1000,2000,5000,3000,2048\n", "0 0 success 3 2048", 1},
		"no task_id":  {"hash\tname\tstatus\trealtime\trchar\na/b\tf (1)\tCOMPLETED\t3s\t2KB\n", "0 0 success 3 2048", 1},
		"crlf":        {"task_id\thash\tname\tstatus\trealtime\trchar\r\n1\ta/b\tf (1)\tCOMPLETED\t3s\t2 KB\r\n", "0 0 success 3 2048", 1},
		"retried":     {"task_id\thash\tname\tstatus\trealtime\trchar\n1\ta/b\tf (1)\tFAILED\t3s\t2 KB\n2\ta/c\tf (1)\tCOMPLETED\t4s\t2 KB\n", "0 0 failed 3 2048", 2},
		"clocks":      {"task_id\thash\tname\tstatus\tsubmit\tstart\tcomplete\trchar\n1\ta/b\tf (1)\tCOMPLETED\t9000\t2000\t5000\t-\n", "0 0 success 3 0", 1},
		"running":     {"task_id\thash\tname\tstatus\tsubmit\tstart\tcomplete\trchar\n1\ta/b\tf (1)\tRUNNING\t1000\t2000\t-\t-\n", "0 0 running 0 0", 1},
		"start alone": {"task_id\thash\tnative_id\tprocess\ttag\tstatus\texit\tstart\tduration\trealtime\trchar\n1\t83/bcc48a\t522658\tFETCH\t-\tCOMPLETED\t0\t2026-07-12 01:27:43.771\t11m 30s\t11m 26s\t2 KB\n", "0 0 success 686 2048", 1},
		"no status":   {"task_id\thash\tname\texit\trealtime\trchar\n1\ta/b\tf (1)\t137\t3s\t2 KB\n", "0 0 failed 3 2048", 1},
		"header only": {"task_id\thash\tname\tstatus\n", "", 0},
	} {
		r := ingesttest.Conformance(t, Format(), ingesttest.Input("trace.txt", []byte(c.text)))
		if r.Err != nil || r.Counts.Rejects > 0 || len(r.Attempts) != c.rows ||
			sniff(ingest.Head{Name: "trace.txt", Bytes: []byte(c.text), Whole: true}).Confidence < 2 {
			t.Errorf("%s: error %v, rejects %+v, %d attempts", name, r.Err, r.Trace.Rejects, len(r.Attempts))
			continue
		}
		if c.rows == 0 {
			continue
		}
		a := r.Attempts[0]
		if got := fmt.Sprint(a.Task, a.Number, " ", a.Status, " ", a.DurationS.V, " ", a.InputBytes.V); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.rows == 2 && (r.Attempts[1].Task != 0 || r.Attempts[1].Number != 1) {
			t.Errorf("%s: %+v is the retry", name, r.Attempts[1])
		}
	}
}

// Tags need not be unique: a task submitted before another one of its name failed is not its retry. A task that was too short
// to be measured used an unknown amount of memory.
func TestSameTag(t *testing.T) {
	const trace = "task_id\thash\tname\tstatus\tsubmit\tduration\trealtime\tpeak_rss\n" +
		"1\ta\tFIX (sorting)\tFAILED\t2022-11-03 22:20:00.000\t60s\t50s\t0\n" +
		"2\tb\tFIX (sorting)\tCOMPLETED\t2022-11-03 22:20:30.000\t60s\t50s\t701.1 MB\n" +
		"3\tc\tFIX (other)\tFAILED\t2022-11-03 22:20:00.000\t60s\t50s\t0\n" +
		"4\td\tFIX (other)\tCOMPLETED\t2022-11-03 22:21:00.500\t60s\t50s\t0\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	var got []string
	for _, a := range r.Attempts {
		got = append(got, fmt.Sprint(a.Task, ".", a.Number, " ", a.Status, " ", a.PeakMemoryBytes.OK))
	}
	if d := cmp.Diff([]string{"0.0 failed false", "1.0 success true", "2.0 failed false", "2.1 success false"}, got); d != "" {
		t.Error(d)
	}
}

// Two attempts of a task with the same number get different numbers in the table.
func TestAttemptNumbersAreUnique(t *testing.T) {
	const trace = "task_id\thash\tname\tstatus\tattempt\n1\ta\tfix (x)\tFAILED\t1\n2\tb\tfix (x)\tFAILED\t2\n3\tc\tfix (x)\tCOMPLETED\t2\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	var got []int32
	for _, a := range r.Attempts {
		got = append(got, a.Number)
	}
	if d := cmp.Diff([]int32{0, 1, 2}, got); d != "" || r.Err != nil {
		t.Error(r.Err, d)
	}
}

// Concatenated traces of several runs have headers in between, perhaps with columns in another order.
func TestRepeatedHeader(t *testing.T) {
	const trace = "task_id\tname\tstatus\trealtime\n1\tA (1)\tCOMPLETED\t2000\ntask_id\tname\tstatus\trealtime\n1\tA (2)\tCOMPLETED\t3000\n" +
		"task_id\tstatus\tname\trealtime\r\n1\tFAILED\tstatus\t4000\r\n"
	r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(trace))
	if r.Err != nil || r.Decoded != 6 || len(r.Trace.Rejects) != 0 || len(r.Attempts) != 3 {
		t.Fatalf("%v, %d decoded, rejects %+v, %d attempts", r.Err, r.Decoded, r.Trace.Rejects, len(r.Attempts))
	}
	for i, want := range []schema.AttemptStatus{schema.Success, schema.Success, schema.Failed} {
		if r.Attempts[i].Status != want {
			t.Errorf("%+v", r.Attempts[i])
		}
	}
}

// Without the header of a trace, lines are not a trace.
func TestNoHeader(t *testing.T) {
	for log, bad := range map[string]bool{
		"root:x:0:0:root:/root:/bin/sh\nbin:x:1:1\n": true,
		"{\"Event\":\"x\"}\n":                        true,
		"process\texit\nalign\t0\n":                  false,
		"name\n":                                     false,
	} {
		r := ingesttest.Bytes(t, Format(), "trace.txt", []byte(log))
		if errors.Is(r.Err, errNoHeader) != bad || bad && len(r.Attempts) > 0 {
			t.Errorf("%q: %v, %d attempts", log, r.Err, len(r.Attempts))
		}
	}
}
