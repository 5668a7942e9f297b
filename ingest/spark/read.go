package spark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
)

// errNoEvents is the error of an input without a single event of Spark.
var errNoEvents = errors.New("it holds no event of a Spark log; is it empty, or another kind of file?")

// readLog decodes the blocks of a log in parallel and folds their events in order.
func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	return readWith(ctx, in, out, 0)
}

func readWith(ctx context.Context, in *ingest.Input, out *ingest.Sink, decoders int) error {
	f := newFold(in, out)
	f.notes = partial(in.Parts)
	var cut string
	parts := make([]ingest.Part, len(in.Parts))
	for i, p := range in.Parts {
		if v, ok := strings.CutPrefix(path.Base(p.Name), versionPrefix); ok {
			f.version = v
		}
		parts[i] = endsWhereCut(p, &cut)
	}
	at := -1
	pipeline := read.Pipeline[batch]{
		Decoders: decoders,
		Cut:      lastRecordEnd,
		Decoder: func() func(*read.Chunk[batch]) {
			var d decoder
			return func(c *read.Chunk[batch]) {
				c.Made.reset()
				d.block(&c.Block, c.Part.Name, &c.Made)
			}
		},
		Fold: func(c *read.Chunk[batch]) error {
			f.partStart, at = c.At != at, c.At
			return f.batch(&c.Made)
		},
	}
	err := pipeline.Run(ctx, parts, out)
	decoded := out.Counts().Decoded - f.foreign
	if decoded > 0 && f.err == nil {
		f.application()
		f.finishApp(cut)
	}
	switch {
	case f.err != nil:
		return f.err
	case err != nil:
		return err
	case decoded == 0:
		return errNoEvents
	}
	return nil
}

// endsWhereCut returns a part that ends with io.EOF where it is cut, and then sets cut to a sentence about it. A compressed file
// that is cut lacks only its own end.
func endsWhereCut(p ingest.Part, cut *string) ingest.Part {
	open := p.Open
	note := func(err error) error {
		if !ingest.IsCut(err) {
			return err
		}
		*cut = fmt.Sprintf("%s is cut: it was copied while Spark wrote it, or its driver died", path.Base(p.Name))
		return io.EOF
	}
	p.Open = func(ctx context.Context) (io.ReadCloser, error) {
		r, err := open(ctx)
		if err = note(err); err == io.EOF {
			return io.NopCloser(strings.NewReader("")), nil
		} else if err != nil {
			return nil, err
		}
		return &noted{r, note}, nil
	}
	return p
}

// noted passes the errors of a stream through note.
type noted struct {
	io.ReadCloser
	note func(error) error
}

func (r *noted) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	return n, r.note(err)
}
