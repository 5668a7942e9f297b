package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"straggler/bucket"
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
	// ErrCache is the kind of errors about the copies of a bucket's files on this machine.
	ErrCache = errors.New("the copies of the store")
	// ErrConflict is the kind of errors about a store that another writer changed meanwhile.
	ErrConflict = errors.New("the store was changed meanwhile")
)

// Options say how to open a store.
type Options struct {
	ReadOnly bool  // never create or change anything
	Cache    Cache // of a store on object storage

	fs   fileSystem // of tests; nil is the disk
	temp bool       // the directory goes when the store is closed, and nothing is synced

	retry     bucket.RetryPolicy // of tests
	impatient bool               // of tests: what nobody needs goes at once
}

// Store is a dataset. What is in it is read when it is asked for, so that several processes can use it.
type Store struct {
	at      place
	fs      fileSystem // of this machine
	staging staging
	o       Options
	commits atomic.Int64 // made through this Store, so that its engines know when to look again

	mu    sync.Mutex
	known map[int64]known // commits read before; they never change
}

// Open opens the store in a directory, or in a bucket of an object store that a URL names: s3://BUCKET/PATH, gs://…,
// azblob://…; file:///DIR is a directory that is used as a bucket is. What is missing or empty becomes a store, unless
// it is to be read only.
func Open(ctx context.Context, where string, o Options) (*Store, error) {
	s := &Store{fs: o.fs, o: o}
	if s.fs == nil {
		s.fs = osFS{quick: o.temp}
	}
	var err error
	if bucket.IsURL(where) {
		s.at, s.staging, err = openBucket(ctx, where, o)
	} else {
		s.at, s.staging, err = s.directory(where)
	}
	if err == nil {
		err = s.at.open(ctx, o.ReadOnly)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return s, nil
}

func (s *Store) directory(dir string) (place, staging, error) {
	abs, err := filepath.Abs(dir)
	return &directory{s.fs, abs}, staging{s.fs, filepath.Join(abs, "staging")}, err
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
	return s.fs.RemoveAll(s.at.show(""))
}

// Where is the store's directory or URL, as it may be shown.
func (s *Store) Where() string { return s.at.show("") }

// Input finds the visible input with a key. An input with the same key and another fingerprint is another state of the
// same log: it has grown, say.
func (s *Store) Input(ctx context.Context, key schema.Key) (InputRecord, bool, error) {
	cat, err := s.catalog(ctx)
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
func (s *Store) Inputs(ctx context.Context) ([]InputRecord, error) {
	cat, err := s.catalog(ctx)
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
func (s *Store) State(ctx context.Context) (string, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return "", err
	}
	return cat.state(), nil
}

// Result finds the visible results of a kind, nil where there are none. They are stale when their State is not the
// store's.
func (s *Store) Result(ctx context.Context, kind Kind) (*Commit, error) {
	cat, err := s.catalog(ctx)
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
