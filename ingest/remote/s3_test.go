package remote

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/parquet-go/parquet-go"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/store"
)

// The secrets of these tests, which must never be shown.
const (
	accessKey = "AKIAVERYSECRETKEYID1"
	secretKey = "averysecretaccesskeyofthetests"
)

// server is an S3 server on loopback with one bucket, logs.
type server struct {
	*httptest.Server
	gets  atomic.Int64 // requests for objects
	spoil atomic.Pointer[func(http.ResponseWriter, *http.Request, http.Handler) bool]
}

func serve(t *testing.T, files map[string][]byte) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if _, err := backend.PutObject("logs", name, nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	handler := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.Count(r.URL.Path, "/") > 1 && !r.URL.Query().Has("list-type") {
			s.gets.Add(1)
			if spoil := s.spoil.Load(); spoil != nil && (*spoil)(w, r, handler) {
				return
			}
		}
		handler.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	environment(t, s.URL)
	return s
}

// environment sets the credentials and the server as a user would.
func environment(t *testing.T, endpoint string) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_ENDPOINT_URL": endpoint,
		"AWS_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"} {
		t.Setenv(name, value)
	}
}

// cutting breaks the connection of the first requests for objects, each after some bytes of the body.
func (s *server) cutting(times int64, after int) {
	var cut atomic.Int64
	spoil := func(w http.ResponseWriter, r *http.Request, h http.Handler) bool {
		if cut.Add(1) > times {
			return false
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes()[:min(after, rec.Body.Len())])
		w.(http.Flusher).Flush()
		if after < rec.Body.Len() {
			panic(http.ErrAbortHandler)
		}
		return true
	}
	s.spoil.Store(&spoil)
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// ingestAll ingests, and checks that no secret is shown.
func ingestAll(t *testing.T, st *store.Store, args ...string) (run.Summary, error) {
	t.Helper()
	places := New(Options{Pause: time.Millisecond, Stall: 5 * time.Second})
	s, err := run.Run(t.Context(), st, formats.All(), args, run.Options{Remote: places})
	if cerr := places.Close(); cerr != nil {
		t.Error(cerr)
	}
	said := fmt.Sprint(err)
	for _, r := range s.Results {
		said += fmt.Sprintf("\n%s %s %v", r.Name, r.Reason, r.Err)
	}
	for _, secret := range []string{accessKey, secretKey, "X-Amz", "Signature="} {
		if strings.Contains(said, secret) {
			t.Errorf("it says a secret: %s", said)
		}
	}
	return s, err
}

// rows returns the attempts of a store, including keys.
func rows(t *testing.T, st *store.Store) []string {
	t.Helper()
	type attempt struct {
		Attempt  int64   `col:"attempt_id"`
		Native   string  `col:"native_id"`
		Duration float64 `col:"duration_s"`
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	var out []string
	for a, err := range engine.Read[attempt](t.Context(), eng, "SELECT attempt_id, native_id, coalesce(duration_s, -1) AS duration_s FROM attempts ORDER BY attempt_id NULLS LAST") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(*a))
	}
	return out
}

const labelled = "../../testdata/labelled"

// local returns logs on disk, by names relative to testdata/labelled, and the rows that they give.
func local(t *testing.T, names ...string) (files map[string][]byte, want []string) {
	t.Helper()
	files = make(map[string][]byte)
	var paths []string
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(labelled, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
		paths = append(paths, filepath.Join(labelled, name))
	}
	st := newStore(t)
	if _, err := ingestAll(t, st, paths...); err != nil {
		t.Fatal(err)
	}
	if want = rows(t, st); len(want) == 0 {
		t.Fatal("no rows to compare with")
	}
	return files, want
}

const mixed = "mixed/app-20261121033031-0011.zstd"

var rolling = []string{"rolling/eventlog_v2_app-20261121035322-0004/appstatus_app-20261121035322-0004",
	"rolling/eventlog_v2_app-20261121035322-0004/events_1_app-20261121035322-0004.zstd"}

