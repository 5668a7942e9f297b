package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"straggler/ingest/codec"
)

var (
	// ErrNothingToRead is the kind of errors about arguments that hold no log at all.
	ErrNothingToRead = errors.New("nothing to read")
	// ErrUnreadable is the kind of errors about a run none of whose logs could be read.
	ErrUnreadable = errors.New("no log could be read")
	// ErrNotRecognised is the kind of errors about files that no format knows.
	ErrNotRecognised = errors.New("not recognised as a log of any format")
	// ErrAmbiguous is the kind of errors about files that several formats take for theirs.
	ErrAmbiguous = errors.New("recognised as more than one format")
	// ErrUnknownFormat is the kind of errors about --from with a name that no format has.
	ErrUnknownFormat = errors.New("unknown format")
	// ErrUse is the kind of errors about options that make no sense.
	ErrUse = errors.New("wrong use")

	// ErrLimit is the kind of errors about files that would take more than the limits allow.
	ErrLimit = codec.ErrLimit
	// ErrCorrupt is the kind of errors about files that are damaged.
	ErrCorrupt = codec.ErrCorrupt
)

// IsCut says that err means a file that ends too early, as a log does whose writer was killed. All that could be read
// of it was given.
func IsCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// ErrInternal is the kind of errors about a reader that broke, which is a mistake of straggler.
var ErrInternal = errors.New("the reader broke, which is a mistake of straggler; please report it")

// Recover turns a panic into an error. A log must not take the others with it, so whatever calls a format defers it;
// the goroutines that a format starts have to do so themselves.
func Recover(err *error) {
	if p := recover(); p != nil {
		stack := make([]byte, 2<<10)
		stack = stack[:runtime.Stack(stack, false)]
		*err = fmt.Errorf("%w: %v\n%s", ErrInternal, p, stack)
	}
}
