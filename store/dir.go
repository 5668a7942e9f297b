package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"

	"straggler/bucket"
)

// directory is a store in a directory of this machine. Writers and readers coordinate by advisory locks, which end with
// their processes.
type directory struct {
	fs   fileSystem
	root string

	made, madeRoot bool // init created the store, and the directory that holds it
}

func openDirectory(disk fileSystem, dir string) (*directory, error) {
	abs, err := filepath.Abs(dir)
	if err == nil && !utf8.ValidString(abs) {
		err = fmt.Errorf("%q: %w: %s; rename the directory, or name another", abs, ErrNotStore, notUTF8)
	}
	return &directory{fs: disk, root: abs}, err
}

// notUTF8 is why files whose path is not UTF-8 cannot be queried: SQL is.
const notUTF8 = "its path is not valid UTF-8, and the SQL that reads its files is"

// path returns the path of a file of the store.
func (d *directory) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d *directory) init(ctx context.Context, readOnly bool) error {
	if _, err := d.fs.ReadDir(d.path("commits")); err == nil {
		return ctx.Err()
	} else if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s: %w: it is a file; name a directory, and give logs as arguments, as in straggler ingest LOG --store DIR", d.root, ErrNotStore)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if readOnly {
		return fmt.Errorf("%s: %w: it has no directory 'commits'; make one with straggler ingest", d.root, ErrNotStore)
	}
	entries, err := d.fs.ReadDir(d.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if topNames[e.Name()] {
			continue // of a process that was killed while it created the store, or is creating it now
		}
		if _, err := d.fs.ReadDir(d.path("commits")); err == nil {
			return ctx.Err() // another process has created it since, and is writing already
		}
		return fmt.Errorf("%s: %w, and it holds other files, such as %q; name a new directory", d.root, ErrNotStore, e.Name())
	}
	d.made, d.madeRoot = true, err != nil
	for _, name := range []string{"tables", "staging", "commits"} {
		if err := d.fs.MkdirAll(d.path(name)); err != nil {
			return fmt.Errorf("%s: %w, and it cannot be created: %w", d.root, ErrNotStore, err)
		}
	}
	for _, name := range []string{d.root, filepath.Dir(d.root)} {
		if err := d.fs.SyncDir(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// unmake removes the store that init created, unless another writer is at work in it or has committed.
func (d *directory) unmake(ctx context.Context) error {
	unlock, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	files, err := d.list(ctx, "tables")
	if err != nil || len(files) > 0 {
		return err
	}
	for _, name := range []string{"staging", "commits"} {
		if entries, err := d.fs.ReadDir(d.path(name)); err != nil || len(entries) > 0 {
			return err
		}
	}
	for _, name := range []string{"tables", "staging", "commits", "lock"} {
		if err := d.fs.RemoveAll(d.path(name)); err != nil {
			return err
		}
	}
	if d.madeRoot {
		return d.fs.Remove(d.root)
	}
	return nil
}

// topNames are the directories of a store.
var topNames = map[string]bool{"tables": true, "staging": true, "commits": true}

func (d *directory) list(ctx context.Context, dir string) ([]fileInfo, error) {
	entries, err := d.fs.ReadDir(d.path(dir))
	if err != nil {
		return nil, err
	}
	var out []fileInfo
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			below, err := d.list(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		f, err := d.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, ctx.Err()
}

func (d *directory) stat(name string) (fileInfo, error) {
	info, err := d.fs.Lstat(d.path(name))
	if err != nil {
		return fileInfo{}, err
	}
	return fileInfo{name, info.Size(), info.ModTime(), info.Mode().IsRegular()}, nil
}

func (d *directory) open(_ context.Context, name string, _ int64) (io.ReadCloser, error) {
	return d.fs.Open(d.path(name))
}

// put renames the files and syncs the directories.
func (d *directory) put(_ context.Context, files []upload) (stored []string, err error) {
	last := ""
	sync := func() error {
		if last == "" {
			return nil
		}
		return d.fs.SyncDir(last)
	}
	for _, u := range files {
		if dir := d.path(path.Dir(u.file.Path)); dir != last {
			if err := sync(); err != nil {
				return stored, err
			}
			if err := d.fs.MkdirAll(dir); err != nil {
				return stored, err
			}
			last = dir
		}
		if err := d.fs.Rename(u.from, d.path(u.file.Path)); err != nil {
			return stored, err
		}
		stored = append(stored, u.file.Path)
	}
	if err := sync(); err != nil {
		return stored, err
	}
	return stored, d.fs.SyncDir(d.path("tables"))
}

// create links the draft to the name: a link fails when the name is taken.
func (d *directory) create(_ context.Context, name string, data []byte, draft string) (visible bool, err error) {
	if err := d.writeFile(draft, data); err != nil {
		return false, err
	}
	final := d.path(name)
	err = d.fs.Link(draft, final)
	if err != nil && linksMissing(err) {
		// A file system without hard links: the writers' lock has to exclude others.
		if _, serr := d.fs.Lstat(final); serr == nil {
			return false, fs.ErrExist
		}
		err = d.fs.Rename(draft, final)
	}
	if err != nil {
		return false, err
	}
	if err := d.fs.SyncDir(filepath.Dir(final)); err != nil {
		return true, fmt.Errorf("it may not outlive a power failure: %w", err)
	}
	return true, nil
}

func (d *directory) writeFile(name string, data []byte) error {
	f, err := d.fs.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func (d *directory) remove(_ context.Context, name string) error { return d.fs.Remove(d.path(name)) }

func (d *directory) sync() error { return d.fs.SyncDir(d.path("commits")) }

func (d *directory) lock(ctx context.Context) (unlock func(), err error) {
	return lockFile(ctx, d.fs, d.path("lock"))
}

// lockFile waits for a lock until the context ends.
func lockFile(ctx context.Context, disk fileSystem, name string) (unlock func(), err error) {
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

func (d *directory) registerWriter(context.Context) (id string, err error) { return "", nil }

func (d *directory) unregisterWriter(context.Context, string) error { return nil }

// orphans returns all files that no commit names. They are not being read: a commit is removed only while there is no reader, and
// its files after it. Nor are they being written, because the caller holds the writers' lock.
func (d *directory) orphans(ctx context.Context, named map[string]bool, _ bool) ([]string, error) {
	return unnamed(ctx, d, named, func(fileInfo) bool { return true })
}

// unnamed lists the files of the tables that no commit names and that match.
func unnamed(ctx context.Context, at backend, named map[string]bool, match func(fileInfo) bool) ([]string, error) {
	files, err := tableFiles(ctx, at)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		if !named[f.name] && match(f) {
			out = append(out, f.name)
		}
	}
	return out, nil
}

// collectable returns all obsolete commits if there are no readers, otherwise none.
func (d *directory) collectable(_ context.Context, cat *catalog) (obsolete []*Commit, postponed bool, release func(), err error) {
	alone, err := d.fs.TryLock(d.path("tables"), exclusive, false)
	if err != nil || alone == nil {
		return nil, true, func() {}, nil // where a file system cannot lock, readers are unknown
	}
	return cat.obsolete(), false, func() { alone.Close() }, nil
}

// pin locks the directory of the tables, so that a store on a read-only disk can be read.
func (d *directory) pin(ctx context.Context) (pin, error) {
	for {
		l, err := d.fs.TryLock(d.path("tables"), shared, false)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: the directory is missing, and all rows with it; restore it from a copy, or ingest the logs into a new store", d.path("tables"), ErrDamaged)
		}
		if err != nil {
			return nil, err
		}
		if l != nil {
			return &pinnedDirectory{d, l}, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond) // a compaction is removing files; it does not take long
	}
}

// pinnedDirectory reads the files in place.
type pinnedDirectory struct {
	d *directory
	io.Closer
}

func (p *pinnedDirectory) path(f FileRecord) string { return p.d.path(f.Path) }
func (p *pinnedDirectory) remote() bool             { return false }

// fetch checks that the files exist and are complete: an engine's error for a missing or truncated one does not say what to do.
func (p *pinnedDirectory) fetch(_ context.Context, files []FileRecord) error {
	for _, f := range files {
		name := p.d.path(f.Path)
		switch info, err := p.d.stat(f.Path); {
		case err != nil:
			return fmt.Errorf("%w: a file of the store is missing: %w; straggler store verify lists what is damaged", ErrDamaged, err)
		case !info.regular:
			return fmt.Errorf("%s: %w: it is not a plain file", name, ErrDamaged)
		case info.size != f.Bytes:
			return fmt.Errorf("%s: %w: it has %d bytes and its commit says %d; straggler store verify lists what is damaged",
				name, ErrDamaged, info.size, f.Bytes)
		}
	}
	return nil
}