// A URL gives the same rows and keys as the files on disk, and nothing when it is ingested again.
func TestSameAsLocal(t *testing.T) {
	plain := []string{mixed, rolling[0], rolling[1], "snappy/app-20261121035311-0003.snappy"}
	for name, c := range map[string]struct {
		files []string
		args  []string
		logs  int
	}{
		"an object":             {[]string{mixed}, []string{"s3://logs/" + mixed}, 1},
		"two objects":           {[]string{mixed, plain[3]}, []string{"s3://logs/" + mixed, "s3://logs/" + plain[3]}, 2},
		"a rolling directory":   {rolling, []string{"s3://logs/" + filepath.Dir(rolling[0])}, 1},
		"the files of one":      {rolling, []string{"s3://logs/" + rolling[1], "s3://logs/" + rolling[0]}, 1},
		"a prefix and a slash":  {rolling, []string{"s3://logs/rolling/"}, 1},
		"a bucket":              {plain, []string{"s3://logs"}, 3},
		"the same object twice": {[]string{mixed}, []string{"s3://logs/" + mixed, "s3://logs/mixed", "s3://logs/"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			files, want := local(t, c.files...)
			serve(t, files)
			st := newStore(t)
			s, err := ingestAll(t, st, c.args...)
			if err != nil || s.Count(run.Read) != c.logs {
				t.Fatalf("read %d: %v: %+v", s.Count(run.Read), err, s.Results)
			}
			if got := rows(t, st); !slices.Equal(got, want) {
				t.Errorf("%d rows, local files give %d", len(got), len(want))
			}
			for _, r := range s.Results {
				if !strings.HasPrefix(r.Name, "s3://logs") || strings.Contains(r.Name, "?") {
					t.Errorf("a log is called %s", r.Name)
				}
			}
			if s, err = ingestAll(t, st, c.args...); err != nil || s.Commit != nil || s.Count(run.AlreadyThere) != c.logs {
				t.Errorf("again: %v: %+v", err, s.Results)
			}
		})
	}
}

// A URL may name the server, which overrides the environment.
func TestParameters(t *testing.T) {
	files, want := local(t, mixed)
	s := serve(t, files)
	address := s.URL
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	st := newStore(t)
	if _, err := ingestAll(t, st, "s3://logs/"+mixed+"?region=eu-west-9&use_path_style=true&endpoint="+address); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows(t, st), want) {
		t.Error("other rows")
	}
}

// An archive is downloaded once; Parquet is read in place, range by range, over connections that break.
func TestArchiveAndParquet(t *testing.T) {
	files, want := local(t, mixed)
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for name, data := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	table, rowsOfTable := parquetTable(t)
	s := serve(t, map[string][]byte{"z/logs.zip": zipped.Bytes(), "p/attempts.parquet": table})
	s.cutting(2, 100)
	st := newStore(t)
	if _, err := ingestAll(t, st, "s3://logs/z"); err != nil || !slices.Equal(rows(t, st), want) {
		t.Errorf("archive: %v", err)
	}
	s.cutting(2, 100)
	st = newStore(t)
	if _, err := ingestAll(t, st, "s3://logs/p/attempts.parquet"); err != nil || len(rows(t, st)) != rowsOfTable {
		t.Errorf("parquet: %d rows, %v", len(rows(t, st)), err)
	}
	s.cutting(1<<40, 100)
	st = newStore(t)
	if _, err := ingestAll(t, st, "s3://logs/p/attempts.parquet"); !errors.Is(err, run.ErrUnreadable) {
		t.Errorf("parquet over a connection that breaks for good: %v", err)
	}
	if inputs, err := st.Inputs(t.Context()); err != nil || len(inputs) > 0 {
		t.Errorf("inputs %v, %v", inputs, err)
	}
}

// parquetTable returns a file of canonical attempts.
func parquetTable(t *testing.T) ([]byte, int) {
	t.Helper()
	const n = 3000
	rows := make([]struct {
		Task     int64   `parquet:"task"`
		Start    int64   `parquet:"start_time,timestamp(microsecond)"`
		Duration float64 `parquet:"duration_s"`
	}, n)
	for i := range rows {
		rows[i].Task, rows[i].Start, rows[i].Duration = int64(i), 1767225600000000+int64(i*i), float64(i)/7
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, rows); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), n
}

// There are more objects than one answer lists.
func TestManyObjects(t *testing.T) {
	files := make(map[string][]byte)
	for i := range 1100 {
		files[fmt.Sprintf("nightly/%04d.csv", i)] = fmt.Appendf(nil, "task,start_time,duration_s\n%d,2026-01-01 00:00:00,5\n", i)
	}
	files["nightly/"] = nil // made by consoles to represent a directory
	serve(t, files)
	st := newStore(t)
	s, err := ingestAll(t, st, "s3://logs/nightly")
	if err != nil || s.Count(run.Read) != 1100 || len(rows(t, st)) != 1100 {
		t.Errorf("read %d of %d: %v", s.Count(run.Read), len(s.Results), err)
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	files, want := local(t, mixed)
	s := serve(t, files)
	s.cutting(5, 20_000)
	st := newStore(t)
	if _, err := ingestAll(t, st, "s3://logs/"+mixed); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, st); !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	if s.gets.Load() < 6 {
		t.Errorf("%d requests; the connections did not break", s.gets.Load())
	}
}

