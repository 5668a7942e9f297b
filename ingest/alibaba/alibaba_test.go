package alibaba

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// trace2018 has every defect that users of the trace have reported.
var trace2018 = map[string]string{
	"batch_task.csv": `M1,2,j_1,1,Terminated,100,160,100,0.5
R2_1,1,j_1,1,Terminated,155,190,100,0.5
R3_2_9_Stg4,1,j_1,1,Failed,190,0,100,0.5
J4_4_,1,j_1,1,Waiting,0,0,,
M1_2,1,j_2,1,Terminated,10,20,100,0.5
R2_1,1,j_2,1,Terminated,10,20,100,0.5
task_Nzg3ODcz,1,j_3,2,Running,50,0,50,0.2
`,
	"batch_instance_0.csv": `ins_1,M1,j_1,1,Terminated,90,150,m_1,1,1,50,60,0.1,0.2
ins_2,M1,j_1,1,Failed,95,130,m_2,1,2,50,60,0.1,0.2
ins_2,M1,j_1,1,Terminated,131,160,m_3,2,2,50,60,0.1,0.2
ins_3,R2_1,j_1,1,Terminated,150,190,m_1,1,1,,,,
not a row
`,
	"batch_instance_1.csv": `ins_9,task_Nzg3ODcz,j_3,2,Terminated,60,70,m_9,3,7,100,100,1,1
ins_4,R3_2_9_Stg4,j_1,1,Interrupted,190,180,m_1,1,1,1,1,1,1
ins_5,M1_2,j_2,1,Terminated,10,20,m_9,1,1,100,100,1,1
ins_6,task_Nzg3ODcz,j_3,2,Running,50,0,m_9,1,1,100,100,1,1
ins_7,R2_1,,1,Terminated,50,60,m_9,1,1,100,100,1,1
ins_8,R2_1,j_2,1,Waiting,0,0,,1,1,,,,
`,
	"machine_meta.csv":  "m_1,0,12,7,96,100,USING\nm_1,500,12,7,96,100,USING\nm_2,0,12,8,96,100,USING\n",
	"machine_usage.csv": "m_1,0,25,50,,,10,40,101\nm_1,10,-1,50,,,,,5\n",
}

func Test2018(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace2018), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 1 || r.Trace.Rejects[0].Line.V != 5 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	lines := 0
	for _, data := range trace2018 {
		lines += strings.Count(data, "\n")
	}
	if int(r.Decoded+r.Counts.Rejects) != lines {
		t.Errorf("%d records of %d", r.Decoded+r.Counts.Rejects, lines)
	}
	names := map[schema.Key]string{}
	for _, p := range r.Phases {
		names[p.PhaseID] = p.NativeID
	}
	var attempts []string
	for _, a := range r.Attempts {
		attempts = append(attempts, fmt.Sprint(names[a.PhaseID], " ", a.NativeID, " ", a.Task, ".", a.Number, " ", a.Machine.V,
			" ", a.Status, " ", a.DurationS, " ", a.CPUS))
	}
	slices.Sort(attempts)
	want := []string{
		"M1 ins_1 1.0 m_1 success {60 true} {30 true}", "M1 ins_2 2.0 m_2 failed {35 true} {17.5 true}", "M1 ins_2 2.1 m_3 success {29 true} {14.5 true}",
		"M1_2 ins_5 5.0 m_9 success {10 true} {10 true}", "R2_1 ins_3 3.0 m_1 success {40 true} {0 false}",
		"R3_2_9_Stg4 ins_4 4.0 m_1 killed {0 false} {0 false}", "task_Nzg3ODcz ins_6 6.0 m_9 running {0 false} {0 false}",
		"task_Nzg3ODcz ins_9 9.0 m_9 success {10 true} {10 true}", // the only row of its name, so there was no try before it
	}
	if d := cmp.Diff(want, attempts); d != "" {
		t.Error(d)
	}
	var edges []string
	for _, e := range r.Edges {
		edges = append(edges, names[e.FromPhase]+"→"+names[e.ToPhase])
	}
	slices.Sort(edges)
	// j_2's M1_2 and R2_1 wait for each other; tasks are in the order of their names, so M1_2's edge is kept.
	if d := cmp.Diff([]string{"M1→R2_1", "R2_1→M1_2", "R2_1→R3_2_9_Stg4"}, edges); d != "" {
		t.Error(d)
	}
	defects := map[string]int64{}
	for _, c := range r.Caveats {
		defects[c.Code] = c.Count.V
	}
	if d := cmp.Diff(map[string]int64{"edge_cycle": 1, "edge_to_itself": 1, "edge_unknown_parent": 1, "end_before_start": 1,
		"rows_without_job": 1, "no_bytes": 0}, defects); d != "" {
		t.Error(d)
	}
	for _, p := range r.Phases {
		if p.NativeID == "M1" && (p.StartTime != schema.Some(schema.Time(90e6)) || p.SubmitTime != p.StartTime || p.FinishTime != schema.Some(schema.Time(160e6))) {
			t.Errorf("M1 starts with its first instance: %+v", p)
		}
	}
	if len(r.Machines) != 2 || r.Machines[0].Rack != schema.Some("7") {
		t.Errorf("machines %+v", r.Machines)
	}
	if u := r.MachineUsage; len(u) != 2 || u[0].Network != schema.Some(0.4) || u[0].Disk.OK || u[1].CPU.OK {
		t.Errorf("usage %+v", u)
	}
}

