package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"straggler/bucket/s3test"
	"straggler/ingest"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/ingest/spark"
	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/store"
)

// changing returns a catalog that writes to a store.
func changing(t *testing.T, st *store.Store, o catalog.Options) *catalog.Catalog {
	t.Helper()
	shown, err := store.Open(t.Context(), st.Where(), store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	o.Store, o.Shown, o.Tool, o.Every = st, shown, "test", 100*time.Millisecond
	c, err := catalog.Open(t.Context(), o)
	reporttest.Check(t, err)
	return c
}

// watching serves a store into which logs are read, until the test ends or stop is called, which returns the server's error.
func watching(t *testing.T, st *store.Store, dir string, known []ingest.Format) (h http.Handler, c *catalog.Catalog, stop func() error) {
	t.Helper()
	c = changing(t, st, catalog.Options{Logs: []string{dir}, Formats: known})
	s, err := serve.New(c, serve.Options{Listen: "127.0.0.1:8080"})
	reporttest.Check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	var result error
	stopped := false
	stop = func() error {
		if !stopped {
			stopped = true
			cancel()
			result = <-ended
			c.Close()
		}
		return result
	}
	t.Cleanup(func() { stop() })
	return s.Handler(), c, stop
}

// shows waits until a page contains a text.
func shows(t *testing.T, h http.Handler, path, text string) string {
	t.Helper()
	body := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if body = get(h, path).Body.String(); strings.Contains(body, text) {
			return body
		}
	}
	t.Fatalf("%s never says %q, but %s", path, text, body[max(0, strings.Index(body, "<main")):])
	return ""
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	reporttest.Check(t, err)
	reporttest.Check(t, os.WriteFile(to+".part", data, 0o600))
	reporttest.Check(t, os.Rename(to+".part", to))
}

// A log whose reader panics is listed as one that could not be read; the others are read, analysed and shown.
func TestPanickingReader(t *testing.T) {
	dir := t.TempDir()
	reporttest.Check(t, os.WriteFile(filepath.Join(dir, "bad.boom"), []byte("boom <script>alert(1)</script>\n"), 0o600))
	copied(t, catalogtest.Labelled(t, "..", "skew")[0], filepath.Join(dir, "good.zstd"))
	boom := ingest.Format{Name: "boom", Doc: "a format whose reader panics",
		Sniff: func(h ingest.Head) ingest.Match {
			if strings.HasPrefix(string(h.Bytes), "boom") {
				return ingest.Match{Confidence: 3, Why: "it begins with boom"}
			}
			return ingest.Match{}
		},
		Read: func(context.Context, *ingest.Input, *ingest.Sink) error {
			var rows []int
			_ = rows[len(os.Args)+1000] // like a reader with a bug
			return nil
		}}
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	defer st.Close()
	h, c, stop := watching(t, st, dir, []ingest.Format{spark.Format(), boom})
	body := shows(t, h, "/logs", "index out of range")
	if strings.Contains(body, "<script>alert") || !strings.Contains(body, "bad.boom") {
		t.Errorf("the page does not name the log, or shows what is in it: %s", body)
	}
	shows(t, h, "/", `id="applications"`)
	apps, _ := c.Applications()
	if len(apps) != 1 {
		t.Fatalf("%d applications", len(apps))
	}
	for end := time.Now().Add(time.Minute); !c.Fresh() && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
	}
	if w := get(h, fmt.Sprintf("/applications/%d", apps[0].ApplicationID)); w.Code != 200 || !strings.Contains(w.Body.String(), `class="verdict"`) {
		t.Errorf("the other log's page: %d", w.Code)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// If a bucket stops answering, what was built is shown as before, and every page says what fails; when the bucket is back, so
// is everything else.
func TestAbsentBucket(t *testing.T) {
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	server := s3test.Serve(t)
	const where = "s3://lakes/team/lake"
	st, err := store.Open(t.Context(), where, store.Options{})
	reporttest.Check(t, err)
	_, err = run.Run(t.Context(), st, []ingest.Format{spark.Format()}, catalogtest.Labelled(t, "..", "mixed"), run.Options{})
	reporttest.Check(t, err)
	shown, err := store.Open(t.Context(), where, store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: shown, Shown: shown, Fixed: true, Every: 100 * time.Millisecond})
	reporttest.Check(t, err)
	defer c.Close()
	s, err := serve.New(c, serve.Options{Listen: "127.0.0.1:8080"})
	reporttest.Check(t, err)
	h := s.Handler()
	apps, _ := c.Applications()
	page := fmt.Sprintf("/applications/%d", apps[0].ApplicationID)
	if w := get(h, page); w.Code != 200 || strings.Contains(w.Body.String(), `class="problem"`) {
		t.Fatalf("%s before: %d", page, w.Code)
	}
	var away atomic.Bool
	server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
		if away.Load() {
			http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
		}
		return away.Load()
	})
	away.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	shows(t, h, "/", "Looking at the store fails since")
	if body := get(h, page).Body.String(); !strings.Contains(body, `class="verdict"`) || !strings.Contains(body, "Looking at the store fails since") {
		t.Errorf("%s is not shown as before, with what fails", page)
	}
	s3test.KeepsSecrets(t, get(h, "/").Body.String(), get(h, "/api/v1/status").Body.String())
	away.Store(false)
	for end := time.Now().Add(time.Minute); strings.Contains(get(h, "/").Body.String(), "fails since"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the bucket is there again, and the page says that it is not")
		}
	}
}

// A server that is stopped while it writes leaves a consistent store, without anything incomplete; the next server reads what
// is missing, once.
func TestStopWhileWriting(t *testing.T) {
	dir, lake := t.TempDir(), filepath.Join(t.TempDir(), "lake")
	logs := catalogtest.Labelled(t, "..", "mixed", "skew", "gc", "transient")
	if len(logs) < 3 {
		t.Fatalf("%d logs", len(logs))
	}
	for i, name := range logs {
		copied(t, name, filepath.Join(dir, fmt.Sprintf("log%d.zstd", i)))
	}
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 30 * time.Millisecond, 150 * time.Millisecond} {
		st, err := store.Open(t.Context(), lake, store.Options{})
		reporttest.Check(t, err)
		_, _, stop := watching(t, st, dir, formats.All())
		time.Sleep(after)
		if err := stop(); err != nil {
			t.Errorf("stopped after %v: %v", after, err)
		}
		found, err := st.Verify(t.Context())
		reporttest.Check(t, err)
		if len(found) > 0 {
			t.Errorf("stopped after %v: %+v", after, found)
		}
		reporttest.Check(t, st.Close())
	}
	st, err := store.Open(t.Context(), lake, store.Options{})
	reporttest.Check(t, err)
	defer st.Close()
	_, c, _ := watching(t, st, dir, formats.All())
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if apps, _ := c.Applications(); len(apps) >= len(logs) {
			break
		}
	}
	apps, _ := c.Applications()
	var ids []string
	for _, a := range apps {
		ids = append(ids, a.NativeID)
	}
	slices.Sort(ids)
	if len(ids) != len(logs) || len(slices.Compact(ids)) != len(logs) {
		t.Errorf("%d logs became %d applications: %v", len(logs), len(apps), ids)
	}
}
