package codec

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"straggler/ingest"
)

// Error is an error in reading a file, with its position.
type Error struct {
	File   string
	Layers []string
	In     int64 // bytes of the file read so far; with some codecs up to a block ahead
	Out    int64 // bytes of output so far
	Err    error
}

func (e *Error) Error() string {
	if len(e.Layers) == 0 {
		return fmt.Sprintf("%s: byte %d: %v", e.File, e.Out, reason(e.Err))
	}
	return fmt.Sprintf("%s: %s: byte %d of its content, within the first %d bytes of the file: %v",
		e.File, strings.Join(e.Layers, " in "), e.Out, e.In, reason(e.Err))
}

// Unwrap returns the reason: io.ErrUnexpectedEOF, ingest.ErrLimit, ingest.ErrCorrupt or the file system's error.
func (e *Error) Unwrap() error { return e.Err }

func reason(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file is cut here: its end is missing"
	}
	if errors.Is(err, ingest.ErrCorrupt) {
		return "the file is damaged here or somewhere before; get a good copy of it: " + err.Error()
	}
	return err.Error()
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ingest.ErrCorrupt}, args...)...)
}

// cut turns an end of the stream where it cannot end into io.ErrUnexpectedEOF.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// guard turns a panic of a codec on malicious bytes into an error.
type guard struct{ r io.Reader }

func (g guard) Read(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, corrupt("the decoder gave up: %v", r)
		}
	}()
	return g.r.Read(p)
}
