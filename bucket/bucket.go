package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"straggler/bucket/location"
)

// Bucket is a bucket of an object store. Its methods return the errors of the libraries, which Explain explains.
type Bucket interface {
	// Stat describes an object.
	Stat(ctx context.Context, key string) (Object, error)
	// Page lists up to size objects in the order of their keys, from the end of the previous page on, and returns its own end:
	// "" after the last page.
	Page(ctx context.Context, prefix, delimiter, after string, size int) (objects []Object, next string, err error)
	// Read opens an object at a byte; n < 0 means to its end.
	Read(ctx context.Context, key string, from, n int64) (*Reader, error)
	// Write creates an object atomically. With fresh it fails if the object exists, and leaves it unchanged.
	Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error
	// Delete removes an object. Some stores fail if there is none.
	Delete(ctx context.Context, key string) error
	Close() error
}

// Object is an object of a bucket, or a directory: a common prefix of keys up to a delimiter.
type Object struct {
	Key      string
	Dir      bool
	Size     int64
	Modified time.Time
}

// Reader reads a part of an object, with the size and time of the object.
type Reader struct {
	io.ReadCloser
	Size     int64
	Modified time.Time
}

// scheme opens the buckets of a scheme.
type scheme struct {
	name string
	open func(ctx context.Context, l location.Location, retries bool) (Bucket, error)
}

var schemes = [...]scheme{{"s3", openS3}, {"gs", openGoogle}, {"azblob", openAzure}, {"file", openDir}}

// Open opens the bucket of a location without a request to the server. The keys of a file URL are relative to its directory;
// those of all others to the bucket, whatever the path of the URL.
func Open(ctx context.Context, l location.Location) (Bucket, error) { return open(ctx, l, true) }

// OpenOnce is Open for callers with a RetryPolicy: the libraries do not retry as well, which would multiply the tries.
func OpenOnce(ctx context.Context, l location.Location) (Bucket, error) { return open(ctx, l, false) }

func open(ctx context.Context, l location.Location, retries bool) (Bucket, error) {
	var names []string
	for _, s := range schemes {
		if names = append(names, s.name); s.name != l.Scheme {
			continue
		}
		b, err := s.open(context.WithoutCancel(ctx), l, retries) // tokens are renewed under the context, long after the call
		if err == nil {
			return b, nil
		}
		reason := answerOf(err).reason
		if aboutCredentials(reason) {
			return nil, &Fault{fs.ErrPermission, "access needs credentials (" + reason + ")" + l.Hints().ThenCredentials()}
		}
		return nil, &Fault{location.ErrURL, "the URL cannot be used: " + reason}
	}
	return nil, fmt.Errorf("%w: there is no bucket of %s; there are %s", location.ErrURL, l.Scheme, strings.Join(names, ", "))
}

// pageSize is the number of entries per request, the maximum of S3.
const pageSize = 1000

// Listing selects what to list.
type Listing struct {
	Prefix    string // of the keys
	Delimiter string // "" or what ends a directory; then directories are listed and not what lies in them
	Limit     int    // 0: all entries
}

// List yields the objects of a bucket in the order of their keys. Ask calls page, with its own context and retry policy, and
// returns the error for people.
func List(b Bucket, l Listing, ask func(page func(context.Context) error) error) ([]Object, error) {
	var out []Object
	for after := ""; ; {
		size := pageSize
		if l.Limit > 0 {
			size = min(size, l.Limit-len(out))
		}
		err := ask(func(ctx context.Context) error {
			found, next, err := b.Page(ctx, l.Prefix, l.Delimiter, after, size)
			if err == nil && next != "" && next == after {
				err = errors.New("the server repeats a page of the listing of the bucket without end")
			}
			if err == nil {
				out, after = append(out, found...), next
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if after == "" || l.Limit > 0 && len(out) >= l.Limit {
			return out, nil
		}
	}
}
