package google

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// trace2011: task 0 is evicted and rescheduled at the same instant, task 1 began before the trace, task 2 is killed while it
// waits, task 3 is still running, task 4 finishes without having been scheduled.
var trace2011 = map[string]string{
	"job_events/part-00000-of-00001.csv": "600000000,,10,0,userA,3,n,logical\n700000000,,10,4,userA,3,n,logical\n",
	"task_events/part-00001-of-00002.csv": `620000000,,10,0,5,2,u,3,9,0.1,0.1,0.1,0
620000000,,10,0,,0,u,3,9,0.1,0.1,0.1,0
620000000,,10,0,6,1,u,3,9,0.1,0.1,0.1,0
700000000,,10,0,6,4,u,3,9,0.1,0.1,0.1,0
650000000,,10,1,5,4,u,3,9,0.1,0.1,0.1,0
650000000,,10,2,,5,u,3,9,0.1,0.1,0.1,0
9223372036854775807,,10,3,5,5,u,3,9,0.1,0.1,0.1,0
660000000,,10,4,5,4,u,3,9,0.1,0.1,0.1,0
broken,,10
`,
	"task_events/part-00000-of-00002.csv": `600000000,,10,0,,0,u,3,9,0.1,0.1,0.1,0
605000000,,10,0,5,1,u,3,9,0.1,0.1,0.1,0
0,2,10,1,5,1,u,3,9,0.1,0.1,0.1,0
600000000,,10,2,,0,u,3,9,0.1,0.1,0.1,0
600000000,,10,3,,0,u,3,9,0.1,0.1,0.1,0
601000000,,10,3,5,1,u,3,9,0.1,0.1,0.1,0
601000000,,10,3,5,8,u,3,9,0.1,0.1,0.1,0
`,
	"machine_events/part-00000-of-00001.csv": "0,5,0,HofL/,0.5,0.2493\n0,6,0,HofL/,1,0.5\n800000000,6,1,,,\n",
	"task_usage/part-00000-of-00500.csv": "600000000,900000000,10,0,5,0.1,0,0,0,0,0,0,0,0,0,0,0,1,0,0\n" +
		"600000000,750000000,10,1,5,0.2,0,0,0,0,0,0,0,0,0,0,0,1,0\n900000000,1200000000,10,1,5,0.9,0,0,0,0,0,0,0,0,0,0,0,1,0\n",
}

func attempts(t *schema.Trace) []string {
	var rows []string
	for _, a := range t.Attempts {
		rows = append(rows, fmt.Sprint(a.NativeID, " on ", a.Machine.V, " ", a.Status, " ", a.Reason.V, " ", a.DurationS, " rack ", a.Rack.V))
	}
	slices.Sort(rows)
	return rows
}

func Test2011(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace2011), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 9 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	lines := 0
	for _, data := range trace2011 {
		lines += strings.Count(data, "\n")
	}
	if int(r.Decoded+r.Counts.Rejects) != lines {
		t.Errorf("%d records of %d", r.Decoded+r.Counts.Rejects, lines)
	}
	want := []string{
		"10/0/0 on 5 killed evicted {15 true} rack ", "10/0/1 on 6 success  {80 true} rack ", "10/1/0 on 5 success  {0 false} rack ",
		"10/3/0 on 5 killed killed {0 false} rack ", "10/4/0 on 5 success  {0 false} rack ",
	}
	if d := cmp.Diff(want, attempts(&r.Trace)); d != "" {
		t.Error(d)
	}
	if j, a := r.Jobs[0], r.Applications[0]; j.Status != schema.RunSucceeded || j.FinishTime.V.Sub(j.SubmitTime.V) != 100 ||
		a.User != schema.Some("userA") || a.Name != schema.Some("logical") {
		t.Errorf("job %+v of %+v", j, a)
	}
	// Machine 5 has half the capacity of the largest one; 0.1 was used in all of the window and 0.2 in half of it.
	if u := r.MachineUsage; len(u) != 2 || u[0].CPU != schema.Some(0.4) || u[1].CPU != schema.Some(1.0) || u[0].Time != 600e6 {
		t.Errorf("usage %+v", u)
	}
	if m := r.Machines; len(m) != 2 || m[0].Cores != schema.Some(0.5) || m[1].RemovedTime != schema.Some(schema.Time(800e6)) {
		t.Errorf("machines %+v", m)
	}
}

