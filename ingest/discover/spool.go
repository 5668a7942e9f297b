package discover

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"straggler/ingest"
	"straggler/tempfile"
)

// spool is the temporary files of a run: archives that cannot be read in place, and parts that need random access.
type spool struct {
	parent string // directory of dir; "" means the system's
	left   atomic.Int64

	mu  sync.Mutex
	dir *tempfile.Directory
}

func newSpool(parent string, limit int64) *spool {
	s := &spool{parent: parent}
	s.left.Store(limit)
	return s
}

// copy writes r to a new file. If r is truncated it keeps what was read, and returns the error.
func (s *spool) copy(r io.Reader) (name string, size int64, err error) {
	dir, err := s.make()
	if err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(dir, "*")
	if err != nil {
		return "", 0, err
	}
	size, err = io.CopyBuffer(struct{ io.Writer }{f}, &spooling{r: r, s: s}, make([]byte, 1<<20))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil && !ingest.IsCut(err) && !errors.Is(err, ingest.ErrCorrupt) {
		return "", 0, errors.Join(err, s.remove(f.Name(), size))
	}
	return f.Name(), size, err
}

func (s *spool) make() (dir string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == nil {
		if s.dir, err = tempfile.NewDirectory(s.parent, "ingest"); err != nil {
			return "", err
		}
	}
	return s.dir.Path(), nil
}

func (s *spool) remove(name string, size int64) error {
	s.left.Add(size)
	return os.Remove(name)
}

func (s *spool) close() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Close()
}

// spooling charges what it reads to the spool's allowance.
type spooling struct {
	r io.Reader
	s *spool
}

func (r *spooling) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.s.left.Add(-int64(n)) < 0 {
		return 0, fmt.Errorf("%w: more temporary space is needed than is allowed; raise --max-temp if there is room", ingest.ErrLimit)
	}
	return n, err
}
