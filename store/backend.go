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

	// list gives the files below a directory, in the order of their names.
	list(ctx context.Context, dir string) ([]fileInfo, error)
	// open reads a file that has so many bytes.
	open(ctx context.Context, name string, bytes int64) (io.ReadCloser, error)
	// put takes files out of a directory of this machine into the store, whole and durable. After an error it says which
	// are in the store.
	put(ctx context.Context, files []upload) (stored []string, err error)
	// create makes a small file that must not exist yet, whole or not at all. fs.ErrExist is returned when it does, and then
	// somebody else has made it. With an error, visible says that it may be there all the same. Draft is a file of this
	// machine that may be used on the way.
	create(ctx context.Context, name string, data []byte, draft string) (visible bool, err error)
	remove(ctx context.Context, name string) error
	// sync makes the removals of commits durable, those of earlier processes too.
	sync() error

	// lock keeps other writers from beginning and committing, where the backend can do that. Where it cannot, the store
	// does not depend on it: of two who create the same commit one fails and looks again.
	lock(ctx context.Context) (unlock func(), err error)
	// registerWriter marks the time in which a writer works, so that what it has put is not taken for an orphan. Its id is in
	// the names of its files, so that two who write the same ingest at once do not overwrite each other; "" where the lock
	// does that.
	registerWriter(ctx context.Context) (id string, err error)
	unregisterWriter(ctx context.Context, id string) error

	// orphans lists the files that no commit names and no living writer can be about to name. Unless thorough, only when
	// there are signs of dead writers.
	orphans(ctx context.Context, named map[string]bool, thorough bool) ([]string, error)
	// collectable chooses, of the commits that nothing is visible of, those that may be removed now, and keeps readers away
	// until release; postponed says that others have to wait.
	collectable(ctx context.Context, cat *catalog) (obsolete []*Commit, postponed bool, release func(), err error)
	// pin keeps the files that commits name now from being removed, until it is closed.
	pin(ctx context.Context) (pin, error)
}

// fileInfo is a file of a store.
type fileInfo struct {
	name     string
	size     int64
	modified time.Time // by the clock of the backend
	regular  bool      // not a link, for one
}

// upload is a file on its way from this machine into the store.
type upload struct {
	from string // a path of this machine
	file FileRecord
}

// pin is what the files of a store are read through.
type pin interface {
	// path is where on this machine a file is, once it was fetched.
	path(f FileRecord) string
	// remote says that files have to be fetched over a network, so that only those that are needed should be.
	remote() bool
	// fetch sees that files are on this machine and as their commit says.
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
