package bucket

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"straggler/bucket/location"
)

const (
	azureTestKey   = "c2VjcmV0IG9mIHRoZSB0ZXN0cw=="
	azureTestToken = "averysecretentratokenofthetests"
	azureTestSAS   = "sv=2021-12-02&sig=very%2Fsecret%3D"
)

// Requests have the signatures that Azure's own library for Go, azblob v1.8.0, gave them.
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
		{"PUT", "/logs/a.txt", "text", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "If-None-Match": "*", "Content-Type": "application/octet-stream", "X-Ms-Blob-Content-Type": "text/plain"},
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

// blobs plays a storage account and Microsoft Entra ID, the service of a virtual machine's identity, and that of an app's. It
// answers requests that are signed, and lists two blobs at most at a time.
type blobs struct {
	*httptest.Server
	may func(*http.Request) bool // make requests

	mu     sync.Mutex
	stored map[string]blob
	blocks map[string][]byte
	fails  int // answers that are 503
	asked  []string
	grant  func(http.ResponseWriter, *http.Request) bool // a token
}

type blob struct {
	data []byte
	typ  string
}

func newBlobs(t *testing.T) *blobs {
	t.Helper()
	b := &blobs{stored: map[string]blob{}, blocks: map[string][]byte{}}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	for _, name := range []string{"AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_STORAGE_PROTOCOL", "AZURE_STORAGE_DOMAIN",
		"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_USERNAME", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT",
		"AZURE_TOKEN_CREDENTIALS"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir()) // no az
	t.Setenv("AZURE_STORAGE_ACCOUNT", "tests")
	t.Setenv("AZURE_AUTHORITY_HOST", b.URL)
	t.Setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", b.URL+"/nothing")
	return b
}

// open opens the container logs with what the environment says.
func (b *blobs) open(t *testing.T, retries bool) Bucket {
	t.Helper()
	got, err := openAzure(context.WithoutCancel(t.Context()), b.location(t), retries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { got.Close() })
	return got
}

