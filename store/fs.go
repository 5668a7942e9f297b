package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"straggler/bucket"
)

// fileSystem is the set of operations on a disk that the store uses. It exists so that tests can inject faults.
type fileSystem interface {
	Create(name string) (file, error) // truncates
	Open(name string) (io.ReadCloser, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Lstat(name string) (fs.FileInfo, error)
	MkdirAll(name string) error
	Mkdir(name string) error
	Rename(from, to string) error
	Link(from, to string) error // fails with fs.ErrExist when to exists
	Remove(name string) error
	RemoveAll(name string) error
	SyncDir(name string) error

	// TryLock takes an advisory lock on a file or directory, created as a file if create is set and it is missing. It returns
	// nil, nil if another process holds it.
	TryLock(name string, mode lockMode, create bool) (io.Closer, error)
}

type file interface {
	io.WriteCloser
	Sync() error
}

type lockMode int

const (
	shared    lockMode = syscall.LOCK_SH
	exclusive lockMode = syscall.LOCK_EX
)

// osFS is the operating system's file system. With noSync nothing is synced: for stores that need not survive a crash.
type osFS struct{ noSync bool }

type osFile struct {
	*os.File
	noSync bool
}

func (f osFile) Sync() error {
	if f.noSync {
		return nil
	}
	return f.File.Sync()
}

func (o osFS) Create(name string) (file, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return osFile{f, o.noSync}, nil
}

func (osFS) Open(name string) (io.ReadCloser, error)    { return os.Open(name) }
func (osFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (osFS) MkdirAll(name string) error                 { return os.MkdirAll(name, 0o777) }
func (osFS) Mkdir(name string) error                    { return os.Mkdir(name, 0o777) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Link(from, to string) error                 { return os.Link(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }
func (osFS) RemoveAll(name string) error                { return os.RemoveAll(name) }

func (o osFS) SyncDir(name string) error {
	if o.noSync {
		return nil
	}
	return bucket.SyncDir(name)
}

// maxLockTries bounds the attempts to take a lock that was removed while it was taken.
const maxLockTries = 1000

func (osFS) TryLock(name string, mode lockMode, create bool) (io.Closer, error) {
	flags := os.O_RDONLY
	if create {
		flags = os.O_RDWR | os.O_CREATE
	}
	for range maxLockTries {
		f, err := os.OpenFile(name, flags, 0o666)
		if err != nil {
			return nil, err
		}
		switch err = flock(f, mode); {
		case err == nil && isNamed(f, name):
			return f, nil // the lock is released when the file is closed or the process ends
		case err == nil:
			f.Close() // it was removed, and perhaps recreated, since it was opened: others would find another file
			continue
		}
		f.Close()
		if err == syscall.EWOULDBLOCK {
			return nil, nil
		}
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return nil, &os.PathError{Op: "lock", Path: name, Err: errors.New("it is another file every time it is looked at")}
}

func flock(f *os.File, mode lockMode) error {
	for {
		if err := syscall.Flock(int(f.Fd()), int(mode)|syscall.LOCK_NB); err != syscall.EINTR {
			return err
		}
	}
}

// isNamed reports whether an open file is the one that has the name.
func isNamed(f *os.File, name string) bool {
	mine, err := f.Stat()
	there, terr := os.Stat(name)
	return err == nil && terr == nil && os.SameFile(mine, there)
}

// linksMissing reports whether the file system has no hard links.
func linksMissing(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EMLINK)
}
