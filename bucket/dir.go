package bucket

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"straggler/bucket/location"
)

// dirBucket is a directory used as a bucket: its objects are the files below it.
type dirBucket struct{ root string }

func openDir(_ context.Context, l location.Location, _ bool) (Bucket, error) {
	return dirBucket{l.Path}, os.MkdirAll(l.Path, 0o777)
}

func (b dirBucket) file(key string) string { return filepath.Join(b.root, filepath.FromSlash(key)) }

func (b dirBucket) Stat(_ context.Context, key string) (Object, error) {
	info, err := os.Stat(b.file(key))
	if err != nil {
		return Object{}, err
	}
	if !info.Mode().IsRegular() {
		return Object{}, fs.ErrNotExist
	}
	return Object{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil
}

// Page returns everything in one page, without files removed during the listing.
func (b dirBucket) Page(ctx context.Context, prefix, delimiter, _ string, size int) ([]Object, string, error) {
	w := dirWalk{ctx: ctx, b: b, prefix: prefix, deep: delimiter == ""}
	if size < pageSize {
		w.limit = size
	}
	dir := ""
	if cut := strings.LastIndex(prefix, "/"); cut >= 0 {
		dir = prefix[:cut+1]
	}
	err := w.walk(dir)
	return w.out, "", err
}

type dirWalk struct {
	ctx    context.Context
	b      dirBucket
	prefix string
	deep   bool
	limit  int // 0: none
	out    []Object
}

// walk lists a directory, "" or what ends in a slash.
func (w *dirWalk) walk(dir string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(w.b.file(dir))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	keyOf := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	for _, e := range entries {
		key := dir + keyOf(e)
		switch {
		case w.limit > 0 && len(w.out) >= w.limit:
			return nil
		case !strings.HasPrefix(key, w.prefix) && !(e.IsDir() && strings.HasPrefix(w.prefix, key)):
		case e.IsDir() && w.deep:
			if err := w.walk(key); err != nil {
				return err
			}
		case e.IsDir():
			w.out = append(w.out, Object{Key: key, Dir: true})
		default:
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				w.out = append(w.out, Object{Key: key, Size: info.Size(), Modified: info.ModTime()})
			}
		}
	}
	return nil
}

func (b dirBucket) Read(_ context.Context, key string, from, n int64) (*Reader, error) {
	f, err := os.Open(b.file(key))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err == nil {
		_, err = f.Seek(from, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if n < 0 {
		return &Reader{f, info.Size(), info.ModTime()}, nil
	}
	part := struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, n), f}
	return &Reader{part, info.Size(), info.ModTime()}, nil
}

// Unfinished begins the names of files of a directory that are being written. One that is old was left by a process that was
// killed.
const Unfinished = ".new-"

// Write creates a file under another name first. Linking it fails atomically if the file exists.
func (b dirBucket) Write(ctx context.Context, key, _ string, data io.Reader, fresh bool) error {
	name := b.file(key)
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	t, err := os.CreateTemp(dir, Unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = io.Copy(t, WithContext(ctx, data))
	err = errors.Join(err, t.Chmod(0o644), t.Sync(), t.Close())
	switch {
	case err != nil:
	case fresh:
		err = os.Link(t.Name(), name)
	default:
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		return err
	}
	return SyncDir(dir)
}

// WithContext returns a reader of r that fails once the context has ended.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// SyncDir makes the names in a directory durable, on file systems that can.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

func (b dirBucket) Delete(_ context.Context, key string) error {
	return os.Remove(b.file(path.Clean(key)))
}

func (b dirBucket) Close() error { return nil }
