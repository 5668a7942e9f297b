package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"straggler/bucket"
)

// staging is a directory of this machine where writers make their files, each in a directory of its own that it locks
// for as long as it lives.
type staging struct {
	fs   fileSystem
	root string
}

// exclusively takes a lock and waits for it; the context ends the waiting.
func exclusively(ctx context.Context, disk fileSystem, name string) (unlock func(), err error) {
	pauses := bucket.NewBackoff(time.Millisecond, 100*time.Millisecond)
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("waiting for another writer: %w", err)
		}
		l, err := disk.TryLock(name, exclusive, true)
		if err != nil {
			return nil, err
		}
		if l != nil {
			return func() { l.Close() }, nil
		}
		if err := pauses.Wait(ctx); err != nil {
			return nil, fmt.Errorf("waiting for another writer: %w", err)
		}
	}
}

// enterTries is how many directories are tried. One is lost to somebody who takes it, new and not yet locked, for a dead
// writer's, and that can not go on for ever.
const enterTries = 1000

// enter makes a directory and locks it.
func (g staging) enter() (dir string, lock io.Closer, err error) {
	if err := g.fs.MkdirAll(g.root); err != nil {
		return "", nil, err
	}
	for n := range enterTries {
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

// leave removes a directory that was entered, and gives back its lock.
func (g staging) leave(dir string, lock io.Closer) error {
	return errors.Join(g.remove(dir), lock.Close())
}

// remove removes a directory. The lock may be the first file of it to go; who finds none then makes one, and that one
// removes the rest.
func (g staging) remove(dir string) error {
	err := g.fs.RemoveAll(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return err
}

// clean removes the directories whose writer is dead.
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
			continue // another writer was faster
		}
		if err != nil {
			return err
		}
		if l == nil {
			continue // its writer lives
		}
		if err := g.leave(dir, l); err != nil {
			return err
		}
	}
	return nil
}
