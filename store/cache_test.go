package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/bucket/s3test"
	"straggler/schema"
	"straggler/store/storetest"
)

// TestCopies: their bound, their eviction, their last use, and a full disk.
func TestCopies(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	var files []FileRecord
	for k := range schema.Key(3) {
		c := ingest(t, g.open(t), k+1, storetest.Attempts(k+1, 200))
		files = append(files, c.Tables[0].Files...)
	}
	open := func(t *testing.T, bytes int64) *objectStore {
		s, err := Open(t.Context(), g.where, Options{Cache: Cache{Dir: t.TempDir(), Bytes: bytes}, retry: fewRetries})
		if err != nil {
			t.Fatal(err)
		}
		return s.at.(*objectStore)
	}
	fetch := func(t *testing.T, at *objectStore, f ...FileRecord) (pin, error) {
		h, err := at.pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h, h.fetch(t.Context(), f)
	}
	two := files[0].Bytes + files[1].Bytes + files[2].Bytes/2
	t.Run("the oldest goes", func(t *testing.T) {
		at := open(t, two)
		for i, f := range []FileRecord{files[0], files[1], files[0], files[2]} {
			h, err := fetch(t, at, f)
			if err != nil {
				t.Fatal(err)
			}
			stamp := time.Unix(int64(i), 0) // uses far enough apart for any disk's clock
			if err := errors.Join(h.Close(), os.Chtimes(at.cache.file(f, ".used"), stamp, stamp)); err != nil {
				t.Fatal(err)
			}
		}
		if !at.cache.has(files[0]) || at.cache.has(files[1]) || !at.cache.has(files[2]) {
			t.Error("another copy was evicted")
		}
	})
	t.Run("what is read stays", func(t *testing.T) {
		at := open(t, two)
		h, err := fetch(t, at, files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fetch(t, at, files[2]); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "STRAGGLER_CACHE_BYTES") {
			t.Errorf("it says %v", err)
		}
		if _, err := os.ReadFile(h.path(files[0])); err != nil {
			t.Error(err)
		}
		h.Close()
		if _, err := fetch(t, at, files[2]); err != nil {
			t.Error(err)
		}
	})
	t.Run("the readers' directory is removed", func(t *testing.T) {
		at := open(t, 0)
		p, err := at.pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := os.RemoveAll(filepath.Join(at.cache.dir, "readers")); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- p.fetch(t.Context(), files[:1]) }()
		select {
		case err := <-done:
			if !errors.Is(err, ErrCache) {
				t.Errorf("it says %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it does not end")
		}
		if _, err := fetch(t, at, files[0]); err != nil {
			t.Errorf("the next reader: %v", err)
		}
	})
	t.Run("touched", func(t *testing.T) {
		at := open(t, 0)
		h, err := fetch(t, at, files[0])
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
		name := at.cache.file(files[0], ".parquet")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(data)
		bad[len(bad)/2] ^= 1
		if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, bad, 0o600)); err != nil {
			t.Fatal(err)
		}
		if h, err = fetch(t, at, files[0]); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(h.path(files[0])); err != nil || !bytes.Equal(got, data) {
			t.Errorf("a changed copy is used, %v", err)
		}
	})
	t.Run("a full disk", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("this system has no /dev/full, which stands for the disk")
		}
		at := open(t, 0)
		if err := os.Symlink("/dev/full", at.cache.file(files[0], ".part")); err != nil {
			t.Fatal(err)
		}
		if _, err := fetch(t, at, files[0]); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "the disk is full") ||
			!strings.Contains(err.Error(), "--cache DIR") {
			t.Errorf("it says %v", err)
		}
	})
	t.Run("a dead reader", func(t *testing.T) {
		at := open(t, two)
		h, err := fetch(t, at, files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		h.(*pinnedCopies).lock.Close() // like the end of its process
		if _, err := fetch(t, at, files[2]); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(h.(*pinnedCopies).dir); !errors.Is(err, fs.ErrNotExist) {
			t.Error("its links are left")
		}
	})
}
