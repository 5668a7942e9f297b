package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"

	"straggler/bucket"
	"straggler/bucket/location"
	"straggler/schema"
	"straggler/tempfile"
)

var (
	// ErrDamaged is returned when the content of a file does not match its commit.
	ErrDamaged = errors.New("damaged")
	// ErrNewer is returned when a store was written by a newer version of straggler.
	ErrNewer = errors.New("written by a newer straggler")
	// ErrNotStore is returned when a directory is not a store.
	ErrNotStore = errors.New("not a store")
	// ErrIngested is returned when an input is in the store already.
	ErrIngested = errors.New("already in the store")
	// ErrKeys is returned when two inputs have the same key.
	ErrKeys = errors.New("two inputs have the same key")
	// ErrNoCommit is returned when no ingest or result has the given id.
	ErrNoCommit = errors.New("no such ingest or result")
	// ErrCache is returned when local copies of a bucket's files cannot be created or kept.
	ErrCache = errors.New("the copies of the store")
	// ErrConflict is returned when another writer changed the store meanwhile.
	ErrConflict = errors.New("the store was changed meanwhile")
)

// Options configure how a store is opened.
type Options struct {
	ReadOnly bool  // never create or change anything
	Cache    Cache // of a store on object storage

	fs   fileSystem // for tests; nil is the operating system's
	temp bool       // the directory is removed when the store is closed, and nothing is synced

	retry   bucket.RetryPolicy // for tests
	noGrace bool               // for tests: obsolete files are removed at once
}

// Store is a dataset. Its commits are read on every call, so that several processes can use it.
type Store struct {
	at      backend
	where   string     // directory or URL, as it may be shown
	address string     // directory or URL, to open it by
	hadoop  string     // its URL for Hadoop's file systems
	fs      fileSystem // of this machine
	staging staging
	o       Options
	temp    *tempfile.Directory // of a temporary store
	base    io.Closer           // of a scratch store: keeps the files of the other store
	commits atomic.Int64        // made through this Store, so that its engines know when to renew their snapshots

	mu    sync.Mutex
	cache map[int64]cachedCommit // commits read before; they never change
}

// Open opens the store in a directory, or in a bucket that a URL names: s3://BUCKET/PATH, gs://…, azblob://…; file:///DIR is
// a directory that is used like a bucket. Unless ReadOnly is set, a missing or empty directory becomes a store.
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
		s.at, s.where, s.address, s.hadoop = b, b.url(""), where, b.hadoopURL()
		s.staging = staging{osFS{noSync: true}, filepath.Join(b.cache.dir, "staging")}
		return nil
	}
	d, err := openDirectory(s.fs, where)
	if err != nil {
		return err
	}
	s.at, s.where, s.address, s.hadoop = d, d.root, d.root, "file:"+d.root
	s.staging = staging{s.fs, d.path("staging")}
	return nil
}

// Temp creates a temporary store, which Close removes.
func Temp(ctx context.Context) (*Store, error) {
	dir, err := tempfile.NewDirectory("", "store")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s, err := Open(ctx, dir.Path(), Options{temp: true})
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	s.temp = dir
	return s, nil
}

// Close removes the directory of a temporary store. Other stores need not be closed.
func (s *Store) Close() error {
	if s.temp == nil {
		return nil
	}
	err := s.temp.Close()
	if s.base != nil {
		err = errors.Join(err, s.base.Close())
	}
	return err
}

// Unmake removes a store that Open created and to which nothing was committed, so that a failure leaves the disk unchanged.
// Writers that have opened it meanwhile recreate it.
func (s *Store) Unmake(ctx context.Context) error {
	d, ok := s.at.(*directory)
	if !ok || !d.made {
		return nil
	}
	if err := d.unmake(ctx); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Where returns the store's directory or URL, as it may be shown.
func (s *Store) Where() string { return s.where }

// Address returns the address under which other machines open the store: Where, and the parameters of a URL.
func (s *Store) Address() string { return s.address }

// path returns a file of the store as it may be shown.
func (s *Store) path(name string) string { return s.where + "/" + name }

// Input finds the visible input with a key. An input with the same key and another fingerprint is another version of the same
// log, which may have grown.
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

// Inputs returns all visible inputs, in the order of their commits.
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

// State identifies the logs that are visible now. A result commit records the state that it was computed from.
func (s *Store) State(ctx context.Context) (string, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return "", err
	}
	return cat.state(), nil
}

// SeenBy returns the inputs that have visible results of a kind and were not read again since.
func (s *Store) SeenBy(ctx context.Context, kind Kind) (map[schema.Key]bool, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	out := map[schema.Key]bool{}
	for i, c := range cat.commits {
		if !cat.visible[i] || c.Kind != kind {
			continue
		}
		for in := range cat.seen(i) {
			out[schema.Key(in.Key)] = true
		}
	}
	return out, nil
}

// Result returns the last visible result commit of a kind, nil if there is none. The results are stale when its State differs
// from the store's.
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