// Without the table of instances, which is a hundred times as large, the table of tasks says when tasks and jobs ended.
func TestTasksAlone(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{"batch_task.csv": trace2018["batch_task.csv"]}), ingest.Limits{})
	var got []string
	for _, j := range r.Jobs {
		got = append(got, fmt.Sprint(j.NativeID, " ", j.SubmitTime.V/1e6, "–", j.FinishTime))
	}
	for _, p := range r.Phases {
		got = append(got, fmt.Sprint(p.NativeID, " ", p.SubmitTime.V/1e6, "–", p.FinishTime))
	}
	slices.Sort(got)
	want := []string{
		"J4_4_ 0–{0 false}", "M1 100–{160000000 true}", "M1_2 10–{20000000 true}", "R2_1 10–{20000000 true}", "R2_1 155–{190000000 true}",
		"R3_2_9_Stg4 190–{0 false}", "j_1 100–{0 false}", "j_2 10–{20000000 true}", "j_3 50–{0 false}", "task_Nzg3ODcz 50–{0 false}",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if a := r.Applications[0]; a.StartTime != schema.Some(schema.Time(10e6)) || a.FinishTime != schema.Some(schema.Time(190e6)) {
		t.Errorf("the trace lasts from %+v to %+v", a.StartTime, a.FinishTime)
	}
}

// A job of which a task still runs has not finished, whatever ended before.
func TestRunningJob(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{
		"batch_task.csv":     "M1,1,j,1,Running,10,,1,1\nR2_1,1,j,1,Failed,20,30,1,1\n",
		"batch_instance.csv": "a,M1,j,1,Running,10,0,m_1,1,1,1,1,1,1\nb,R2_1,j,1,Failed,20,30,m_1,1,1,1,1,1,1\n",
	}), ingest.Limits{})
	if j := r.Jobs[0]; j.Status != schema.RunRunning || j.FinishTime.OK {
		t.Errorf("%+v", j)
	}
}

// The rows do not depend on the order of the shards, nor on how often the partial sums spill.
func TestOrderOfShards(t *testing.T) {
	want := ingesttest.Read(t, Format(), ingesttest.Directory("trace", trace2018), ingest.Limits{})
	in := ingesttest.Directory("trace", trace2018)
	slices.Reverse(in.Parts)
	got := ingesttest.Read(t, Format(), in, ingest.Limits{})
	for _, tr := range []*schema.Trace{&want.Trace, &got.Trace} {
		for i := range tr.Attempts {
			a := &tr.Attempts[i] // keys are assigned in the order of reading
			a.AttemptID = schema.HashKey(0, a.NativeID, fmt.Append(nil, a.Number))
		}
		ingesttest.Sort(tr)
	}
	if d := cmp.Diff(want.Trace, got.Trace); d != "" {
		t.Error(d)
	}
}

