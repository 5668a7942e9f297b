package spark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/ingest/read"
	"straggler/schema"
	"straggler/schema/laws"
)

const (
	appStart = `{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"app-1","Timestamp":1000,"User":"u"}`
	appEnd   = `{"Event":"SparkListenerApplicationEnd","Timestamp":9000}`
)

// endOf returns the end of a task with the given Task Info.
func endOf(info string) string {
	return `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},"Task Info":{` + info + `}}`
}

func TestNoEvents(t *testing.T) {
	for name, log := range map[string]string{"empty": "", "blank": "\n \n\n", "junk": "\x00\x01\xff\x7fELF\n", "json": "{}\n[]\n1\n"} {
		r := ingesttest.Bytes(t, Format(), "log", []byte(log))
		if !errors.Is(r.Err, errNoEvents) || len(r.Applications) > 0 || r.Decoded > 0 {
			t.Errorf("%s: %v, %d applications, %d decoded", name, r.Err, len(r.Applications), r.Decoded)
		}
	}
}

// Events of other programs are not a log of Spark, unless there is one of Spark's among them.
func TestForeignEvents(t *testing.T) {
	clicks := `{"Event":"click","user":1}` + "\n" + `{"user":2,"Event":"com.example.Viewed"}` + "\n"
	r := ingesttest.Bytes(t, Format(), "log", []byte(clicks))
	if !errors.Is(r.Err, errNoEvents) || len(r.Applications) > 0 {
		t.Errorf("%v, %d applications", r.Err, len(r.Applications))
	}
	for _, spark := range []string{appStart, `{"Event":"SparkListenerBlockUpdated"}`, `{"x":1,"Event":"com.vendor.SparkListenerSQLExecutionEnd","executionId":1,"time":5}`, `{"Event":"org.apache.spark.custom.Event"}`} {
		r := ingesttest.Bytes(t, Format(), "log", []byte(clicks+spark+"\n"))
		if r.Err != nil || len(r.Applications) != 1 || r.Decoded != 3 {
			t.Errorf("%s: %v, %d applications, %d decoded", spark, r.Err, len(r.Applications), r.Decoded)
		}
	}
}

// A record that cannot be used is rejected with its position, and does not affect the others.
func TestRejects(t *testing.T) {
	for name, c := range map[string]struct{ record, why string }{
		"cut":              {`{"Event":"SparkListenerJobStart","Job ID":1,"Stage`, "no JSON object"},
		"text":             {"hello", "no JSON object"},
		"list":             {`[{"Event":"SparkListenerJobEnd"}]`, "no JSON object"},
		"no event":         {`{"Stage ID":0}`, "no Event"},
		"event no text":    {`{"Event":7}`, "no Event"},
		"bad key":          {`{"Event":"SparkListenerEnvironmentUpdate",_"Spark Properties":{}}`, "a key was expected"},
		"no task id":       {endOf(`"Index":0`), "no Task ID"},
		"huge task id":     {endOf(`"Task ID":99999999999999999999,"Index":0`), "no Task ID"},
		"negative task id": {endOf(`"Task ID":-5,"Index":0`), "no Task ID"},
		"no index":         {endOf(`"Task ID":1`), "no Index"},
		"no stage":         {`{"Event":"SparkListenerTaskStart","Task Info":{"Task ID":1,"Index":0}}`, "no Stage ID"},
		"no stage info":    {`{"Event":"SparkListenerStageSubmitted"}`, "no Stage ID"},
		"stage attempt":    {`{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":99999999999,"Task Info":{"Task ID":1,"Index":0}}`, "Stage Attempt ID"},
		"no job":           {`{"Event":"SparkListenerJobEnd","Completion Time":5}`, "no Job ID"},
		"no executor":      {`{"Event":"SparkListenerExecutorRemoved","Timestamp":5}`, "no Executor ID"},
		"two records":      {appEnd + appEnd, "text follows"},
		"nul":              {"{\"Event\":\"SparkListenerJobEnd\",\x00\"Job ID\":1}", "a key was expected"},
		"deep":             {`{"Event":"SparkListenerJobEnd","x":` + strings.Repeat("[", 100_000) + `1}`, "nested too deep"},
	} {
		r := readText(t, appStart, c.record, appEnd)
		if r.Err != nil || r.Decoded != 2 || len(r.Trace.Rejects) != 1 {
			t.Errorf("%s: %v, %d decoded, rejects %+v", name, r.Err, r.Decoded, r.Trace.Rejects)
			continue
		}
		got := r.Trace.Rejects[0]
		if got.SourceFile != "log" || got.Line.V != 2 || got.ByteOffset != int64(len(appStart))+1 || !strings.Contains(got.Reason, c.why) || got.Sample == "" {
			t.Errorf("%s: %+v, want %q", name, got, c.why)
		}
		if !r.Applications[0].Complete {
			t.Errorf("%s: %+v", name, r.Applications[0])
		}
	}
}

