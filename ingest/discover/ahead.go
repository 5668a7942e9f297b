package discover

import "io"

// aheadBytes is the size of the pieces that are decompressed ahead, and the smallest size of a file for which that is
// worthwhile.
const aheadBytes = 512 << 10

// aheadPieces is the number of pieces that may wait.
const aheadPieces = 3

// ahead decompresses on one core while a format parses on another.
type ahead struct {
	r     io.ReadCloser
	full  chan piece
	empty chan []byte
	stop  chan struct{}
	ended chan struct{}

	now  piece
	used int
}

// piece is a run of decompressed bytes, and the error after them.
type piece struct {
	buf []byte
	err error
}

// readAhead reads r in a separate goroutine, which ends with Close.
func readAhead(r io.ReadCloser) io.ReadCloser {
	a := &ahead{
		r:     r,
		full:  make(chan piece, aheadPieces),
		empty: make(chan []byte, aheadPieces+1),
		stop:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	for range aheadPieces {
		a.empty <- nil
	}
	go a.run()
	return a
}

func (a *ahead) run() {
	defer close(a.ended)
	for {
		var p piece
		select {
		case p.buf = <-a.empty:
		case <-a.stop:
			return
		}
		if p.buf == nil {
			p.buf = make([]byte, aheadBytes)
		}
		p.buf = p.buf[:cap(p.buf)]
		n := 0
		for n < len(p.buf) && p.err == nil {
			var m int
			m, p.err = a.r.Read(p.buf[n:])
			n += m
		}
		p.buf = p.buf[:n]
		a.full <- p // never blocks: there are no more pieces than fit
		if p.err != nil {
			return
		}
	}
}

func (a *ahead) Read(b []byte) (int, error) {
	for a.used == len(a.now.buf) {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.buf != nil {
			a.empty <- a.now.buf
		}
		a.now, a.used = <-a.full, 0
	}
	n := copy(b, a.now.buf[a.used:])
	a.used += n
	return n, nil
}

// Close waits for the goroutine.
func (a *ahead) Close() error {
	close(a.stop)
	<-a.ended
	return a.r.Close()
}
