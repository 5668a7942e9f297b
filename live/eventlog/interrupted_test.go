package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/iotest"
	"time"

	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/live"
	"straggler/live/eventlog"
)

// A log that cannot be read, because its location does not answer or because it is renamed between listing and opening, is
// read as soon as possible: neither ends the watch.
func TestInterrupted(t *testing.T) {
	data := plainLog(t)
	for _, x := range []struct {
		name             string
		list, open, read error
	}{
		{name: "nothing can be listed", list: discover.ErrSource},
		{name: "nothing can be opened", open: discover.ErrSource},
		{name: "it is renamed after it was listed", open: fs.ErrNotExist},
		{name: "the connection breaks", read: discover.ErrSource},
	} {
		in := &bucket{name: "app-1.inprogress", data: data[:len(data)/2], written: time.Now()}
		s := eventlog.New("s3://logs/events", "", formats.All(), remote{in})
		if st := poll(t, s); st.Ended {
			t.Fatal("half a log has ended")
		}
		in.name, in.data, in.written = "app-1", data, time.Now()
		in.list, in.open, in.read = x.list, x.open, x.read
		if st, err := s.Poll(t.Context()); !errors.Is(err, live.ErrAway) || errors.Is(err, live.ErrGone) {
			t.Errorf("%s: %v, %v", x.name, st, err)
		}
		in.list, in.open, in.read = nil, nil, nil
		if st, err := s.Poll(t.Context()); err != nil || !st.Ended {
			t.Errorf("%s, and then again: %v, %v", x.name, st, err)
		}
	}
}

// bucket holds one log, and can be made to fail when it is listed, opened or read.
type bucket struct {
	name             string
	data             []byte
	written          time.Time
	list, open, read error
}

func (b *bucket) entry() discover.TreeEntry {
	return discover.TreeEntry{Path: "events/" + b.name, Size: int64(len(b.data)), Modified: b.written}
}

func (b *bucket) URL(path string) string { return "s3://logs/" + path }

func (b *bucket) Stat(context.Context, string, bool) (discover.TreeEntry, error) {
	return discover.TreeEntry{Path: "events", Dir: true}, nil
}

func (b *bucket) List(context.Context, string) ([]discover.TreeEntry, error) {
	return []discover.TreeEntry{b.entry()}, b.list
}

func (b *bucket) OpenAt(context.Context, discover.TreeEntry) (io.ReaderAt, io.Closer, error) {
	return bytes.NewReader(b.data), io.NopCloser(nil), b.open
}

// remote is the location of the bucket.
type remote struct{ *bucket }

func (r remote) Open(context.Context, string) (discover.Tree, string, error) {
	return r.bucket, "events", nil
}

// Open returns the log; if it is to fail, the connection breaks after the first bytes.
func (b *bucket) Open(context.Context, discover.TreeEntry) (io.ReadCloser, error) {
	if b.read != nil {
		half := io.LimitReader(bytes.NewReader(b.data), int64(len(b.data)/2))
		return io.NopCloser(io.MultiReader(half, iotest.ErrReader(b.read))), b.open
	}
	return io.NopCloser(bytes.NewReader(b.data)), b.open
}
