package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"straggler/bucket"
)

// transfers is how many files are sent or fetched at once.
const transfers = 4

// progress adds up the progress of several files.
type progress struct {
	what   string
	files  int
	bytes  int64
	done   atomic.Int64
	report func(Transfer)
}

func (g *progress) add(n int64) {
	done := g.done.Add(n)
	if g.report != nil {
		g.report(Transfer{What: g.what, Files: g.files, Bytes: g.bytes, Done: done})
	}
}

// put sends the files and keeps a local copy of each, because writers of results read the logs that they come from.
func (s *objectStore) put(ctx context.Context, files []upload) (stored []string, err error) {
	g := &progress{what: "sending", files: len(files), report: s.report}
	for _, u := range files {
		g.bytes += u.file.Bytes
	}
	sent := make([]bool, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i, u := range files {
		group.Go(func() error {
			err := s.send(ctx, u.file, func() (io.ReadCloser, error) { return os.Open(u.from) }, g)
			sent[i] = err == nil
			if err == nil {
				s.cache.adopt(u.from, u.file)
			}
			return err
		})
	}
	err = group.Wait()
	for i, ok := range sent {
		if ok {
			stored = append(stored, files[i].file.Path)
		}
	}
	return stored, err
}

// send puts one file, which open opens on this machine, and checks that the object has the file's length.
func (s *objectStore) send(ctx context.Context, f FileRecord, open func() (io.ReadCloser, error), g *progress) error {
	return s.try(ctx, f.Path, func(ctx context.Context, alive func()) error {
		r, err := open()
		if err != nil {
			return &bucket.Fault{Kind: ErrDamaged, Text: err.Error()}
		}
		defer r.Close()
		before := int64(0)
		counted := readerFunc(func(b []byte) (int, error) {
			n, err := r.Read(b)
			alive()
			before += int64(n)
			g.add(int64(n))
			return n, err
		})
		err = s.bucket.Write(ctx, s.key(f.Path), "application/vnd.apache.parquet", counted, false)
		if err == nil {
			var a bucket.Object
			if a, err = s.bucket.Stat(ctx, s.key(f.Path)); err == nil && a.Size != f.Bytes {
				err = fmt.Errorf("%d bytes of %d have arrived", a.Size, f.Bytes)
			}
		}
		if err != nil {
			g.add(-before)
		}
		return err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// create puts a commit. When the object exists already it is read, because it may be our own: an earlier attempt may have
// succeeded although it returned an error.
func (s *objectStore) create(ctx context.Context, name string, data []byte, _ string) (visible bool, err error) {
	err = s.try(ctx, name, func(ctx context.Context, _ func()) error {
		return s.bucket.Write(ctx, s.key(name), "application/json", strings.NewReader(string(data)), true)
	})
	var f *bucket.Fault
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
	case errors.As(err, &f) && f.Final():
		return false, err
	}
	asked, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	found, rerr := s.readAll(asked, name)
	switch {
	case rerr == nil && string(found) == string(data):
		return true, nil
	case rerr == nil:
		return false, fs.ErrExist
	case errors.Is(rerr, fs.ErrNotExist) && errors.Is(err, fs.ErrExist):
		return false, fs.ErrExist // it has been removed since
	}
	return true, fmt.Errorf("the object store did not say whether it has taken it; repeat the command, which is safe: %w", err)
}

func (s *objectStore) readAll(ctx context.Context, name string) (data []byte, err error) {
	err = s.try(ctx, name, func(ctx context.Context, _ func()) error {
		r, err := s.bucket.Read(ctx, s.key(name), 0, -1)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}
