package live

import (
	"context"
	"errors"
	"time"

	"straggler/schema"
)

// Source is where the state of a running application is read.
type Source interface {
	// Poll gives what is known of the application now. The state is valid until the next Poll. An error that Is ErrAway
	// is worth another try.
	Poll(ctx context.Context) (*State, error)
	// Pause is how long to wait before the next Poll.
	Pause() time.Duration
}

// State is what is known of an application at an instant.
type State struct {
	Trace *schema.Trace // its rows so far; attempts that run have status running, and the figures that are reported of them
	Now   schema.Time   // by the cluster's clock
	Ended bool
	// Progress is the share of its work that each running attempt reports as done, 0 to 1; nil where the cluster reports
	// none, as Spark does.
	Progress map[schema.Key]float64
	Notes    []string // what to know before trusting it, such as what the source cannot say
}

// ErrAway is returned when a source does not answer, or does not answer sensibly, and may again.
var ErrAway = errors.New("no answer")

// ErrGone is returned when the application is no longer there: its driver ended, its log was removed.
var ErrGone = errors.New("the application is gone")
