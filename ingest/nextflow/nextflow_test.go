package nextflow

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// The lines of a real trace with the default fields (a public run of a phylogeny pipeline), one of them spoilt.
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

// With raw numbers, start, complete and attempt, nothing is derived and a retry belongs to its task.
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
