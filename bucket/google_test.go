package bucket

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"straggler/bucket/location"
)

const googleSecret = "averysecrettokenofthetests"

// cloud plays Google: it gives a token to the service account that signs for one, and answers requests of the XML API that
// bring it. What only Amazon knows, it refuses.
type cloud struct {
	*httptest.Server
	tokens  atomic.Int64 // given
	refuses atomic.Bool  // to give tokens
	puts    atomic.Int64 // on the condition that there is no object

	mu     sync.Mutex
	stored map[string][]byte // as gzip, which is served as it is only to those who take it
}

// newCloud starts one, and has the environment name an account of it. Its bucket is logs.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &cloud{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			c.token(w, r, &key.PublicKey)
			return
		}
		c.object(t, w, r, inner)
	}))
	t.Cleanup(c.Close)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	account, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "tests@project.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": c.URL + "/token"})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(name, account, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", name)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	return c
}

func (c *cloud) token(w http.ResponseWriter, r *http.Request, key *rsa.PublicKey) {
	scope, err := scopeOf(r.FormValue("assertion"), key)
	w.Header().Set("Content-Type", "application/json")
	if err != nil || scope != googleScope || c.refuses.Load() {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}`)
		return
	}
	c.tokens.Add(1)
	fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": 3600}`, googleSecret)
}

// scopeOf verifies a signed JSON Web Token (RFC 7515, RS256) and gives the scope that it claims.
func scopeOf(token string, key *rsa.PublicKey) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("a token has three parts")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature); err != nil {
		return "", err
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", err
	}
	var claims struct{ Scope string }
	err = json.Unmarshal(text, &claims)
	return claims.Scope, err
}

func (c *cloud) object(t *testing.T, w http.ResponseWriter, r *http.Request, inner http.Handler) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "Amz-") {
			t.Errorf("%s %s has the header %s, which is Amazon's", r.Method, r.URL, name)
		}
	}
	if r.Header.Get("Authorization") != "Bearer "+googleSecret {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "<Error><Code>AuthenticationRequired</Code><Message>Authentication required.</Message></Error>")
		return
	}
	if strings.Contains(r.URL.RawQuery, "+") {
		t.Errorf("%s: a plus is a plus to some servers", r.URL)
	}
	if r.Header.Get("If-None-Match") != "" || r.URL.Query().Has("x-id") {
		t.Errorf("%s %s is not of Google's protocol: %v", r.Method, r.URL, r.Header)
	}
	if condition := r.Header.Get("X-Goog-If-Generation-Match"); condition != "" {
		if condition != "0" {
			t.Errorf("the condition is generation %s", condition)
		}
		c.puts.Add(1)
		r.Header.Set("If-None-Match", "*")
	}
	c.mu.Lock()
	stored, ok := c.stored[r.URL.Path]
	c.mu.Unlock()
	if ok && r.Method == http.MethodGet {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s would be sent decompressed", r.URL)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
		w.Write(stored)
		return
	}
	inner.ServeHTTP(w, r)
}

