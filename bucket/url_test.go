package bucket

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// What a URL says comes back from it; what a file URL names is a directory.
func TestParse(t *testing.T) {
	for text, want := range map[string]Location{
		"s3://b/a%20b/c#d/":       {Scheme: "s3", Host: "b", Path: "a%20b/c#d"},
		"S3://b":                  {Scheme: "s3", Host: "b"},
		"file:///tmp/lake/":       {Scheme: "file", Path: "/tmp/lake"},
		"file://localhost/a b":    {Scheme: "file", Path: "/a b"},
		"gs://b/x?anonymous=true": {Scheme: "gs", Host: "b", Path: "x", Query: url.Values{"anonymous": {"true"}}},
	} {
		got, err := Parse(text)
		if err != nil || got.Scheme != want.Scheme || got.Host != want.Host || got.Path != want.Path || got.Query.Encode() != want.Query.Encode() {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := Parse(got.String()); err != nil || again.String() != got.String() || strings.Contains(got.String(), "?") {
			t.Errorf("%s is shown as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"s3:b", "s3://", "s3://key:secret@b/x", "s3://b:90/x", "file://host/x", "s3://b?%zz", "s3://b?endpoint=http://u:secret@h"} {
		if _, err := Parse(text); !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"s3://b/k?region=r", "file:///x", "s3://key:secret@b/x", "gs://", "azblob://a/b?%zz", "s3://k:1/s@b?endpoint=http://u:p@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrURL) {
				t.Errorf("%v", err)
			}
			return
		}
		if strings.Contains(l.Host, "@") || strings.HasSuffix(l.Path, "/") && l.Path != "/" || hints[l.Scheme] != (Hints{}) && l.Host == "" {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

// The clouds that cannot be asked here refuse before they are asked, and say what to set.
func TestNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	l, err := Parse("gs://logs/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "anonymous=true") {
		t.Errorf("gs: %v", err)
	}
	if l, err = Parse("ftp://logs/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), l); !errors.Is(err, ErrURL) {
		t.Errorf("ftp: %v", err)
	}
}

func TestClean(t *testing.T) {
	const secretKey = "averysecretaccesskeyofthetests"
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=abcdef")
	for text, want := range map[string]string{
		`Get "https://h/b/k?X-Amz-Signature=1&x=2": EOF`: `Get "https://h/b/k": EOF`,
		"ftp://user:word@h:1/x failed":                   "ftp://h:1/x failed",
		"the key\n  " + secretKey + " is wrong":          "the key … is wrong",
		"GET ?sv=1&sig=abcdef":                           "GET ?…",
		strings.Repeat("é", 400):                         strings.Repeat("é", 150) + "…",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// What is set by hand is never changed; a server that is not Amazon's gets what it needs.
func TestParametersS3(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_REQUEST_CHECKSUM_CALCULATION"} {
		t.Setenv(name, "")
	}
	if got := parametersS3(url.Values{}).Encode(); got != "response_checksum_validation=when_required" {
		t.Errorf("Amazon's own: %s", got)
	}
	if got := parametersS3(url.Values{"endpoint": {"http://h"}}); got.Get("use_path_style") != "true" || got.Get("region") == "" || got.Get("request_checksum_calculation") != "when_required" {
		t.Errorf("another server: %v", got)
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://h")
	given := url.Values{"use_path_style": {"false"}, "region": {"here"}}
	if got := parametersS3(given); got.Get("use_path_style") != "false" || got.Get("region") != "here" || len(given) != 2 {
		t.Errorf("set by hand: %v, given %v", got, given)
	}
	t.Setenv("AWS_REGION", "there")
	if got := parametersS3(url.Values{}); got.Has("region") {
		t.Errorf("region from the environment: %v", got)
	}
}
