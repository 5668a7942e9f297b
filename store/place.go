package store

import (
	"context"
	"io"
	"time"
)

// place is where a store lies: a directory of this machine (dir.go) or a bucket of an object store (bucket.go). Names
// are relative to the store and have slashes. Errors are of the kinds of package fs where one fits, and hold no secret.
type place interface {
	// show names a file, or the store itself with "", for people.
	show(name string) string
	// cluster names the store as other machines find it, in the words of Hadoop.
	cluster() string
	// check looks at files before an engine reads them where they lie: one that trips over a missing or shortened file can
	// not say what to do. It looks at none where that takes long.
	check(ctx context.Context, files []FileRecord) error
	// open finds the store, or makes it unless it is only to be read.
	open(ctx context.Context, readOnly bool) error

	// list gives the files below a directory, in the order of their names.
	list(ctx context.Context, dir string) ([]entry, error)
	stat(ctx context.Context, name string) (entry, error)
	read(ctx context.Context, name string) ([]byte, error)
	stream(ctx context.Context, f FileRecord) (io.ReadCloser, error)
	remove(ctx context.Context, name string) error

	// put takes files out of a directory of this machine to where they stay, whole and lasting. After an error it tells
	// which are there.
	put(ctx context.Context, files []upload) (there []string, err error)
	// create makes a small file that must not exist yet: an error of kind fs.ErrExist says that it does, and then
	// somebody else has made it. It is there whole or not at all. With an error, visible tells that it may be there all
	// the same. Draft is a file of this machine that may be used on the way.
	create(ctx context.Context, name string, data []byte, draft string) (visible bool, err error)

	// begin and commit keep other writers out where the place can do that, and where it can not, the store does not
	// depend on it: of two who create the same commit one fails and looks again.
	begin(ctx context.Context) (unlock func(), err error)
	commit(ctx context.Context) (unlock func(), err error)
	// enroll and leave mark the time in which a writer works, so that what it has put is not taken for a dead one's.
	enroll(ctx context.Context, writer string) error
	leave(ctx context.Context, writer string) error

	// leftovers lists the files of dead writers, other than those in use. Unless thorough, only when there are signs of
	// dead writers.
	leftovers(ctx context.Context, used map[string]bool, thorough bool) ([]string, error)
	// expendable chooses, of commits that nothing is visible of, those that may go now, and keeps readers away until
	// release; postponed says that others have to wait.
	expendable(ctx context.Context, cat *catalog) (dead []*Commit, postponed bool, release func(), err error)
	// barrier makes all removals so far lasting.
	barrier() error

	// hold keeps the files that commits name now from being removed for who reads them, until it is closed.
	hold(ctx context.Context) (holding, error)

	// writer is a new name for a writer, which keeps the files of two who write the same ingest at once apart; "" where
	// they can not.
	writer() string
}

// entry is a file of a place.
type entry struct {
	name     string
	size     int64
	modified time.Time // by the clock of the place
	plain    bool      // a file, and not a link or a directory
}

// upload is a file on its way from this machine into the store.
type upload struct {
	from string // a path of this machine
	file FileRecord
}

// holding is what an engine reads a store through.
type holding interface {
	// path is where on this machine the engine finds a file.
	path(f FileRecord) string
	// far says that files have to be fetched, so that only those that are needed should be.
	far() bool
	// fetch sees that files are on this machine and as their commit says.
	fetch(ctx context.Context, files []FileRecord) error
	Close() error
}