// A last line without its end means that the log was still being written, and is one reject.
func TestLastLineCut(t *testing.T) {
	r := ingesttest.Bytes(t, Format(), "log", []byte(appStart+"\n"+appEnd[:30]))
	if len(r.Trace.Rejects) != 1 || !strings.Contains(r.Trace.Rejects[0].Reason, "stops within") || r.Applications[0].Complete {
		t.Errorf("%+v %+v", r.Trace.Rejects, r.Applications)
	}
	if r = ingesttest.Bytes(t, Format(), "log", []byte(appStart+"\n"+appEnd)); len(r.Trace.Rejects) != 0 || !r.Applications[0].Complete {
		t.Errorf("a whole last line without a line end: %+v %+v", r.Trace.Rejects, r.Applications)
	}
}

func TestLongLine(t *testing.T) {
	long := `{"Event":"SparkListenerJobEnd","Job ID":1,"x":"` + strings.Repeat("x", 100_000) + `"}`
	in := ingesttest.Input("log", []byte(appStart+"\n"+long+"\n"+appEnd+"\n"))
	r := ingesttest.Read(t, Format(), in, ingest.Limits{Line: 10_000})
	if r.Err != nil || r.Decoded != 2 || len(r.Trace.Rejects) != 1 || r.Trace.Rejects[0].Line.V != 2 {
		t.Errorf("%v %d %+v", r.Err, r.Decoded, r.Trace.Rejects)
	}
}

// Impossible values are NULL, and flagged as such; the row is kept.
func TestNonsense(t *testing.T) {
	const ok = `"Task ID":1,"Index":0,"Attempt":0,"Executor ID":"1","Host":"h"`
	for name, c := range map[string]struct {
		info            string
		start, finish   bool
		partial, repair bool
	}{
		"good":             {`,"Launch Time":1000,"Finish Time":2000`, true, true, false, false},
		"instant":          {`,"Launch Time":1000,"Finish Time":1000`, true, true, false, false},
		"backwards":        {`,"Launch Time":2000,"Finish Time":1000`, true, false, false, true},
		"no finish":        {`,"Launch Time":1000`, true, false, true, false},
		"zero finish":      {`,"Launch Time":1000,"Finish Time":0`, true, false, true, false},
		"finish too late":  {`,"Launch Time":1000,"Finish Time":9223372036854775807`, true, false, false, true},
		"launch too late":  {`,"Launch Time":9223372036854775807,"Finish Time":2000`, false, true, false, true},
		"negative launch":  {`,"Launch Time":-1,"Finish Time":2000`, false, true, false, true},
		"times as text":    {`,"Launch Time":"1000","Finish Time":"2000"`, false, false, true, true},
		"times beyond 64b": {`,"Launch Time":1e30,"Finish Time":99999999999999999999`, false, false, true, true},
	} {
		r := readText(t, appStart, endOf(ok+c.info), appEnd)
		if len(r.Attempts) != 1 {
			t.Errorf("%s: %+v %+v", name, r.Attempts, r.Trace.Rejects)
			continue
		}
		a := r.Attempts[0]
		if a.StartTime.OK != c.start || a.FinishTime.OK != c.finish || a.DurationS.OK != (c.start && c.finish) ||
			(a.Quality&schema.PartialRow != 0) != c.partial || (a.Quality&schema.TimeRepaired != 0) != c.repair {
			t.Errorf("%s: %+v", name, a)
		}
		valid(t, &r.Trace)
	}
}

