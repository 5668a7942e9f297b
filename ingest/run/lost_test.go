package run_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/run"
)

// breaking is a tree of two logs. The connection breaks whenever b.log is read, until a round has failed.
type breaking struct {
	logs   map[string][]byte
	broken bool
}

func (b *breaking) Open(context.Context, string) (discover.Tree, string, error) {
	return breakingTree{b}, "", nil
}

type breakingTree struct{ *breaking }

func (breakingTree) URL(path string) string { return "s3://logs/" + path }

func (breakingTree) Stat(context.Context, string, bool) (discover.TreeEntry, error) {
	return discover.TreeEntry{Dir: true}, nil
}

func (b breakingTree) List(context.Context, string) (out []discover.TreeEntry, err error) {
	for name, data := range b.logs {
		out = append(out, discover.TreeEntry{Path: name, Size: int64(len(data)), Modified: time.Unix(1, 0)})
	}
	return out, nil
}

func (b breakingTree) Open(_ context.Context, e discover.TreeEntry) (io.ReadCloser, error) {
	data := b.logs[e.Path]
	if e.Path == "b.log" && b.broken {
		return io.NopCloser(io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(discover.ErrSource))), nil
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (b breakingTree) OpenAt(_ context.Context, e discover.TreeEntry) (io.ReaderAt, io.Closer, error) {
	return bytes.NewReader(b.logs[e.Path]), io.NopCloser(nil), nil
}

// After a connection broke for good a follower reads the logs of that round again, although they do not change.
func TestFollowAfterBrokenConnection(t *testing.T) {
	tree := &breaking{logs: map[string][]byte{"a.log": toyLog("a", 2), "b.log": toyLog("b", 100_000)}, broken: true}
	st := newStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var lost error
	o := run.FollowOptions{Options: run.Options{Remote: tree}, Every: time.Millisecond}
	o.Each = func(_ run.Summary, err error) {
		if tree.broken = false; err == nil {
			cancel()
		} else {
			lost = err
		}
	}
	err := run.Follow(ctx, st, []ingest.Format{toy()}, []string{"s3://logs/"}, o)
	if !errors.Is(err, context.Canceled) || !errors.Is(lost, discover.ErrSource) {
		t.Errorf("it ended with %v, after %v", err, lost)
	}
	if got := attempts(t, st); !slices.Equal(got, []string{"a 2", "b 100000"}) {
		t.Errorf("the store holds %v", got)
	}
}
