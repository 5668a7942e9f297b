package remote

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	objects "straggler/bucket"
	"straggler/ingest/discover"
)

// answer is how long a question to an object store may take with all that its library tries: some try for ever.
const answer = 90 * time.Second

// pageSize is how many entries are listed with one question.
const pageSize = 1000

// bucket is a bucket of an object store, where a prefix that ends in a slash is a directory.
type bucket struct {
	b *blob.Bucket
	l location
}

// openBucket asks the store nothing yet.
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
		a, err := b.b.Attributes(ctx, p)
		if err == nil {
			return discover.TreeEntry{Path: p, Size: a.Size, Modified: a.ModTime}, nil
		}
		if gcerrors.Code(err) != gcerrors.NotFound {
			return discover.TreeEntry{}, b.failed(ctx, err)
		}
	}
	some, _, err := b.page(ctx, p+"/", "", blob.FirstPageToken, 1)
	if err != nil {
		return discover.TreeEntry{}, err
	}
	if len(some) == 0 {
		return discover.TreeEntry{}, &fault{fs.ErrNotExist, fmt.Sprintf("the bucket %s has neither an object %s nor any under %s/", b.l.Host, p, p)}
	}
	return discover.TreeEntry{Path: p, Dir: true}, nil
}

// failed is the fault behind an error, or that the user does not want to wait.
func (b *bucket) failed(ctx context.Context, err error) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	return b.fault(err)
}

func (b *bucket) page(ctx context.Context, prefix, delimiter string, token []byte, size int) ([]*blob.ListObject, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	objects, next, err := b.b.ListPage(ctx, token, size, &blob.ListOptions{Prefix: prefix, Delimiter: delimiter})
	if err != nil {
		return nil, nil, b.failed(ctx, err)
	}
	return objects, next, nil
}

func (b *bucket) list(ctx context.Context, dir string) ([]discover.TreeEntry, error) {
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	var out []discover.TreeEntry
	for token := blob.FirstPageToken; len(token) > 0; {
		objects, next, err := b.page(ctx, prefix, "/", token, pageSize)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			e := discover.TreeEntry{Path: strings.TrimSuffix(o.Key, "/"), Dir: o.IsDir, Size: o.Size, Modified: o.ModTime}
			switch name := strings.TrimPrefix(o.Key, prefix); {
			case name == "": // an object that stands for the directory
				continue
			case name == "/" || path.Base(e.Path) == "..":
				e.Skip = "the store's library can not ask for names with // or ../ in them"
			}
			out = append(out, e)
		}
		token = next
	}
	return out, nil
}

// read opens a range, of an object that is as long as the one that was listed.
func (b *bucket) read(ctx context.Context, e discover.TreeEntry, from, n int64) (io.ReadCloser, time.Time, error) {
	r, err := b.b.NewRangeReader(ctx, e.Path, from, n, nil)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.Size() != e.Size {
		r.Close()
		return nil, time.Time{}, objects.Replaced
	}
	return r, r.ModTime(), nil
}
