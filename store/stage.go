package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"straggler/bucket/location"
)

// StagedFile is a file or directory in the store that belongs to no table, for programs on other machines. It is removed when
// it is closed; after the end of the process, immediately in a directory and a day later in a bucket.
type StagedFile struct {
	Name string // relative to the store, with slashes

	remove func() error
}

const stagedName = "staged"

// Stage writes data to a staged file.
func (s *Store) Stage(ctx context.Context, data []byte) (*StagedFile, error) {
	stage := s.stageInDirectory
	if b, far := s.at.(*objectStore); far {
		stage = b.stage
	}
	f, err := stage(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return f, nil
}

func (s *Store) stageInDirectory(ctx context.Context, data []byte) (*StagedFile, error) {
	return s.stageAs(ctx, func(name string) error { return os.WriteFile(name, data, 0o666) })
}

// stageAs creates a staged file or directory in a separate directory under staging, which is locked until it is closed.
func (s *Store) stageAs(ctx context.Context, create func(name string) error) (*StagedFile, error) {
	unlock, err := s.at.lock(ctx)
	if err != nil {
		return nil, err
	}
	dir, lock, err := s.staging.create()
	unlock()
	if err != nil {
		return nil, err
	}
	f := &StagedFile{path.Join("staging", filepath.Base(dir), stagedName), func() error { return s.staging.remove(dir, lock) }}
	if err := create(filepath.Join(dir, stagedName)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// StageDirectory creates a staged directory, in which programs on other machines may put files, also those of other users. It
// returns errors.ErrUnsupported if there are no directories, as in a bucket, and if the store must not be changed or cannot be
// written to by this user.
func (s *Store) StageDirectory(ctx context.Context) (*StagedFile, error) {
	if _, far := s.at.(*objectStore); far || s.o.ReadOnly {
		return nil, fmt.Errorf("store: no directory to write to: %w", errors.ErrUnsupported)
	}
	f, err := s.stageAs(ctx, makeShared)
	if ReadOnly(err) {
		return nil, fmt.Errorf("store: %w: %w", errors.ErrUnsupported, err)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return f, nil
}

// stage stores an object next to the marker of a writer.
func (s *objectStore) stage(ctx context.Context, data []byte) (*StagedFile, error) {
	id, err := s.registerWriter(ctx)
	if err != nil {
		return nil, err
	}
	name := markOf(id) + "." + stagedName
	stop := s.renewMark(ctx, id)
	f := &StagedFile{name, func() error {
		stop()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		return errors.Join(s.remove(ctx, name), s.unregisterWriter(ctx, id))
	}}
	err = s.send(ctx, FileRecord{Path: name, Bytes: int64(len(data))},
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, &progress{})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *StagedFile) Close() error { return f.remove() }

// ReadStaged reads a staged file of another process by its address, a path or a URL.
func ReadStaged(ctx context.Context, address string) ([]byte, error) {
	if !location.IsURL(address) {
		return os.ReadFile(address)
	}
	where, name, err := splitStaged(address)
	if err != nil {
		return nil, err
	}
	s, err := openObjects(ctx, where, Options{})
	if err != nil {
		return nil, err
	}
	f := fileInfo{name: name}
	err = s.try(ctx, name, func(ctx context.Context, _ func()) error {
		a, err := s.bucket.Stat(ctx, s.key(name))
		f.size = a.Size
		return err
	})
	if err != nil {
		return nil, err
	}
	return readFile(ctx, s, f)
}

// splitStaged splits the URL of an object under staging into that of the store and the object's name in it.
func splitStaged(address string) (where, name string, err error) {
	url, query, has := strings.Cut(address, "?")
	at := strings.LastIndex(url, "/staging/")
	if at < 0 {
		return "", "", fmt.Errorf("%w: %s is not one of a store's objects under staging", location.ErrURL, url)
	}
	if where, name = url[:at], url[at+1:]; has {
		where += "?" + query
	}
	return where, name, nil
}
