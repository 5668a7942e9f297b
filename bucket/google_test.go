package bucket

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"

	"straggler/bucket/googletest"
	"straggler/bucket/location"
)

// openGoogleTest opens the bucket of a server.
func openGoogleTest(t *testing.T, c *googletest.Server) Bucket {
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

// Each operation carries a token, the condition is Google's own, and objects are read back as they were put.
func TestGoogle(t *testing.T) {
	c := googletest.Serve(t)
	b := openGoogleTest(t, c)
	everyOperation(t, b)
	if c.Puts.Load() != 2 || c.Tokens.Load() != 1 {
		t.Errorf("%d puts on a condition, %d tokens", c.Puts.Load(), c.Tokens.Load())
	}
}

// everyOperation tests what holds for any empty bucket.
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
		t.Errorf("writing to an existing object: %v", err)
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
		t.Errorf("a large object: %d bytes, %v", len(got), err)
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
			t.Errorf("%s of a missing object: %v", what, err)
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

// An object stored as gzip is returned as it is stored, with the length that is listed.
func TestGoogleStoredAsGzip(t *testing.T) {
	c := googletest.Serve(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bytes.Repeat([]byte("log "), 1000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	c.StoreGzip("/logs/packed", packed.Bytes())
	r, err := openGoogleTest(t, c).Read(t.Context(), "packed", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); !bytes.Equal(got, packed.Bytes()) || err != nil || r.Size != int64(packed.Len()) {
		t.Errorf("%d bytes of %d, %v; its size is %d", len(got), packed.Len(), err, r.Size)
	}
}

// An account for which Google issues no token, and a bucket that requires one, are reported as refusals, with what to set and
// without secrets.
func TestGoogleRefuses(t *testing.T) {
	c := googletest.Serve(t)
	l, err := location.Parse("gs://logs")
	if err != nil {
		t.Fatal(err)
	}
	c.Refuses.Store(true)
	_, err = openGoogleTest(t, c).Stat(t.Context(), "x")
	if f := Explain(err, "logs", l.Hints()); !errors.Is(f, fs.ErrPermission) || !f.Final() ||
		!strings.Contains(f.Error(), "invalid_grant") || !strings.Contains(f.Error(), "gcloud auth") {
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
