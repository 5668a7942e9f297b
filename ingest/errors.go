package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

var (
	// ErrUse is returned when arguments or options are invalid.
	ErrUse = errors.New("wrong use")
	// ErrLimit is returned when a log exceeds the limits.
	ErrLimit = errors.New("over the limit")
	// ErrCorrupt is returned when compressed data or an archive is malformed, or a checksum is wrong.
	ErrCorrupt = errors.New("corrupt data")
	// ErrInternal is returned when a reader panics, which is a bug.
	ErrInternal = errors.New("the reader panicked, which is a bug in straggler; please report it")
)

// IsCut reports whether err means that a file ends too early, like a log whose writer was killed. Everything before the end
// has been read.
func IsCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// Recover turns a panic into an error, so that one log cannot stop the others. Callers of a format defer it, and so must
// every goroutine that a format starts.
func Recover(err *error) {
	if p := recover(); p != nil {
		stack := make([]byte, 2<<10)
		stack = stack[:runtime.Stack(stack, false)]
		*err = fmt.Errorf("%w: %v\n%s", ErrInternal, p, stack)
	}
}
