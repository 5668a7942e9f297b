package detect

import (
	"fmt"
	"syscall"
	"unsafe"

	"straggler/tempfile"
)

// heapPhases is the number of phases held in Go's heap, at 56 bytes each: 450 MB, in addition to 768 MB of the engine's memory
// and about 300 MB of attempts and buffers. A larger list, as for a billion attempts, is in a file that is mapped into memory:
// the system keeps as much of it there as there is room for.
const heapPhases = 8 << 20

// phaseList allocates n phases, which are valid until freed; in the heap if there are at most inHeap.
func phaseList(n, inHeap int64) (phases []scannedPhase, free func(), err error) {
	free = func() {}
	if n <= inHeap {
		return make([]scannedPhase, 0, n), free, nil
	}
	size := n * int64(unsafe.Sizeof(scannedPhase{}))
	b, err := mapped(size)
	if err != nil {
		return nil, free, fmt.Errorf("a file of %d bytes for what is known of phases; set TMPDIR to a directory that has room: %w", size, err)
	}
	return unsafe.Slice((*scannedPhase)(unsafe.Pointer(&b[0])), n)[:0], func() { syscall.Munmap(b) }, nil
}

// mapped maps a temporary file of zeros. The zeros are written: if the disk is full, that fails here,
// and not at some later use of the memory, which would crash the program.
func mapped(size int64) ([]byte, error) {
	f, err := tempfile.File("", "phases")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zeros := make([]byte, 1<<20)
	for left := size; left > 0; left -= int64(len(zeros)) {
		if _, err := f.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
			return nil, err
		}
	}
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}
