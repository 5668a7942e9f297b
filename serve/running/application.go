package running

import (
	"slices"
	"time"

	"straggler/live"
	"straggler/schema"
)

// Application is the state of an application at an instant: it is running, or has ended within keepEnded. It is shared and must
// not be modified.
type Application struct {
	ID      string
	Name    schema.Null[string]
	User    schema.Null[string]
	Started schema.Null[schema.Time]
	Where   string     // the endpoint, as the user named it
	Frame   live.Frame // without the application; its lists are bounded
	Left    Left       // what the bounds left out
	Recent  []Decision // of the policies, the newest first
	Seen    time.Time  // when the endpoint last said something of it; zero: not yet
	Trouble error      // why it says nothing at the moment
	Ended   bool

	settling time.Duration
}

// Settled reports whether the application ended long enough ago for all endpoints to know; see Options.Settling.
func (a *Application) Settled() bool { return a.Ended && time.Since(a.Seen) >= a.settling }

// Decision is a policy's decision at an instant.
type Decision struct {
	live.Decision
	Open bool // a task that it is about was still slow when the endpoint last said something
}

// Left counts the stages and tasks for which the lists of an application have no room.
type Left struct{ Stages, Slow int }

// Bounds of the lists.
const (
	mostStages    = 50
	mostSlow      = 100
	mostDecisions = 60
	mostTasks     = 10_000 // that a decision about a whole stage names
)

// see returns the application as of a frame.
func (a *Application) see(f *live.Frame, at time.Time) *Application {
	b := *a
	b.Frame, b.Seen, b.Trouble, b.Ended = *f, at, nil, f.Ended
	if p := f.Application; p != nil {
		b.Name, b.User, b.Started = p.Name, p.User, p.StartTime
	}
	b.Frame.Application = nil // of the source's state, which changes
	b.Left = Left{max(0, len(f.Stages)-mostStages), max(0, len(f.Slow)-mostSlow)}
	b.Frame.Stages, b.Frame.Slow = f.Stages[:len(f.Stages)-b.Left.Stages], f.Slow[:len(f.Slow)-b.Left.Slow]
	b.Recent = nil
	for _, d := range slices.Backward(f.Decisions) {
		d.Copy = nil // a part of this frame's list
		if len(d.Of) > mostTasks {
			d.Of = nil
		}
		b.Recent = append(b.Recent, Decision{Decision: d})
	}
	b.Recent = append(b.Recent, a.Recent...)
	b.Recent = slices.Clip(b.Recent[:min(len(b.Recent), mostDecisions)])
	for i := range b.Recent {
		d := &b.Recent[i]
		d.Open = d.Task >= 0 && slices.ContainsFunc(f.Slow, func(t live.SlowTask) bool {
			return t.Stage == d.Stage && t.StageTry == d.StageTry && slices.Contains(d.Of, t.Task)
		})
	}
	return &b
}

// Would returns the first decision of each kind by each policy about a slow task, oldest first.
func (a *Application) Would(t *live.SlowTask) []live.Decision {
	var out []live.Decision
	for _, d := range slices.Backward(a.Recent) {
		about := d.Stage == t.Stage && d.StageTry == t.StageTry && slices.Contains(d.Of, t.Task)
		if about && !slices.ContainsFunc(out, func(x live.Decision) bool { return x.Policy == d.Policy && x.Verb == d.Verb }) {
			out = append(out, d.Decision)
		}
	}
	return out
}
