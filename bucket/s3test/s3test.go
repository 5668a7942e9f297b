// Package s3test is an in-memory S3 server on loopback for tests, which can change its responses.
package s3test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The secrets of these tests; neither must ever be shown.
const (
	AccessKey = "AKIAVERYSECRETKEYID1"
	SecretKey = "averysecretaccesskeyofthetests"
)

// Server is an S3 server on loopback with one bucket, named lakes.
type Server struct {
	*httptest.Server
	Inner    http.Handler // answers without the test's changes
	Requests atomic.Int64
	Gets     atomic.Int64 // of objects

	mu        sync.Mutex
	intercept func(w http.ResponseWriter, r *http.Request, n int64) bool
}

// Serve starts a server until the test ends, and sets the environment to it and its secrets.
func Serve(t testing.TB) *Server { return ServeAt(t, 0) }

// ServeAt is Serve with a clock that is ahead.
func ServeAt(t testing.TB, ahead time.Duration) *Server {
	t.Helper()
	clock := shiftedClock(ahead)
	backend := s3mem.New(s3mem.WithTimeSource(clock))
	if err := backend.CreateBucket("lakes"); err != nil {
		t.Fatal(err)
	}
	s := &Server{Inner: gofakes3.New(backend, gofakes3.WithTimeSource(clock), gofakes3.WithTimeSkewLimit(0),
		gofakes3.WithLogger(gofakes3.DiscardLog())).Server()}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": AccessKey, "AWS_SECRET_ACCESS_KEY": SecretKey, "AWS_ENDPOINT_URL": s.URL,
		"AWS_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1", "STRAGGLER_CACHE": t.TempDir()} {
		t.Setenv(name, value)
	}
	return s
}

// shiftedClock is ahead by a duration.
type shiftedClock time.Duration

func (c shiftedClock) Now() time.Time                  { return time.Now().Add(time.Duration(c)) }
func (c shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.Requests.Add(1)
	if r.Method == http.MethodGet && strings.Count(r.URL.Path, "/") > 2 {
		s.Gets.Add(1)
	}
	s.mu.Lock()
	intercept := s.intercept
	s.mu.Unlock()
	if intercept == nil || !intercept(w, r, n) {
		s.Inner.ServeHTTP(w, r)
	}
}

// Intercept calls a function before the n-th request is served; it returns whether it has answered. nil ends that.
func (s *Server) Intercept(intercept func(w http.ResponseWriter, r *http.Request, n int64) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = intercept
}

// Swallow executes a request and drops the answer.
func (s *Server) Swallow(r *http.Request) {
	s.Inner.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Changes reports whether a request can change something.
func Changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// KeepsSecrets fails the test if a text contains a secret.
func KeepsSecrets(t testing.TB, said ...any) {
	t.Helper()
	text := fmt.Sprint(said...)
	for _, secret := range []string{AccessKey, SecretKey, "X-Amz", "Signature="} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
}
