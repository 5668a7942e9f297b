package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	// Read is the instant by which attempts that run surely ran, where answers come one after the other; 0: Now.
	Read schema.Time
	// Progress is the share of its work that each running attempt reports as done, 0 to 1; nil where the cluster reports
	// none, as Spark does.
	Progress map[schema.Key]float64
	// Heartbeat is how often executors report what their attempts have read; 0: not known.
	Heartbeat time.Duration
	// Stale are running phases of whose running attempts nothing was asked since the last state.
	Stale map[schema.Key]bool
	Notes []string // what to know before trusting it, such as what the source cannot say
}

// SkewNote says that a server's clock is far from this machine's, as notes of a state; none where they are within 5 s of
// each other.
func SkewNote(whose string, skew time.Duration) []string {
	if skew.Abs() <= 5*time.Second {
		return nil
	}
	return []string{fmt.Sprintf("the %s's clock is %s %s this machine's; times are the %[1]s's",
		whose, skew.Abs().Round(time.Second), map[bool]string{true: "ahead of", false: "behind"}[skew > 0])}
}

// Reason is the first line of what a server says of a failed attempt, and not too much of it.
func Reason(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if len(message) > 200 {
		message = strings.ToValidUTF8(message[:200], "")
	}
	return message
}

// ErrAway is returned when a source does not answer, or does not answer sensibly, and may again.
var ErrAway = errors.New("no answer")

// ErrGone is returned when the application is no longer there: its driver ended, its log was removed.
var ErrGone = errors.New("the application is gone")
