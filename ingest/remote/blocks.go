package remote

import (
	"context"
	"io"
	"sync"

	objects "straggler/bucket"
	"straggler/ingest/discover"
)

// A file with random access is read in blocks, of which the last few are kept: readers of Parquet read a few bytes here and
// there around long ranges.
const (
	blockBytes = 512 << 10
	blocksKept = 4
)

// blocks gives random access to a file. It is safe for concurrent use.
type blocks struct {
	ctx context.Context
	t   *tree
	e   discover.TreeEntry

	same objects.Version

	mu   sync.Mutex
	kept []block // the most recently used comes last
}

type block struct {
	number int64
	data   []byte
}

func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.e.Size {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), b.e.Size-off)]
	n := 0
	var err error
	if len(want) >= blockBytes {
		n, err = b.direct(want, off)
	}
	for n < len(want) && err == nil {
		var data []byte
		at := off + int64(n)
		if data, err = b.block(at / blockBytes); err == nil {
			n += copy(want[n:], data[at%blockBytes:])
		}
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (b *blocks) direct(p []byte, off int64) (int, error) {
	s := b.t.stream(b.ctx, b.e, off, off+int64(len(p)), &b.same)
	defer s.Close()
	return io.ReadFull(s, p)
}

func (b *blocks) block(number int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, k := range b.kept {
		if k.number == number {
			b.kept = append(append(b.kept[:i:i], b.kept[i+1:]...), k)
			return k.data, nil
		}
	}
	start := number * blockBytes
	data := make([]byte, min(blockBytes, b.e.Size-start))
	if _, err := b.direct(data, start); err != nil {
		return nil, err
	}
	if len(b.kept) == blocksKept {
		b.kept = b.kept[1:]
	}
	b.kept = append(b.kept, block{number, data})
	return data, nil
}

// Close discards the blocks.
func (b *blocks) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = nil
	return nil
}
