package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Source is a remote file with random access.
type Source interface {
	// Read returns a reader of n bytes, at least one, from a byte on, and the modification time of the file.
	Read(ctx context.Context, from, n int64) (io.ReadCloser, time.Time, error)
	// Fault returns the error for people, and whether retrying is useless.
	Fault(err error) (explained error, final bool)
}

// progressBytes is the number of bytes read without a break after which the count of broken connections starts again, so that
// occasional breaks do not prevent a large file from being read, but a connection that always breaks does.
const progressBytes = 8 << 20

// Stream reads a range of a file from start to end. A broken connection is reopened at the byte where it broke. Its errors are
// those of the source.
type Stream struct {
	ctx  context.Context
	from Source
	p    RetryPolicy
	at   int64 // of the next byte
	end  int64
	same *Version

	body   io.ReadCloser
	cancel context.CancelFunc // ends the connection
	stall  *time.Timer        // calls cancel
	breaks int                // connections that broke since the last progressBytes
	good   int64              // bytes since the last of them
	pauses *Backoff           // after them
	err    error              // came with the last bytes
}

// NewStream returns a stream of the bytes from at to before end. All streams with the same Version read the same state of the
// file.
func NewStream(ctx context.Context, from Source, p RetryPolicy, at, end int64, same *Version) *Stream {
	p = p.WithDefaults()
	return &Stream{ctx: ctx, from: from, p: p, at: at, end: end, same: same, pauses: p.Backoff()}
}

func (s *Stream) Read(p []byte) (int, error) {
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
		if s.good += int64(n); s.good >= progressBytes {
			s.good, s.breaks, s.pauses = 0, 0, s.p.Backoff()
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

// once reads from the open connection, or from a new one.
func (s *Stream) once(p []byte) (int, error) {
	if s.body == nil {
		ctx, cancel := context.WithCancel(s.ctx)
		s.cancel, s.stall = cancel, time.AfterFunc(s.p.Stall, cancel)
		body, modified, err := s.from.Read(ctx, s.at, s.end-s.at)
		if err != nil {
			return 0, err
		}
		s.body = body
		if !s.same.is(modified) {
			return 0, Replaced
		}
	}
	s.stall.Reset(s.p.Stall)
	n, err := s.body.Read(p)
	s.stall.Reset(s.p.Stall)
	if errors.Is(err, io.EOF) {
		err = errEnded // s.end is not reached, or this is the last read
	}
	return n, err
}

// Version ensures that all connections to a file read the same state of it, by the time with which the first one answered. The
// time in the listing is not used, since some servers use another clock there.
type Version struct {
	mu    sync.Mutex
	first time.Time
}

func (v *Version) is(modified time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.first.IsZero() {
		v.first = modified
	}
	return v.first.Equal(modified)
}

// Replaced is returned when a file is no longer what it was.
var Replaced error = &Fault{ErrReplaced, "it was replaced after it was listed; repeat the ingest"}

var errEnded = errors.New("the connection ended too early")

// again waits before the next try, or returns the error if there is none.
func (s *Stream) again(err error) error {
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	err, final := s.from.Fault(err)
	if s.breaks, s.good = s.breaks+1, 0; !final && s.breaks < s.p.Tries {
		return s.pauses.Wait(s.ctx)
	}
	if final && s.at == 0 {
		return err // the file could not be opened at all
	}
	broke := &Fault{ErrBroken, fmt.Sprintf("the connection broke at byte %d of %d (tried %d times): %v", s.at, s.end, s.breaks, err)}
	err, _ = s.from.Fault(broke)
	return err
}

func (s *Stream) hangUp() {
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
func (s *Stream) Close() error {
	s.hangUp()
	return nil
}
