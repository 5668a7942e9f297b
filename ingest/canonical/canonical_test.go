package canonical

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// A query over an in-house log that returns only a file of attempts is enough.
func TestAttemptsAlone(t *testing.T) {
	const csv = `phase_id,task,machine,start_time,duration_s,input_bytes,status,speculative,color
extract,0,"host, one",2026-01-02 03:04:05.5+00,1.5,100,success,false,red
extract,1,host2,2026-01-02T03:04:05Z,2,,success,true,red
load,0,host2,1767323045000000,0.25,7,failed,,
load,x,host2,1767323045000000,0.25,7,failed,,
load,1,host2,1767323045000000,0.25,7,exploded,,
load,1,"never closed
`
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{"attempts.csv": csv}), ingest.Limits{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var got []string
	for _, a := range r.Attempts {
		got = append(got, fmt.Sprint(a.Task, " ", a.Machine.V, " ", a.DurationS.V, " ", a.FinishTime.V.Sub(a.StartTime.V), " ",
			a.InputBytes, " ", a.Status, " ", a.Speculative))
	}
	sort.Strings(got)
	want := []string{"0 host, one 1.5 1.5 {100 true} success {false true}", "0 host2 0.25 0.25 {7 true} failed {false false}",
		"1 host2 2 2 {0 false} success {true true}"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var reasons []string
	for _, rej := range r.Trace.Rejects {
		reasons = append(reasons, fmt.Sprint(rej.Line.V, " ", rej.Reason))
	}
	sort.Strings(reasons)
	if len(reasons) != 3 || !strings.Contains(reasons[2], "7 quotes are not closed") ||
		!strings.Contains(reasons[0], `5 column task: "x" is not a whole number`) ||
		!strings.Contains(reasons[1], `6 column status: "exploded" is not one of success`) {
		t.Errorf("rejects %q", reasons)
	}
	if len(r.Phases) != 2 || len(r.Jobs) != 1 || len(r.Applications) != 1 || r.Jobs[0].ApplicationID != r.Applications[0].ApplicationID {
		t.Errorf("phases %+v, jobs %+v, applications %+v", r.Phases, r.Jobs, r.Applications)
	}
	for _, p := range r.Phases {
		if p.JobID != r.Jobs[0].JobID || p.NativeID != "extract" && p.NativeID != "load" {
			t.Errorf("phase %+v", p)
		}
	}
	if len(r.Caveats) != 1 || !strings.Contains(r.Caveats[0].Detail, "attempts.color") {
		t.Errorf("caveats %+v", r.Caveats)
	}
}

// tables of one input refer to one another by its own keys, numbers or text.
var tables = map[string]string{
	"applications.jsonl": `{"application_id":1,"native_id":"a","framework":"mine","user":"u"}` + "\n",
	"jobs.csv":           "job_id,application_id,name\n1,1,nightly\n",
	"phases.csv":         "phase_id,job_id,name,kind,task_count\n1,1,map it,map,2\n2,1,reduce it,reduce,1\n",
	"edges.csv":          "job_id,from_phase,to_phase,barrier\n1,1,2,true\n",
	"attempts.jsonl": `{"attempt_id":10,"phase_id":1,"job_id":1,"application_id":1,"task":0,"start_time":"2026-01-01 00:00:00+00","finish_time":"2026-01-01 00:00:09+00"}
{"attempt_id":11,"phase_id":1,"job_id":1,"application_id":1,"task":1,"start_time":"2026-01-01 00:00:00","finish_time":"2026-01-01 00:00:05","input_bytes":12.0}
{"attempt_id":12,"phase_id":2,"job_id":1,"application_id":1,"task":0,"start_time":1767225609000000,"finish_time":1767225610000000}
`,
	"progress.csv": "attempt_id,time,progress\n10,2026-01-01 00:00:03+00,0.5\n",
}

// A second row that describes the same thing is rejected: two rows with one key would turn one phase into two.
func TestDescribedTwice(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{
		"attempts.csv":     "application_id,job_id,phase_id,task,start_time,duration_s\na,j,p,0,1000,5\n",
		"phases.csv":       "phase_id,job_id,name\np,j,first\np,j,second\n",
		"jobs.csv":         "job_id,application_id\nj,a\nj,a\nk,a\n",
		"applications.csv": "application_id\na\na\n",
	}), ingest.Limits{})
	if r.Err != nil || len(r.Phases) != 1 || r.Phases[0].Name.V != "first" || len(r.Jobs) != 2 || len(r.Applications) != 1 || len(r.Trace.Rejects) != 3 {
		t.Errorf("%v, phases %+v, %d jobs, %d applications, rejects %+v", r.Err, r.Phases, len(r.Jobs), len(r.Applications), r.Trace.Rejects)
	}
}

