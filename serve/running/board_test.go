package running_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"straggler/ingest/formats"
	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/serve/running"
	"straggler/whatif/policy"
)

// started runs a board until the test ends.
func started(t *testing.T, o running.Options) *running.Board {
	t.Helper()
	var err error
	if o.Policies, err = policy.Choose([]string{"late", "mantri"}, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.Every = 20 * time.Millisecond
	b := running.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return b
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in a minute: %s", what)
		}
	}
}

// A driver's application is followed from its start to its end: its slow tasks are known while they run, with what policies
// would do; what was seen is kept once, and nothing is followed afterwards.
func TestServer(t *testing.T) {
	trace := livetest.Log(t, one(t, "skew"))
	s := livetest.New(t, trace)
	s.Heartbeat = 1
	endpoint, err := running.Spark(s.URL, "", rest.Options{Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	kept := 0
	b := started(t, running.Options{Endpoints: []running.Endpoint{endpoint}, Keep: func(_ context.Context, last *live.State) error {
		mu.Lock()
		defer mu.Unlock()
		kept += len(last.Trace.Applications)
		return nil
	}})
	id := trace.Applications[0].NativeID
	until(t, "it is listed", func() bool {
		list := b.Applications()
		return len(list) == 1 && list[0].ID == id && !list[0].Seen.IsZero()
	})
	slow := false
	for now := s.Start(); now < s.End(); now = now.Add(2) {
		s.Set(now)
		seen := time.Now()
		until(t, "it is seen again", func() bool { a := b.Application(id); return a != nil && a.Seen.After(seen) })
		a := b.Application(id)
		for i := range a.Frame.Slow {
			slow = slow || len(a.Would(&a.Frame.Slow[i])) > 0 && a.Frame.Slow[i].Cause != ""
		}
	}
	if !slow {
		t.Error("no policy decided about a slow task")
	}
	s.Set(s.End())
	until(t, "it has ended", func() bool { a := b.Application(id); return a.Ended && len(b.Applications()) == 0 })
	mu.Lock()
	defer mu.Unlock()
	if kept != 1 {
		t.Errorf("it was kept %d times", kept)
	}
	if names, trouble := b.Endpoints(); !slices.Equal(names, []string{s.URL}) || trouble[0] != nil {
		t.Errorf("endpoints %v, %v", names, trouble)
	}
}

// An endpoint at which nothing answers is reported as such.
func TestNobodyAnswers(t *testing.T) {
	endpoint, err := running.Spark("http://127.0.0.1:1", "", rest.Options{Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b := started(t, running.Options{Endpoints: []running.Endpoint{endpoint}})
	until(t, "the trouble is known", func() bool { _, trouble := b.Endpoints(); return trouble[0] != nil })
	if len(b.Applications()) > 0 {
		t.Error("an application runs nowhere")
	}
}

// A log is followed while it is written, and to its end under its final name; a name that looks like a pattern is not treated
// as one.
func TestLog(t *testing.T) {
	data, err := os.ReadFile(one(t, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	id := livetest.Log(t, one(t, "plain")).Applications[0].NativeID
	dir := filepath.Join(t.TempDir(), "logs [1]*")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(dir, id+".inprogress")
	cut := len(data)/2 + bytes.IndexByte(data[len(data)/2:], '\n') + 1
	if err := os.WriteFile(written, data[:cut], 0o666); err != nil {
		t.Fatal(err)
	}
	b := started(t, running.Options{Endpoints: []running.Endpoint{running.Logs(func() []running.Log {
		if _, err := os.Stat(written); err != nil {
			return nil
		}
		return []running.Log{{Application: id, Path: written}}
	}, formats.All(), nil)}, Keep: func(context.Context, *live.State) error { t.Error("a log needs not be kept"); return nil }})
	until(t, "its stages are known", func() bool { a := b.Application(id); return a != nil && len(a.Frame.Stages) > 0 })
	if err := os.WriteFile(written, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(written, filepath.Join(dir, id)); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool { return b.Application(id).Ended })
}

// one returns the only file of a labelled log.
func one(t *testing.T, name string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "labelled", name, "*app-*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v, %v", name, paths, err)
	}
	return paths[0]
}
