package live

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// RunOptions are those of a run.
type RunOptions struct {
	Show    func(*Frame)  // called with every frame
	Away    func(error)   // called once when the source stops answering and will be retried
	AwayFor time.Duration // how long a source that has answered before may be away; 0: a minute
}

// refusedFor is how long to retry a source that refuses connections, which means that nothing listens at its address. A
// starting driver accepts connections and answers with an error; one that has ended has closed its port.
const refusedFor = 15 * time.Second

// Run follows an application until it ends, its source is gone or has been away for too long, or the context ends. It returns
// the last state; nil if the source never answered. A source that does not answer is retried after 1, 2, 4 … 30 s. When it
// disappears without having reported the application's end, the application has probably ended, and a note of the last frame
// says so.
func Run(ctx context.Context, src Source, w *Watcher, o RunOptions) (*State, error) {
	if o.AwayFor == 0 {
		o.AwayFor = time.Minute
	}
	var last *State
	var since time.Time // when it went away
	wait := time.Second
	for {
		requested := time.Now()
		s, err := src.Poll(ctx)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err == nil:
			last, since, wait = s, time.Time{}, time.Second
			f, err := w.Update(ctx, s)
			if err != nil {
				return s, err
			}
			o.Show(f)
			if s.Ended {
				return s, nil
			}
			if err := sleep(ctx, src.Pause()); err != nil {
				return last, err
			}
			continue
		case !errors.Is(err, ErrAway) && !errors.Is(err, ErrGone), last == nil && errors.Is(err, ErrGone):
			return last, err
		}
		limit := o.AwayFor
		if errors.Is(err, syscall.ECONNREFUSED) {
			limit = min(limit, refusedFor)
		}
		if since.IsZero() {
			since = requested // a server that hangs is away from the start of the request
			if o.Away != nil && !errors.Is(err, ErrGone) {
				o.Away(err)
			}
		}
		if errors.Is(err, ErrGone) || time.Since(since)+wait > limit {
			if last == nil {
				return nil, err
			}
			last.Ended = true
			last.Notes = append(last.Notes[:len(last.Notes):len(last.Notes)], fmt.Sprintf("the end was not seen: %v; the application has probably ended", err))
			f, err := w.Update(ctx, last)
			if err != nil {
				return last, err
			}
			o.Show(f)
			return last, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return last, err
		}
		wait = min(2*wait, 30*time.Second)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