// A duplicate attempt is rejected, with its line, whether its ids count up or not.
func TestAttemptTwice(t *testing.T) {
	for _, ids := range [][]string{{"7", "8", "9", "8", "10", "3", "3", "11"}, {"b", "a", "b", "c", "c", "d"}, {"5", "9", "6", "7", "8", "9", "9", "10"}} {
		var b strings.Builder
		b.WriteString("attempt_id,phase_id,task,start_time,duration_s\n")
		first := map[string]bool{}
		var want []int64
		for i, id := range ids {
			fmt.Fprintf(&b, "%s,p,%d,1000,5\n", id, i)
			if first[id] {
				want = append(want, int64(i)+2)
			}
			first[id] = true
		}
		r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{"attempts.csv": b.String()}), ingest.Limits{})
		var got []int64
		for _, reject := range r.Trace.Rejects {
			got = append(got, reject.Line.V)
		}
		if r.Err != nil || len(r.Attempts) != len(first) || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %d attempts, rejects of lines %v, want %v: %+v", ids, r.Err, len(r.Attempts), got, want, r.Trace.Rejects)
		}
	}
}

// Phases and jobs that no file describes ran while their attempts did; the costs of slow tasks follow from that.
func TestAddedRowsHaveTimes(t *testing.T) {
	const csv = `job_id,phase_id,task,start_time,finish_time,status
j,a,0,10,20,
j,b,0,30,45,
j,a,1,5,18,failed
k,c,0,7,,running
k,d,0,8,9,
,e,0,,,
`
	want := map[string][2]schema.Null[schema.Time]{
		"a": {schema.Some(schema.Time(5)), schema.Some(schema.Time(20))}, "b": {schema.Some(schema.Time(30)), schema.Some(schema.Time(45))},
		"j": {schema.Some(schema.Time(5)), schema.Some(schema.Time(45))},
		"c": {schema.Some(schema.Time(7))}, "d": {schema.Some(schema.Time(8)), schema.Some(schema.Time(9))}, "k": {schema.Some(schema.Time(7))},
		"e": {}, "all": {},
	}
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{"attempts.csv": csv}), ingest.Limits{})
	got := map[string][2]schema.Null[schema.Time]{}
	for _, p := range r.Phases {
		got[p.NativeID] = [2]schema.Null[schema.Time]{p.StartTime, p.FinishTime}
	}
	for _, j := range r.Jobs {
		got[j.NativeID] = [2]schema.Null[schema.Time]{j.StartTime, j.FinishTime}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTablesTogether(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", tables), ingest.Limits{})
	if r.Err != nil || len(r.Trace.Rejects) > 0 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	if len(r.Applications) != 1 || len(r.Jobs) != 1 || len(r.Phases) != 2 || len(r.Attempts) != 3 || len(r.Edges) != 1 {
		t.Fatalf("rows %+v", r.Counts.Rows)
	}
	phase := map[schema.Key]string{}
	for _, p := range r.Phases {
		phase[p.PhaseID] = p.Name.V
	}
	if e := r.Edges[0]; phase[e.FromPhase] != "map it" || phase[e.ToPhase] != "reduce it" || !e.Barrier {
		t.Errorf("edge %+v", e)
	}
	for _, a := range r.Attempts {
		if a.ApplicationID != r.Applications[0].ApplicationID || a.JobID != r.Jobs[0].JobID || phase[a.PhaseID] == "" {
			t.Errorf("attempt %+v", a)
		}
	}
	if p := r.Trace.Progress[0]; p.Progress != 0.5 || p.Source != schema.Reported {
		t.Errorf("progress %+v", p)
	}
}

// The same rows as CSV, JSON lines and Parquet give the same tables.
func TestEncodingsAgree(t *testing.T) {
	const csv = "phase_id,task,start_time,duration_s,machine,speculative\n1,0,2026-01-01 00:00:00.25+00,9.5,m1,true\n1,1,2026-01-01 00:00:00+00,5,,false\n"
	const jsonl = `{"phase_id":1,"task":0,"start_time":"2026-01-01T00:00:00.25Z","duration_s":9.5,"machine":"m1","speculative":true}
{"phase_id":1,"task":1,"start_time":"2026-01-01T00:00:00Z","duration_s":5,"machine":null,"speculative":false}
`
	var first *schema.Trace
	for name, data := range map[string]string{"attempts.csv": csv, "attempts.jsonl": jsonl, "attempts.parquet": parquetFile(t)} {
		r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{name: data}), ingest.Limits{})
		if r.Err != nil || len(r.Attempts) != 2 {
			t.Fatalf("%s: error %v, rejects %+v", name, r.Err, r.Trace.Rejects)
		}
		if first == nil {
			first = &r.Trace
		} else if d := cmp.Diff(*first, r.Trace); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// What straggler export writes for awkward rows is read back unchanged.
func TestAwkwardValues(t *testing.T) {
	files := map[string]string{
		"attempts.jsonl": `{"task":0,"start_time":"2026-01-01T00:00:00Z","duration_s":1,"machine":"NULL","reason":" two\nlines ","rack":"","quality":0}` + "\n",
		"settings.jsonl": `{"application_id":1,"name":" a ","value":""}` + "\n",
		"rejects.jsonl":  `{"source_file":"f","line":3,"byte_offset":9,"reason":"bad","sample":"x"}` + "\n",
	}
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", files), ingest.Limits{})
	if r.Err != nil || len(r.Attempts) != 1 || len(r.Settings) != 1 || len(r.Trace.Rejects) != 1 {
		t.Fatalf("error %v, rows %+v, rejects %+v", r.Err, r.Counts.Rows, r.Trace.Rejects)
	}
	if a := r.Attempts[0]; a.Machine.V != "NULL" || a.Reason.V != " two\nlines " || a.Rack.OK {
		t.Errorf("attempt %+v", a)
	}
	if a := r.Attempts[0]; a.Quality != 0 {
		t.Errorf("the file says quality 0, the row %d", a.Quality)
	}
	if s := r.Settings[0]; s.Name != " a " || s.Value != "" {
		t.Errorf("setting %+v", s)
	}
	want := schema.Reject{SourceFile: "f", Line: schema.Some[int64](3), ByteOffset: 9, Reason: "bad", Sample: "x"}
	if d := cmp.Diff(want, r.Trace.Rejects[0]); d != "" {
		t.Error(d)
	}
	if r.Counts.Decoded != 2 || r.Counts.Rejects != 1 {
		t.Errorf("three records are counted as %d decoded and %d rejected", r.Counts.Decoded, r.Counts.Rejects)
	}
}

func parquetFile(t *testing.T) string {
	t.Helper()
	type row struct {
		Phase       int64   `parquet:"phase_id"`
		Task        int32   `parquet:"task"`
		Start       int64   `parquet:"start_time,timestamp(millisecond)"`
		Duration    float64 `parquet:"duration_s"`
		Machine     *string `parquet:"machine,optional"`
		Speculative bool    `parquet:"speculative"`
	}
	machine := "m1"
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []row{{1, 0, 1767225600250, 9.5, &machine, true}, {1, 1, 1767225600000, 5, nil, false}}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestSniff(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		sure int
	}{
		"attempts.csv": {"task,start_time,duration_s\n", 2},
		"x.csv":        {"phase_id,task,start_time,duration_s,machine\n", 2},
		"x.jsonl":      {`{"phase_id":1,"task":2,"start_time":"x","duration_s":3}` + "\n", 2},
		"people.csv":   {"name,user,street,city\n", 0},
		"attempts.txt": {"nothing of the kind\n", 0},
	} {
		if m := sniff(ingest.Head{Name: name, Bytes: []byte(c.head), Whole: true}); m.Confidence != c.sure {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for name, data := range tables {
		f.Add(name, []byte(data))
	}
	f.Add("attempts.csv", []byte("task,start_time\n\"a\"\"b\",\"x\ny\"\n"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{name: string(b)}), ingest.Limits{})
		for _, a := range r.Attempts {
			if a.DurationS.OK && a.DurationS.V < 0 || a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
				t.Errorf("%+v", a)
			}
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("phase_id,task,machine,start_time,finish_time,input_bytes,status\n")
	for i := range 50_000 {
		fmt.Fprintf(&buf, "%d,%d,m%d,%d,%d,%d,success\n", i/500, i%500, i%40, 1767225600000000+i*1000, 1767225700000000+i*3000, i*77)
	}
	in := ingesttest.Directory("mine", map[string]string{"attempts.csv": buf.String()})
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		if err := Format().Read(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPlainInstants: the fast parser of times agrees with the library on every day of several centuries.
func TestPlainInstants(t *testing.T) {
	var c instants
	for at := time.Date(1890, 1, 1, 23, 59, 58, 765_432_000, time.UTC); at.Year() < 2410; at = at.Add(24 * time.Hour) {
		if got, ok := c.plain(at.Format("2006-01-02 15:04:05.000000+00")); !ok || got != schema.Time(at.UnixMicro()) {
			t.Fatalf("%v is read as %d (%v), want %d", at, got, ok, at.UnixMicro())
		}
	}
}

// Rows of one phase that name different jobs contradict each other; each named job has a row.
func TestEveryOwnerHasARow(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "attempts.csv", []byte("phase_id,job_id,task,duration_s\n1,1,0,2.5\n1,2,1,2.5\n1,2,2,2.5\n"))
	if r.Err != nil || len(r.Attempts) != 3 || len(r.Jobs) != 2 || len(r.Phases) != 1 {
		t.Errorf("error %v, %d attempts, %d jobs, %d phases", r.Err, len(r.Attempts), len(r.Jobs), len(r.Phases))
	}
}

func TestNegativeNumbers(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "attempts.csv",
		[]byte("phase_id,task,duration_s,cpu_s,input_records,number\n1,0,1,-25.5,1,0\n1,1,1,1,-1,0\n1,2,1,1,1,-1\n1,-3,1,1,1,0\n1,4,1,0,0,0\n"))
	if len(r.Attempts) != 1 || r.Attempts[0].Task != 4 || r.Counts.Rejects != 4 {
		t.Errorf("%d attempts, rejects %+v", len(r.Attempts), r.Trace.Rejects)
	}
}

// A duration that ends after all instants representable in 64 bits is rejected, and none becomes negative; one of three
// centuries is read.
func TestDurationsBeyondTime(t *testing.T) {
	const csv = "task,start_time,duration_s\n0,1767225600000000,1e10\n1,1767225600000000,1e15\n2,1767225600000000,9.3e12\n3,1767225600000000,9.2233e12\n"
	r := ingesttest.Read(t, Format(), ingesttest.Directory("mine", map[string]string{"attempts.csv": csv}), ingest.Limits{})
	if len(r.Attempts) != 1 || r.Attempts[0].DurationS.V != 1e10 || len(r.Trace.Rejects) != 3 {
		t.Fatalf("attempts %+v, rejects %+v", r.Attempts, r.Trace.Rejects)
	}
	for _, rej := range r.Trace.Rejects {
		if !strings.Contains(rej.Reason, "292 000 years") {
			t.Errorf("rejected because %s", rej.Reason)
		}
	}
}

// Tables of other programs, as their users would give them, are refused with what to give instead.
func TestInstead(t *testing.T) {
	for head, want := range map[string]bool{
		"JobID|JobName|State|ExitCode|Start|End\n123|wrap|COMPLETED|0:0|2024-01-01T00:00:00|2024-01-01T00:01:00\n":   true, // sacct -P
		"\xef\xbb\xbfname,cpu_milli,memory_mib,num_gpu,gpu_spec,qos\r\nopenb-pod-0017,88000,327680,8,,Burstable\r\n": true,
		"s\th:m:s\tmax_rss\tmax_vms\tmax_uss\n4.1\t0:00:04\t10.2\t20.1\t9.0\n":                                       true, // a benchmark of Snakemake
		"\"dag_id\",\"task_id\",\"state\",\"start_date\"\n\"a\",\"b\",\"success\",\"2024-01-01\"\n":                  true,
		"A sentence, then another, and a third, and more\nwithout any.\n":                                            false,
		"1,2,3,4,5\n1,2,3,4,5\n":       false,
		"JobID|JobName|State|ExitCode": false,
	} {
		if got := instead(ingest.Head{Bytes: []byte(head)}); (got != "") != want {
			t.Errorf("%q: %q", head, got)
		}
	}
}

// Rows of one task are its attempts, in order, unless they have numbers, which are read as they are.
func TestAttemptsOfOneTask(t *testing.T) {
	const times = ",2026-01-02 03:04:05,2026-01-02 03:04:15"
	for _, c := range []struct {
		header, rows, want string
	}{
		{"task,start_time,finish_time", "0T 1T 0T 3T 3T 0T 2T", "[0.0 0.1 0.2 1.0 2.0 3.0 3.1]"},
		{"task,start_time,finish_time,attempt_id", "1T,7 0T,8 1T,9", "[0.0 1.0 1.1]"},
		{"task,start_time,finish_time,number", "0T,1 0T,0 1T,1", "[0.0 0.1 1.1]"},
		{"task,start_time,finish_time,phase_id", "0T,a 0T,b 0T,a", "[0.0 0.0 0.1]"},
	} {
		text := c.header + "\n" + strings.ReplaceAll(strings.ReplaceAll(c.rows, " ", "\n"), "T", times) + "\n"
		r := ingesttest.Conformance(t, Format(), ingesttest.Input("attempts.csv", []byte(text)))
		var got []string
		for _, a := range r.Attempts {
			got = append(got, fmt.Sprint(a.Task, ".", a.Number))
		}
		if slices.Sort(got); fmt.Sprint(got) != c.want || r.Counts.Rejects != 0 {
			t.Errorf("%s: %v, %d rejects", c.header, got, r.Counts.Rejects)
		}
	}
}
