package bucket

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"straggler/bucket/location"
)

// Services that cannot be reached in tests fail before any request, and say what to set.
func TestNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	l, err := location.Parse("gs://logs/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), l); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "anonymous=true") {
		t.Errorf("gs: %v", err)
	}
	if l, err = location.Parse("ftp://logs/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), l); !errors.Is(err, location.ErrURL) {
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