// Texts are kept unchanged, except characters that no column can hold.
func TestTexts(t *testing.T) {
	name := `<script>alert(1)</script>'; DROP TABLE attempts; --\u001b[31m\u0000`
	r := readText(t, `{"Event":"SparkListenerApplicationStart","App Name":"`+name+`","App ID":"\ud800x","Timestamp":1000,"User":"`+"\xff\xfe"+`"}`, appEnd)
	if len(r.Applications) != 1 {
		t.Fatalf("%+v", r.Trace.Rejects)
	}
	a := r.Applications[0]
	if want := "<script>alert(1)</script>'; DROP TABLE attempts; --\x1b[31m"; a.Name.V != want || a.NativeID != "\uFFFDx" || a.User.V != "\uFFFD" {
		t.Errorf("%q %q %q", a.Name.V, a.NativeID, a.User.V)
	}
	valid(t, &r.Trace)
}

// A repeated Task ID is the same attempt. An attempt that has ended does not start again.
func TestRepeatedIDs(t *testing.T) {
	end := endOf(`"Task ID":1,"Index":0,"Attempt":0,"Launch Time":1000,"Finish Time":2000,"Executor ID":"1","Host":"h"`)
	other := endOf(`"Task ID":1,"Index":5,"Attempt":0,"Launch Time":1000,"Finish Time":3000,"Executor ID":"2","Host":"g"`)
	start := strings.NewReplacer("TaskEnd", "TaskStart").Replace(end)
	r := readText(t, appStart, start, start, end, end, other, start, appEnd)
	if len(r.Attempts) != 1 || caveat(&r.Trace, "events_repeated") != 4 || r.Attempts[0].FinishTime.V != 2000_000 {
		t.Errorf("%+v %+v", r.Attempts, r.Caveats)
	}
}

// Two attempts of a task to which a damaged log gives the same number have different ones in the table; numbers that are only
// out of order, for instance because starts are missing, are kept.
func TestAttemptNumbersAreUnique(t *testing.T) {
	end := func(id, attempt int, task int64) string {
		return endOf(fmt.Sprintf(`"Task ID":%d,"Index":%d,"Attempt":%d,"Launch Time":1000,"Finish Time":2000,"Executor ID":"1","Host":"h"`, id, task, attempt))
	}
	for _, x := range []struct {
		said, want []int32
		renumbered int64
	}{
		{[]int32{0, 0}, []int32{0, 1}, 1},
		{[]int32{0, 0, 1, 0, 7}, []int32{0, 1, 2, 3, 7}, 3},
		{[]int32{2, 0, 1}, []int32{2, 0, 1}, 0},
		{[]int32{math.MaxInt32, math.MaxInt32}, []int32{math.MaxInt32, 0}, 1},
	} {
		for _, task := range []int64{0, denseTasks - 1, denseTasks, math.MaxInt64} {
			lines := []string{appStart}
			for i, n := range x.said {
				lines = append(lines, end(i, int(n), task))
			}
			r := readText(t, append(lines, appEnd)...)
			var got []int32
			for i := range r.Attempts {
				got = append(got, r.Attempts[i].Number)
			}
			if !slices.Equal(got, x.want) || caveat(&r.Trace, "attempts_renumbered") != x.renumbered {
				t.Errorf("task %d: %v became %v, want %v; %+v", task, x.said, got, x.want, r.Caveats)
			}
			valid(t, &r.Trace)
		}
	}
}

// Concatenated logs are consecutive applications. A repeated start, which Databricks writes in each of its files, is not
// another application.
func TestConcatenated(t *testing.T) {
	log := func(id string) []string {
		return []string{`{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}`, strings.Replace(appStart, "app-1", id, 1),
			endOf(`"Task ID":1,"Index":0,"Attempt":0,"Launch Time":1000,"Finish Time":2000,"Executor ID":"1","Host":"h"`), appEnd}
	}
	r := readText(t, append(append(log("app-1"), log("app-2")...), log("app-3")...)...)
	if len(r.Applications) != 3 || len(r.Attempts) != 3 || len(r.Jobs) != 3 {
		t.Errorf("%d applications, %d attempts", len(r.Applications), len(r.Attempts))
	}
	for _, a := range r.Applications {
		if !a.Complete || a.FrameworkVersion.V != "3.5.0" {
			t.Errorf("%+v", a)
		}
	}
	valid(t, &r.Trace)
	r = readText(t, append(log("app-1")[2:], log("app-2")...)...)
	if len(r.Applications) != 2 || len(r.Attempts) != 2 || r.Applications[0].Complete == r.Applications[1].Complete {
		t.Errorf("the end of a log before another: %+v", r.Applications)
	}
	metadata := `{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"x","Rollover Number":1}`
	r = readText(t, append(append([]string{metadata}, log("app-1")[1:3]...), append([]string{metadata}, appStart, appEnd)...)...)
	if len(r.Applications) != 1 || !r.Applications[0].Complete || len(r.Attempts) != 1 {
		t.Errorf("%+v", r.Applications)
	}
}

