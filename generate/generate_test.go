package generate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"straggler/ingest/ingesttest"
	"straggler/ingest/spark"
)

func plain(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile("../testdata/labelled/plain/app-20261121035239-0000")
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// A log that is repeated n times has n times the jobs, stages and attempts, with their own ids, and the same work.
func TestLike(t *testing.T) {
	log := plain(t)
	one := ingesttest.Bytes(t, spark.Format(), "app", log)
	var b bytes.Buffer
	n, err := Like(t.Context(), &b, bytes.NewReader(log), int64(3*len(log)-len(log)/2))
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d there, %v", n, b.Len(), err)
	}
	r := ingesttest.Bytes(t, spark.Format(), "app", b.Bytes())
	if r.Err != nil || len(r.Trace.Rejects) > 0 || len(r.Applications) != 1 || !r.Applications[0].Complete {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	if len(r.Jobs) != 3*len(one.Jobs) || len(r.Phases) != 3*len(one.Phases) || len(r.Attempts) != 3*len(one.Attempts) || len(r.Machines) != len(one.Machines) {
		t.Errorf("%d jobs, %d phases, %d attempts, %d machines of %d, %d, %d, %d", len(r.Jobs), len(r.Phases), len(r.Attempts), len(r.Machines),
			len(one.Jobs), len(one.Phases), len(one.Attempts), len(one.Machines))
	}
	want, got := 0.0, 0.0
	for _, a := range one.Attempts {
		want += 3 * a.DurationS.V
	}
	seen := map[string]bool{}
	for _, a := range r.Attempts {
		got += a.DurationS.V
		if seen[a.NativeID] {
			t.Errorf("task %s twice", a.NativeID)
		}
		seen[a.NativeID] = true
	}
	if d := got - want; d > 1e-6 || d < -1e-6 {
		t.Errorf("%v s of work, want %v", got, want)
	}
	if len(r.Edges) != 3*len(one.Edges) {
		t.Errorf("%d edges of %d", len(r.Edges), len(one.Edges))
	}
	for _, c := range r.Caveats {
		if strings.Contains(c.Code, "without") || strings.Contains(c.Code, "missing") || c.Code == "log_incomplete" {
			t.Errorf("caveat %+v", c)
		}
	}
}

func TestWide(t *testing.T) {
	const tasks = 1001
	var b bytes.Buffer
	if _, err := Wide(t.Context(), &b, bytes.NewReader(plain(t)), tasks); err != nil {
		t.Fatal(err)
	}
	r := ingesttest.Bytes(t, spark.Format(), "app", b.Bytes())
	if r.Err != nil || len(r.Trace.Rejects) > 0 {
		t.Fatalf("error %v, rejects %+v", r.Err, r.Trace.Rejects)
	}
	ran := map[int64]int{}
	for _, a := range r.Attempts {
		ran[a.Task]++
	}
	wide := 0
	for _, p := range r.Phases {
		if p.TaskCount.V == tasks {
			wide++
		}
	}
	if len(ran) != tasks || wide != 1 || len(r.Jobs) != 1 {
		t.Errorf("%d tasks ran of %d, %d phases of that size, %d jobs", len(ran), tasks, wide, len(r.Jobs))
	}
}

func TestNothingToRepeat(t *testing.T) {
	for _, log := range []string{"", "{}\n", `{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Task ID":3}}`, `{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}` + "\n"} {
		if _, err := Like(t.Context(), &bytes.Buffer{}, strings.NewReader(log), 1); !errors.Is(err, ErrNoTasks) {
			t.Errorf("%q: %v", log, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Like(ctx, &bytes.Buffer{}, bytes.NewReader(plain(t)), 1<<40); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkLike(b *testing.B) {
	log := plain(b)
	var w countOnly
	for b.Loop() {
		n, err := Like(b.Context(), &w, bytes.NewReader(log), 64<<20)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
	b.ReportAllocs()
}

type countOnly struct{}

func (countOnly) Write(p []byte) (int, error) { return len(p), nil }
