package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// lock keeps other writers out while one begins or commits. It waits for them; the context ends the waiting.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	wait := time.Millisecond
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("store: waiting for another writer: %w", err)
		}
		l, err := s.fs.TryLock(s.path("lock"), exclusive, true)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		if l != nil {
			return func() { l.Close() }, nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, 100*time.Millisecond)
	}
}

// stage makes a staging directory and locks it. The caller holds the writers' lock, so nobody takes the new directory
// for a dead one.
func (s *Store) stage() (dir string, lock io.Closer, err error) {
	if err := s.fs.MkdirAll(s.path("staging")); err != nil {
		return "", nil, err
	}
	for n := 0; ; n++ {
		dir = s.path("staging", fmt.Sprintf("%d-%d", os.Getpid(), n))
		err := s.fs.Mkdir(dir)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		break
	}
	lock, err = s.fs.TryLock(path.Join(dir, "lock"), exclusive, true)
	if err == nil && lock == nil {
		err = fmt.Errorf("%s is locked by somebody else", dir)
	}
	if err != nil {
		s.fs.RemoveAll(dir)
	}
	return dir, lock, err
}

// clean removes staging directories whose writer is dead, and the files among the tables that no commit names: a writer
// had moved them there and did not come to commit. The caller holds the writers' lock.
func (s *Store) clean(cat *catalog) error {
	entries, err := s.fs.ReadDir(s.path("staging"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		dir := s.path("staging", e.Name())
		l, err := s.fs.TryLock(path.Join(dir, "lock"), exclusive, e.IsDir())
		if err != nil {
			return err
		}
		if l == nil {
			continue // its writer lives
		}
		err = s.fs.RemoveAll(dir)
		l.Close()
		if err != nil {
			return err
		}
	}
	_, err = s.removeOrphans(cat)
	return err
}

// removeOrphans removes files among the tables that no commit names, and counts them. Nobody can be reading them: a
// commit goes only while nobody reads, and its files after it. The caller holds the writers' lock.
func (s *Store) removeOrphans(cat *catalog) (int, error) {
	orphans, err := s.orphans(cat)
	if err != nil {
		return 0, err
	}
	for i, name := range orphans {
		if err := s.fs.Remove(s.path(name)); err != nil {
			return i, err
		}
	}
	return len(orphans), nil
}

// orphans lists the files among the tables that no commit names.
func (s *Store) orphans(cat *catalog) ([]string, error) {
	used := cat.files()
	tables, err := s.fs.ReadDir(s.path("tables"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, t := range tables {
		if !t.IsDir() {
			continue
		}
		files, err := s.fs.ReadDir(s.path("tables", t.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if name := path.Join("tables", t.Name(), f.Name()); !used[name] {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// holdFiles keeps the files that commits name now from being removed until it is closed. It works on the directory of
// the tables, so that a store on a read-only disk can be read.
func (s *Store) holdFiles() (io.Closer, error) {
	for {
		l, err := s.fs.TryLock(s.path("tables"), shared, false)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		if l != nil {
			return l, nil
		}
		time.Sleep(time.Millisecond) // a compaction is removing files; it does not take long
	}
}
