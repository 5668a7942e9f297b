package store

import (
	"math/bits"
	"sync"
	"unsafe"
)

// recycler is an Arrow allocator that uses memory again. The Parquet writer asks for the same pieces for every column of
// every row group; without it they would be most of an ingest's garbage.
type recycler struct {
	mu   sync.Mutex
	free [48][][]byte // by the logarithm of the capacity
}

// alignment is what Arrow wants pieces to be aligned to.
const alignment = 64

// maxRecycled is the size above which pieces go back to the garbage collector.
const maxRecycled = 4 << 20

// Allocate gives zeroed memory.
func (r *recycler) Allocate(size int) []byte {
	if size <= 0 {
		return []byte{}
	}
	class := bits.Len(uint(size - 1))
	if size > maxRecycled {
		return aligned(size)
	}
	r.mu.Lock()
	var b []byte
	if n := len(r.free[class]); n > 0 {
		b, r.free[class] = r.free[class][n-1], r.free[class][:n-1]
	}
	r.mu.Unlock()
	if b == nil {
		return aligned(1 << class)[:size]
	}
	b = b[:size]
	clear(b)
	return b
}

func (r *recycler) Reallocate(size int, b []byte) []byte {
	if n := len(b); size <= cap(b) {
		b = b[:size]
		if size > n {
			clear(b[n:])
		}
		return b
	}
	out := r.Allocate(size)
	copy(out, b)
	r.Free(b)
	return out
}

func (r *recycler) Free(b []byte) {
	c := cap(b)
	if c == 0 || c > maxRecycled || c&(c-1) != 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	class := bits.Len(uint(c - 1))
	r.free[class] = append(r.free[class], b[:0])
}

func aligned(size int) []byte {
	b := make([]byte, size+alignment)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (alignment - 1))
	return b[skip : skip+size : skip+size]
}
