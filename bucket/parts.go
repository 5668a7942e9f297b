package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"
)

// Large objects are sent in parts. These constants bound the memory used for them.
const (
	PartBytes   = 8 << 20
	partsAtOnce = 2
)

// readPart reads up to PartBytes. Its error is io.EOF if the data ends with them.
func readPart(data io.Reader) ([]byte, error) {
	var part bytes.Buffer
	_, err := io.CopyN(&part, data, PartBytes)
	return part.Bytes(), err
}

// sendParts sends a part and the rest of the data as parts numbered from 0, several concurrently, and returns the result of each.
func sendParts[T any](ctx context.Context, part []byte, data io.Reader, send func(ctx context.Context, n int, part []byte) (T, error)) ([]T, error) {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(partsAtOnce)
	var answers []*T
	var err error
	for n := 0; err == nil && gctx.Err() == nil; n++ {
		sent, answer := part, new(T)
		answers = append(answers, answer)
		g.Go(func() (err error) { *answer, err = send(gctx, n, sent); return err })
		if part, err = readPart(data); errors.Is(err, io.EOF) && len(part) > 0 {
			err = nil // the next read says that the data ends
		}
	}
	if failed := g.Wait(); failed != nil {
		return nil, failed
	}
	if !errors.Is(err, io.EOF) {
		return nil, cmp.Or(err, ctx.Err())
	}
	out := make([]T, len(answers))
	for i, answer := range answers {
		out[i] = *answer
	}
	return out, nil
}
