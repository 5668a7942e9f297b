package location

import (
	"errors"
	"net/url"
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
