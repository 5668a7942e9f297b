package bucket

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"straggler/bucket/location"
)

const (
	s3Key    = "AKIAVERYSECRETKEYID1"
	s3Secret = "averysecretaccesskeyofthetests"
)

// withoutAmazon clears what Amazon's tools would find, except the given variables.
func withoutAmazon(t *testing.T, given map[string]string) {
	t.Helper()
	all := map[string]string{"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true"}
	for _, line := range os.Environ() {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "AWS_") && all[name] == "" {
			all[name] = ""
		}
	}
	maps.Copy(all, given)
	for name, value := range all {
		t.Setenv(name, value)
	}
}

// amazon simulates a server that demands signatures, and records its requests.
type amazon struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request // without bodies
	answer   func(w http.ResponseWriter, r *http.Request) bool
}

func newAmazon(t *testing.T) *amazon {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("logs"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	a := &amazon{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		a.mu.Lock()
		a.requests = append(a.requests, r)
		answer := a.answer
		a.mu.Unlock()
		if why := unsigned(r, body); why != "" {
			t.Errorf("%s %s: %s", r.Method, r.URL, why)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answer == nil || !answer(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(a.Close)
	withoutAmazon(t, map[string]string{"AWS_ACCESS_KEY_ID": s3Key, "AWS_SECRET_ACCESS_KEY": s3Secret, "AWS_ENDPOINT_URL": a.URL})
	return a
}

// unsigned returns what is wrong with the signature of a received request
// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
func unsigned(r *http.Request, body []byte) string {
	sum := sha256.Sum256(body)
	if r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) {
		return "the body's hash is another one"
	}
	at := r.Header.Get("X-Amz-Date")
	if len(at) != len("20060102T150405Z") {
		return "it has no date"
	}
	_, names, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	text := r.Method + "\n" + r.URL.EscapedPath() + "\n" + r.URL.RawQuery + "\n"
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		text += name + ":" + value + "\n"
	}
	for name := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-amz-") && !slices.Contains(strings.Split(names, ";"), lower) {
			return name + " is not signed"
		}
	}
	text += "\n" + names + "\n" + hex.EncodeToString(sum[:])
	scope := at[:8] + "/us-east-1/s3/aws4_request"
	whole := sha256.Sum256([]byte(text))
	key := []byte("AWS4" + s3Secret)
	for _, part := range append(strings.Split(scope, "/"), "AWS4-HMAC-SHA256\n"+at+"\n"+scope+"\n"+hex.EncodeToString(whole[:])) {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	want := "AWS4-HMAC-SHA256 Credential=" + s3Key + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + hex.EncodeToString(key)
	if r.Header.Get("Authorization") != want {
		return "the signature is " + r.Header.Get("Authorization") + ", want " + want
	}
	return ""
}

func (a *amazon) open(t *testing.T, query string, retries bool) Bucket {
	t.Helper()
	l, err := location.Parse("s3://logs?" + query)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openS3(t.Context(), l, retries)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asked returns the requests since the last call.
func (a *amazon) asked() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.requests
	a.requests = nil
	return out
}

func (a *amazon) say(answer func(w http.ResponseWriter, r *http.Request) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// Each operation is signed, and objects are read back as they were put.
func TestS3(t *testing.T) {
	everyOperation(t, newAmazon(t).open(t, "", false))
}

// A large object is sent in parts, on the condition that it does not exist, with the requested encryption and checksums; one
// that cannot be completed is aborted.
func TestS3Multipart(t *testing.T) {
	a := newAmazon(t)
	b := a.open(t, "ssetype=aws:kms&kmskeyid=k&request_checksum_calculation=when_supported", false)
	large := bytes.Repeat([]byte("0123456789abcdef"), (2*PartBytes+PartBytes/2)/16)
	var completed string
	a.say(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			completed = string(body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		return false
	})
	if err := b.Write(t.Context(), "large", "", bytes.NewReader(large), true); err != nil {
		t.Fatal(err)
	}
	requests := a.asked()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	begin, end := requests[0], requests[4]
	if begin.Header.Get("X-Amz-Server-Side-Encryption") != "aws:kms" || begin.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") != "k" || begin.Header.Get("X-Amz-Checksum-Algorithm") != "CRC32" {
		t.Errorf("the first request has the header %v", begin.Header)
	}
	if end.Header.Get("If-None-Match") != "*" {
		t.Errorf("the last request has the header %v", end.Header)
	}
	var list struct{ Part []s3Part }
	if err := xml.Unmarshal([]byte(completed), &list); err != nil || len(list.Part) != 3 {
		t.Fatalf("%v: %s", err, completed)
	}
	for i, p := range list.Part {
		part := large[i*PartBytes : min((i+1)*PartBytes, len(large))]
		if p.PartNumber != i+1 || p.ETag == "" || p.ChecksumCRC32 != checksum(part) {
			t.Errorf("part %d: %+v", i, p)
		}
	}
	for _, r := range requests[1:4] {
		if r.Header.Get(checksumHeader) == "" {
			t.Errorf("a part has no checksum: %v", r.Header)
		}
	}
	const refusal = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>InternalError</Code><Message>try again</Message></Error>`
	for what, answer := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"a part": func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("partNumber") != "2" {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, refusal)
			return true
		},
		"the end, with the status 200": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
				return false
			}
			fmt.Fprint(w, refusal)
			return true
		},
	} {
		a.say(answer)
		a.asked()
		err := b.Write(t.Context(), "broken", "", bytes.NewReader(large), true)
		if f := Explain(err, "logs", location.Hints{}); err == nil || !errors.Is(f, ErrBroken) || !strings.Contains(f.Error(), "InternalError") {
			t.Errorf("%s: %v", what, f)
		}
		requests := a.asked()
		if last := requests[len(requests)-1]; last.Method != http.MethodDelete || !last.URL.Query().Has("uploadId") {
			t.Errorf("%s: the last request is %s %s", what, last.Method, last.URL)
		}
	}
	a.say(nil)
	if _, err := b.Stat(t.Context(), "broken"); err == nil {
		t.Error("the object of a failed write exists")
	}
}

// The check value of CRC-32 is that of "123456789" (reveng.sourceforge.io/crc-catalogue).
func TestChecksum(t *testing.T) {
	if got := checksum([]byte("123456789")); got != "y/Q5Jg==" {
		t.Error(got)
	}
}

// Public objects are requested without a key, even if there is one.
func TestS3Anonymous(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said := r.Header.Get("Authorization"); said != "" {
			t.Errorf("its authorization is %s", said)
		}
		fmt.Fprint(w, "public")
	}))
	defer server.Close()
	withoutAmazon(t, map[string]string{"AWS_ACCESS_KEY_ID": s3Key, "AWS_SECRET_ACCESS_KEY": s3Secret})
	l, err := location.Parse("s3://logs?anonymous=true&endpoint=" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := b.Stat(t.Context(), "x"); err != nil || o.Size != int64(len("public")) {
		t.Errorf("%+v %v", o, err)
	}
}

// Transient errors are retried as often as the settings say, and only if the caller does not retry; others are not.
func TestS3Retries(t *testing.T) {
	a := newAmazon(t)
	t.Setenv("AWS_MAX_ATTEMPTS", "2")
	for status, want := range map[int]map[bool]int{http.StatusServiceUnavailable: {false: 1, true: 2}, http.StatusForbidden: {false: 1, true: 1}} {
		for retries, n := range want {
			a.say(func(w http.ResponseWriter, r *http.Request) bool { w.WriteHeader(status); return true })
			_, err := a.open(t, "", retries).Stat(t.Context(), "x")
			if got := len(a.asked()); got != n || err == nil {
				t.Errorf("%d, retries %v: %d requests, want %d; %v", status, retries, got, n, err)
			}
		}
	}
}

// A server's message is kept: its code, and the location of the bucket.
func TestS3Refusals(t *testing.T) {
	a := newAmazon(t)
	b := a.open(t, "", false)
	a.say(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-Amz-Bucket-Region", "eu-west-9")
		w.Header().Set("Location", a.URL+"/elsewhere")
		w.WriteHeader(http.StatusMovedPermanently)
		fmt.Fprint(w, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>")
		return true
	})
	_, _, err := b.Page(t.Context(), "", "", "", 1)
	l, perr := location.Parse("s3://logs")
	if perr != nil {
		t.Fatal(perr)
	}
	if f := Explain(err, "logs", l.Hints()); !errors.Is(f, ErrBroken) ||
		!strings.Contains(f.Error(), "PermanentRedirect: elsewhere; the bucket is in the region eu-west-9") || !strings.Contains(f.Error(), "AWS_REGION") {
		t.Errorf("another region: %v", f)
	}
	a.say(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "<html>a proxy's page")
		return true
	})
	_, err = b.Read(t.Context(), "x", 0, -1)
	if f := Explain(err, "logs", l.Hints()); !errors.Is(f, ErrBroken) || !strings.Contains(f.Error(), "503 Service Unavailable") {
		t.Errorf("a server of another protocol: %v", f)
	}
	a.say(nil)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	b = a.open(t, "", false)
	if _, err := b.Stat(t.Context(), "x"); !errors.Is(Explain(err, "logs", l.Hints()), fs.ErrPermission) {
		t.Errorf("without a key: %v", err)
	}
}

// What is no listing is not an empty bucket, and a listing that does not advance ends.
func TestS3Listings(t *testing.T) {
	a := newAmazon(t)
	b := a.open(t, "", false)
	for body, want := range map[string]string{
		"<html>log in first</html>":                                                             "expected element type <ListBucketResult> but have <html>",
		"<Error><Code>AccessDenied</Code></Error>":                                              "but have <Error>",
		"<ListBucketResult><Contents><Key>a</Key></Contents>":                                   "unexpected EOF",
		"<ListBucketResult><NextContinuationToken>1</NextContinuationToken></ListBucketResult>": "repeats a page",
	} {
		a.say(func(w http.ResponseWriter, r *http.Request) bool { fmt.Fprint(w, body); return true })
		_, err := List(b, Listing{}, func(page func(context.Context) error) error { return page(t.Context()) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// Authorities named by AWS_CA_BUNDLE are trusted, and then no others.
func TestS3Authorities(t *testing.T) {
	withoutAmazon(t, nil)
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	name := filepath.Join(t.TempDir(), "authorities.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	get := func() error {
		transport, err := s3Transport()
		if err != nil {
			return err
		}
		r, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err == nil {
			r.Body.Close()
		}
		return err
	}
	if err := get(); err == nil {
		t.Error("a server of an unknown authority is trusted")
	}
	t.Setenv("AWS_CA_BUNDLE", name)
	if err := get(); err != nil {
		t.Error(err)
	}
	t.Setenv("AWS_CA_BUNDLE", os.DevNull)
	if err := get(); err == nil || !strings.Contains(err.Error(), "AWS_CA_BUNDLE") {
		t.Errorf("no certificate: %v", err)
	}
}
