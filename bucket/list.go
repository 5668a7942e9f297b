package bucket

import (
	"context"

	"gocloud.dev/blob"
)

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
func List(b *blob.Bucket, l Listing, ask func(page func(context.Context) error) error) ([]*blob.ListObject, error) {
	var out []*blob.ListObject
	o := &blob.ListOptions{Prefix: l.Prefix, Delimiter: l.Delimiter}
	for token := blob.FirstPageToken; len(token) > 0; {
		size := pageSize
		if l.Limit > 0 {
			size = min(size, l.Limit-len(out))
		}
		err := ask(func(ctx context.Context) error {
			found, next, err := b.ListPage(ctx, token, size, o)
			if err == nil {
				out, token = append(out, found...), next
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if l.Limit > 0 && len(out) >= l.Limit {
			break
		}
	}
	return out, nil
}
