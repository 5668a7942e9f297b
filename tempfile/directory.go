package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockName is a file in each directory, on which its process holds a lock. A directory without one is not removed: it is
// somebody else's, whatever its name.
const lockName = "straggler.lock"

// ownPrefix begins the name of the directory that has the temporary directories of one user; the user's number ends it.
const ownPrefix = prefix + "uid-"

// Directory is a temporary directory.
type Directory struct {
	root string // in the user's own directory, or in the parent
	lock *os.File
}

// NewDirectory makes a directory in another, "" being the system's for temporary files, and removes those there that processes
// of this user left behind which were killed.
func NewDirectory(parent, purpose string) (*Directory, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	for {
		in := own(parent)
		removeLeft(in)
		d, err := newDirectory(in, purpose)
		if in != parent && errors.Is(err, fs.ErrNotExist) {
			continue // another process had no more directories there, and removed it
		}
		if err != nil || d != nil {
			return d, err
		}
	}
}

// own makes and returns the subdirectory for the directories of this user. Looking for those that were left behind lists them
// all, and must not take time that grows with what other programs have in the parent. Where the subdirectory cannot be made, or
// another user could change what is in it, own returns the parent.
func own(parent string) string {
	name := filepath.Join(parent, ownPrefix+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return parent
	}
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile: NewDirectory tries again
		return name
	case err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0:
		return parent
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() {
		return parent
	}
	return name
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

// Path returns the directory to use, which is empty at first.
func (d *Directory) Path() string { return filepath.Join(d.root, "files") }

// Close removes the directory and what is in it, and the user's own directory after the last one there.
func (d *Directory) Close() error {
	err := os.RemoveAll(d.root)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	if in := filepath.Dir(d.root); strings.HasPrefix(filepath.Base(in), ownPrefix) {
		syscall.Rmdir(in) // which fails as long as there are others
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
