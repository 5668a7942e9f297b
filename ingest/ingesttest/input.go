package ingesttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"path"
	"slices"

	"straggler/ingest"
	"straggler/ingest/codec"
	"straggler/schema"
)

// Input returns an input of one file in memory, decompressed as a run does.
func Input(name string, data []byte) *ingest.Input {
	open := func(context.Context) (io.ReadCloser, error) {
		return codec.Open(bytes.NewReader(data), name, int64(len(data)), nil)
	}
	in := &ingest.Input{Name: name, Base: codec.Trim(path.Base(name)), Parts: []ingest.Part{{Name: name, Size: int64(len(data)), Open: open}}}
	in.Parts[0].OpenAt = func(ctx context.Context) (ingest.File, error) {
		all, err := contentOf(ctx, in.Parts[0], math.MaxInt64)
		if err != nil {
			return nil, err
		}
		return file{bytes.NewReader(all)}, nil
	}
	head, _ := contentOf(context.Background(), in.Parts[0], ingest.HeadBytes) // the format will meet the error again
	in.Key = schema.InputKey(in.Base, head)
	return in
}

// Directory returns an input of several files in memory, in the order of their names.
func Directory(name string, files map[string]string) *ingest.Input {
	in := &ingest.Input{Name: name, Base: name, Key: 7}
	for _, part := range slices.Sorted(maps.Keys(files)) {
		in.Parts = append(in.Parts, Input(part, []byte(files[part])).Parts[0])
	}
	return in
}

func contentOf(ctx context.Context, p ingest.Part, most int64) ([]byte, error) {
	r, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, most))
	return content, errors.Join(err, r.Close())
}

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }
