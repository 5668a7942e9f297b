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
)

// directory is a place on a disk of this machine, or one that looks like it. Its writers and readers know of each other
// by locks, which end with their processes.
type directory struct {
	fs   fileSystem
	root string
}

func (d *directory) show(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d *directory) path(elem ...string) string {
	return filepath.Join(append([]string{d.root}, elem...)...)
}

func (d *directory) open(ctx context.Context, readOnly bool) error {
	if _, err := d.fs.ReadDir(d.path("commits")); err == nil {
		return ctx.Err()
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
	for _, e := range entries { // left by a process that was killed while it made the store, or made by one that makes it now
		if ours[e.Name()] {
			continue
		}
		if _, err := d.fs.ReadDir(d.path("commits")); err == nil {
			return ctx.Err() // another process has made it since we looked, and writes already
		}
		return fmt.Errorf("%s: %w, and it holds other files, such as %q; name a new directory", d.root, ErrNotStore, e.Name())
	}
	for _, name := range []string{"tables", "staging", "commits"} {
		if err := d.fs.MkdirAll(d.path(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{d.root, filepath.Dir(d.root)} {
		if err := d.fs.SyncDir(name); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ours are the names at the top of a store.
var ours = map[string]bool{"tables": true, "staging": true, "commits": true}

func (d *directory) list(ctx context.Context, dir string) ([]entry, error) {
	infos, err := d.fs.ReadDir(d.path(dir))
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, i := range infos {
		name := path.Join(dir, i.Name())
		if i.IsDir() {
			below, err := d.list(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		e, err := d.stat(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since it was listed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, ctx.Err()
}

func (d *directory) stat(_ context.Context, name string) (entry, error) {
	info, err := d.fs.Lstat(d.path(name))
	if err != nil {
		return entry{}, err
	}
	return entry{name, info.Size(), info.ModTime(), info.Mode().IsRegular()}, nil
}

func (d *directory) read(_ context.Context, name string) ([]byte, error) {
	return d.fs.ReadFile(d.path(name))
}

func (d *directory) stream(_ context.Context, f FileRecord) (io.ReadCloser, error) {
	return d.fs.Open(d.path(f.Path))
}

func (d *directory) remove(_ context.Context, name string) error { return d.fs.Remove(d.path(name)) }

// put renames the files and makes that last.
func (d *directory) put(_ context.Context, files []upload) (there []string, err error) {
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
				return there, err
			}
			if err := d.fs.MkdirAll(dir); err != nil {
				return there, err
			}
			last = dir
		}
		if err := d.fs.Rename(u.from, d.path(u.file.Path)); err != nil {
			return there, err
		}
		there = append(there, u.file.Path)
	}
	if err := sync(); err != nil {
		return there, err
	}
	return there, d.fs.SyncDir(d.path("tables"))
}

// create links the draft, because a link fails where a name is taken.
func (d *directory) create(_ context.Context, name string, data []byte, draft string) (visible bool, err error) {
	if err := d.writeFile(draft, data); err != nil {
		return false, err
	}
	final := d.path(name)
	err = d.fs.Link(draft, final)
	if err != nil && linksMissing(err) {
		// A file system without hard links: the writers' lock has to keep others away.
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

// linksMissing says that the file system has no hard links.
func linksMissing(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EMLINK)
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

func (d *directory) begin(ctx context.Context) (func(), error) {
	return exclusively(ctx, d.fs, d.path("lock"))
}
func (d *directory) commit(ctx context.Context) (func(), error) { return d.begin(ctx) }
func (d *directory) enroll(context.Context, string) error       { return nil }
func (d *directory) leave(context.Context, string) error        { return nil }
func (d *directory) writer() string                             { return "" }
func (d *directory) barrier() error                             { return d.fs.SyncDir(d.path("commits")) }

// leftovers are all files that no commit names. Nobody can be reading them: a commit goes only while nobody reads, and
// its files after it. Nobody can be writing them either, because the caller holds the writers' lock.
func (d *directory) leftovers(ctx context.Context, used map[string]bool, _ bool) ([]string, error) {
	return unused(ctx, d, used, func(entry) bool { return true })
}

// unused lists the files among the tables that are not in use and that match.
func unused(ctx context.Context, p place, used map[string]bool, match func(entry) bool) ([]string, error) {
	all, err := p.list(ctx, "tables")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range all {
		if !used[e.name] && match(e) {
			out = append(out, e.name)
		}
	}
	return out, nil
}

// expendable are all dead commits while nobody reads, and none while somebody does.
func (d *directory) expendable(_ context.Context, cat *catalog) (dead []*Commit, postponed bool, release func(), err error) {
	alone, err := d.fs.TryLock(d.path("tables"), exclusive, false)
	if err != nil || alone == nil {
		return nil, true, func() {}, nil // a file system that can not lock for this is one where nobody can know who reads
	}
	return cat.sweepable(), false, func() { alone.Close() }, nil
}

// hold works on the directory of the tables, so that a store on a read-only disk can be read.
func (d *directory) hold(ctx context.Context) (holding, error) {
	for {
		l, err := d.fs.TryLock(d.path("tables"), shared, false)
		if err != nil {
			return nil, err
		}
		if l != nil {
			return &heldDirectory{d, l}, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		time.Sleep(time.Millisecond) // a compaction is removing files; it does not take long
	}
}

// heldDirectory reads the files where they lie.
type heldDirectory struct {
	d *directory
	io.Closer
}

func (h *heldDirectory) path(f FileRecord) string { return h.d.show(f.Path) }
func (h *heldDirectory) far() bool                { return false }

func (h *heldDirectory) fetch(ctx context.Context, files []FileRecord) error {
	return h.d.check(ctx, files)
}

func (d *directory) cluster() string { return "file:" + d.root }

func (d *directory) check(ctx context.Context, files []FileRecord) error {
	for _, f := range files {
		e, err := d.stat(ctx, f.Path)
		switch {
		case err != nil:
			return fmt.Errorf("%w: a file of the store is missing: %w; straggler store verify lists what is damaged", ErrDamaged, err)
		case !e.plain:
			return fmt.Errorf("%s: %w: it is not a plain file", d.show(f.Path), ErrDamaged)
		case e.size != f.Bytes:
			return fmt.Errorf("%s: %w: it has %d bytes and its commit says %d; straggler store verify lists what is damaged",
				d.show(f.Path), ErrDamaged, e.size, f.Bytes)
		}
	}
	return nil
}
