package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"straggler/schema"
)

// Source reads the state of a running application.
type Source interface {
	// Poll returns the present state of the application, valid until the next Poll. An error that Is ErrAway may be retried.
	Poll(ctx context.Context) (*State, error)
	// Pause is how long to wait before the next Poll.
	Pause() time.Duration
}

// State is the state of an application at an instant.
type State struct {
	Trace *schema.Trace // its rows so far; attempts that run have status running, and the figures that are reported of them
	Now   schema.Time   // by the cluster's clock
	Ended bool
	// Read is the instant until which running attempts certainly ran, if answers come one after the other; 0: Now.
	Read schema.Time
	// Progress is the share of work that each running attempt reports as done, 0 to 1; nil if the cluster reports none, like
	// Spark.
	Progress map[schema.Key]float64
	// Heartbeat is the interval at which executors report what their attempts have read; 0: unknown.
	Heartbeat time.Duration
	// Stale lists running phases whose running attempts were not polled since the last state.
	Stale map[schema.Key]bool
	Notes []string // what to know before trusting it, such as what the source cannot say
}

// SkewNote returns a note if a server's clock differs from this machine's by more than 5 s.
func SkewNote(whose string, skew time.Duration) []string {
	if skew.Abs() <= 5*time.Second {
		return nil
	}
	return []string{fmt.Sprintf("the %s's clock is %s %s this machine's; times are the %[1]s's",
		whose, skew.Abs().Round(time.Second), map[bool]string{true: "ahead of", false: "behind"}[skew > 0])}
}

// Reason returns the first line of a server's message about a failed attempt, truncated.
func Reason(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if len(message) > 200 {
		message = strings.ToValidUTF8(message[:200], "")
	}
	return message
}

// ErrAway is returned when a source temporarily does not answer, or not sensibly.
var ErrAway = errors.New("no answer")

// ErrGone is returned when the application no longer exists: its driver ended, or its log was removed.
var ErrGone = errors.New("the application is gone")
