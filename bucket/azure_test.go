package bucket

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"straggler/bucket/azuretest"
	"straggler/bucket/location"
)

const (
	azureTestKey   = "c2VjcmV0IG9mIHRoZSB0ZXN0cw=="
	azureTestToken = "averysecretentratokenofthetests"
)

// Requests have the same signatures as those of Azure's own library for Go, azblob v1.8.0.
func TestAzureSignature(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(azureTestKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, url, body string
		header            map[string]string
		want              string
	}{
		{"GET", "/logs/a%20b%2F%C3%BC+%253", "", map[string]string{"X-Ms-Range": "bytes=5-14"}, "Qhojgs96T14uAf0o6zWGRxn2w/V96/vbYTmF9Vm/Lbc="},
		{"GET", "/logs?comp=list&delimiter=%2F&maxresults=7&prefix=a%20b&restype=container", "", nil, "rnOnwrDkn2LUUA35SaoIp9J2n11G+Fc7O1EEY3EBH8I="},
		{"PUT", "/logs/a.txt", "text", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "If-None-Match": "*",
			"Content-Type": "application/octet-stream", "X-Ms-Blob-Content-Type": "text/plain"},
			"FtrNH5qo+aPKyLlhd3Cdhv9qT3OWPwpyDIW1EhQhuno="},
	} {
		r := httptest.NewRequest(c.method, "https://tests.blob.core.windows.net"+c.url, strings.NewReader(c.body))
		r.Header.Set("X-Ms-Version", "2026-06-06")
		r.Header.Set("X-Ms-Date", "Sun, 22 Nov 2026 18:12:49 GMT")
		for name, value := range c.header {
			r.Header.Set(name, value)
		}
		if got := azureSignature(r, "tests", key); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

// openAzureTest opens the container logs with the settings of the environment.
func openAzureTest(t *testing.T, b *azuretest.Server, retries bool) Bucket {
	t.Helper()
	got, err := openAzure(context.WithoutCancel(t.Context()), azureLocation(t, b), retries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.Close() })
	return got
}

func azureLocation(t *testing.T, b *azuretest.Server) location.Location {
	t.Helper()
	l, err := location.Parse("azblob://logs?protocol=http&domain=" + strings.TrimPrefix(b.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// signed requires a signature with the account's key.
func signed(r *http.Request) bool {
	key, _ := base64.StdEncoding.DecodeString(azureTestKey)
	return r.Header.Get("Authorization") == "SharedKey tests:"+azureSignature(r, "tests", key)
}

// bearer requires a token of Entra ID.
func bearer(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+azureTestToken }

// Every operation works with each way to sign, even if a server omits something.
func TestAzure(t *testing.T) {
	shared := map[string]func(*testing.T, *azuretest.Server){
		"key": func(t *testing.T, b *azuretest.Server) {
			t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
			b.May = signed
		},
		"signature": func(t *testing.T, b *azuretest.Server) {
			b.Share(t, "?"+azuretest.Signature)
			b.May = azuretest.Shared
		},
		"connection": func(t *testing.T, b *azuretest.Server) {
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=tests;AccountKey="+azureTestKey+";BlobEndpoint="+b.URL+"/tests;")
			b.May = signed
		},
		"connection by signature": func(t *testing.T, b *azuretest.Server) {
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+b.URL+"/tests/;SharedAccessSignature="+azuretest.Signature)
			b.May = azuretest.Shared
		},
	}
	for name, set := range shared {
		t.Run(name, func(t *testing.T) {
			b := azuretest.Serve(t)
			set(t, b)
			everyOperation(t, openAzureTest(t, b, false))
			if got := b.Stored["a.txt"].Type; got != "text/plain" {
				t.Errorf("the type is %q", got)
			}
			puts := slices.DeleteFunc(slices.Clone(b.Asked), func(s string) bool { return !strings.HasPrefix(s, "PUT block") })
			if !slices.Equal(puts, []string{"PUT block", "PUT block", "PUT blocklist"}) {
				t.Errorf("an object of one and a half parts was sent as %q", puts)
			}
		})
	}
}

// Refusals are reported as such, with what to set and without secrets; temporary errors are retried if retries are requested.
func TestAzureRefuses(t *testing.T) {
	b := azuretest.Serve(t)
	b.May = signed
	stat := func(retries bool) error {
		t.Helper()
		_, err := openAzureTest(t, b, retries).Stat(t.Context(), "x")
		return err
	}
	l := azureLocation(t, b)
	if f := Explain(stat(false), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !strings.Contains(f.Error(), "az login") ||
		!strings.Contains(f.Error(), "AZURE_TENANT_ID is not set") {
		t.Errorf("without credentials: %v", f)
	}
	t.Setenv("AZURE_TENANT_ID", "tenant")
	t.Setenv("AZURE_CLIENT_ID", "app")
	t.Setenv("AZURE_CLIENT_SECRET", "hunter2hunter2")
	b.Grant = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret hunter2hunter2"}`)
		return true
	}
	if f := Explain(stat(true), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !f.Final() ||
		!strings.Contains(f.Error(), "AADSTS7000215") || strings.Contains(f.Error(), "hunter2") {
		t.Errorf("a wrong secret: %v", f)
	}
	t.Setenv("AZURE_STORAGE_KEY", "d3Jvbmc=")
	if f := Explain(stat(true), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !strings.Contains(f.Error(), "403") {
		t.Errorf("a wrong key: %v", f)
	}
	t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
	b.Stored["x"] = azuretest.Blob{Data: []byte("text")}
	b.Fails = 1
	if f := Explain(stat(false), "logs", l.Hints()); !errors.Is(f, ErrBroken) || f.Final() {
		t.Errorf("a busy server, one try: %v", f)
	}
	b.Fails = 2
	if err := stat(true); err != nil {
		t.Errorf("a server that is busy twice: %v", err)
	}
	t.Setenv("AZURE_STORAGE_KEY", "no base 64")
	if _, err := Open(t.Context(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "base 64") {
		t.Errorf("an invalid key: %v", err)
	}
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "nobody")
	if _, err := Open(t.Context(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "AzureCLICredential") {
		t.Errorf("an unknown kind of credential: %v", err)
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "prod")
	t.Setenv("AZURE_AUTHORITY_HOST", "http://login.example.com")
	if err := stat(false); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("a secret without TLS: %v", err)
	}
}

// A write that fails in the middle makes no blob.
func TestAzureWriteFails(t *testing.T) {
	b := azuretest.Serve(t)
	b.May = signed
	t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
	broken := errors.New("the disk is gone")
	for _, size := range []int64{10, PartBytes, PartBytes + 10} {
		data := io.MultiReader(io.LimitReader(zeros{}, size), iotest.ErrReader(broken))
		if err := openAzureTest(t, b, false).Write(t.Context(), "a", "", data, false); !errors.Is(err, broken) {
			t.Errorf("a write that fails after %d bytes: %v", size, err)
		}
		if len(b.Stored) > 0 {
			t.Errorf("a write that fails after %d bytes makes a blob", size)
		}
	}
	for _, size := range []int64{0, PartBytes, 2 * PartBytes} {
		if err := openAzureTest(t, b, false).Write(t.Context(), "a", "", io.LimitReader(zeros{}, size), false); err != nil || int64(len(b.Stored["a"].Data)) != size {
			t.Errorf("%d bytes became %d: %v", size, len(b.Stored["a"].Data), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
