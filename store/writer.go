package store

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"straggler/schema"
)

// tableWriter writes the rows of one table. Callers fill one buffer under mu while a goroutine writes the one before
// under write: a single caller keeps two cores busy, and nobody gets ahead of the disk by more than a buffer. The
// goroutine ends with its buffer; finish and drop wait for it.
type tableWriter struct {
	tx      *Tx
	table   *schema.Table
	columns []schema.Column // of its files

	mu    sync.Mutex
	fill  *buffer
	rows  map[schema.Key]int64 // appended, by input
	plain []bool               // columns that have more different strings than a dictionary holds
	ended bool

	spare atomic.Pointer[buffer] // was written and may be filled again

	write   sync.Mutex
	failed  error // of a buffer that was written behind the callers' backs
	part    *part
	parts   int
	done    []FileRecord // Path is in staging
	order   []int32
	scratch scratch
}

// addBytes is how many bytes of rows are added at a time: few enough to be in the processor's nearest cache still when
// the next column is copied, and to have long strings bounded.
const addBytes = 24 << 10

// maxTextBytes bounds the strings of a buffer, so that logs with long ones do not take more memory than others.
const maxTextBytes = 16 << 20

// add copies some of the rows, and writes the buffer when they fill it.
func (w *tableWriter) add(input schema.Key, p unsafe.Pointer, stride uintptr, n int) (int, error) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return 0, errDone
	}
	b := w.buffer()
	n = min(n, max(addBytes/int(stride), 1), groupRows-b.n)
	b.add(input, p, stride, n)
	w.rows[input] += int64(n)
	if b.n < groupRows && b.textBytes() < maxTextBytes {
		w.mu.Unlock()
		return n, nil
	}
	w.write.Lock() // waits for the buffer before
	if err := cmp.Or(w.failed, w.tx.ctx.Err()); err != nil {
		w.write.Unlock()
		w.mu.Unlock()
		return 0, err
	}
	w.fill = nil
	for i := range b.cols {
		w.plain[i] = w.plain[i] || b.cols[i].text.plain
	}
	w.mu.Unlock()
	go func() {
		defer w.write.Unlock()
		w.failed = w.flush(b)
		b.reset()
		w.spare.Store(b)
	}()
	return n, nil
}

// buffer is the one to fill. A second one comes into being only when rows are appended while the first is written.
func (w *tableWriter) buffer() *buffer {
	if w.fill != nil {
		return w.fill
	}
	if w.fill = w.spare.Swap(nil); w.fill == nil {
		w.fill = newBuffer(w.columns)
	}
	for i := range w.fill.cols {
		w.fill.cols[i].text.plain = w.plain[i]
	}
	return w.fill
}

func (w *tableWriter) flush(b *buffer) error {
	if b.n == 0 {
		return nil
	}
	if err := w.tx.ctx.Err(); err != nil {
		return err
	}
	if w.part == nil {
		name := fmt.Sprintf("%s-%d.parquet", w.table.Name, w.parts)
		f, err := w.tx.s.fs.Create(path.Join(w.tx.staging, name))
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		w.parts++
		if w.part, err = newPart(name, f, w.columns); err != nil {
			f.Close()
			return fmt.Errorf("store: %w", err)
		}
	}
	var order []int32
	if w.table.Cluster != "" {
		i := slices.IndexFunc(w.table.Columns, func(c schema.Column) bool { return c.Name == w.table.Cluster })
		order = clustered(b.cols[i].i64, &w.order)
	}
	if err := w.part.writeGroup(b, order, &w.scratch); err != nil {
		return fmt.Errorf("store: writing %s: %w", w.part.name, err)
	}
	if w.part.groups == partGroups {
		return w.finishPart()
	}
	return nil
}

func (w *tableWriter) finishPart() error {
	p := w.part
	if p == nil {
		return nil
	}
	w.part = nil
	if err := p.finish(); err != nil {
		return fmt.Errorf("store: writing %s: %w", p.name, err)
	}
	w.done = append(w.done, FileRecord{Path: p.name, Bytes: p.sink.bytes, Rows: p.rows, Checksum: fmt.Sprintf("%016x", p.sink.sum.Sum64())})
	return nil
}

// finish writes what is still in memory.
func (w *tableWriter) finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write.Lock()
	defer w.write.Unlock()
	w.ended = true
	if w.failed != nil {
		return w.failed
	}
	if err := w.flush(w.buffer()); err != nil {
		return err
	}
	return w.finishPart()
}

// drop ends the writing where it stands.
func (w *tableWriter) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write.Lock()
	defer w.write.Unlock()
	w.ended = true
	if w.part != nil {
		w.part.sink.to.Close()
		w.part = nil
	}
}
