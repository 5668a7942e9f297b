// Package googletest is a server of Cloud Storage's XML API on loopback, in memory, for tests.
package googletest

import (
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
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Token is the token that requests must carry. It must never be shown.
const Token = "averysecrettokenofthetests"

// Server simulates Google: it issues a token to the service account that signs a request for one, and accepts requests of the
// XML API that carry it. It rejects headers that only Amazon's servers support.
type Server struct {
	*httptest.Server
	Tokens    atomic.Int64 // issued
	Refuses   atomic.Bool  // whether to issue no tokens
	Puts      atomic.Int64 // that require that the object does not exist
	anonymous bool         // requests need no token

	mu   sync.Mutex
	gzip map[string][]byte // by path: objects that are stored as gzip, which is served as it is only to those who take it
}

// Serve starts a server with the bucket logs, and sets the environment to an account of it.
func Serve(t testing.TB) *Server {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t, key)
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

// ServeEmulator starts a server that accepts requests without a token, and sets the environment to it as an emulator.
func ServeEmulator(t testing.TB) *Server {
	t.Helper()
	c := serve(t, nil)
	t.Setenv("STORAGE_EMULATOR_HOST", c.URL)
	return c
}

// serve starts a server that accepts tokens of the account with a key, or any request if there is no key.
func serve(t testing.TB, key *rsa.PrivateKey) *Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	c := &Server{anonymous: key == nil}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" && key != nil {
			c.token(w, r, &key.PublicKey)
			return
		}
		c.object(t, w, r, inner)
	}))
	t.Cleanup(c.Close)
	return c
}

// StoreGzip stores an object as gzip.
func (c *Server) StoreGzip(path string, packed []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gzip == nil {
		c.gzip = make(map[string][]byte)
	}
	c.gzip[path] = packed
}

func (c *Server) token(w http.ResponseWriter, r *http.Request, key *rsa.PublicKey) {
	scope, err := scopeOf(r.FormValue("assertion"), key)
	w.Header().Set("Content-Type", "application/json")
	if err != nil || scope != "https://www.googleapis.com/auth/cloud-platform" || c.Refuses.Load() {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}`)
		return
	}
	c.Tokens.Add(1)
	fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": 3600}`, Token)
}

// scopeOf verifies a signed JSON Web Token (RFC 7515, RS256) and returns the scope that it claims.
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

func (c *Server) object(t testing.TB, w http.ResponseWriter, r *http.Request, inner http.Handler) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "Amz-") {
			t.Errorf("%s %s has the header %s, which is Amazon's", r.Method, r.URL, name)
		}
	}
	if !c.anonymous && r.Header.Get("Authorization") != "Bearer "+Token {
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
		c.Puts.Add(1)
		r.Header.Set("If-None-Match", "*")
	}
	c.mu.Lock()
	stored, ok := c.gzip[r.URL.Path]
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
