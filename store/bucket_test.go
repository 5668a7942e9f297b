package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"straggler/bucket"
	"straggler/bucket/s3test"
	"straggler/schema"
	"straggler/store/storetest"
)

// TestServerErrorsAreRetried: a server that fails every third request, in each way, is asked again until everything is done.
func TestServerErrorsAreRetried(t *testing.T) {
	states := golden(t)
	fail := func(code int, text string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(code)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>not now</Message></Error>", text)
		}
	}
	server := s3test.Serve(t)
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"500": fail(500, "InternalError"),
		"503": fail(503, "SlowDown"),
		"409": fail(409, "ConditionalRequestConflict"),
		"cut": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"heard and cut": func(_ http.ResponseWriter, r *http.Request) {
			server.Swallow(r)
		},
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			server.Inner.ServeHTTP(rec, r)
			for name, values := range rec.Header() {
				w.Header()[name] = values
			}
			if r.Method == http.MethodGet {
				w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
			}
			w.WriteHeader(rec.Code)
			w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("STRAGGLER_CACHE", t.TempDir())
			var refused atomic.Int64
			server.Intercept(func(w http.ResponseWriter, r *http.Request, n int64) bool {
				if n%3 != 0 {
					return false
				}
				refused.Add(1)
				answer(w, r)
				return true
			})
			defer server.Intercept(nil)
			s, err := Open(t.Context(), "s3://lakes/"+strings.ReplaceAll(name, " ", "-"),
				Options{noGrace: true, retry: bucket.RetryPolicy{Tries: 20, Pause: time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := live(t.Context(), s, 0); err != nil {
				t.Fatal(err)
			}
			if state, err := shown(t.Context(), s); err != nil || state != states[len(steps)] {
				t.Errorf("it shows\n%s\n%v", state, err)
			}
			t.Setenv("STRAGGLER_CACHE", t.TempDir())
			s, err = Open(t.Context(), "s3://lakes/"+strings.ReplaceAll(name, " ", "-"), Options{retry: bucket.RetryPolicy{Tries: 20, Pause: time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(visible[schema.Job](t, s)); n != 55 {
				t.Errorf("%d jobs", n)
			}
			if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("%+v %v", found, err)
			}
			if refused.Load() < 20 {
				t.Errorf("only %d requests were refused", refused.Load())
			}
		})
	}
}

// TestServerSaysNo: what cannot succeed is not retried, is reported with advice, and leaves nothing visible.
func TestServerSaysNo(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	s := g.open(t)
	if err := write(t.Context(), s, 1, "a", 3); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		status int
		code   string
		match  func(r *http.Request) bool
		kind   error
		says   string
	}{
		{"nothing may be written", 403, "AccessDenied", s3test.Changes, fs.ErrPermission, "AWS_ACCESS_KEY_ID"},
		{"commits may not be written", 403, "AccessDenied",
			func(r *http.Request) bool { return s3test.Changes(r) && strings.Contains(r.URL.Path, "/commits/") }, fs.ErrPermission, "AWS_ACCESS_KEY_ID"},
		{"the key is unknown", 403, "InvalidAccessKeyId", func(*http.Request) bool { return true }, fs.ErrPermission, "AWS_PROFILE"},
		{"the clocks differ", 403, "RequestTimeTooSkewed", func(*http.Request) bool { return true }, fs.ErrPermission, "clock"},
		{"no conditional puts", 501, "NotImplemented", func(r *http.Request) bool { return r.Header.Get("If-None-Match") != "" },
			errors.ErrUnsupported, "NotImplemented"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused atomic.Int64
			server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
				if !c.match(r) {
					return false
				}
				refused.Add(1)
				io.Copy(io.Discard, r.Body)
				w.WriteHeader(c.status)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no, %s with %s</Message></Error>", c.code, s3test.AccessKey, s3test.SecretKey)
				return true
			})
			defer server.Intercept(nil)
			s, err := Open(t.Context(), g.where, Options{retry: bucket.RetryPolicy{Tries: 9, Pause: time.Millisecond}})
			if err == nil {
				err = write(t.Context(), s, 2, "b", 3)
			}
			s3test.KeepsSecrets(t, err)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v", err)
			}
			if n := refused.Load(); n > 6 {
				t.Errorf("%d requests for what is refused", n)
			}
			server.Intercept(nil)
			if list, err := g.open(t).List(t.Context()); err != nil || len(list) != 1 {
				t.Errorf("%d commits, %v", len(list), err)
			}
		})
	}
}

