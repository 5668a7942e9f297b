package bucket

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"straggler/bucket/location"
)

// Bucket is a bucket of an object store. Its methods give the errors of the libraries, which Explain explains.
type Bucket interface {
	// Stat says what is known of an object.
	Stat(ctx context.Context, key string) (Object, error)
	// Page lists up to size objects in the order of their keys, from where the page before ended on, and says where this one
	// does: "" at the end.
	Page(ctx context.Context, prefix, delimiter, after string, size int) (objects []Object, next string, err error)
	// Read opens an object at a byte; n < 0 is to its end.
	Read(ctx context.Context, key string, from, n int64) (*Reader, error)
	// Write makes an object, there whole or not at all. Where there is one already, fresh makes it fail and leaves that.
	Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error
	// Delete removes an object. Some stores fail where there is none.
	Delete(ctx context.Context, key string) error
	Close() error
}

// Object is an object of a bucket, or a directory: what keys have in common up to a delimiter.
type Object struct {
	Key      string
	Dir      bool
	Size     int64
	Modified time.Time
}

// Reader reads a part of an object, of which it says how large it is and when it was made.
type Reader struct {
	io.ReadCloser
	Size     int64
	Modified time.Time
}

// scheme is how the buckets of a scheme are opened.
type scheme struct {
	name string
	open func(ctx context.Context, l location.Location, retries bool) (Bucket, error)
}

var schemes = [...]scheme{{"s3", openS3}, {"gs", openGoogle}, {"azblob", openAzure}, {"file", openDir}}

// Open opens the bucket of a location and asks the server nothing yet. The keys of a file URL are relative to its
// directory; those of all others to the bucket, whatever the path of the URL.
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

// pageSize is how many entries are asked for at once, the most that S3 gives.
const pageSize = 1000

// Listing says what to list.
type Listing struct {
	Prefix    string // of the keys
	Delimiter string // "" or what ends a directory; then directories are listed and not what lies in them
	Limit     int    // 0: all entries
}

// List gives the objects of a bucket in the order of their keys. Ask calls page, under a context of its own and as often as
// its policy of retries says, and gives the error for people.
func List(b Bucket, l Listing, ask func(page func(context.Context) error) error) ([]Object, error) {
	var out []Object
	for after := ""; ; {
		size := pageSize
		if l.Limit > 0 {
			size = min(size, l.Limit-len(out))
		}
		err := ask(func(ctx context.Context) error {
			found, next, err := b.Page(ctx, l.Prefix, l.Delimiter, after, size)
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
