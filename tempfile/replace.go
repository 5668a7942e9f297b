package tempfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// Replace has a function write a file under another name in its directory, and gives it its name when it is complete. The other
// name is always the same, so that what a killed process left is overwritten by the next; if two processes write the file at
// once, one of them takes a random name.
func Replace(name string, write func(*os.File) error) (err error) {
	f, err := part(name)
	if err != nil {
		return err
	}
	return complete(f, name, write)
}

// Update is Replace for files whose content depends on what they had before: while the function runs, no other Update of the
// file does, so that what it reads under the name stays until it is replaced. Processes wait for one another, on the lock of
// the other name; on a file system without locks they do not, nor where that is a link or another user's.
func Update(name string, write func(*os.File) error) error {
	for {
		f, err := openPart(name)
		if isForeign(err) {
			return Replace(name, write)
		}
		if err != nil {
			return err
		}
		flock(f, syscall.LOCK_EX)
		if !isNamed(f) { // the process before has given it the name, or removed it
			f.Close()
			continue
		}
		if err := f.Truncate(0); err != nil {
			return errors.Join(err, f.Close())
		}
		return complete(f, name, write)
	}
}

// complete writes a file and gives it its name, or removes it after an error. The file is locked until then.
func complete(f *os.File, name string, write func(*os.File) error) (err error) {
	lock, err := locked(f)
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
		lock.Close()
	}()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// partName returns the name under which the replacement of a file is written.
func partName(name string) string {
	dir, base := filepath.Split(name)
	return filepath.Join(dir, "."+base+".part")
}

func openPart(name string) (*os.File, error) {
	return os.OpenFile(partName(name), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o666)
}

// isForeign reports whether a file could not be opened because it is another user's, or a link.
func isForeign(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ELOOP)
}

// part opens the file that is written in place of another, empty, and locked if the file system has locks.
func part(name string) (*os.File, error) {
	f, err := openPart(name)
	if err != nil && !isForeign(err) {
		return nil, err
	}
	if err == nil {
		if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) == nil && isNamed(f) { // and not complete meanwhile
			return f, f.Truncate(0)
		}
		f.Close()
	}
	dir, base := filepath.Split(name)
	return os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%08x", base, rand.Uint32())), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// locked duplicates a file, so that its lock is kept when the original is closed.
func locked(f *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, &fs.PathError{Op: "dup", Path: f.Name(), Err: err}
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), f.Name()), nil
}