func (b *blobs) location(t *testing.T) location.Location {
	t.Helper()
	l, err := location.Parse("azblob://logs?protocol=http&domain=" + strings.TrimPrefix(b.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// signed demands the signature of the account's key.
func signed(r *http.Request) bool {
	key, _ := base64.StdEncoding.DecodeString(azureTestKey)
	return r.Header.Get("Authorization") == "SharedKey tests:"+azureSignature(r, "tests", key)
}

// borne demands a token of Entra ID.
func borne(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+azureTestToken }

func (b *blobs) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, "/tests/logs") {
		if b.grant == nil || !b.grant(w, r) {
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	b.asked = append(b.asked, r.Method+" "+r.URL.Query().Get("comp"))
	if b.fails > 0 {
		b.fails--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !b.may(r) || r.Header.Get("X-Ms-Version") != azureVersion {
		refuse(w, http.StatusForbidden, "AuthenticationFailed")
		return
	}
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/tests/logs"), "/")
	switch {
	case r.URL.Query().Get("comp") == "list" && key == "":
		b.list(w, r.URL.Query())
	case r.Method == http.MethodPut:
		b.put(w, r, key)
	default:
		b.get(w, r, key)
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>sig=very/secret=</Message></Error>", code)
}

func (b *blobs) put(w http.ResponseWriter, r *http.Request, key string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	query := r.URL.Query()
	if _, there := b.stored[key]; there && r.Header.Get("If-None-Match") == "*" {
		refuse(w, http.StatusConflict, "BlobAlreadyExists")
		return
	}
	switch query.Get("comp") {
	case "block":
		b.blocks[key+" "+query.Get("blockid")] = data
	case "blocklist":
		var list struct{ Latest []string }
		if xml.Unmarshal(data, &list) != nil {
			refuse(w, http.StatusBadRequest, "InvalidXmlDocument")
			return
		}
		var whole []byte
		for _, id := range list.Latest {
			block, ok := b.blocks[key+" "+id]
			if !ok {
				refuse(w, http.StatusBadRequest, "InvalidBlockList")
				return
			}
			whole = append(whole, block...)
		}
		b.stored[key] = blob{whole, r.Header.Get("X-Ms-Blob-Content-Type")}
	default:
		if r.Header.Get("X-Ms-Blob-Type") != "BlockBlob" {
			refuse(w, http.StatusBadRequest, "MissingRequiredHeader")
			return
		}
		b.stored[key] = blob{data, r.Header.Get("X-Ms-Blob-Content-Type")}
	}
	w.WriteHeader(http.StatusCreated)
}

func (b *blobs) get(w http.ResponseWriter, r *http.Request, key string) {
	found, ok := b.stored[key]
	if !ok {
		refuse(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	if r.Method == http.MethodDelete {
		delete(b.stored, key)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if r.Header.Get("Accept-Encoding") != "" {
		w.Header().Set("Content-Encoding", "gzip") // which the client would undo
	}
	http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.NewReader(string(found.data)))
}

// list lists what lies under a prefix, with what ends at a delimiter as one.
func (b *blobs) list(w http.ResponseWriter, query url.Values) {
	prefix, delimiter := query.Get("prefix"), query.Get("delimiter")
	text := map[string]string{}
	for key, stored := range b.stored {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if before, _, deep := strings.Cut(rest, delimiter); delimiter != "" && deep {
			text[prefix+before+delimiter] = fmt.Sprintf("<BlobPrefix><Name>%s</Name></BlobPrefix>", prefix+before+delimiter)
			continue
		}
		text[key] = fmt.Sprintf(`<Blob><Name Encoded="true">%s</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified><Content-Length>%d</Content-Length></Properties></Blob>`,
			url.PathEscape(key), len(stored.data))
	}
	names := slices.Sorted(maps.Keys(text))
	names = slices.DeleteFunc(names, func(n string) bool { return n <= query.Get("marker") })
	next := ""
	if limit, err := strconv.Atoi(query.Get("maxresults")); err == nil && len(names) > min(2, limit) {
		names = names[:min(2, limit)]
		next = names[len(names)-1]
	}
	fmt.Fprint(w, xml.Header+"<EnumerationResults><Blobs>")
	for _, n := range names {
		fmt.Fprint(w, text[n])
	}
	fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
}

// Every operation works with each way to sign, and with what a server forgets.
func TestAzure(t *testing.T) {
	shared := map[string]func(*testing.T, *blobs){
		"key": func(t *testing.T, b *blobs) {
			t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
			b.may = signed
		},
		"signature": func(t *testing.T, b *blobs) {
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", "?"+azureTestSAS)
			t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
			t.Setenv("AZURE_STORAGE_DOMAIN", strings.TrimPrefix(b.URL, "http://"))
			b.may = func(r *http.Request) bool { return r.URL.Query().Get("sig") == "very/secret=" }
		},
		"connection": func(t *testing.T, b *blobs) {
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=tests;AccountKey="+azureTestKey+";BlobEndpoint="+b.URL+"/tests;")
			b.may = signed
		},
		"connection by signature": func(t *testing.T, b *blobs) {
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+b.URL+"/tests/;SharedAccessSignature="+azureTestSAS)
			b.may = func(r *http.Request) bool { return r.URL.Query().Get("sig") == "very/secret=" }
		},
	}
	for name, set := range shared {
		t.Run(name, func(t *testing.T) {
			b := newBlobs(t)
			set(t, b)
			everyOperation(t, b.open(t, false))
			if got := b.stored["a.txt"].typ; got != "text/plain" {
				t.Errorf("its type is %q", got)
			}
			if puts := slices.DeleteFunc(slices.Clone(b.asked), func(s string) bool { return !strings.HasPrefix(s, "PUT block") }); !slices.Equal(puts, []string{"PUT block", "PUT block", "PUT blocklist"}) {
				t.Errorf("one and a half parts were sent as %q", puts)
			}
		})
	}
}

// Refusals are said as such, with what to set and no secret; what passes is tried again where that is asked for.
func TestAzureRefuses(t *testing.T) {
	b := newBlobs(t)
	b.may = signed
	stat := func(retries bool) error {
		t.Helper()
		_, err := b.open(t, retries).Stat(t.Context(), "x")
		return err
	}
	l := b.location(t)
	if f := Explain(stat(false), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !strings.Contains(f.Error(), "az login") || !strings.Contains(f.Error(), "AZURE_TENANT_ID is not set") {
		t.Errorf("without credentials: %v", f)
	}
	t.Setenv("AZURE_TENANT_ID", "tenant")
	t.Setenv("AZURE_CLIENT_ID", "app")
	t.Setenv("AZURE_CLIENT_SECRET", "hunter2hunter2")
	b.grant = func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret hunter2hunter2"}`)
		return true
	}
	if f := Explain(stat(true), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !f.Final() || !strings.Contains(f.Error(), "AADSTS7000215") || strings.Contains(f.Error(), "hunter2") {
		t.Errorf("a wrong secret: %v", f)
	}
	t.Setenv("AZURE_STORAGE_KEY", "d3Jvbmc=")
	if f := Explain(stat(true), "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !strings.Contains(f.Error(), "403") {
		t.Errorf("a wrong key: %v", f)
	}
	t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
	b.stored["x"] = blob{data: []byte("text")}
	b.fails = 1
	if f := Explain(stat(false), "logs", l.Hints()); !errors.Is(f, ErrBroken) || f.Final() {
		t.Errorf("a server that is busy, asked once: %v", f)
	}
	b.fails = 2
	if err := stat(true); err != nil {
		t.Errorf("a server that was busy twice: %v", err)
	}
	t.Setenv("AZURE_STORAGE_KEY", "no base 64")
	if _, err := Open(t.Context(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "base 64") {
		t.Errorf("a key that is none: %v", err)
	}
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "nobody")
	if _, err := Open(t.Context(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "AzureCLICredential") {
		t.Errorf("a kind of credential that is none: %v", err)
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "prod")
	t.Setenv("AZURE_AUTHORITY_HOST", "http://login.example.com")
	if err := stat(false); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("a secret in clear: %v", err)
	}
}

// A write that fails in the middle makes no blob.
func TestAzureWriteFails(t *testing.T) {
	b := newBlobs(t)
	b.may = signed
	t.Setenv("AZURE_STORAGE_KEY", azureTestKey)
	broken := errors.New("the disk is gone")
	for _, size := range []int64{10, PartBytes, PartBytes + 10} {
		data := io.MultiReader(io.LimitReader(zeros{}, size), iotest.ErrReader(broken))
		if err := b.open(t, false).Write(t.Context(), "a", "", data, false); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", size, err)
		}
		if len(b.stored) > 0 {
			t.Errorf("after %d bytes there is a blob", size)
		}
	}
	for _, size := range []int64{0, PartBytes, 2 * PartBytes} {
		if err := b.open(t, false).Write(t.Context(), "a", "", io.LimitReader(zeros{}, size), false); err != nil || int64(len(b.stored["a"].data)) != size {
			t.Errorf("%d bytes became %d: %v", size, len(b.stored["a"].data), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
