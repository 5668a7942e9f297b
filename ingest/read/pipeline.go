package read

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"straggler/ingest"
)

// Chunk is a block on its way through a pipeline, with the result of decoding it.
type Chunk[T any] struct {
	Block
	Part ingest.Part // the file that contains it
	At   int         // index of the file
	Made T           // kept from chunk to chunk to reuse its memory

	ready chan error    // the error of decoding it
	taken chan struct{} // nil, or closed once it is folded
}

// Pipeline reads files in three stages: one goroutine cuts them into blocks of whole records, several decode blocks, and the
// caller folds the results, in the order of the files. All goroutines have ended when Run returns.
type Pipeline[T any] struct {
	// Decoder returns a separate decoder for each goroutine, which must not touch what the others or Fold use.
	Decoder func() func(*Chunk[T])
	// Fold processes the decoded records. An error from it ends the run.
	Fold func(*Chunk[T]) error
	// Cut returns where the last whole record of b ends, 0 if none does. It is called again with all of b when there is more of
	// it. Nil cuts at the last line end.
	Cut func(b []byte) int
	// Decoders is the number of concurrent decoders; 0 means one per processor.
	Decoders int
	// Bytes is the size of a block. Rows that are much larger than their text are best decoded in small blocks, so that they
	// are still in a processor's cache when they are folded. 0 means a size suitable for text.
	Bytes int
}

// largeBlock is the size above which a block, most likely a single record, is processed alone and its memory released.
const largeBlock = 8 << 20

// Run reads the parts. A part that cannot be read completely does not affect the others: the errors are joined.
func (p *Pipeline[T]) Run(ctx context.Context, parts []ingest.Part, out *ingest.Sink) error {
	decoders := p.Decoders
	if decoders <= 0 {
		decoders = runtime.GOMAXPROCS(0)
	}
	if small(parts) {
		return p.inline(ctx, parts, out)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	n := 2*decoders + 1
	free, todo, order := make(chan *Chunk[T], n), make(chan *Chunk[T], n), make(chan *Chunk[T], n)
	for range n {
		free <- &Chunk[T]{ready: make(chan error, 1)}
	}
	var read error
	wg.Go(func() {
		defer close(todo)
		defer close(order)
		defer ingest.Recover(&read)
		r := blockReader[T]{p, out, free, func(c *Chunk[T]) { order <- c; todo <- c }}
		read = r.read(ctx, parts)
	})
	for range decoders {
		wg.Go(func() {
			var decode func(*Chunk[T])
			for c := range todo {
				if decode == nil {
					decode = p.Decoder()
				}
				c.ready <- decoded(c, decode)
			}
		})
	}
	for c := range order {
		err := <-c.ready
		if err == nil {
			err = p.Fold(c)
		}
		if err != nil {
			cancel()
			for range order { // the reader stops at its next block
			}
			return err
		}
		if c.taken != nil {
			close(c.taken)
			c.taken, c.Data = nil, nil
		}
		free <- c
	}
	return errors.Join(read, ctx.Err())
}

// smallInput is the size up to which an input is not worth a pipeline.
const smallInput = 512 << 10

func small(parts []ingest.Part) bool {
	total := int64(0)
	for _, p := range parts {
		if total += p.Size; p.Size < 0 || total > smallInput {
			return false
		}
	}
	return true
}

// inline reads the parts without other goroutines.
func (p *Pipeline[T]) inline(ctx context.Context, parts []ingest.Part, out *ingest.Sink) error {
	decode := p.Decoder()
	free := make(chan *Chunk[T], 1)
	free <- new(Chunk[T])
	var failed error
	r := blockReader[T]{p, out, free, func(c *Chunk[T]) {
		if failed == nil {
			if failed = decoded(c, decode); failed == nil {
				failed = p.Fold(c)
			}
		}
		if c.taken != nil {
			close(c.taken)
			c.taken, c.Data = nil, nil
		}
		free <- c
	}}
	if err := r.read(ctx, parts); failed == nil {
		return err
	}
	return failed
}

// decoded decodes a chunk. A panic fails only this input.
func decoded[T any](c *Chunk[T], decode func(*Chunk[T])) (err error) {
	defer ingest.Recover(&err)
	decode(c)
	return nil
}

// blockReader reads blocks into free chunks and sends them.
type blockReader[T any] struct {
	p    *Pipeline[T]
	out  *ingest.Sink
	free chan *Chunk[T]
	send func(*Chunk[T])
}

// read reads the parts one after the other. An error of one does not prevent the next from being read.
func (b *blockReader[T]) read(ctx context.Context, parts []ingest.Part) error {
	var errs []error
	for at, part := range parts {
		err := b.readPart(ctx, at, part)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (b *blockReader[T]) readPart(ctx context.Context, at int, part ingest.Part) (err error) {
	r, err := part.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	blocks := NewBlocks(r, part.Name, b.out)
	if b.p.Cut != nil {
		blocks.cut = b.p.Cut
	}
	if b.p.Bytes > 0 {
		blocks.size = b.p.Bytes
	}
	for {
		var c *Chunk[T]
		select {
		case c = <-b.free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := blocks.Next(&c.Block); err != nil {
			b.free <- c
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		c.Part, c.At = part, at
		var taken chan struct{}
		if cap(c.Data) > largeBlock {
			taken = make(chan struct{})
			c.taken = taken
		}
		if b.send(c); taken == nil {
			continue
		}
		select {
		case <-taken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
