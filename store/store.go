package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"straggler/schema"
)

var (
	// ErrDamaged is the kind of errors about files that are not what they should be.
	ErrDamaged = errors.New("damaged")
	// ErrNewer is the kind of errors about stores written by a later straggler.
	ErrNewer = errors.New("written by a newer straggler")
	// ErrNotStore is the kind of errors about directories that are no store.
	ErrNotStore = errors.New("not a store")
	// ErrIngested is the kind of errors about inputs that are in the store already.
	ErrIngested = errors.New("already in the store")
	// ErrKeys is the kind of errors about two inputs that have got the same key.
	ErrKeys = errors.New("two inputs have the same key")
	// ErrNoCommit is the kind of errors about an id that nothing in the store has.
	ErrNoCommit = errors.New("no such ingest or result")
	// ErrConflict is the kind of errors about a store that another writer changed meanwhile.
	ErrConflict = errors.New("the store was changed meanwhile")
)

// Options say how to open a store.
type Options struct {
	ReadOnly bool // never create or change anything

	fs   fileSystem // of tests; nil is the disk
	temp bool       // the directory goes when the store is closed, and nothing is synced
}

// Store is a dataset on disk. What is in it is read when it is asked for, so that several processes can use it.
type Store struct {
	dir     string
	fs      fileSystem
	o       Options
	commits atomic.Int64 // made through this Store, so that its engines know when to look again

	mu    sync.Mutex
	known map[int64]known // commits read before; they never change
}

// Open opens the store in a directory. A directory that is missing or empty becomes a store, unless it is to be read only.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{dir: abs, fs: o.fs, o: o}
	if s.fs == nil {
		s.fs = osFS{quick: o.temp}
	}
	if _, err := s.fs.ReadDir(s.path("commits")); err == nil {
		return s, ctx.Err()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	if o.ReadOnly {
		return nil, fmt.Errorf("store: %s: %w: it has no directory 'commits'; make one with straggler ingest", dir, ErrNotStore)
	}
	entries, err := s.fs.ReadDir(abs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries { // left by a process that was killed while it made the store, or made by one that makes it now
		if e.Name() != "tables" && e.Name() != "staging" && e.Name() != "commits" {
			return nil, fmt.Errorf("store: %s: %w, and it holds other files, such as %q; name a new directory", dir, ErrNotStore, e.Name())
		}
	}
	for _, name := range []string{"tables", "staging", "commits"} {
		if err := s.fs.MkdirAll(s.path(name)); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	for _, name := range []string{abs, filepath.Dir(abs)} {
		if err := s.fs.SyncDir(name); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	return s, ctx.Err()
}

// Temp makes a store that lives until it is closed.
func Temp(ctx context.Context) (*Store, error) {
	dir, err := os.MkdirTemp("", "straggler-")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s, err := Open(ctx, dir, Options{temp: true})
	if err != nil {
		os.RemoveAll(dir)
	}
	return s, err
}

// Close removes the directory of a temporary store. Other stores need no closing, but may be.
func (s *Store) Close() error {
	if !s.o.temp {
		return nil
	}
	return s.fs.RemoveAll(s.dir)
}

// Dir is the store's directory.
func (s *Store) Dir() string { return s.dir }

// Input finds the visible input with a key. An input with the same key and another fingerprint is another state of the
// same log: it has grown, say.
func (s *Store) Input(key schema.Key) (InputRecord, bool, error) {
	cat, err := s.catalog()
	if err != nil {
		return InputRecord{}, false, err
	}
	for in := range cat.inputs {
		if in.Key == KeyText(key) {
			return in, true, nil
		}
	}
	return InputRecord{}, false, nil
}

// Inputs are all visible inputs, in the order in which they came.
func (s *Store) Inputs() ([]InputRecord, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	var out []InputRecord
	for in := range cat.inputs {
		out = append(out, in)
	}
	return out, nil
}

// State names the logs that are visible now. A result commit carries the state it was computed from.
func (s *Store) State() (string, error) {
	cat, err := s.catalog()
	if err != nil {
		return "", err
	}
	return cat.state(), nil
}

// Result finds the visible results of a kind, nil where there are none. They are stale when their State is not the
// store's.
func (s *Store) Result(kind Kind) (*Commit, error) {
	cat, err := s.catalog()
	if err != nil {
		return nil, err
	}
	for i, c := range cat.commits {
		if cat.alive[i] && c.Kind == kind {
			found := *c
			return &found, nil
		}
	}
	return nil, nil
}

func (s *Store) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// linksMissing says that the file system has no hard links.
func linksMissing(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EMLINK)
}
