package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

var (
	// ErrUse is returned when arguments or options make no sense.
	ErrUse = errors.New("wrong use")
	// ErrLimit is returned when a log would take more than the limits allow.
	ErrLimit = errors.New("over the limit")
	// ErrCorrupt is returned when bytes are not what their codec or archive would have written.
	ErrCorrupt = errors.New("corrupt data")
	// ErrInternal is returned when a reader panics, which is a mistake of straggler.
	ErrInternal = errors.New("the reader broke, which is a mistake of straggler; please report it")
)

// IsCut says that err means a file that ends too early, as a log does whose writer was killed. All that could be read
// of it was given.
func IsCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// Recover turns a panic into an error. A log must not take the others with it, so whatever calls a format defers it;
// the goroutines that a format starts have to do so themselves.
func Recover(err *error) {
	if p := recover(); p != nil {
		stack := make([]byte, 2<<10)
		stack = stack[:runtime.Stack(stack, false)]
		*err = fmt.Errorf("%w: %v\n%s", ErrInternal, p, stack)
	}
}
