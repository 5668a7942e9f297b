package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"straggler/ingest"
)

// enough is how many bytes make up for the connections that broke before them: a file of any size is read over a
// network that breaks now and then, and one that breaks all the time is given up.
const enough = 8 << 20

// stream is a range of a file that is read from its start to its end. A connection that breaks is made again, at the
// byte where it broke.
type stream struct {
	ctx  context.Context
	t    *tree
	e    ingest.TreeEntry
	at   int64 // of the next byte
	end  int64
	same *version

	body   io.ReadCloser
	cancel context.CancelFunc // ends the connection
	stall  *time.Timer        // calls cancel
	breaks int                // connections that broke without enough bytes since
	good   int64              // bytes since the last one that did
	err    error              // came with the last bytes
}

func (t *tree) stream(ctx context.Context, e ingest.TreeEntry, from, end int64, same *version) *stream {
	return &stream{ctx: ctx, t: t, e: e, at: from, end: end, same: same}
}

func (s *stream) Read(p []byte) (int, error) {
	for s.at < s.end && len(p) > 0 {
		if err := s.err; err != nil {
			s.err = nil
			s.hangUp()
			if err := s.again(err); err != nil {
				return 0, err
			}
		}
		var n int
		n, s.err = s.once(p[:min(int64(len(p)), s.end-s.at)])
		s.at += int64(n)
		if s.good += int64(n); s.good >= enough {
			s.good, s.breaks = 0, 0
		}
		if n > 0 {
			return n, nil
		}
	}
	if s.at >= s.end {
		return 0, io.EOF
	}
	return 0, nil
}

// once reads from the connection that there is, or from a new one.
func (s *stream) once(p []byte) (int, error) {
	if s.body == nil {
		ctx, cancel := context.WithCancel(s.ctx)
		s.cancel, s.stall = cancel, time.AfterFunc(s.t.o.Stall, cancel)
		body, modified, err := s.t.read(ctx, s.e, s.at, s.end-s.at)
		if err != nil {
			return 0, err
		}
		s.body = body
		if !s.same.is(modified) {
			return 0, errReplaced
		}
	}
	s.stall.Reset(s.t.o.Stall)
	n, err := s.body.Read(p)
	s.stall.Reset(s.t.o.Stall)
	if errors.Is(err, io.EOF) {
		err = errEnded // s.end is not reached, or this is the last read
	}
	return n, err
}

// version holds all connections to a file to the same state of it. What was listed is not asked: the listings of some
// servers have other clocks.
type version struct {
	mu    sync.Mutex
	first time.Time
}

func (v *version) is(modified time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.first.IsZero() {
		v.first = modified
	}
	return v.first.Equal(modified)
}

var errEnded = errors.New("the connection ended too early")

// again waits before the next try, or says why there is none.
func (s *stream) again(err error) error {
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	err = s.t.fault(err)
	final := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errChanged) || errors.Is(err, ingest.ErrUse)
	if s.breaks, s.good = s.breaks+1, 0; !final && s.breaks < s.t.o.Tries {
		return pause(s.ctx, s.t.o.Pause, s.breaks)
	}
	if final && s.at == 0 {
		return err // of a file that could not be opened at all, nothing was read in vain
	}
	return &fault{kind: ingest.ErrSource, text: fmt.Sprintf("the connection broke at byte %d of %d, for good after %d tries: %v", s.at, s.e.Size, s.breaks, err)}
}

// pause waits twice as long each time.
func pause(ctx context.Context, first time.Duration, times int) error {
	d := longestPause
	if times < 20 {
		d = min(first<<(times-1), longestPause)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stream) hangUp() {
	if s.body != nil {
		s.body.Close() // its error is of a connection that is not needed
		s.body = nil
	}
	if s.cancel != nil {
		s.stall.Stop()
		s.cancel()
	}
}

// Close ends the connection.
func (s *stream) Close() error {
	s.hangUp()
	return nil
}