// A connection that breaks for good after valid bytes ends the run, and nothing of it is in the store.
func TestConnectionsThatBreakForGood(t *testing.T) {
	files, _ := local(t, mixed)
	s := serve(t, files)
	s.cutting(1<<40, len(files[mixed])/20)
	st := newStore(t)
	_, err := ingestAll(t, st, "s3://logs/"+mixed)
	if !errors.Is(err, run.ErrUnreadable) || !errors.Is(err, discover.ErrSource) || !strings.Contains(err.Error(), "at byte") {
		t.Errorf("error %v", err)
	}
	if inputs, err := st.Inputs(t.Context()); err != nil || len(inputs) > 0 {
		t.Errorf("inputs %v, %v", inputs, err)
	}
	s.spoil.Store(nil)
	if _, err := ingestAll(t, st, "s3://logs/"+mixed); err != nil {
		t.Errorf("when the server is well again: %v", err)
	}
}

func TestErrors(t *testing.T) {
	s := serve(t, map[string][]byte{"a/b.txt": []byte("x")})
	denied := func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><AWSAccessKeyId>`+
			accessKey+`</AWSAccessKeyId></Error>`)
		return true
	}
	s.spoil.Store(&denied)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for url, c := range map[string]struct {
		kind error
		says string
	}{
		"s3://nobody/a":              {fs.ErrNotExist, "no bucket nobody"},
		"s3://logs/a/c.txt":          {fs.ErrNotExist, "neither an object a/c.txt nor any under a/c.txt/"},
		"s3://logs/a/b":              {fs.ErrNotExist, "neither an object"},
		"s3://logs/a/b.txt":          {fs.ErrPermission, "AWS_ACCESS_KEY_ID"},
		"s3://logs/a?frobnicate=1":   {ingest.ErrUse, "frobnicate"},
		"s3://k:" + secretKey + "@l": {ingest.ErrUse, "no user, password or port"},
		"s3:///a":                    {ingest.ErrUse, "no bucket"},
		"ftp://host/a":               {ingest.ErrUse, "ftp"},
		"http://h/?X-Amz-Signature=": {ingest.ErrUse, "http"},
		"s3://logs/a?endpoint=http://" + closed.Addr().String(): {discover.ErrSource, "AWS_ENDPOINT_URL"},
	} {
		_, err := ingestAll(t, newStore(t), url)
		if !errors.Is(err, c.kind) || !errors.Is(err, run.ErrUnreadable) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", url, err)
		}
		t.Log(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := ingestAll(t, newStore(t), "s3://logs/a/b.txt"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "AWS_PROFILE") {
		t.Errorf("without credentials: %v", err)
	}
}

// An object that is replaced while it is read is not a mixture of both versions.
func TestReplaced(t *testing.T) {
	s := serve(t, map[string][]byte{"a": bytes.Repeat([]byte("old "), 1000)})
	tree, p, err := New(Options{Pause: time.Millisecond}).Open(t.Context(), "s3://logs/a")
	if err != nil {
		t.Fatal(err)
	}
	e, err := tree.Stat(t.Context(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	e.Size-- // as if it had been shorter when it was listed
	r, err := tree.Open(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, discover.ErrSource) || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("error %v", err)
	}
	if n := s.gets.Load(); n != 1 {
		t.Errorf("%d requests for what cannot be had", n)
	}
}

// A server that stops sending is given up and asked again; a cancelled request ends at once.
func TestStall(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	s := serve(t, map[string][]byte{"a": data})
	var first atomic.Bool
	spoil := func(w http.ResponseWriter, r *http.Request, h http.Handler) bool {
		if first.Swap(true) {
			return false
		}
		<-r.Context().Done()
		return true
	}
	s.spoil.Store(&spoil)
	ctx, cancel := context.WithCancel(t.Context())
	tree, _, err := New(Options{Pause: time.Millisecond, Stall: 50 * time.Millisecond}).Open(ctx, "s3://logs/a")
	if err != nil {
		t.Fatal(err)
	}
	e, err := tree.Stat(ctx, "a", false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tree.Open(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r.Close()
	r, err = tree.Open(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every range of a file has the right bytes.
func TestReadAt(t *testing.T) {
	data := make([]byte, 3*blockBytes+17)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	s := serve(t, map[string][]byte{"a": data})
	s.cutting(3, 1000)
	tree, _, err := New(Options{Pause: time.Millisecond}).Open(t.Context(), "s3://logs/a")
	if err != nil {
		t.Fatal(err)
	}
	e, err := tree.Stat(t.Context(), "a", false)
	if err != nil {
		t.Fatal(err)
	}
	r, closer, err := tree.OpenAt(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	size := int64(len(data))
	for _, c := range []struct{ off, n int64 }{{0, 4}, {size - 8, 8}, {size - 8, 100}, {blockBytes - 3, 6}, {1, 2*blockBytes + 5},
		{5, size}, {size, 1}, {0, 0}, {blockBytes, blockBytes}} {
		p := make([]byte, c.n)
		n, err := r.ReadAt(p, c.off)
		want := data[c.off:min(c.off+c.n, size)]
		if !bytes.Equal(p[:n], want) || (int64(n) < c.n) != (err == io.EOF) {
			t.Errorf("%d bytes at %d: %d, %v", c.n, c.off, n, err)
		}
	}
}