func Test2017(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{
		"batch_task.csv": "task_create_time, task_end_time, job_id, task_id,number_of_instances, status, number_of_cpus_requested_per_instance_in_the_task,normalized_memory_requested_per_instance_in_the_task\n" +
			"6459,6524,3,4,15740,Terminated,50,0.007956928\n6036,6046,4,7,393,Waiting,,\n",
		"batch_instance.csv": "6460,6520,3,4,12,Terminated,1,1,2,1.5,0.1,0.05\n6460,6480,3,4,13,Interupted,1,2,2,1.5,0.1,0.05\n0,0,3,4,,Ready,0,0,,,,\n6460,6520,,4,12,Terminated,1,1,2,1.5,0.1,0.05\n",
		"server_event.csv":   "0,12,add,,64,0.69,1\n50,12,softerror,disk,,,\n",
		"server_usage.csv":   "39600,12,31.5,40,50,1,2,3\n",
	}), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 2 {
		t.Fatalf("error %v, rejects %+v, %d attempts", r.Err, r.Trace.Rejects, len(r.Attempts))
	}
	a, b := r.Attempts[0], r.Attempts[1]
	if a.DurationS != schema.Some(60.0) || a.CPUS != schema.Some(90.0) || a.Quality&schema.TaskUnknown == 0 || b.Status != schema.Killed || a.Task == b.Task {
		t.Errorf("%+v\n%+v", a, b)
	}
	if len(r.Phases) != 2 || len(r.Jobs) != 2 || len(r.Machines) != 1 || len(r.MachineUsage) != 1 {
		t.Errorf("%d phases, %d jobs, %d machines, %d samples", len(r.Phases), len(r.Jobs), len(r.Machines), len(r.MachineUsage))
	}
}

func TestGPU2020(t *testing.T) {
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{
		"pai_job_table.csv":      "jobA,instA,userA,Terminated,100.5,400\n",
		"pai_task_table.csv":     "jobA,worker,2,Terminated,110,390,600,29.3,100,T4\njobA,ps,1,Terminated,110,390,600,29.3,,\n",
		"pai_instance_table.csv": "jobA,worker,0a1b,w1,instA,Terminated,120,380,m1\njobA,worker,0a1c,w2,instA,Terminated,120,390,m2\njobA,ps,0a1d,w3,instA,Terminated,115.25,390,m1\n",
		"pai_machine_spec.csv":   "m1,T4,96,512,2\nm2,P100,64,512,2\n",
	}), ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 3 || len(r.Machines) != 2 || len(r.Jobs) != 1 {
		t.Fatalf("error %v, rejects %+v, %d attempts", r.Err, r.Trace.Rejects, len(r.Attempts))
	}
	for _, p := range r.Phases {
		if p.Gang != (p.NativeID == "worker") {
			t.Errorf("%s: gang %v", p.NativeID, p.Gang)
		}
	}
	if j := r.Jobs[0]; j.FinishTime.V.Sub(j.SubmitTime.V) != 299.5 || j.Status != schema.RunSucceeded {
		t.Errorf("job %+v", j)
	}
}

