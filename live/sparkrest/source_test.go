package sparkrest_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
)

func client(tb testing.TB, address string, o rest.Options) *rest.Client {
	tb.Helper()
	if o.Pause == 0 {
		o.Pause, o.Share = time.Nanosecond, 1
	}
	c, err := rest.New(address, sparkrest.API, o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func log(tb testing.TB, name string) *schema.Trace {
	return livetest.Log(tb, strings.Replace(labelled(tb, name), "../", "../../", 1))
}

func labelled(tb testing.TB, name string) string {
	paths, err := filepath.Glob(filepath.Join("../../testdata/labelled", name, "*.zstd"))
	if err != nil || len(paths) != 1 {
		tb.Fatalf("labelled run %s: %v, %v", name, paths, err)
	}
	return strings.TrimPrefix(paths[0], "../")
}

// The polled rows of an application finally equal those of its log, attempt by attempt.
func TestRowsOfTheLog(t *testing.T) {
	for _, name := range []string{"clean", "recompute", "dynamic-allocation"} {
		trace := log(t, name)
		s := livetest.New(t, trace)
		src := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "")
		var st *live.State
		for now := s.Start() + 1; st == nil || !st.Ended; now = min(now.Add(3), s.End()) {
			s.Set(now)
			var err error
			if st, err = src.Poll(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]*schema.Attempt{}
		for i := range st.Trace.Attempts {
			got[st.Trace.Attempts[i].NativeID] = &st.Trace.Attempts[i]
		}
		if len(got) != len(trace.Attempts) {
			t.Errorf("%s: %d attempts polled, %d logged", name, len(got), len(trace.Attempts))
		}
		for i := range trace.Attempts {
			want := trace.Attempts[i]
			g := got[want.NativeID]
			if g == nil {
				t.Errorf("%s: attempt %s was not polled", name, want.NativeID)
				continue
			}
			if want.Status != schema.Success {
				if g.StartTime != want.StartTime || g.Task != want.Task {
					t.Errorf("%s: attempt %s: %v of task %d, logged %v of task %d", name, want.NativeID, g.StartTime, g.Task, want.StartTime, want.Task)
				}
				continue
			}
			a := fmt.Sprint(g.Task, g.Number, g.Machine, g.Executor, g.StartTime, g.FinishTime, g.DurationS, g.Status,
				g.InputBytes, g.InputRecords, g.Locality, g.ShuffleWriteBytes)
			b := fmt.Sprint(want.Task, want.Number, want.Machine, want.Executor, want.StartTime, want.FinishTime, want.DurationS,
				want.Status, want.InputBytes, want.InputRecords, want.Locality, want.ShuffleWriteBytes)
			if a != b {
				t.Errorf("%s: attempt %s polled\n%s, logged\n%s", name, want.NativeID, a, b)
			}
		}
		for _, x := range st.Trace.Settings {
			if strings.Contains(x.Name, "secret") {
				t.Errorf("%s: the setting %s is kept", name, x.Name)
			}
		}
	}
}

// A poll requests pages of tasks that have changed, and at most a bounded number.
func TestRequestsAreBounded(t *testing.T) {
	trace := log(t, "clean")
	s := livetest.New(t, trace)
	src := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "")
	for now := s.Start() + 1; now < s.End(); now = now.Add(1) {
		s.Set(now)
		s.Asked = nil
		if _, err := src.Poll(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Asked); n > 24 {
			t.Fatalf("a poll made %d requests:\n%s", n, strings.Join(s.Asked, "\n"))
		}
	}
}

// The time between two requests is at least the pause.
func TestPauseBetweenRequests(t *testing.T) {
	const pause = 30 * time.Millisecond
	s := livetest.New(t, log(t, "clean"))
	c := client(t, s.URL, rest.Options{Pause: pause})
	began := time.Now()
	if _, err := sparkrest.NewSource(c, "").Poll(context.Background()); err != nil {
		t.Fatal(err)
	}
	if least := time.Duration(c.Asked-1) * pause; time.Since(began) < least || c.Asked < 4 {
		t.Errorf("%d requests in %s", c.Asked, time.Since(began))
	}
}

// Whatever a server does, a poll ends with an error that describes it, and what was known is kept.
func TestFaultyServers(t *testing.T) {
	trace := log(t, "clean")
	say := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code); w.Write([]byte(body)) }
	}
	for _, x := range []struct {
		name  string
		fault http.HandlerFunc
		is    error
		says  string
	}{
		{"forbidden", say(403, "no"), rest.ErrForbidden, "STRAGGLER_REST_TOKEN"},
		{"no credentials", say(401, "no"), rest.ErrForbidden, "401"},
		{"garbage", say(200, "Spark is starting up. Please wait a while until it's ready."), live.ErrAway, "does not answer with JSON"},
		{"a page", say(200, "\n<!DOCTYPE html><html>log in</html>"), live.ErrAway, "but with a web page"},
		{"broken", say(500, "java.lang.NullPointerException"), live.ErrAway, "500"},
		{"other JSON", say(200, `{"attempts": 7}`), live.ErrAway, "JSON"},
		{"empty", say(200, "[]"), rest.ErrURL, "lists no applications"},
		{"applications without ids", say(200, "[null, {}]"), rest.ErrURL, "lists no applications"},
		{"absent", say(404, ""), live.ErrAway, "spark.ui.enabled"},
	} {
		s := livetest.New(t, trace)
		s.Set(s.Start().Add(20))
		s.Fault = x.fault
		_, err := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "").Poll(context.Background())
		if !errors.Is(err, x.is) || !strings.Contains(fmt.Sprint(err), x.says) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// A fault in the middle of a poll loses nothing: the next poll continues.
