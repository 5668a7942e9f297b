package running

import (
	"context"

	"straggler/live"
)

// Endpoint is where applications run: a driver, a History Server, a resource manager, or a directory of logs that are still
// written. Only one goroutine at a time asks it.
type Endpoint interface {
	// Name is how the user named it.
	Name() string
	// Running lists the ids of the applications that run there now.
	Running(ctx context.Context) ([]string, error)
	// Open gives a source of one of them.
	Open(id string) (Source, error)
	// Logged says that the logs of its applications are read into the store by another program, so that nothing of them needs
	// to be kept.
	Logged() bool
	Close()
}

// Source is a live.Source with connections.
type Source interface {
	live.Source
	Close()
}
