package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/bucket"
	"straggler/bucket/s3test"
)

// fewRetries is for tests that are refused often.
var fewRetries = bucket.RetryPolicy{Tries: 3, Pause: time.Millisecond, Stall: time.Minute}

// ground is where a store of a test lies, in one of the ways.
type ground struct {
	name   string
	where  string
	server *s3test.Server // nil without
	dir    string         // "" without
}

// grounds are all ways, each with nothing in it.
func grounds(t *testing.T) []ground {
	t.Helper()
	dir, bucketDir := filepath.Join(fastDir(t), "store"), filepath.Join(fastDir(t), "bucket")
	return []ground{
		{name: "a directory", where: dir, dir: dir},
		{name: "a directory as a bucket", where: "file://" + bucketDir, dir: bucketDir},
		{name: "a bucket", where: "s3://lakes/team/lake", server: s3test.Serve(t)},
	}
}

// onEachGround holds a law everywhere.
func onEachGround(t *testing.T, law func(t *testing.T, g ground)) {
	for i, g := range grounds(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Setenv("STRAGGLER_CACHE", t.TempDir())
			law(t, grounds(t)[i]) // its own: a test may run many times
		})
	}
}

// open opens the store; what nobody needs goes at once, as it does in a directory.
func (g ground) open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), g.where, Options{fs: osFS{noSync: true}, noGrace: true, retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read gives what a file holds.
func (g ground) read(t testing.TB, s *Store, name string) ([]byte, error) {
	if g.dir != "" {
		return os.ReadFile(filepath.Join(g.dir, name))
	}
	return s.at.(*objectStore).readAll(t.Context(), name)
}

// change changes what a file holds; nil removes it.
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
