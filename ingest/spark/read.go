package spark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"

	"straggler/ingest"
)

// errNoEvents is the error of an input without a single event.
var errNoEvents = errors.New("it holds no event of a Spark log; is it empty, or another kind of file?")

// read decodes the blocks of a log in parallel and folds their events in order.
func read(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	return readWith(ctx, in, out, runtime.GOMAXPROCS(0))
}

func readWith(ctx context.Context, in *ingest.Input, out *ingest.Sink, decoders int) error {
	f := newFold(in, out)
	f.notes = partial(in.Parts)
	for _, p := range in.Parts {
		if v, ok := strings.CutPrefix(path.Base(p.Name), versionPrefix); ok {
			f.version = v
		}
	}
	l := newLine(decoders)
	err := l.run(ctx, in, out, f)
	decoded := out.Counts().Decoded
	if decoded > 0 && f.err == nil {
		f.application()
		f.finishApp(l.cut)
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

// work is a block on its way: read, decoded, folded.
type work struct {
	block  ingest.Block
	source string
	first  bool // of its file
	batch  batch
	ready  chan struct{} // gets a value when the batch is decoded
	err    error         // a mistake of ours in decoding it
}

// decode fills the batch. A panic costs this log and no other.
func (w *work) decode(d *decoder) (err error) {
	defer ingest.Recover(&err)
	w.batch.reset()
	d.block(&w.block, w.source, &w.batch)
	return nil
}

// line is the assembly line of one read: one goroutine reads blocks, some decode them, and the caller folds them.
type line struct {
	decoders int
	free     chan *work // blocks to fill
	todo     chan *work // blocks to decode
	order    chan *work // the same, in the order of the log
	cut      string     // how a compressed file ended before its time
	err      error      // of reading
}

func newLine(decoders int) *line {
	n := 2*decoders + 2
	l := &line{decoders: decoders, free: make(chan *work, n), todo: make(chan *work, n), order: make(chan *work, n)}
	for range n {
		l.free <- &work{ready: make(chan struct{}, 1)}
	}
	return l
}

// run folds all blocks of the input. Its goroutines have ended when it returns.
func (l *line) run(ctx context.Context, in *ingest.Input, out *ingest.Sink, f *fold) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(l.todo)
		defer close(l.order)
		l.err = l.read(ctx, in, out)
	})
	for range l.decoders {
		wg.Go(func() {
			var d decoder
			for w := range l.todo {
				w.err = w.decode(&d)
				w.ready <- struct{}{}
			}
		})
	}
	for w := range l.order {
		<-w.ready
		err := w.err
		if err == nil {
			err = l.fold(ctx, w, out, f)
		}
		if err != nil {
			cancel()
			for range l.order { // the reader stops at its next block
			}
			return err
		}
		l.free <- w
	}
	return l.err
}

func (l *line) fold(ctx context.Context, w *work, out *ingest.Sink, f *fold) error {
	out.Decoded(w.batch.decoded)
	for _, r := range w.batch.rejects {
		out.Reject(r)
	}
	f.partStart = w.first
	if err := f.batch(&w.batch); err != nil {
		return err
	}
	return ctx.Err()
}

// read cuts the files of the input into blocks. A compressed file that is cut spoils nothing but its own end.
func (l *line) read(ctx context.Context, in *ingest.Input, out *ingest.Sink) (err error) {
	defer ingest.Recover(&err)
	for i := range in.Parts {
		p := &in.Parts[i]
		err := l.readPart(ctx, p, out)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			l.cut = fmt.Sprintf("%s is cut: it was copied while Spark wrote it, or its driver died", path.Base(p.Name))
		case err != nil:
			return err
		}
	}
	return nil
}

func (l *line) readPart(ctx context.Context, p *ingest.Part, out *ingest.Sink) (err error) {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); e != nil && err == nil {
			err = e
		}
	}()
	blocks := ingest.NewBlocks(r, p.Name, out)
	for first := true; ; first = false {
		var w *work
		select {
		case w = <-l.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := blocks.Next(&w.block)
		if err != nil {
			l.free <- w
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		w.source, w.first = p.Name, first
		l.order <- w
		l.todo <- w
	}
}
