package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"

	"straggler/ingest/codec"
	"straggler/schema"
)

// BytesInput is an input of one file that is in memory, decompressed as any other. Tests and fuzz targets read such
// inputs.
func BytesInput(name string, data []byte) *Input {
	f := &file{
		name: name,
		size: int64(len(data)),
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		at: func() (io.ReaderAt, io.Closer, error) {
			r := bytes.NewReader(data)
			return r, io.NopCloser(r), nil
		},
	}
	in := (&candidate{name: name, base: codec.Trim(path.Base(name)), files: []*file{f}}).input(Limits{}.withDefaults(), nil, nil)
	in.Parts[0].OpenAt = func(ctx context.Context) (File, error) {
		r, err := in.Parts[0].Open(ctx)
		if err != nil {
			return nil, err
		}
		all, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		return &section{io.NewSectionReader(bytes.NewReader(all), 0, int64(len(all))), io.NopCloser(nil)}, nil
	}
	head, _, _ := peekFile(context.Background(), f, Limits{}.withDefaults(), make([]byte, headBytes))
	in.Key = schema.InputKey(in.Base, head.Bytes)
	return in
}