// A log whose records another program has reordered is refused, with an error that says what to do: read as it stands, its
// stages would belong to other jobs. A few records out of place do not matter.
func TestSorted(t *testing.T) {
	lines := []string{`{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}`, appStart}
	for id := range 40 {
		info := fmt.Sprintf(`"Task ID":%d,"Index":%[1]d,"Attempt":0,"Launch Time":1000,"Finish Time":2000,"Executor ID":"1","Host":"h"`, id)
		lines = append(lines, `{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{`+info+`}}`, endOf(info))
	}
	lines = append(lines, appEnd)
	reversed, shuffled, swapped := slices.Clone(lines), slices.Clone(lines), slices.Clone(lines)
	slices.Reverse(reversed)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for i := 10; i+1 < len(swapped); i += 10 {
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{{"reversed", reversed, "in reverse order"}, {"shuffled", shuffled, "are not in the order in which Spark wrote them"}, {"swapped", swapped, ""}} {
		err := readText(t, c.lines...).Err
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A truncated compressed log gives what could be read of it, and is incomplete.
func TestCutCompressed(t *testing.T) {
	for _, dir := range []string{"plain", "lz4", "lzf", "snappy", "clean"} {
		files, _ := filepath.Glob(filepath.Join(labelled, dir, "app-*"))
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		whole := len(ingesttest.Bytes(t, Format(), files[0], data).Attempts)
		r := ingesttest.Bytes(t, Format(), files[0], data[:len(data)*2/3])
		if r.Err != nil || len(r.Applications) != 1 || r.Applications[0].Complete || caveat(&r.Trace, "log_incomplete") == 0 {
			t.Errorf("%s: %v %+v", dir, r.Err, r.Applications)
		}
		if n := len(r.Attempts); n == 0 || n >= whole {
			t.Errorf("%s: %d attempts of %d", dir, n, whole)
		}
	}
}

// A file that cannot be read further ends the input with its error; what was read before is kept.
func TestBrokenReader(t *testing.T) {
	broken := errors.New("the disk is on fire")
	in := ingesttest.Input("log", nil)
	in.Parts[0].Open = func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(appStart+"\n"), brokenReader{broken})), nil
	}
	r := ingesttest.Read(t, Format(), in, ingest.Limits{})
	if !errors.Is(r.Err, broken) || len(r.Applications) != 1 || r.Applications[0].Complete {
		t.Errorf("%v %+v", r.Err, r.Applications)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// A failing sink, or the end of the context, ends the read with its error.
func TestReadEnds(t *testing.T) {
	log := repeated(lawLogs(t)["recompute"], 8<<20)
	full := errors.New("disk full")
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return full })
	if err := readLog(context.Background(), ingesttest.Input("log", log), out); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out = ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { cancel(); return nil })
	if err := readLog(ctx, ingesttest.Input("log", log), out); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestMutants(t *testing.T) {
	for _, name := range []string{"recompute", "failures"} {
		files, _ := filepath.Glob(filepath.Join(labelled, name, "app-*"))
		log := content(t, files[0])
		in := ingesttest.Input("log", log[:bytes.LastIndexByte(log[:min(len(log), 400_000)], '\n')+1])
		ingesttest.Mutants(t, Format(), in, 80)
	}
	for _, path := range []string{"testdata/rules/fetch_failed_old.txtar", "testdata/rules/reuse.txtar", "testdata/rules/spark_1_0.txtar"} {
		log, _ := rule(t, path)
		ingesttest.Mutants(t, Format(), ingesttest.Input("log", log), 200)
	}
}

func TestLaws(t *testing.T) {
	for _, path := range labelledLogs(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ingesttest.Conformance(t, Format(), ingesttest.Input(path, data))
	}
}

// For any bytes there is no panic, every line is counted once, and rows are valid except where a log may contradict itself.
func FuzzRead(f *testing.F) {
	archives, _ := filepath.Glob("testdata/rules/*.txtar")
	for _, path := range archives {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, log, _ := strings.Cut(string(text), "-- log --\n")
		log, _, _ = strings.Cut(log, "\n-- ")
		f.Add([]byte(log))
	}
	f.Add(content(f, "testdata/cut.log"))
	f.Fuzz(func(t *testing.T, log []byte) {
		tr, counts := readAtOnce(t, log, false)
		if lines := int64(nonEmptyJSON(log)); counts.Decoded+counts.Rejects != lines {
			t.Errorf("%d decoded, %d rejected of %d", counts.Decoded, counts.Rejects, lines)
		}
		for _, v := range laws.Trace(tr) {
			switch v.Law {
			case laws.TaskIndex, laws.AttemptNumber, laws.LostOutput, laws.MachineOnce:
				// The log may contradict itself.
			default:
				t.Error(v)
			}
		}
	})
}

// readAtOnce decodes and folds a log in this goroutine, so that a fuzzer sees the same coverage each time.
func readAtOnce(t *testing.T, log []byte, keepLiterals bool) (*schema.Trace, ingest.Counts) {
	t.Helper()
	var tr schema.Trace
	out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
		b.AddTo(&tr)
		return nil
	})
	var d decoder
	var b batch
	d.block(&read.Block{Data: log, Line: 1}, "log", &b)
	f := newFold(&ingest.Input{Name: "log", Base: "log", Key: 7, KeepLiterals: keepLiterals}, out)
	if err := f.batch(&b); err != nil {
		t.Fatal(err)
	}
	f.finishApp("")
	return &tr, out.Counts()
}

// nonEmptyJSON counts the lines with more than JSON's white space.
func nonEmptyJSON(log []byte) (n int) {
	for _, line := range bytes.Split(log, []byte("\n")) {
		if len(bytes.TrimRight(line, " \t\r")) > 0 {
			n++
		}
	}
	return n
}

// For attempts that have ended the fold keeps a bit and an output each, and for jobs that have ended nothing once there are
// many.
func TestStateIsBounded(t *testing.T) {
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
	f := newFold(ingesttest.Input("log", nil), out)
	a := f.application()
	const tasks = 300_000
	a.jobStart(&jobStart{ID: 0, Stages: []stageInfo{{ID: 0, Tasks: tasks, Name: "one"}}})
	for id := range int64(tasks) {
		info := task{id: id, index: id, partition: id, launch: 1000, finish: 2000, executor: fmt.Sprint(id % 100), host: "h"}
		a.taskStart(&info)
		a.taskEnd(&taskEnd{task: info, kind: taskShuffleMap})
	}
	if len(a.running) != 0 || a.pages > tasks/outputsPage+1 || len(a.done.pages) > tasks/idPage+1 || len(f.rows) > rowsAtOnce || len(a.losses) != 0 {
		t.Errorf("%d running, %d pages of outputs, %d of ids", len(a.running), a.pages, len(a.done.pages))
	}
	a.jobEnd(&jobEnd{ID: 0})
	for id := range int64(200_000) {
		a.jobStart(&jobStart{ID: id + 1, Stages: []stageInfo{{ID: id + 1, Tasks: 1, Name: "many", RDDs: rdds{Own: id + 1}}}})
		a.jobEnd(&jobEnd{ID: id + 1})
	}
	if n := 2 * keptStages; len(a.stages) > n || len(a.jobList) > n || len(a.jobs) > n || len(a.made) > n {
		t.Errorf("%d stages, %d jobs", len(a.stages), len(a.jobList))
	}
	f.finishApp("")
	counts := out.Counts()
	if f.err != nil || counts.Rows["jobs"] != 200_001 || counts.Rows["phases"] != 200_001 || counts.Rows["attempts"] != tasks {
		t.Errorf("%v %v", f.err, counts.Rows)
	}
}

// Starts without ends, stages without jobs, and losses without end are kept up to a limit.
func TestHostileStateIsBounded(t *testing.T) {
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
	f := newFold(ingesttest.Input("log", nil), out)
	a := f.application()
	for id := range int64(maxPhases + 1000) {
		a.taskStart(&task{stage: id, id: id << 20, index: 0, partition: none, launch: 1000})
	}
	if len(a.phaseMap) > maxPhases || a.numbered > maxNumbered || a.count.dropped != 1000 || len(a.done.pages) > maxIDPages {
		t.Errorf("%d phases, %d dropped", len(a.phaseMap), a.count.dropped)
	}
	f.finishApp("")
	if f.err != nil || out.Counts().Rows["attempts"] != maxPhases {
		t.Errorf("%v %v", f.err, out.Counts().Rows)
	}
}
