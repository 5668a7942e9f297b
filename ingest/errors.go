package ingest

import (
	"errors"
	"io"

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
