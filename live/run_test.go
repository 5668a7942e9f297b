package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/schema"
)

// script is a source that gives prepared answers, one after the other.
type script struct {
	answers []answer
	polls   int
}

type answer struct {
	state *live.State
	err   error
}

func (s *script) Poll(ctx context.Context) (*live.State, error) {
	a := s.answers[min(s.polls, len(s.answers)-1)]
	s.polls++
	return a.state, a.err
}

func (s *script) Pause() time.Duration { return time.Microsecond }

func stateOf(id string, attempt schema.Key) *live.State {
	t := &schema.Trace{Applications: []schema.Application{{ApplicationID: attempt, NativeID: id, StartTime: schema.Some(schema.Time(1))}}}
	return &live.State{Trace: t, Now: 1e6}
}

func follow(ctx context.Context, src live.Source, patience time.Duration) (frames []*live.Frame, told int, last *live.State, err error) {
	last, err = live.Run(ctx, src, live.New(live.Options{Policies: nil}), live.RunOptions{AwayFor: patience,
		Show: func(f *live.Frame) { frames = append(frames, f) }, Away: func(error) { told++ }})
	return
}

// An application whose driver no longer answers has probably ended: what was known is shown, with the reason.
func TestDriverDies(t *testing.T) {
	gone := fmt.Errorf("%w: dial: %w", live.ErrAway, syscall.ECONNREFUSED)
	src := &script{answers: []answer{{state: stateOf("app-1", 1)}, {err: gone}}}
	frames, told, last, err := follow(context.Background(), src, time.Millisecond)
	if err != nil || last == nil || len(frames) != 2 || told != 1 {
		t.Fatalf("%d frames, told %d times, %v", len(frames), told, err)
	}
	if f := frames[1]; !f.Ended || !strings.Contains(strings.Join(f.Notes, " "), "connection refused") {
		t.Errorf("the last frame: ended %v, %q", f.Ended, f.Notes)
	}
}

// A removed log is not read again, and no retry is announced.
func TestLogVanishes(t *testing.T) {
	src := &script{answers: []answer{{state: stateOf("app-1", 1)}, {err: live.ErrGone}}}
	frames, told, _, err := follow(context.Background(), src, time.Hour)
	if err != nil || len(frames) != 2 || !frames[1].Ended || told != 0 || src.polls != 2 {
		t.Errorf("%d frames after %d polls, told %d times, %v", len(frames), src.polls, told, err)
	}
}

// A server that never answered is an error; one that forbids access is an error at once.
func TestNeverAnswered(t *testing.T) {
	src := &script{answers: []answer{{err: live.ErrAway}}}
	if _, _, _, err := follow(context.Background(), src, time.Millisecond); !errors.Is(err, live.ErrAway) {
		t.Errorf("%v", err)
	}
	src = &script{answers: []answer{{err: rest.ErrForbidden}}}
	if _, _, _, err := follow(context.Background(), src, time.Hour); !errors.Is(err, rest.ErrForbidden) || src.polls != 1 {
		t.Errorf("%v after %d polls", err, src.polls)
	}
}

// hung is a source that answers once and then lets every request run into its time limit.
type hung struct{ polls int }

func (h *hung) Poll(context.Context) (*live.State, error) {
	if h.polls++; h.polls == 1 {
		return stateOf("app-1", 1), nil
	}
	time.Sleep(30 * time.Second)
	return nil, fmt.Errorf("%w: no answer within 30s", live.ErrAway)
}

func (h *hung) Pause() time.Duration { return time.Second }

// The time that a request waits for a server that hangs counts as its absence.
func TestServerHangs(t *testing.T) {
	for patience, want := range map[time.Duration]time.Duration{8 * time.Second: 31 * time.Second, time.Minute: 62 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, _, last, err := follow(t.Context(), &hung{}, patience)
			if took := time.Since(began); err != nil || last == nil || took != want {
				t.Errorf("patience %s: it took %s, want %s; %v", patience, took, want, err)
			}
		})
	}
}

// A run ends at once with its context, even while it waits for a server that is away.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	src := &script{answers: []answer{{state: stateOf("app-1", 1)}, {err: live.ErrAway}}}
	began := time.Now()
	_, _, last, err := follow(ctx, src, time.Hour)
	if !errors.Is(err, context.DeadlineExceeded) || last == nil || time.Since(began) > 900*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	if src.polls > 3 {
		t.Errorf("%d polls in 50 ms: it spins", src.polls)
	}
}

func update(tb testing.TB, w *live.Watcher, s *live.State) *live.Frame {
	tb.Helper()
	f, err := w.Update(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// An application that restarts as another attempt is followed from its start, without anything of the earlier one.
func TestRestartedAttempt(t *testing.T) {
	trace := livetest.Log(t, livetest.Labelled(t, "clean"))
	first := &live.State{Trace: trace, Now: trace.Applications[0].StartTime.V.Add(40)}
	again := stateOf(trace.Applications[0].NativeID, 99)
	w := live.New(live.Options{Policies: chosen(t, "late", "spark")})
	update(t, w, first)
	f := update(t, w, again)
	if f.Application.ApplicationID != 99 || len(f.Slow)+len(f.Machines)+len(f.Errors)+len(f.Stages) > 0 {
		t.Errorf("after the restart: %+v", f)
	}
	if f = update(t, w, again); f.Application.ApplicationID != 99 {
		t.Errorf("and later: %+v", f)
	}
}

// No decision depends on the future: decisions up to an instant are the same if attempts that start later are left out and
// all others take ten times as long from then on.
func TestNoFuture(t *testing.T) {
	const every = 0.5
	ps := chosen(t, "late", "mantri", "dolly", "spark", "hadoop", "mrv2", "blacklist")
	trace := livetest.Log(t, livetest.Labelled(t, "transient"))
	cut := trace.Applications[0].StartTime.V.Add(25)
	until := func(all map[decided]schema.Time) map[decided]schema.Time {
		for d, at := range all {
			if at > cut {
				delete(all, d)
			}
		}
		return all
	}
	want := until(polled(t, trace, every, 1, ps))
	changed := *trace
	changed.Attempts = nil
	for _, a := range trace.Attempts {
		if a.StartTime.V > cut {
			continue
		}
		if a.FinishTime.V > cut {
			a.FinishTime.V = cut + 10*(a.FinishTime.V-cut)
		}
		changed.Attempts = append(changed.Attempts, a)
	}
	s := livetest.New(t, &changed)
	s.Heartbeat = 1
	got := until(polledOf(t, s, every, ps))
	if len(want) < 5 {
		t.Fatalf("only %d decisions", len(want))
	}
	for d, at := range want {
		if got[d] != at {
			t.Errorf("%v at %v, with another future at %v", d, at, got[d])
		}
	}
	for d := range got {
		if _, ok := want[d]; !ok {
			t.Errorf("%v only with another future", d)
		}
	}
}
