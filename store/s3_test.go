package store

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"straggler/bucket"
)

// The secrets of these tests; neither must ever be seen.
const (
	accessKey = "AKIAVERYSECRETKEYID1"
	secretKey = "averysecretaccesskeyofthetests"
)

// s3Server is an S3 server on loopback with one bucket, named lakes.
type s3Server struct {
	*httptest.Server
	inner    http.Handler
	requests atomic.Int64
	gets     atomic.Int64 // of objects

	mu     sync.Mutex
	meddle func(w http.ResponseWriter, r *http.Request, n int64) bool // true: the request has been answered
}

func serveS3(t testing.TB) *s3Server { return serveS3At(t, 0) }

// serveS3At is one whose clock is ahead of ours.
func serveS3At(t testing.TB, ahead time.Duration) *s3Server {
	t.Helper()
	clock := shiftedClock(ahead)
	backend := s3mem.New(s3mem.WithTimeSource(clock))
	if err := backend.CreateBucket("lakes"); err != nil {
		t.Fatal(err)
	}
	s := &s3Server{inner: gofakes3.New(backend, gofakes3.WithTimeSource(clock), gofakes3.WithTimeSkewLimit(0), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_ENDPOINT_URL": s.URL,
		"AWS_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1", "STRAGGLER_CACHE": t.TempDir()} {
		t.(interface{ Setenv(string, string) }).Setenv(name, value)
	}
	return s
}

// shiftedClock is ahead of ours by so much.
type shiftedClock time.Duration

func (c shiftedClock) Now() time.Time                  { return time.Now().Add(time.Duration(c)) }
func (c shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (s *s3Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	if r.Method == http.MethodGet && strings.Count(r.URL.Path, "/") > 2 {
		s.gets.Add(1)
	}
	s.mu.Lock()
	meddle := s.meddle
	s.mu.Unlock()
	if meddle == nil || !meddle(w, r, n) {
		s.inner.ServeHTTP(w, r)
	}
}

// meddling changes how requests are answered; nil ends it.
func (s *s3Server) meddling(meddle func(w http.ResponseWriter, r *http.Request, n int64) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meddle = meddle
}

// changes says that a request changes something.
func changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// swallow lets a request have its effect and cuts the answer.
func (s *s3Server) swallow(r *http.Request) {
	s.inner.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// fewRetries is for tests that are refused often.
var fewRetries = bucket.RetryPolicy{Tries: 3, Pause: time.Millisecond, Stall: time.Minute}

// ground is where a store of a test lies, in one of the ways.
type ground struct {
	name   string
	where  string
	server *s3Server // nil without
	dir    string    // "" without
}

// grounds are all ways, each with nothing in it.
func grounds(t *testing.T) []ground {
	t.Helper()
	dir, far := filepath.Join(fastDir(t), "store"), filepath.Join(fastDir(t), "bucket")
	return []ground{
		{name: "a directory", where: dir, dir: dir},
		{name: "a directory as a bucket", where: "file://" + far, dir: far},
		{name: "a bucket", where: "s3://lakes/team/lake", server: serveS3(t)},
	}
}

// onEachGround holds a law everywhere.
func onEachGround(t *testing.T, law func(t *testing.T, g ground)) {
	for i := range 3 {
		all := []string{"directory", "file", "s3"}
		t.Run(all[i], func(t *testing.T) {
			t.Setenv("STRAGGLER_CACHE", t.TempDir())
			law(t, grounds(t)[i])
		})
	}
}

// open opens the store; what nobody needs goes at once, as it does in a directory.
func (g ground) open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), g.where, Options{fs: osFS{quick: true}, impatient: true, retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// change changes what a file holds; nil removes it.
func (g ground) change(t testing.TB, s *Store, name string, to func([]byte) []byte) {
	t.Helper()
	data, err := s.at.read(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	data = to(data)
	switch {
	case data == nil:
		err = s.at.remove(t.Context(), name)
	case g.dir != "":
		err = errors.Join(os.Remove(filepath.Join(g.dir, name)), os.WriteFile(filepath.Join(g.dir, name), data, 0o666))
	default:
		err = s.at.(*objects).write(t.Context(), name, "x", strings.NewReader(string(data)), false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keepsSecrets looks for secrets in what is said.
func keepsSecrets(t testing.TB, said ...any) {
	t.Helper()
	text := fmt.Sprint(said...)
	for _, secret := range []string{accessKey, secretKey, "X-Amz", "Signature="} {
		if strings.Contains(text, secret) {
			t.Errorf("it says a secret: %s", text)
		}
	}
}