var trace2019 = map[string]string{
	"collection_events-000000000000.json": `{"time":"1000000","type":"0","collection_id":"20","collection_type":"0","user":"u","collection_logical_name":"l","start_after_collection_ids":["21","99"]}
{"time":"9000000","type":"FINISH","collection_id":"20","collection_type":"0"}
{"time":"500000","type":0,"collection_id":21,"collection_type":0}
{"time":"500000","type":"0","collection_id":"22","collection_type":"1"}
`,
	"instance_events-000000000000.json": `{"time":"2000000","type":"3","collection_id":"20","collection_type":"0","instance_index":"0","machine_id":"77"}
{"time":"8000000","type":"6","collection_id":"20","collection_type":"0","instance_index":"0","machine_id":"77"}
{"time":"2000000","type":"3","collection_id":"21","instance_index":"1","machine_id":"78"}
{"time":"2000000","type":"3","collection_id":"22","collection_type":"1","instance_index":"0","machine_id":"77"}
{"time":"2000000","type":"33","collection_id":"22","instance_index":"0"}
{"time":
`,
	"machine_events-000000000000.json": `{"time":"0","machine_id":"77","type":"1","switch_id":"sw=","capacity":{"cpus":0.5,"memory":0.25},"platform_id":"p="}` + "\n",
	"instance_usage-000000000000.json": `{"start_time":"300000000","end_time":"600000000","collection_id":"20","instance_index":"0","machine_id":"77","average_usage":{"cpus":0.125,"memory":0.01},"cpu_usage_distribution":[0,0,0,0,0,0,0,0,0,0,0]}` + "\n" +
		// A task in an alloc set, whose use is part of that of the set's instance.
		`{"start_time":"300000000","end_time":"600000000","collection_id":"21","instance_index":"0","machine_id":"77","alloc_collection_id":"20","alloc_instance_index":"0","average_usage":{"cpus":0.0625}}` + "\n",
}

func Test2019(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace2019), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 2 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	want := []string{"20/0/0 on 77 success  {6 true} rack sw=", "21/1/0 on 78 running  {0 false} rack "}
	if d := cmp.Diff(want, attempts(&r.Trace)); d != "" {
		t.Error(d)
	}
	if len(r.Settings) != 1 || r.Settings[0].Value != "21,99" || len(r.Jobs) != 2 || len(r.Edges) != 0 {
		t.Errorf("settings %+v, %d jobs, edges %+v", r.Settings, len(r.Jobs), r.Edges)
	}
	if u := r.MachineUsage; len(u) != 1 || u[0].CPU != schema.Some(0.25) {
		t.Errorf("usage %+v", u)
	}
}

// The rows, including keys, do not depend on the order of the shards and of the lines in them.
func TestOrderOfShards(t *testing.T) {
	for _, trace := range []map[string]string{trace2011, trace2019} {
		want := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace), ingest.Limits{})
		shuffled := map[string]string{}
		for name, data := range trace {
			lines := strings.SplitAfter(data, "\n")
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			shuffled[name] = strings.Join(lines, "")
		}
		in := ingesttest.Directory("trace", shuffled)
		slices.Reverse(in.Parts)
		got := ingesttest.Read(t, Format(), in, ingest.Limits{})
		want.Trace.Rejects, got.Trace.Rejects = nil, nil // their line numbers differ
		if d := cmp.Diff(want.Trace, got.Trace); d != "" {
			t.Error(d)
		}
	}
}

// A job may have millions of tasks: its attempts must not be held until its end. The largest batch is what the reader held.
func TestOneJobOfManyTasks(t *testing.T) {
	const tasks = 20_000
	var log strings.Builder
	for i := range tasks {
		fmt.Fprintf(&log, "%d,,10,%d,5,1,u,3,9,0.1,0.1,0.1,0\n%d,,10,%d,5,4,u,3,9,0.1,0.1,0.1,0\n", 600_000_000+i, i, 700_000_000+i, i)
	}
	rows, held := 0, 0
	out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
		if b.Table().Name == "attempts" {
			rows, held = rows+b.Len(), max(held, b.Len())
		}
		return nil
	})
	if err := Format().Read(context.Background(), ingesttest.Directory("trace",
		map[string]string{"task_events/part-00000-of-00001.csv": log.String()}), out); err != nil {
		t.Fatal(err)
	}
	if rows != tasks || held > 4096 {
		t.Errorf("%d attempts, %d of them held at once", rows, held)
	}
}

