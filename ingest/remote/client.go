package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	objects "straggler/bucket"
	"straggler/ingest"
	"straggler/ingest/discover"
)

// Options set the number of retries and the waits between them. The zero value suits real networks.
type Options = objects.RetryPolicy

// Client is a discover.Remote, safe for concurrent use. It opens each bucket or name node once.
type Client struct {
	o Options

	mu    sync.Mutex
	trees map[string]*tree
}

// New returns a client; nothing is opened yet.
func New(o Options) *Client { return &Client{o: o.WithDefaults(), trees: make(map[string]*tree)} }

// Open returns the tree of a URL, and the path in it.
func (c *Client) Open(ctx context.Context, url string) (discover.Tree, string, error) {
	l, err := parse(url)
	if err != nil {
		return nil, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.trees[l.Identity()]; t != nil {
		return t, l.Path, nil
	}
	var s source
	if l.Scheme == "hdfs" {
		s, err = openHDFS(ctx, l, c.o)
	} else {
		s, err = openBucket(ctx, l)
	}
	if err != nil {
		return nil, "", err
	}
	t := &tree{source: s, root: l.Root(), o: c.o}
	c.trees[l.Identity()] = t
	return t, l.Path, nil
}

// Close closes the connections.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, t := range c.trees {
		errs = append(errs, t.source.close())
	}
	clear(c.trees)
	return errors.Join(errs...)
}

// source is an object store or a file system. Its methods return the errors of fault.go.
type source interface {
	stat(ctx context.Context, path string, dir bool) (discover.TreeEntry, error)
	list(ctx context.Context, dir string) ([]discover.TreeEntry, error)
	// read returns n bytes of a file, at least one, and the time at which the file was modified according to this connection.
	read(ctx context.Context, e discover.TreeEntry, from, n int64) (io.ReadCloser, time.Time, error)
	fault(err error) error
	close() error
}

// tree is a discover.Tree.
type tree struct {
	source
	root string
	o    Options
}

func (t *tree) URL(path string) string {
	if path == "" {
		return t.root
	}
	return t.root + "/" + path
}

func (t *tree) Stat(ctx context.Context, path string, dir bool) (discover.TreeEntry, error) {
	return t.stat(ctx, path, dir)
}

func (t *tree) List(ctx context.Context, dir string) ([]discover.TreeEntry, error) {
	return t.list(ctx, dir)
}

func (t *tree) Open(ctx context.Context, e discover.TreeEntry) (io.ReadCloser, error) {
	return t.stream(ctx, e, 0, e.Size, new(objects.Version)), nil
}

func (t *tree) OpenAt(ctx context.Context, e discover.TreeEntry) (io.ReaderAt, io.Closer, error) {
	b := &blocks{ctx: ctx, t: t, e: e}
	return b, b, nil
}

// opened is a file of a tree, for streaming.
type opened struct {
	t *tree
	e discover.TreeEntry
}

func (o opened) Read(ctx context.Context, from, n int64) (io.ReadCloser, time.Time, error) {
	return o.t.read(ctx, o.e, from, n)
}

func (o opened) Fault(err error) (error, bool) {
	err = o.t.fault(err)
	return err, errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errChanged) || errors.Is(err, ingest.ErrUse)
}

// stream reads a range of a file over connections that may break.
func (t *tree) stream(ctx context.Context, e discover.TreeEntry, from, end int64, same *objects.Version) *objects.Stream {
	return objects.NewStream(ctx, opened{t, e}, t.o, from, end, same)
}