// TestOverwritingServer: a server that does not support the condition is refused before anything is written.
func TestOverwritingServer(t *testing.T) {
	server := s3test.Serve(t)
	server.Intercept(func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		r.Header.Del("If-None-Match")
		return false
	})
	s, err := Open(t.Context(), "s3://lakes/x", Options{retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 1, "a", 3); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "If-None-Match") {
		t.Errorf("it says %v", err)
	}
	if found, err := s.at.list(t.Context(), ""); err != nil || len(found) > 0 {
		t.Errorf("left are %v, %v", found, err)
	}
}

// TestSilentServer: a server that does not answer is given up, and cancelling does not wait for it.
func TestSilentServer(t *testing.T) {
	server := s3test.Serve(t)
	quiet := make(chan struct{})
	t.Cleanup(func() { close(quiet) })
	asked := make(chan struct{}, 100)
	server.Intercept(func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-quiet:
		}
		return true
	})
	_, err := Open(t.Context(), "s3://lakes/x", Options{retry: bucket.RetryPolicy{Tries: 2, Pause: time.Millisecond, Stall: 50 * time.Millisecond}})
	if !errors.Is(err, bucket.ErrBroken) || !strings.Contains(err.Error(), "no answer") || !strings.Contains(err.Error(), "tried 2 times") {
		t.Errorf("silent: %v", err)
	}
	for len(asked) > 0 {
		<-asked
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := Open(ctx, "s3://lakes/x", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestLargeObjects: objects sent in parts, to a server that occasionally refuses parts, arrive unchanged.
func TestLargeObjects(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	s := g.open(t)
	data := make([]byte, 2*bucket.PartBytes+12345)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	name := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := checksumOf(name)
	if err != nil {
		t.Fatal(err)
	}
	f := FileRecord{Path: "tables/attempts/large.parquet", Bytes: int64(len(data)), Checksum: sum}
	var parts, told atomic.Int64
	server.Intercept(func(w http.ResponseWriter, r *http.Request, n int64) bool {
		if !r.URL.Query().Has("partNumber") || parts.Add(1) != 2 {
			return false
		}
		w.WriteHeader(503)
		return true
	})
	at := s.at.(*objectStore)
	at.report = func(Transfer) { told.Add(1) }
	there, err := at.put(t.Context(), []upload{{name, f}})
	if err != nil || len(there) != 1 || parts.Load() < 5 || told.Load() == 0 {
		t.Fatalf("%v %v, %d parts, progress told %d times", there, err, parts.Load(), told.Load())
	}
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	held, err := g.open(t).at.pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := held.fetch(t.Context(), []FileRecord{f}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(held.path(f)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
	}
}

// TestReplacedFilesStay: what a commit replaced stays for its readers until the grace period is over; and the last commit stays
// in any case, so that its number is not reused.
func TestReplacedFilesStay(t *testing.T) {
	g := ground{where: "s3://lakes/x", server: s3test.Serve(t)}
	s, err := Open(t.Context(), g.where, Options{retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	ingest(t, s, 1, storetest.Attempts(1, 10))
	ingest(t, s, 2, storetest.Attempts(2, 10))
	reader, err := Open(t.Context(), g.where, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	open := snapshot(t, reader) // and fetches nothing yet
	if c, err := s.Compact(t.Context(), "test"); err != nil || c.Removed > 0 || !c.Postponed || c.Rows != 20 {
		t.Fatalf("%+v %v", c, err)
	}
	if rows, err := scanned[schema.Attempt](t.Context(), open); err != nil || len(rows) != 20 {
		t.Errorf("%d attempts, %v", len(rows), err)
	}
	s.at.(*objectStore).grace = -time.Hour
	if c, err := s.Compact(t.Context(), "test"); err != nil || c.Postponed {
		t.Errorf("%+v %v", c, err)
	}
	if left, err := s.at.list(t.Context(), "tables"); err != nil || len(left) != 1 {
		t.Errorf("left are %v %v", left, err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 1 || list[0].Sequence != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	if _, err := s.Remove(t.Context(), list1(t, s).Inputs[0].Ingest, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), list1(t, s).Inputs[1].Ingest, "test"); err != nil {
		t.Fatal(err)
	}
	s.at.(*objectStore).grace = -time.Hour
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 9, "x", 1); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context())
	if err != nil || list[len(list)-1].Sequence != 6 {
		t.Errorf("the numbers do not go up: %+v %v", list, err)
	}
}

func list1(t *testing.T, s *Store) Entry {
	t.Helper()
	list, err := s.List(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list[0]
}

// TestDeadWritersFiles: files without a commit are removed when they are a day old, and a marker of a dead writer triggers the
// search.
func TestDeadWritersFiles(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		if g.inDirectory() {
			t.Skip("there the locks tell: TestEveryOperationFails")
		}
		s, err := Open(t.Context(), g.where, Options{retry: fewRetries})
		if err != nil {
			t.Fatal(err)
		}
		at := s.at.(*objectStore)
		for _, name := range []string{"tables/jobs/dead-0.parquet", "staging/dead"} {
			if err := writeObject(t, s, name, "x"); err != nil {
				t.Fatal(err)
			}
		}
		left := func() int {
			n := 0
			for _, dir := range []string{"tables", "staging"} {
				found, err := at.list(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				n += len(found)
			}
			return n
		}
		if err := write(t.Context(), s, 1, "a", 1); err != nil || left() != 4 {
			t.Fatalf("%d files, %v", left(), err)
		}
		at.orphanAge = -time.Hour
		if err := write(t.Context(), s, 2, "b", 1); err != nil || left() != 4 { // two of each commit
			t.Fatalf("%d files, %v", left(), err)
		}
	})
}

// A process killed while it wrote into a directory used as a bucket leaves a file under another name. It is no commit, and a
// day later it is removed.
func TestUnfinishedFiles(t *testing.T) {
	g := grounds[1].make(t)
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	unfinished := func(name string) {
		t.Helper()
		name = filepath.Join(g.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte("{"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"commits", "tables/attempts", "staging"} {
		unfinished(dir + "/.new-123")
	}
	if _, err := Open(t.Context(), g.where, Options{ReadOnly: true}); !errors.Is(err, ErrNotStore) {
		t.Errorf("without a commit: %v", err)
	}
	s := g.patient(t)
	findings := func() (files []string) {
		t.Helper()
		found, err := s.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, f.File)
		}
		slices.Sort(files)
		return files
	}
	if err := write(t.Context(), s, 1, "a", 1); err != nil {
		t.Fatal(err)
	}
	if got := findings(); len(got) > 0 {
		t.Errorf("of files that may still be written: %v", got)
	}
	for _, dir := range []string{"commits", "tables/attempts", "staging"} {
		age(t, g, dir+"/.new-123", 2*orphanAge)
	}
	if got, want := findings(), []string{"commits/.new-123", "staging/.new-123", "tables/attempts/.new-123"}; !slices.Equal(got, want) {
		t.Errorf("verify found %v, want %v", got, want)
	}
	if err := write(t.Context(), s, 2, "b", 1); err != nil {
		t.Fatal(err)
	}
	if got := findings(); len(got) > 0 {
		t.Errorf("a day later: %v", got)
	}
}

// However many such files there are, the commits after them are found.
func TestManyUnfinishedFiles(t *testing.T) {
	g := grounds[1].make(t)
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	if err := write(t.Context(), g.patient(t), 1, "a", 1); err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		if err := os.WriteFile(filepath.Join(g.dir, "commits", fmt.Sprintf(".new-%d", n)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), g.where, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// TestSkewedClocks: a machine whose clock is days ahead of the object store's does not take a living writer for a dead one, nor
// what was just replaced for something that nobody reads any more.
func TestSkewedClocks(t *testing.T) {
	g := ground{where: "s3://lakes/x", server: s3test.ServeAt(t, -48*time.Hour)}
	open := func() *Store {
		s, err := Open(t.Context(), g.where, Options{retry: fewRetries})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := open()
	ingest(t, first, 1, storetest.Attempts(1, 10))
	ingest(t, first, 2, storetest.Attempts(2, 10))
	if c, err := open().Compact(t.Context(), "test"); err != nil || !c.Postponed || c.Removed > 0 {
		t.Errorf("%+v %v", c, err)
	}
	for _, name := range []string{"tables/jobs/living-0.parquet", "staging/living"} {
		if err := writeObject(t, first, name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	ingest(t, open(), 3, storetest.Attempts(3, 10))
	for _, name := range []string{"tables/jobs/living-0.parquet", "staging/living"} {
		if _, err := first.at.(*objectStore).readAll(t.Context(), name); err != nil {
			t.Errorf("what a living writer put is gone: %v", err)
		}
	}
}

// TestCancelledSending: cancelling while files are sent leaves nothing visible and no file of the writer on this machine.
func TestCancelledSending(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	s := g.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	server.Intercept(func(_ http.ResponseWriter, r *http.Request, _ int64) bool {
		if s3test.Changes(r) && strings.Contains(r.URL.Path, "/tables/") {
			io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has gone
			once.Do(cancel)
			<-r.Context().Done()
			return true
		}
		return false
	})
	if err := write(ctx, s, 1, "a", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	server.Intercept(nil)
	if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
	if left, err := os.ReadDir(s.staging.root); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := write(t.Context(), s, 1, "a", 100); err != nil {
		t.Error(err)
	}
}
