package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// backend is where a store lies: a directory of this machine (dir.go) or a bucket of an object store (bucket.go). Names are
// relative to the store and have slashes. Errors wrap those of package fs where one fits, and hold no secret.
type backend interface {
	// init finds the store, or makes it unless it is only to be read.
	init(ctx context.Context, readOnly bool) error

	// list returns the files below a directory, in the order of their names.
	list(ctx context.Context, dir string) ([]fileInfo, error)
	// open reads a file with the given size in bytes.
	open(ctx context.Context, name string, bytes int64) (io.ReadCloser, error)
	// put moves files from a local directory into the store, whole and durably. After an error it reports which of them are in
	// the store.
	put(ctx context.Context, files []upload) (stored []string, err error)
	// create makes a small file that must not exist yet, atomically. It fails with fs.ErrExist when another writer has made
	// it. With an error, visible reports that the file may exist all the same. Draft is a local path that may be used for a
	// temporary file.
	create(ctx context.Context, name string, data []byte, draft string) (visible bool, err error)
	remove(ctx context.Context, name string) error
	// sync makes the removals of commits durable, those of earlier processes too.
	sync() error

	// lock keeps other writers from beginning and committing, on backends that have locks. The store does not depend on it:
	// of two writers that create the same commit one fails and retries.
	lock(ctx context.Context) (unlock func(), err error)
	// registerWriter records that a writer is active, so that its files are not taken for orphans. Its id is part of their
	// names, so that two writers of the same ingest do not overwrite each other; "" where the lock prevents that.
	registerWriter(ctx context.Context) (id string, err error)
	unregisterWriter(ctx context.Context, id string) error

	// orphans lists the files that no commit names and that no active writer is about to name. Unless thorough is set, it
	// looks only when there are signs of dead writers.
	orphans(ctx context.Context, named map[string]bool, thorough bool) ([]string, error)
	// collectable chooses which of the obsolete commits may be removed now, and blocks new readers until release is called;
	// postponed reports that other commits have to wait.
	collectable(ctx context.Context, cat *catalog) (obsolete []*Commit, postponed bool, release func(), err error)
	// pin protects the files that commits name now from removal, until it is closed.
	pin(ctx context.Context) (pin, error)
}

// fileInfo is a file of a store.
type fileInfo struct {
	name     string
	size     int64
	modified time.Time // by the clock of the backend
	regular  bool      // not a link, for one
}

// upload is a local file to be put into the store.
type upload struct {
	from string // a path of this machine
	file FileRecord
}

// pin gives access to the files of a store.
type pin interface {
	// path is the local path of a file that has been fetched.
	path(f FileRecord) string
	// remote reports that files are fetched over a network, so that callers fetch only what they need.
	remote() bool
	// fetch makes sure that files are on this machine and match their commit.
	fetch(ctx context.Context, files []FileRecord) error
	Close() error
}

// tableFiles lists the files of the tables.
func tableFiles(ctx context.Context, at backend) ([]fileInfo, error) {
	files, err := at.list(ctx, "tables")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return files, nil
}

// readFile reads a small file.
func readFile(ctx context.Context, at backend, f fileInfo) ([]byte, error) {
	r, err := at.open(ctx, f.name, f.size)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, f.size+bytes.MinRead))
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}
