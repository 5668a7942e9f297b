package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	objects "straggler/bucket"
	"straggler/ingest/discover"
)

// answer bounds a request to an object store, including all retries of its library: some would retry for ever.
const answer = 90 * time.Second

// bucket is a bucket of an object store, in which a prefix that ends in a slash is a directory.
type bucket struct {
	b objects.Bucket
	l location
}

// openBucket makes no request yet.
func openBucket(ctx context.Context, l location) (*bucket, error) {
	b, err := objects.Open(ctx, l)
	if err != nil {
		return nil, explain(l, err)
	}
	return &bucket{b, l}, nil
}

func (b *bucket) fault(err error) error { return explain(b.l, err) }
func (b *bucket) close() error          { return b.b.Close() }

func (b *bucket) stat(ctx context.Context, p string, dir bool) (discover.TreeEntry, error) {
	if p == "" {
		return discover.TreeEntry{Dir: true}, nil
	}
	if !dir {
		ctx, cancel := context.WithTimeout(ctx, answer)
		defer cancel()
		a, err := b.b.Stat(ctx, p)
		if err == nil {
			return discover.TreeEntry{Path: p, Size: a.Size, Modified: a.Modified}, nil
		}
		if err = b.failed(ctx, err); !errors.Is(err, fs.ErrNotExist) {
			return discover.TreeEntry{}, err
		}
	}
	some, err := b.listObjects(ctx, objects.Listing{Prefix: p + "/", Limit: 1})
	if err != nil {
		return discover.TreeEntry{}, err
	}
	if len(some) == 0 {
		return discover.TreeEntry{}, &fault{fs.ErrNotExist, fmt.Sprintf("the bucket %s has neither an object %s nor any under %s/", b.l.Host, p, p)}
	}
	return discover.TreeEntry{Path: p, Dir: true}, nil
}

func (b *bucket) list(ctx context.Context, dir string) ([]discover.TreeEntry, error) {
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	found, err := b.listObjects(ctx, objects.Listing{Prefix: prefix, Delimiter: "/"})
	if err != nil {
		return nil, err
	}
	var out []discover.TreeEntry
	for _, o := range found {
		e := discover.TreeEntry{Path: strings.TrimSuffix(o.Key, "/"), Dir: o.Dir, Size: o.Size, Modified: o.Modified}
		switch name := strings.TrimPrefix(o.Key, prefix); {
		case name == "": // an object that stands for the directory
			continue
		case name == "/" || path.Base(e.Path) == "..":
			e.Skip = "the store's library cannot ask for names with // or ../ in them"
		}
		out = append(out, e)
	}
	return out, nil
}

// listObjects lists the bucket; its library retries by itself.
func (b *bucket) listObjects(ctx context.Context, l objects.Listing) ([]objects.Object, error) {
	return objects.List(b.b, l, func(page func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, answer)
		defer cancel()
		if err := page(ctx); err != nil {
			return b.failed(ctx, err)
		}
		return nil
	})
}

// failed returns the explained error, or the context's.
func (b *bucket) failed(ctx context.Context, err error) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	return b.fault(err)
}

// read opens a range of an object that still has its listed length.
func (b *bucket) read(ctx context.Context, e discover.TreeEntry, from, n int64) (io.ReadCloser, time.Time, error) {
	r, err := b.b.Read(ctx, e.Path, from, n)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.Size != e.Size {
		r.Close()
		return nil, time.Time{}, objects.Replaced
	}
	return r, r.Modified, nil
}
