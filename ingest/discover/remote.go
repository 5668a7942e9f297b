package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"straggler/ingest"
)

// Remote opens the trees that URLs point into. Package ingest/remote implements it for object stores and HDFS.
type Remote interface {
	// Open returns the tree of a URL, the same one for every URL in it, and the path in it that the URL names.
	Open(ctx context.Context, url string) (t Tree, path string, err error)
}

// Tree is a tree of files that is not on this machine: a bucket, a file system. Paths have no slash at either end; the whole
// tree is "". Its errors contain no secrets.
type Tree interface {
	// URL names a path for people and for source_file. It contains no secrets.
	URL(path string) string
	// Stat returns what a path names. dir is set if a directory is wanted, because the URL ends in a slash.
	Stat(ctx context.Context, path string, dir bool) (TreeEntry, error)
	// List returns the direct contents of a directory.
	List(ctx context.Context, dir string) ([]TreeEntry, error)
	// Open reads a file from its start. It reconnects when the connection breaks; if that fails, the error is of kind
	// ErrSource.
	Open(ctx context.Context, e TreeEntry) (io.ReadCloser, error)
	// OpenAt opens a file for random access.
	OpenAt(ctx context.Context, e TreeEntry) (io.ReaderAt, io.Closer, error)
}

// TreeEntry is a file or a directory of a tree.
type TreeEntry struct {
	Path     string
	Dir      bool
	Size     int64     // bytes; of a file
	Modified time.Time // of a file
	Skip     string    // why it cannot be read
}

// remoteWalk is the trees of one walk. The context is the run's: everything is read within the run.
type remoteWalk struct {
	ctx       context.Context
	remote    Remote
	trees     map[Tree]*remoteTree
	sourceErr *atomic.Pointer[error] // the first error of kind ErrSource; shared with the run
}

// remoteTree caches listings, which formats request repeatedly when they claim.
type remoteTree struct {
	Tree
	of    *remoteWalk
	lists map[string][]entry
	known map[string]TreeEntry // by path
}

// urls walks the named URLs. Files named one by one are grouped by their directory.
func (w *walker) urls(urls []string) {
	if len(urls) == 0 {
		return
	}
	var order []remoteFolder
	named := make(map[remoteFolder][]entry)
	for _, url := range urls {
		t, e, err := w.remote.find(url)
		switch {
		case err != nil:
			w.fail(showable(url), err)
		case e.Dir:
			w.walk(remoteFolder{t, e.Path}, nil, 0)
		default:
			p := remoteFolder{t, parent(e.Path)}
			if named[p] == nil {
				order = append(order, p)
			}
			named[p] = append(named[p], entry{name: path.Base(e.Path)})
		}
	}
	for _, p := range order {
		w.entries(namedRemoteFolder{p}, named[p], nil, 0, true)
	}
}

func parent(p string) string {
	dir, _ := path.Split(p)
	return strings.TrimSuffix(dir, "/")
}

func (x *remoteWalk) find(url string) (*remoteTree, TreeEntry, error) {
	if x.remote == nil {
		return nil, TreeEntry{}, fmt.Errorf("%w: logs are not read by URL here", ingest.ErrUse)
	}
	tree, p, err := x.remote.Open(x.ctx, url)
	if err != nil {
		return nil, TreeEntry{}, err
	}
	t := x.trees[tree]
	if t == nil {
		t = &remoteTree{Tree: tree, of: x, lists: make(map[string][]entry), known: make(map[string]TreeEntry)}
		x.trees[tree] = t
	}
	bare, _, _ := strings.Cut(url, "?")
	e, err := tree.Stat(x.ctx, p, strings.HasSuffix(bare, "/"))
	if err == nil && !e.Dir {
		t.known[e.Path] = e
	}
	return t, e, err
}

// remoteFolder is a directory of a tree.
type remoteFolder struct {
	t   *remoteTree
	dir string
}

func (f remoteFolder) path() string { return f.t.URL(f.dir) }
func (f remoteFolder) id() string   { return f.t.id(f.dir) + "/" }

// id distinguishes paths of different trees that look alike, such as buckets with the same name on two servers.
func (t *remoteTree) id(p string) string { return fmt.Sprintf("%p %s", t, t.URL(p)) }

func (f remoteFolder) list() ([]entry, error) {
	if entries, ok := f.t.lists[f.dir]; ok {
		return append([]entry(nil), entries...), nil
	}
	all, err := f.t.List(f.t.of.ctx, f.dir)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, e := range all {
		x := entry{name: path.Base(e.Path), dir: e.Dir, skip: e.Skip}
		if e.Dir && strings.HasPrefix(x.name, ".") {
			x.skip = "a hidden directory; name it to have it read"
		}
		entries = append(entries, x)
		if !e.Dir {
			f.t.known[e.Path] = e
		}
	}
	f.t.lists[f.dir] = entries
	return append([]entry(nil), entries...), nil
}

func (f remoteFolder) child(name string) string {
	if f.dir == "" {
		return name
	}
	return f.dir + "/" + name
}

func (f remoteFolder) folder(e entry) (folder, error) {
	return remoteFolder{f.t, f.child(e.name)}, nil
}

func (f remoteFolder) file(e entry) (*file, error) {
	p := f.child(e.name)
	known, ok := f.t.known[p]
	if !ok {
		var err error
		if known, err = f.t.Stat(f.t.of.ctx, p, false); err != nil {
			return nil, vanished(err)
		}
	}
	return f.t.file(known), nil
}

func (t *remoteTree) file(e TreeEntry) *file {
	ctx, sourceErr := t.of.ctx, t.of.sourceErr
	return &file{
		name:     t.URL(e.Path),
		size:     e.Size,
		modified: e.Modified.UnixNano(),
		id:       t.id(e.Path),
		remote:   true,
		open: func() (io.ReadCloser, error) {
			r, err := t.Open(ctx, e)
			if err != nil {
				return nil, recordFailure(sourceErr, err)
			}
			return &recordingReader{r, sourceErr}, nil
		},
		at: func() (io.ReaderAt, io.Closer, error) {
			r, closer, err := t.OpenAt(ctx, e)
			if err != nil {
				return nil, nil, recordFailure(sourceErr, err)
			}
			return &recordingReaderAt{r, sourceErr}, closer, nil
		},
	}
}

// namedRemoteFolder is a directory in which only some files were named.
type namedRemoteFolder struct{ remoteFolder }

func (namedRemoteFolder) folder(e entry) (folder, error) {
	return nil, fmt.Errorf("%s: %w", e.name, fs.ErrNotExist)
}

type recordingReader struct {
	io.ReadCloser
	sourceErr *atomic.Pointer[error]
}

func (r *recordingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	return n, recordFailure(r.sourceErr, err)
}

type recordingReaderAt struct {
	io.ReaderAt
	sourceErr *atomic.Pointer[error]
}

func (r *recordingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	return n, recordFailure(r.sourceErr, err)
}

// recordFailure records that a connection broke, whatever a format does with the error.
func recordFailure(sourceErr *atomic.Pointer[error], err error) error {
	if errors.Is(err, ErrSource) {
		sourceErr.CompareAndSwap(nil, &err)
	}
	return err
}
