package tempfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockName is a file in each directory, on which its process holds a lock. A directory without one is not removed: it is
// somebody else's, whatever its name.
const lockName = "straggler.lock"

// Directory is a temporary directory.
type Directory struct {
	root string
	lock *os.File
}

// NewDirectory makes a directory in another, "" being the system's for temporary files, and removes those there that processes
// left behind which were killed.
func NewDirectory(parent, purpose string) (*Directory, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeLeft(parent)
	for {
		d, err := newDirectory(parent, purpose)
		if err != nil || d != nil {
			return d, err
		}
	}
}

// newDirectory returns nil if another process removed the directory before it was locked.
func newDirectory(parent, purpose string) (_ *Directory, err error) {
	root, err := os.MkdirTemp(parent, prefix+purpose+"-")
	if err != nil {
		return nil, err
	}
	d := &Directory{root: root}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.lock, err = os.OpenFile(filepath.Join(root, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	flock(d.lock, syscall.LOCK_EX) // where the file system has no locks, nobody else gets one either, and nothing is removed
	if !isNamed(d.lock) {
		return nil, d.Close()
	}
	return d, os.Mkdir(d.Path(), 0o700)
}

// Path is the directory to use, which is empty at first.
func (d *Directory) Path() string { return filepath.Join(d.root, "files") }

// Close removes the directory and what is in it.
func (d *Directory) Close() error {
	err := os.RemoveAll(d.root)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// removeLeft removes directories whose process has ended. What cannot be read or removed stays: it may be another user's.
func removeLeft(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f, err := os.OpenFile(filepath.Join(parent, e.Name(), lockName), os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil && isNamed(f) {
			os.RemoveAll(filepath.Dir(f.Name()))
		}
		f.Close()
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// isNamed reports whether an open file still has its name.
func isNamed(f *os.File) bool {
	mine, err := f.Stat()
	there, terr := os.Lstat(f.Name())
	return err == nil && terr == nil && os.SameFile(mine, there)
}