func TestPollGoesOnAfterAFault(t *testing.T) {
	trace := log(t, "clean")
	s := livetest.New(t, trace)
	src := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "")
	n := 0
	s.Fault = func(w http.ResponseWriter, r *http.Request) {
		if n++; n%7 == 0 {
			w.WriteHeader(503)
		}
	}
	var st *live.State
	failed := 0
	for now := s.Start() + 1; st == nil || !st.Ended; {
		s.Set(now)
		next, err := src.Poll(context.Background())
		if err != nil {
			if failed++; failed > 1000 || !errors.Is(err, live.ErrAway) {
				t.Fatal(err)
			}
			continue
		}
		st, now = next, min(now.Add(5), s.End())
	}
	if failed == 0 || len(st.Trace.Attempts) != len(trace.Attempts) {
		t.Errorf("%d attempts of %d after %d faults", len(st.Trace.Attempts), len(trace.Attempts), failed)
	}
}

func TestCredentials(t *testing.T) {
	trace := log(t, "clean")
	s := livetest.New(t, trace)
	var got string
	s.Fault = func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }
	file := filepath.Join(t.TempDir(), "login")
	none := func(string) string { return "" }
	for content, want := range map[string]string{"me:secret\n": "Basic bWU6c2VjcmV0", "abc.def\nrest": "Bearer abc.def"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := rest.ReadCredentials(file, none)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sparkrest.NewSource(client(t, s.URL, rest.Options{Credentials: k}), "").Poll(context.Background()); err != nil || got != want {
			t.Errorf("%q: sent %q, %v", content, got, err)
		}
	}
	if _, err := rest.New("http://me:secret@host:4040", sparkrest.API, rest.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a login in an address: %v", err)
	}
	for _, bad := range []string{"host:4040", "ftp://host", "http://", "::", "me:secret@host"} {
		if _, err := rest.New(bad, sparkrest.API, rest.Options{}); !errors.Is(err, rest.ErrURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A server with a certificate of a private authority is trusted if that is named, and otherwise refused with an error that
// says how to name it.
func TestCertificates(t *testing.T) {
	s := livetest.New(t, log(t, "clean"))
	secure := httptest.NewTLSServer(s.Config.Handler)
	defer secure.Close()
	secure.Config.ErrorLog = stdlog.New(io.Discard, "", 0) // errors of the failing handshake
	_, err := sparkrest.NewSource(client(t, secure.URL, rest.Options{}), "").Poll(t.Context())
	if !errors.Is(err, rest.ErrForbidden) || !strings.Contains(fmt.Sprint(err), "--ca") {
		t.Errorf("an unknown authority: %v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if st, err := sparkrest.NewSource(client(t, secure.URL, rest.Options{CAFile: file}), "").Poll(t.Context()); err != nil || len(st.Trace.Applications) != 1 {
		t.Errorf("a named authority: %v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, file + "-absent"} {
		if _, err := rest.New(secure.URL, sparkrest.API, rest.Options{CAFile: bad}); !errors.Is(err, rest.ErrURL) || !strings.Contains(fmt.Sprint(err), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Times are the server's: even on a machine whose clock is years ahead, an attempt has run for as long as by the server's
// clock, and a note gives the difference.
func TestClockSkew(t *testing.T) {
	s := livetest.New(t, log(t, "clean"))
	now := s.Start().Add(20)
	s.Set(now)
	st, err := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "").Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := st.Now.Sub(now); d < -1 || d > 10 {
		t.Errorf("the instant is %v s off the server's", d)
	}
	if notes := strings.Join(st.Notes, "\n"); !strings.Contains(notes, "behind this machine's") {
		t.Errorf("notes: %s", notes)
	}
}

// A server that accepts a request and stays silent, or stops in the middle of its answer, takes no longer than the timeout of
// a request, and can be asked again; a cancelled poll ends at once.
func TestSlowServer(t *testing.T) {
	s := livetest.New(t, log(t, "clean"))
	s.Set(s.Start().Add(20))
	stop := make(chan struct{})
	var half atomic.Bool
	s.Fault = func(w http.ResponseWriter, r *http.Request) {
		if half.Load() {
			w.Write([]byte(`[{"id":`))
			http.NewResponseController(w).Flush()
		}
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}
	defer close(stop)
	src := sparkrest.NewSource(client(t, s.URL, rest.Options{Timeout: 300 * time.Millisecond}), "")
	for _, h := range []bool{false, true} {
		half.Store(h)
		if _, err := src.Poll(t.Context()); !errors.Is(err, live.ErrAway) || !strings.Contains(fmt.Sprint(err), s.URL) {
			t.Errorf("half an answer %t: %v", h, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "").Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.Fault = nil
	if _, err := src.Poll(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Requests made after the tasks do not make them older: that they ran is known for the time before they were requested.
func TestInstantOfTheTasks(t *testing.T) {
	s := livetest.New(t, log(t, "clean"))
	s.Set(s.Start().Add(40))
	const slow = 200 * time.Millisecond
	s.Fault = func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/allexecutors") {
			time.Sleep(slow)
		}
	}
	st, err := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "").Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := st.Now.Sub(st.Read); d < slow.Seconds() || st.Read < s.Start().Add(40) {
		t.Errorf("tasks ran %v s before the end of the poll, whose last answer took %s", d, slow)
	}
}

// A History Server does not say how long an unfinished application has run: its time is that of its latest task, and if
// nothing new was found in its log for long, a note says so.
func TestHistoryServersClock(t *testing.T) {
	trace := log(t, "clean")
	for updated, says := range map[time.Time]bool{time.Now().Add(-time.Hour): true, time.Now(): false} {
		s := livetest.New(t, trace)
		s.Set(s.Start().Add(20))
		id := trace.Applications[0].NativeID
		s.Fault = func(w http.ResponseWriter, r *http.Request) {
			list := strings.HasSuffix(r.URL.Path, "/applications")
			if !list && !strings.HasSuffix(r.URL.Path, "/applications/"+id) {
				return
			}
			const form = "2006-01-02T15:04:05.000GMT"
			text := fmt.Sprintf(`{"id": %q, "attempts": [{"startTime": %q, "endTime": "1969-12-31T23:59:59.999GMT", "lastUpdated": %q, "duration": 0, "completed": false}]}`,
				id, time.UnixMicro(int64(s.Start())).UTC().Format(form), updated.UTC().Format(form))
			if list {
				text = "[" + text + "]"
			}
			io.WriteString(w, text)
		}
		src := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "")
		var last schema.Time
		for range 40 { // until the application is requested again
			st, err := src.Poll(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := st.Now.Sub(s.Start()); d < 10 || d > 40 || st.Now < last {
				t.Fatalf("it is %v s after the start, and was %v before", d, last.Sub(s.Start()))
			}
			last = st.Now
			if said := strings.Contains(strings.Join(st.Notes, "\n"), "nothing new in the log since "+updated.UTC().Format(time.DateTime)); said != says {
				t.Fatalf("a log that was read last at %s: %q", updated, st.Notes)
			}
		}
	}
}
