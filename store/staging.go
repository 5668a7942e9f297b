package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// staging is a local directory in which writers create their files, each in a subdirectory that it keeps locked while it works.
type staging struct {
	fs   fileSystem
	root string
}

// maxDirTries is the number of directories tried. A new directory that is not locked yet can be taken for a dead writer's and
// removed, which does not happen many times in a row.
const maxDirTries = 1000

// create creates a directory and locks it.
func (g staging) create() (dir string, lock io.Closer, err error) {
	if err := g.fs.MkdirAll(g.root); err != nil {
		return "", nil, err
	}
	for n := range maxDirTries {
		dir = filepath.Join(g.root, fmt.Sprintf("%d-%d", os.Getpid(), n))
		if err := g.fs.Mkdir(dir); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return "", nil, err
		}
		name := filepath.Join(dir, "lock")
		lock, err = g.fs.TryLock(name, exclusive, true)
		if err == nil && lock == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			g.fs.RemoveAll(dir)
			return "", nil, err
		}
		return dir, lock, nil
	}
	return "", nil, fmt.Errorf("%s: no directory can be locked", g.root)
}

// clean removes the directories whose writer is dead. Files left in one by programs of another user, killed before they could
// remove them, stay.
func (g staging) clean() error {
	entries, err := g.fs.ReadDir(g.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(g.root, e.Name())
		l, err := g.fs.TryLock(filepath.Join(dir, "lock"), exclusive, true)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another writer removes it
		}
		if err != nil {
			return err
		}
		if l == nil {
			continue // its writer is active
		}
		if err := g.remove(dir, l); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// remove removes a directory and releases its lock. The lock file may be removed first; whoever finds the directory without
// one creates it and removes the rest.
func (g staging) remove(dir string, lock io.Closer) error {
	err := g.fs.RemoveAll(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		err = nil
	}
	return errors.Join(err, lock.Close())
}