func TestClaim(t *testing.T) {
	shards := map[string][]string{
		"task_events": {"part-00000-of-00002.csv.gz", "part-00001-of-00002.csv.gz"}, "job_events": {"part-00000-of-00001.csv.gz"},
		"machine_attributes": {"part-00000-of-00001.csv.gz"}, "papers": {"part-00000-of-00001.csv.gz"},
	}
	got := claim(ingest.Dir{Path: "clusterdata-2011-2",
		Names: []string{"README", "job_events/", "machine_attributes/", "papers/", "schema.csv", "task_events/"},
		List:  func(sub string) []string { return shards[strings.TrimSuffix(sub, "/")] }})
	want := []ingest.Group{{
		Names: []string{"job_events/part-00000-of-00001.csv.gz", "task_events/part-00000-of-00002.csv.gz", "task_events/part-00001-of-00002.csv.gz"},
		Drop:  []string{"machine_attributes/part-00000-of-00001.csv.gz", "schema.csv"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if g := claim(ingest.Dir{Path: "x/task_events", Names: []string{"part-00000-of-00002.csv.gz"}}); len(g) != 1 {
		t.Errorf("a table's own directory: %+v", g)
	}
	if g := claim(ingest.Dir{Path: "logs", Names: []string{"part-00000", "a.json"}}); g != nil {
		t.Errorf("another directory: %+v", g)
	}
}

func TestSniff(t *testing.T) {
	for name, data := range trace2011 {
		if m := sniff(ingest.Head{Name: path.Base(name), Bytes: []byte(data), Whole: true}); m.Confidence != 2 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	for name, data := range trace2019 {
		if m := sniff(ingest.Head{Name: path.Base(name), Bytes: []byte(data), Whole: true}); m.Confidence != 3 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, trace := range []map[string]string{trace2011, trace2019} {
		for name, data := range trace {
			f.Add(name, []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{name: string(b)}), ingest.Limits{})
		if n := int64(bytes.Count(b, []byte("\n"))); r.Decoded+r.Counts.Rejects < n || r.Decoded+r.Counts.Rejects > n+1 {
			t.Errorf("%d records in %d lines", r.Decoded+r.Counts.Rejects, n)
		}
		for _, a := range r.Attempts {
			if a.DurationS.OK && a.DurationS.V < 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}

// BenchmarkTaskEvents reads 50 shards of a trace like that of 2011; the target of ten million rows is b.N times that.
func BenchmarkTaskEvents(b *testing.B) {
	const rows = 200_000
	rng := rand.New(rand.NewPCG(1, 1))
	shards := make([]strings.Builder, 50)
	for i := range rows / 3 {
		at := int64(600e6) + rng.Int64N(1e12)
		for _, typ := range []int{0, 1, 4} {
			at += rng.Int64N(1e9)
			fmt.Fprintf(&shards[min(at*50/int64(1e12+4e9), 49)], "%d,,%d,%d,%d,%d,user=,3,9,0.125,0.07446,0.0004244,0\n", at,
				3418309+i/100, i%100, 1000+rng.IntN(12000), typ)
		}
	}
	files := map[string]string{}
	size := 0
	for i := range shards {
		files[fmt.Sprintf("task_events/part-%05d-of-00050.csv", i)] = shards[i].String()
		size += shards[i].Len()
	}
	in := ingesttest.Directory("trace", files)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		if err := Format().Read(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
}

// Some copies of the trace of 2011 have a first row with the names of columns.
func TestHeader2011(t *testing.T) {
	with := map[string]string{}
	for name, text := range trace2011 {
		row, _, _ := strings.Cut(text, "\n")
		id := "jobID"
		if strings.HasPrefix(name, "machine") {
			id = "Machine ID"
		}
		with[name] = "#time (microseconds)," + id + strings.Repeat(",a name", strings.Count(row, ",")-1) + "\r\n" + text
		if m := sniff(ingest.Head{Bytes: []byte(with[name])}); m.Confidence != 1 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	want := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace2011), ingest.Limits{})
	got := ingesttest.Read(t, Format(), ingesttest.Directory("trace", with), ingest.Limits{})
	if d := cmp.Diff(attempts(&want.Trace), attempts(&got.Trace)); d != "" || got.Counts.Rejects != want.Counts.Rejects {
		t.Error(d, got.Trace.Rejects)
	}
	if d := cmp.Diff(want.MachineUsage, got.MachineUsage); d != "" {
		t.Error(d)
	}
}

// A table of other columns whose numbers happen to fit is none of the trace.
func TestOtherHeader(t *testing.T) {
	for _, text := range []string{"time,machine,cpu,memory,disk_read,note\n100,5,0,1,0.5,0.5\n", "a,b,c,d,e,f\n0,5,0,HofL/,0.5,0.2493\n"} {
		if m := sniff(ingest.Head{Bytes: []byte(text)}); m.Confidence != 0 {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// Events that are there twice, as where files were concatenated or copied, happened once.
func TestRepeatedEvents(t *testing.T) {
	for _, trace := range []map[string]string{trace2011, trace2019} {
		twice := map[string]string{}
		for name, text := range trace {
			twice[name] = text + text
		}
		want := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace), ingest.Limits{})
		got := ingesttest.Conformance(t, Format(), ingesttest.Directory("trace", twice))
		if d := cmp.Diff(attempts(&want.Trace), attempts(&got.Trace)); d != "" {
			t.Error(d)
		}
		if !slices.ContainsFunc(got.Caveats, func(c schema.Caveat) bool { return c.Code == "event_twice" && c.Count.V > 0 }) {
			t.Errorf("%+v", got.Caveats)
		}
	}
}
