package ingest

import (
	"bytes"
	"context"
	"io"
	"path"

	"straggler/schema"
)

// BytesInput is an input of one file that is in memory. Tests and fuzz targets read such inputs.
func BytesInput(name string, data []byte) *Input {
	return &Input{
		Name: name,
		Base: path.Base(name),
		Key:  schema.InputKey(path.Base(name), data),
		Parts: []Part{{
			Name: name,
			Size: int64(len(data)),
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
		}},
	}
}
