package tez

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

const counters = `{"counterGroups":[{"counterGroupName":"org.apache.tez.common.counters.FileSystemCounter","counters":[{"counterName":"FILE_BYTES_READ","counterValue":5}]},
{"counterGroupName":"TaskCounter_Reducer_2_INPUT_Map_1","counters":[{"counterName":"SHUFFLE_BYTES","counterValue":900},{"counterName":"SHUFFLE_BYTES_DISK_DIRECT","counterValue":200},{"counterName":"GC_TIME_MILLIS","counterValue":"40"}]}]}`

// said is a record of a logger: the entity, the event, its time and its values as JSON members.
type said struct {
	kind, id, event string
	ms              int64
	info            string
}

// history is a DAG of two vertices. The output of map task 0 is lost and recomputed, and a reducer is copied in vain.
var history = []said{
	{"TEZ_DAG_ID", "dag_1_0007_1", "DAG_SUBMITTED", 1000,
		`"dagPlan":{"dagName":"q1","vertices":[],"edges":[{"edgeId":"1","inputVertexName":"Map 1","outputVertexName":"Reducer 2","dataMovementType":"SCATTER_GATHER"}]}`},
	{"TEZ_VERTEX_ID", "vertex_1_0007_1_00", "VERTEX_INITIALIZED", 1500, `"vertexName":"Map 1","numTasks":1,"initTime":1500`},
	{"TEZ_VERTEX_ID", "vertex_1_0007_1_01", "VERTEX_INITIALIZED", 1500, `"vertexName":"Reducer 2","numTasks":1,"initTime":1500`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_0", "TASK_ATTEMPT_STARTED", 2000, `"nodeId":"n1:45454","containerId":"c1"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_0", "TASK_ATTEMPT_FINISHED", 4000,
		`"creationTime":1900,"startTime":2000,"endTime":4000,"status":"SUCCEEDED","nodeId":"n1:45454","containerId":"c1"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_01_000000_0", "TASK_ATTEMPT_STARTED", 4100, `"nodeId":"n2:45454","containerId":"c2"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_0", "TASK_ATTEMPT_FINISHED", 6000,
		`"startTime":2000,"endTime":6000,"status":"FAILED","taskAttemptErrorEnum":"OUTPUT_LOST","nodeId":"n1:45454"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_1", "TASK_ATTEMPT_STARTED", 6100, `"nodeId":"n3:45454","containerId":"c3"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_1", "TASK_ATTEMPT_FINISHED", 8000,
		`"startTime":6100,"endTime":8000,"status":"SUCCEEDED","creationCausalAttempt":"attempt_1_0007_1_01_000000_0"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_01_000000_1", "TASK_ATTEMPT_STARTED", 8200, `"nodeId":"n3:45454","containerId":"c3"`},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_01_000000_0", "TASK_ATTEMPT_FINISHED", 9000,
		`"startTime":4100,"endTime":9000,"status":"SUCCEEDED","counters":` + counters},
	{"TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_01_000000_1", "TASK_ATTEMPT_FINISHED", 9001,
		`"startTime":8200,"endTime":9001,"status":"KILLED","counters":{"counterGroups":[{"counterGroupName":"org.apache.tez.common.counters.TaskCounter","counters":[{"counterName":"GC_TIME_MILLIS","counterValue":900}]}]},"taskAttemptErrorEnum":"TERMINATED_INEFFECTIVE_SPECULATION","diagnostics":"Task Attempt killed\nmore"`},
	{"TEZ_DAG_ID", "dag_1_0007_1", "DAG_FINISHED", 9100, `"startTime":1400,"endTime":9100,"status":"SUCCEEDED"`},
}

func historyText() []byte {
	var b bytes.Buffer
	for _, s := range history {
		fmt.Fprintf(&b, `{"entity":%q,"entitytype":%q,"events":[{"ts":%d,"eventtype":%q}],"otherinfo":{%s}}`+"\x01\n", s.id, s.kind, s.ms, s.event, s.info)
	}
	return b.Bytes()
}

func check(t *testing.T, r *ingesttest.Result) {
	t.Helper()
	if r.Err != nil || int(r.Decoded) != len(history) || r.Counts.Rejects != 0 {
		t.Fatalf("error %v, %d decoded of %d, rejects %+v", r.Err, r.Decoded, len(history), r.Trace.Rejects)
	}
	var rows []string
	keys := map[string]schema.Key{}
	for _, a := range r.Attempts {
		keys[a.NativeID] = a.AttemptID
		rows = append(rows, fmt.Sprint(strings.TrimPrefix(a.NativeID, "attempt_1_0007_1_"), " ", a.Machine.V, " ", a.Status, " ",
			a.DurationS.V, " recompute ", a.Recompute, " copy ", a.Speculative, " ", a.Reason.V))
	}
	slices.Sort(rows)
	want := []string{
		"00_000000_0 n1 success 2 recompute false copy {false true} ", "00_000000_1 n3 success 1.9 recompute true copy {false false} ",
		"01_000000_0 n2 success 4.9 recompute false copy {false true} ",
		"01_000000_1 n3 killed 0.801 recompute false copy {true true} TERMINATED_INEFFECTIVE_SPECULATION: Task Attempt killed",
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	wantLoss := []schema.Loss{{
		PhaseID: r.Losses[0].PhaseID, AttemptID: schema.Some(keys["attempt_1_0007_1_00_000000_0"]), Machine: schema.Some("n1"),
		Time: schema.Some(schema.FromMillis(6000)), DetectedBy: schema.Some(keys["attempt_1_0007_1_01_000000_0"]),
		RecomputedBy: schema.Some(keys["attempt_1_0007_1_00_000000_1"]),
	}}
	if d := cmp.Diff(wantLoss, r.Losses); d != "" {
		t.Error(d)
	}
	for _, a := range r.Attempts {
		if a.NativeID == "attempt_1_0007_1_01_000000_0" && (a.InputBytes != schema.Some(int64(900)) ||
			a.RemoteBytes != schema.Some(int64(700)) || a.LocalBytes != schema.Some(int64(200)) || a.GCS != schema.Some(0.04)) {
			t.Errorf("input %+v, remote %+v, gc %+v", a.InputBytes, a.RemoteBytes, a.GCS)
		}
	}
	for _, a := range r.Attempts {
		if a.NativeID == "attempt_1_0007_1_01_000000_1" && (a.GCS.OK || a.Quality&schema.TimeRepaired == 0) {
			t.Errorf("garbage collection of 900 ms in an attempt of 801 ms: %+v", a)
		}
	}
	if len(r.Edges) != 1 || r.Edges[0].Pattern != schema.AllToAll || len(r.Phases) != 2 || r.Jobs[0].Name != schema.Some("q1") ||
		r.Jobs[0].FinishTime.V.Sub(r.Jobs[0].SubmitTime.V) != 8.1 {
		t.Errorf("edges %+v, phases %+v, jobs %+v", r.Edges, r.Phases, r.Jobs)
	}
	if a := r.Applications[0]; a.NativeID != "application_1_0007" || !a.Complete {
		t.Errorf("application %+v", a)
	}
}

func TestHistoryText(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "history.txt.appattempt_1_0007_000001", historyText())
	check(t, &r)
}

// The protobuf logger records the same in SequenceFiles, plain or with each record compressed.
func TestSequenceFiles(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		data := sequenceFile(t, compressed)
		r := ingesttest.Bytes(t, Format(), "dag_1_0007_1", data)
		check(t, &r)
		for cut := 1; cut < len(data); cut += 7 {
			ingesttest.Bytes(t, Format(), "dag_1_0007_1", data[:cut])
		}
	}
}

func vint(n int) []byte {
	if n <= 127 {
		return []byte{byte(n)}
	}
	return []byte{byte(0x8f - 1), byte(n >> 8), byte(n)} // two bytes follow
}

func hadoopText(s string) []byte { return append(vint(len(s)), s...) }

func field(n int, text []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(n<<3|2))
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func sequenceFile(t *testing.T, compressed bool) []byte {
	t.Helper()
	sync := []byte("0123456789abcdef")
	b := append([]byte("SEQ\x06"), hadoopText("org.apache.hadoop.io.NullWritable")...)
	b = append(b, hadoopText("org.apache.tez.dag.history.logging.proto.ProtoMessageWritable")...)
	if compressed {
		b = append(append(b, 1, 0), hadoopText("org.apache.hadoop.io.compress.DefaultCodec")...)
	} else {
		b = append(b, 0, 0)
	}
	b = append(append(b, 0, 0, 0, 0), sync...)
	fields := map[string]int{"TEZ_DAG_ID": fieldDAG, "TEZ_VERTEX_ID": fieldVertex, "TEZ_TASK_ATTEMPT_ID": fieldAttempt}
	for i, s := range history {
		m := field(fieldType, []byte(s.event))
		m = binary.AppendUvarint(binary.AppendUvarint(m, fieldTime<<3), uint64(s.ms))
		m = append(m, field(fields[s.kind], []byte(s.id))...)
		var e entity
		if err := json.Unmarshal([]byte(`{"otherinfo":{`+s.info+`}}`), &e); err != nil {
			t.Fatal(err)
		}
		for _, key := range sorted(e.Info) {
			m = append(m, field(fieldData, append(field(1, []byte(key)), field(2, []byte(e.Info.text(key)))...))...)
		}
		value := append(binary.AppendUvarint(nil, uint64(len(m))), m...)
		if compressed {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			w.Write(value)
			w.Close()
			value = z.Bytes()
		}
		if i == 3 {
			b = append(binary.BigEndian.AppendUint32(b, 0xffffffff), sync...)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
		b = append(append(b, 0, 0, 0, 0), value...)
	}
	return b
}

// An export has the last state of every entity.
func TestExport(t *testing.T) {
	part := func(key string, kind string, ids ...string) string {
		var list []string
		for i := 0; i < len(ids); i += 2 {
			list = append(list, fmt.Sprintf(`{"entity":%q,"entitytype":%q,"events":[{"timestamp":9,"eventtype":"X"},{"timestamp":5,"eventtype":"Y"}],"otherinfo":{%s}}`, ids[i], kind, ids[i+1]))
		}
		return `{"` + key + `":[` + strings.Join(list, ",") + `]}`
	}
	files := map[string]string{
		"vertices_part_0.json": part("vertices", "TEZ_VERTEX_ID", "vertex_1_0007_1_00", `"vertexName":"Map 1","status":"SUCCEEDED","numTasks":1`),
		"task_attempts_part_0.json": part("task_attempts", "TEZ_TASK_ATTEMPT_ID", "attempt_1_0007_1_00_000000_0",
			`"startTime":2000,"endTime":4000,"status":"FAILED","taskAttemptErrorEnum":"OUTPUT_LOST","nodeId":"n1:1"`,
			"attempt_1_0007_1_00_000000_1", `"startTime":6100,"endTime":8000,"status":"SUCCEEDED"`),
	}
	files["dag.json"] = `{"dag":{"entity":"dag_1_0007_1","entitytype":"TEZ_DAG_ID","otherinfo":{"startTime":1400,"endTime":9100,"status":"SUCCEEDED","dagName":"q1"}}}`
	in := &ingest.Input{Name: "export.zip", Base: "export.zip", Key: 5}
	for _, name := range sorted(files) {
		in.Parts = append(in.Parts, ingesttest.Input(name, []byte(files[name])).Parts[0])
	}
	r := ingesttest.Read(t, Format(), in, ingest.Limits{})
	if r.Err != nil || r.Counts.Rejects != 0 || len(r.Attempts) != 2 || len(r.Losses) != 1 || len(r.Jobs) != 1 || len(r.Phases) != 1 {
		t.Fatalf("error %v, rejects %+v, rows %+v", r.Err, r.Trace.Rejects, r.Counts.Rows)
	}
	for _, a := range r.Attempts {
		if a.Status != schema.Success || a.Recompute != (a.Number == 1) {
			t.Errorf("%+v", a)
		}
	}
}

func TestSpoiltRecord(t *testing.T) {
	data := bytes.Replace(historyText(), []byte(`{"entity":"vertex_1_0007_1_00"`), []byte(`{"entity":"vertex`), 1)
	r := ingesttest.Bytes(t, Format(), "history.txt", data)
	if len(r.Trace.Rejects) != 1 || int(r.Decoded) != len(history)-1 || r.Err != nil {
		t.Errorf("error %v, %d decoded, rejects %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
}

// Two spellings of the number of an attempt are one attempt, and numbers beyond a thousand are different ones.
func TestAttemptNumbersAreUnique(t *testing.T) {
	for _, x := range []struct {
		ids  []string
		want []int32
	}{{[]string{"0", "00"}, []int32{0}}, {[]string{"1000", "1001"}, []int32{1000, 1001}}} {
		var b bytes.Buffer
		for _, number := range x.ids {
			fmt.Fprintf(&b, `{"entity":"attempt_1_0007_1_00_000000_%s","entitytype":"TEZ_TASK_ATTEMPT_ID","events":[{"ts":5000,"eventtype":"TASK_ATTEMPT_FINISHED"}],"otherinfo":{"startTime":1000,"endTime":5000,"status":"SUCCEEDED"}}`+"\x01\n", number)
		}
		r := ingesttest.Bytes(t, Format(), "history.txt", b.Bytes())
		var got []int32
		for _, a := range r.Attempts {
			got = append(got, a.Number)
		}
		if !slices.Equal(got, x.want) || r.Err != nil {
			t.Errorf("%v became %v, error %v", x.ids, got, r.Err)
		}
	}
}

// An attempt that was created after its start or its end, by the clock of the application master, was queued at an unknown time.
func TestQueuedByAnotherClock(t *testing.T) {
	for times, want := range map[string]schema.Null[schema.Time]{
		`"creationTime":900,"startTime":1000,"endTime":5000`:  schema.Some(schema.FromMillis(900)),
		`"creationTime":1001,"startTime":1000,"endTime":5000`: {},
		`"creationTime":5001,"startTime":0,"endTime":5000`:    {},
	} {
		r := ingesttest.Conformance(t, Format(), ingesttest.Input("history.txt", fmt.Appendf(nil, `{"entity":"attempt_1_0007_1_00_000000_0","entitytype":"TEZ_TASK_ATTEMPT_ID","events":[{"ts":5000,"eventtype":"TASK_ATTEMPT_FINISHED"}],"otherinfo":{"status":"KILLED",%s}}`+"\x01\n", times)))
		if len(r.Attempts) != 1 || r.Attempts[0].QueuedTime != want {
			t.Errorf("%s: %+v", times, r.Attempts)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(historyText())
	f.Add([]byte("SEQ\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range ingesttest.Bytes(t, Format(), "history.txt", b).Attempts {
			if a.DurationS.OK && a.DurationS.V < 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte{4, 10, 2, 'h', 'i'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := parseMessage(b); err == nil && len(e.info) > len(b) {
			t.Error("more pairs than bytes")
		}
	})
}

// Counters per input and output repeat the counters of the attempt as a whole.
func TestCountersPerIO(t *testing.T) {
	const whole = `{"counterGroupName":"org.apache.tez.common.counters.TaskCounter","counters":[{"counterName":"SHUFFLE_BYTES","counterValue":900},{"counterName":"REDUCE_INPUT_RECORDS","counterValue":7}]}`
	const parts = `{"counterGroupName":"TaskCounter_Reducer_3_INPUT_Map_1","counters":[{"counterName":"SHUFFLE_BYTES","counterValue":500},{"counterName":"REDUCE_INPUT_RECORDS","counterValue":3}]},
{"counterGroupName":"TaskCounter_Reducer_3_INPUT_Map_2","counters":[{"counterName":"SHUFFLE_BYTES","counterValue":400},{"counterName":"REDUCE_INPUT_RECORDS","counterValue":4}]}`
	for _, groups := range []string{whole, whole + "," + parts, parts + "," + whole, parts} {
		var a schema.Attempt
		setCounters(&a, jsontext.Value(`{"counterGroups":[`+groups+`]}`))
		if a.InputBytes != schema.Some(int64(900)) || a.InputRecords != schema.Some(int64(7)) {
			t.Errorf("%s: %v bytes, %v records", groups, a.InputBytes, a.InputRecords)
		}
	}
}
