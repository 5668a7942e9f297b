package running

import (
	"context"

	"straggler/live"
)

// Endpoint is a source of running applications: a driver, a History Server, a resource manager, or a directory of logs that are
// still being written. It is used by one goroutine at a time.
type Endpoint interface {
	// Name is how the user named it.
	Name() string
	// Running lists the ids of the applications that are running.
	Running(ctx context.Context) ([]string, error)
	// Open returns a source of one of them.
	Open(id string) (Source, error)
	// Logged reports whether the logs of its applications are read into the store in another way, so that nothing of them
	// needs to be kept.
	Logged() bool
	Close()
}

// Source is a live.Source with connections.
type Source interface {
	live.Source
	Close()
}
