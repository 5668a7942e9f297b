// Package azuretest is a server of Blob Storage's REST API on loopback, in memory, for tests, with the services that issue its
// tokens.
package azuretest

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server simulates a storage account, Microsoft Entra ID, and the identity services of virtual machines and of apps. It answers
// signed requests, and lists at most two blobs at a time.
type Server struct {
	*httptest.Server
	May func(*http.Request) bool // whether a request is allowed

	mu     sync.Mutex
	Stored map[string]Blob
	blocks map[string][]byte
	Fails  int // number of requests to answer with 503
	Asked  []string
	Grant  func(http.ResponseWriter, *http.Request) bool // a token
}

// Blob is the object stored under a key.
type Blob struct {
	Data []byte
	Type string
}

// Serve starts a server, and sets the environment to its account, without credentials.
func Serve(t testing.TB) *Server {
	t.Helper()
	b := &Server{Stored: map[string]Blob{}, blocks: map[string][]byte{}}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	for _, name := range []string{"AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_STORAGE_PROTOCOL", "AZURE_STORAGE_DOMAIN",
		"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_USERNAME",
		"AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT",
		"AZURE_TOKEN_CREDENTIALS"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir()) // no az
	t.Setenv("AZURE_STORAGE_ACCOUNT", "tests")
	t.Setenv("AZURE_AUTHORITY_HOST", b.URL)
	t.Setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", b.URL+"/nothing")
	return b
}

// Signature is the shared access signature that Shared requires. It must never be shown.
const Signature = "sv=2021-12-02&sig=very%2Fsecret%3D"

func Shared(r *http.Request) bool { return r.URL.Query().Get("sig") == "very/secret=" }

// ServeShared starts a server that requires the shared access signature, which is in the environment, and returns the URL of
// its container.
func ServeShared(t testing.TB) (container string) {
	t.Helper()
	b := Serve(t)
	b.May = Shared
	b.Share(t, Signature)
	return "azblob://logs"
}

// Share sets the environment to the server and a shared access signature.
func (b *Server) Share(t testing.TB, signature string) {
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", signature)
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	t.Setenv("AZURE_STORAGE_DOMAIN", strings.TrimPrefix(b.URL, "http://"))
}

func (b *Server) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, "/tests/logs") {
		if b.Grant == nil || !b.Grant(w, r) {
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	b.Asked = append(b.Asked, r.Method+" "+r.URL.Query().Get("comp"))
	if b.Fails > 0 {
		b.Fails--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !b.May(r) || r.Header.Get("X-Ms-Version") != "2021-12-02" {
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

func (b *Server) put(w http.ResponseWriter, r *http.Request, key string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	query := r.URL.Query()
	if _, there := b.Stored[key]; there && r.Header.Get("If-None-Match") == "*" {
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
		b.Stored[key] = Blob{whole, r.Header.Get("X-Ms-Blob-Content-Type")}
	default:
		if r.Header.Get("X-Ms-Blob-Type") != "BlockBlob" {
			refuse(w, http.StatusBadRequest, "MissingRequiredHeader")
			return
		}
		b.Stored[key] = Blob{data, r.Header.Get("X-Ms-Blob-Content-Type")}
	}
	w.WriteHeader(http.StatusCreated)
}

func (b *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	found, ok := b.Stored[key]
	if !ok {
		refuse(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	if r.Method == http.MethodDelete {
		delete(b.Stored, key)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if r.Header.Get("Accept-Encoding") != "" {
		w.Header().Set("Content-Encoding", "gzip") // which the client would undo
	}
	http.ServeContent(w, r, "", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), strings.NewReader(string(found.Data)))
}

// list lists the keys under a prefix; those that are equal up to the delimiter are one entry.
func (b *Server) list(w http.ResponseWriter, query url.Values) {
	prefix, delimiter := query.Get("prefix"), query.Get("delimiter")
	text := map[string]string{}
	for key, stored := range b.Stored {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if before, _, deep := strings.Cut(rest, delimiter); delimiter != "" && deep {
			text[prefix+before+delimiter] = fmt.Sprintf("<BlobPrefix><Name>%s</Name></BlobPrefix>", prefix+before+delimiter)
			continue
		}
		text[key] = fmt.Sprintf(`<Blob><Name Encoded="true">%s</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT</Last-Modified><Content-Length>%d</Content-Length></Properties></Blob>`,
			url.PathEscape(key), len(stored.Data))
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