func TestTaskNames(t *testing.T) {
	for name, want := range map[string]string{
		"R5_4_2": "5 [4 2] true", "M1": "1 [] true", "J12_3_Stg4": "12 [3] true", "R2_1_": "2 [1] true",
		"task_Nzg3ODcz": "0 [] false", "MergeTask": "0 [] false", "": "0 [] false", "5_1": "0 [] false", "R99999999999999999999_1": "0 [] false",
	} {
		own, parents, ok := parseName(name)
		if got := fmt.Sprint(own, " ", parents, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for name, data := range trace2018 {
		f.Add(name, []byte(data))
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{name: string(b)}), ingest.Limits{})
		if n := int64(bytes.Count(b, []byte("\n"))); r.Decoded+r.Counts.Rejects < n || r.Decoded+r.Counts.Rejects > n+1 {
			t.Errorf("%d records in %d lines", r.Decoded+r.Counts.Rejects, n)
		}
	})
}

func BenchmarkInstances(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var buf bytes.Buffer
	for i := range 100_000 {
		start := 1000 + rng.IntN(1000)
		fmt.Fprintf(&buf, "ins_%d,M%d,j_%d,1,Terminated,%d,%d,m_%d,1,1,%d,100,0.1,0.2\n", i, i/100%7+1, i/700, start,
			start+rng.IntN(100), rng.IntN(4000), rng.IntN(100))
	}
	in := ingesttest.Directory("trace", map[string]string{"batch_instance.csv": buf.String()})
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		if err := Format().Read(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
}

// Copies of the trace have headers, quotes and blanks, and undocumented words.
func TestVariants(t *testing.T) {
	r := ingesttest.Conformance(t, Format(), ingesttest.Directory("trace", map[string]string{
		"batch_instance.csv":     "instance_name,task_name,job_name,task_type,status,start_time,end_time,machine_id,seq_no,total_seq_no,cpu_avg,cpu_max,mem_avg,mem_max\n\"ins_1\",M1, j_1,1,Terminated,10,20,m_1,1,1,50,60,0.1,0.1\nins_2,M1,j_1,1,Evaporated,10,20,m_1,1,1,50,60,0.1,0.1\r\n",
		"pai_instance_table.csv": "job_name,task_name,inst_name,worker_name,inst_id,status,start_time,end_time,machine\nj,worker,i,w,d,Terminated,10.5,20.5,m\n",
		"batch_task.csv":         "M1,2,j_1,1,Terminated,10,20,100,0.5\n",
	}))
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 3 {
		t.Fatalf("error %v, rejects %+v, attempts %+v", r.Err, r.Trace.Rejects, r.Attempts)
	}
	status := map[schema.AttemptStatus]int{}
	for _, a := range r.Attempts {
		status[a.Status]++
	}
	if status[schema.Success] != 2 || status[schema.UnknownStatus] != 1 || len(r.Jobs) != 2 {
		t.Errorf("statuses %v, jobs %+v", status, r.Jobs)
	}
}

// A copy whose first line is the documented header is recognised by it, whatever its jobs are called.
func TestRecognisedByHeader(t *testing.T) {
	const header = "task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem\r\n"
	const rows = "M1,1,job_1,type_9,Terminated,97,110,50.0,23.3\r\nR2_1,2,job_1,type_9,Terminated,110,140,50.0,5\r\n"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"batch_task.csv", header + rows, 3},
		{"batch_task.csv", rows, 0},
		{"tasks.csv", header + rows, 0}, // other programs have columns with these names
		{"batch_task.csv", "task_name,status\nM1,Terminated\n", 0},
	} {
		if m := Format().Sniff(ingest.Head{Name: c.name, Bytes: []byte(c.text), Whole: true}); m.Confidence != c.want {
			t.Errorf("%s %.20q…: %+v, want %d", c.name, c.text, m, c.want)
		}
	}
	r := ingesttest.Read(t, Format(), ingesttest.Directory("trace", map[string]string{"batch_task.csv": header + rows}), ingest.Limits{})
	if r.Err != nil || len(r.Trace.Phases) != 2 || len(r.Trace.Edges) != 1 || r.Counts.Rejects != 0 {
		t.Errorf("error %v, phases %+v, edges %+v, rejects %+v", r.Err, r.Trace.Phases, r.Trace.Edges, r.Trace.Rejects)
	}
}
