package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/bucket"
	"straggler/bucket/azuretest"
	"straggler/bucket/googletest"
	"straggler/bucket/s3test"
)

// fewRetries is for tests with many refused requests.
var fewRetries = bucket.RetryPolicy{Tries: 3, Pause: time.Millisecond, Stall: time.Minute}

// ground is the location of a test's store, in one of the ways.
type ground struct {
	where  string
	server *s3test.Server // nil without
	dir    string         // "" without
}

// grounds lists all ways: each creates an empty location.
var grounds = []struct {
	name string
	make func(t *testing.T) ground
}{
	{"a directory", func(t *testing.T) ground {
		dir := filepath.Join(fastDir(t), "store")
		return ground{where: dir, dir: dir}
	}},
	{"a directory as a bucket", func(t *testing.T) ground {
		dir := filepath.Join(fastDir(t), "bucket")
		return ground{where: "file://" + dir, dir: dir}
	}},
	{"a bucket", func(t *testing.T) ground { return ground{where: "s3://lakes/team/lake", server: s3test.Serve(t)} }},
	{"a bucket of Cloud Storage", func(t *testing.T) ground {
		googletest.ServeEmulator(t)
		return ground{where: "gs://logs/team/lake"}
	}},
	{"a container of Blob Storage", func(t *testing.T) ground {
		return ground{where: azuretest.ServeShared(t) + "/team/lake"}
	}},
}

// onEachGround checks a law on every ground.
func onEachGround(t *testing.T, law func(t *testing.T, g ground)) {
	for _, g := range grounds {
		t.Run(g.name, func(t *testing.T) {
			t.Setenv("STRAGGLER_CACHE", t.TempDir())
			law(t, g.make(t)) // its own: a test may run many times
		})
	}
}

// inDirectory reports whether it is a directory that is used as one.
func (g ground) inDirectory() bool { return !strings.Contains(g.where, "://") }

// open opens the store; obsolete files are removed at once, as in a directory.
func (g ground) open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), g.where, Options{fs: osFS{noSync: true}, noGrace: true, retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read returns the content of a file.
func (g ground) read(t testing.TB, s *Store, name string) ([]byte, error) {
	if g.dir != "" {
		return os.ReadFile(filepath.Join(g.dir, name))
	}
	return s.at.(*objectStore).readAll(t.Context(), name)
}

// change changes the content of a file; nil removes it.
func (g ground) change(t testing.TB, s *Store, name string, to func([]byte) []byte) {
	t.Helper()
	data, err := g.read(t, s, name)
	if err != nil {
		t.Fatal(err)
	}
	data = to(data)
	switch {
	case data == nil:
		err = s.at.remove(t.Context(), name)
	case g.dir != "":
		err = errors.Join(os.Remove(filepath.Join(g.dir, name)), os.WriteFile(filepath.Join(g.dir, name), data, 0o666))
	default:
		err = writeObject(t, s, name, string(data))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeObject puts an object into the bucket of a store, as another writer would.
func writeObject(t testing.TB, s *Store, name, data string) error {
	t.Helper()
	at := s.at.(*objectStore)
	return at.bucket.Write(t.Context(), at.key(name), "x", strings.NewReader(data), false)
}
