package discover

import (
	"errors"
	"fmt"

	"straggler/ingest"
)

var (
	// ErrNotRecognised is returned when no format recognises a file.
	ErrNotRecognised = errors.New("not recognised as a log of any format")
	// ErrAmbiguous is returned when several formats claim a file.
	ErrAmbiguous = errors.New("recognised as more than one format")
	// ErrUnknownFormat is returned when no format has a name.
	ErrUnknownFormat = errors.New("unknown format")
	// ErrSource is returned when a connection to a remote log breaks for good. The part read until then is not the log, so a
	// run that meets such an error commits nothing.
	ErrSource = errors.New("the connection to the log's place broke for good")

	errDepth = fmt.Errorf("%w: it is an archive within too many others", ingest.ErrLimit)
)

// Skipped is a file that no format reads.
type Skipped struct {
	Name   string
	Reason string
	Err    error // why a file that may be a log cannot be read; nil for other files
}

func unreadable(name string, err error) Skipped {
	return Skipped{Name: name, Reason: err.Error(), Err: err}
}
