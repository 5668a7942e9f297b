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
	"straggler/bucket/location"
	"straggler/schema"
)

var (
	// ErrDamaged is returned when a file is not what it should be.
	ErrDamaged = errors.New("damaged")
	// ErrNewer is returned when a store was written by a later straggler.
	ErrNewer = errors.New("written by a newer straggler")
	// ErrNotStore is returned when a directory is no store.
	ErrNotStore = errors.New("not a store")
	// ErrIngested is returned when an input is in the store already.
	ErrIngested = errors.New("already in the store")
	// ErrKeys is returned when two inputs have the same key.
	ErrKeys = errors.New("two inputs have the same key")
	// ErrNoCommit is returned when nothing in the store has an id.
	ErrNoCommit = errors.New("no such ingest or result")
	// ErrCache is returned when the copies of a bucket's files on this machine cannot be made or kept.
	ErrCache = errors.New("the copies of the store")
	// ErrConflict is returned when another writer changed the store meanwhile.
	ErrConflict = errors.New("the store was changed meanwhile")
)

// Options say how to open a store.
type Options struct {
	ReadOnly bool  // never create or change anything
	Cache    Cache // of a store on object storage

	fs   fileSystem // of tests; nil is the disk
	temp bool       // the directory goes when the store is closed, and nothing is synced

	retry   bucket.RetryPolicy // of tests
	noGrace bool               // of tests: what nobody needs goes at once
}

// Store is a dataset. What is in it is read when it is asked for, so that several processes can use it.
type Store struct {
	at      backend
	where   string     // directory or URL, as it may be shown
	hadoop  string     // the same as other machines find it, in the words of Hadoop
	fs      fileSystem // of this machine
	staging staging
	o       Options
	commits atomic.Int64 // made through this Store, so that its engines know when to look again

	mu    sync.Mutex
	cache map[int64]cachedCommit // commits read before; they never change
}

// Open opens the store in a directory, or in a bucket of an object store that a URL names: s3://BUCKET/PATH, gs://…,
// azblob://…; file:///DIR is a directory that is used as a bucket is. What is missing or empty becomes a store, unless
// it is to be read only.
func Open(ctx context.Context, where string, o Options) (*Store, error) {
	s := &Store{fs: o.fs, o: o}
	if s.fs == nil {
		s.fs = osFS{noSync: o.temp}
	}
	err := s.openBackend(ctx, where)
	if err == nil {
		err = s.at.init(ctx, o.ReadOnly)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return s, nil
}

func (s *Store) openBackend(ctx context.Context, where string) error {
	if location.IsURL(where) {
		b, err := openBucket(ctx, where, s.o)
		if err != nil {
			return err
		}
		s.at, s.where, s.hadoop = b, b.url(""), b.hadoopURL()
		s.staging = staging{osFS{noSync: true}, filepath.Join(b.cache.dir, "staging")}
		return nil
	}
	d, err := openDirectory(s.fs, where)
	if err != nil {
		return err
	}
	s.at, s.where, s.hadoop = d, d.root, "file:"+d.root
	s.staging = staging{s.fs, d.path("staging")}
	return nil
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
	return s.fs.RemoveAll(s.where)
}

// Where is the store's directory or URL, as it may be shown.
func (s *Store) Where() string { return s.where }

// path is a file of the store as it may be shown.
func (s *Store) path(name string) string { return s.where + "/" + name }

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

// Result finds the last commit of the visible results of a kind, nil where there are none. They are stale when its State is not
// the store's.
func (s *Store) Result(ctx context.Context, kind Kind) (*Commit, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	if visible := cat.visibleOf(kind); len(visible) > 0 {
		found := *visible[len(visible)-1]
		return &found, nil
	}
	return nil, nil
}