func (c *cloud) open(t *testing.T) Bucket {
	t.Helper()
	l, err := location.Parse("gs://logs")
	if err != nil {
		t.Fatal(err)
	}
	b, err := openGoogleAt(t.Context(), c.URL, l, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each operation brings a token, the condition is Google's own, and what comes back is what was put.
func TestGoogle(t *testing.T) {
	c := newCloud(t)
	b := c.open(t)
	everyOperation(t, b)
	if c.puts.Load() != 2 || c.tokens.Load() != 1 {
		t.Errorf("%d puts on a condition, %d tokens", c.puts.Load(), c.tokens.Load())
	}
}

// everyOperation is what must hold of any bucket that is empty.
func everyOperation(t *testing.T, b Bucket) {
	t.Helper()
	ctx := t.Context()
	put := func(key, text string, fresh bool) error {
		return b.Write(ctx, key, "text/plain", strings.NewReader(text), fresh)
	}
	if err := errors.Join(put("a/1", "first", true), put("a/b/2", "second", false), put("a.txt", "third", false), put("a b/ü+%3", "fourth", false)); err != nil {
		t.Fatal(err)
	}
	if err := put("a/1", "again", true); err == nil || !errors.Is(Explain(err, "logs", location.Hints{}), fs.ErrExist) {
		t.Errorf("over an object that must not be there: %v", err)
	}
	if err := put("a/b/2", "replaced", false); err != nil {
		t.Error(err)
	}
	for key, want := range map[string]string{"a/1": "first", "a/b/2": "replaced", "a b/ü+%3": "fourth"} {
		if o, err := b.Stat(ctx, key); err != nil || o.Size != int64(len(want)) || o.Modified.IsZero() {
			t.Errorf("%s: %+v %v", key, o, err)
		}
		for from := range len(want) {
			for _, n := range []int{-1, 1, len(want) - from} {
				r, err := b.Read(ctx, key, int64(from), int64(n))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(r)
				end := len(want)
				if n > 0 {
					end = from + n
				}
				if string(got) != want[from:end] || err != nil || r.Size != int64(len(want)) || r.Modified.IsZero() {
					t.Errorf("%s from %d, %d bytes: %q %v, %d in all", key, from, n, got, err, r.Size)
				}
				r.Close()
			}
		}
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), (PartBytes+PartBytes/2)/16)
	if err := b.Write(ctx, "large", "", bytes.NewReader(large), false); err != nil {
		t.Fatal(err)
	}
	r, err := b.Read(ctx, "large", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); !bytes.Equal(got, large) || err != nil {
		t.Errorf("large: %d bytes, %v", len(got), err)
	}
	r.Close()
	keys := func(l Listing) (out []string) {
		found, err := List(b, l, func(page func(context.Context) error) error { return page(ctx) })
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found {
			if o.Dir != strings.HasSuffix(o.Key, "/") {
				t.Errorf("%+v", o)
			}
			out = append(out, o.Key)
		}
		return out
	}
	for _, c := range []struct {
		l    Listing
		want []string
	}{
		{Listing{}, []string{"a b/ü+%3", "a.txt", "a/1", "a/b/2", "large"}},
		{Listing{Prefix: "a/"}, []string{"a/1", "a/b/2"}},
		{Listing{Prefix: "a/", Delimiter: "/"}, []string{"a/1", "a/b/"}},
		{Listing{Delimiter: "/"}, []string{"a b/", "a.txt", "a/", "large"}},
		{Listing{Prefix: "a b/"}, []string{"a b/ü+%3"}},
		{Listing{Prefix: "a"}, []string{"a b/ü+%3", "a.txt", "a/1", "a/b/2"}},
		{Listing{Prefix: "a", Limit: 2}, []string{"a b/ü+%3", "a.txt"}},
		{Listing{Prefix: "none/"}, nil},
	} {
		if got := keys(c.l); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.l, got, c.want)
		}
	}
	if err := b.Delete(ctx, "a/1"); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"stat": func() error { _, err := b.Stat(ctx, "a/1"); return err }(),
		"read": func() error { _, err := b.Read(ctx, "a/1", 0, -1); return err }(),
	} {
		if err == nil || !errors.Is(Explain(err, "logs", location.Hints{}), fs.ErrNotExist) {
			t.Errorf("%s of what is not there: %v", what, err)
		}
	}
}

func TestDirectoryAsBucket(t *testing.T) {
	l, err := location.Parse("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	everyOperation(t, b)
}

// An object that is stored as gzip comes as it is stored, in the length that is listed.
func TestGoogleStoredAsGzip(t *testing.T) {
	c := newCloud(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bytes.Repeat([]byte("log "), 1000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c.stored = map[string][]byte{"/logs/packed": packed.Bytes()}
	r, err := c.open(t).Read(t.Context(), "packed", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); !bytes.Equal(got, packed.Bytes()) || err != nil || r.Size != int64(packed.Len()) {
		t.Errorf("%d bytes of %d, %v; it says %d", len(got), packed.Len(), err, r.Size)
	}
}

// An account that Google gives no token, and a bucket that wants one, are said as refusals, with what to set and no secret.
func TestGoogleRefuses(t *testing.T) {
	c := newCloud(t)
	l, err := location.Parse("gs://logs")
	if err != nil {
		t.Fatal(err)
	}
	c.refuses.Store(true)
	_, err = c.open(t).Stat(t.Context(), "x")
	if f := Explain(err, "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !f.Final() || !strings.Contains(f.Error(), "invalid_grant") || !strings.Contains(f.Error(), "gcloud auth") {
		t.Errorf("no token: %v", f)
	}
	l.Query = url.Values{"anonymous": {"true"}}
	b, err := openGoogleAt(t.Context(), c.URL, l, false)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.Page(t.Context(), "", "", "", 10)
	if f := Explain(err, "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !strings.Contains(f.Error(), "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("anonymous: %v", f)
	}
	l.Query = url.Values{"endpoint": {"http://h"}}
	if _, err := Open(t.Context(), l); !errors.Is(err, location.ErrURL) || !strings.Contains(err.Error(), "endpoint") {
		t.Errorf("an unknown parameter: %v", err)
	}
}
