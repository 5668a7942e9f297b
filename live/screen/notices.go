package screen

import (
	"fmt"
	"slices"

	"straggler/live"
	"straggler/notify"
	"straggler/schema"
)

// Notices track what users should know about a running application: slow machines, and stages with slow tasks that a copy
// would help, each until it is over.
type Notices struct {
	open []notify.Change
}

// Changes returns the findings that are open, or were open in an earlier frame and are over now.
func (n *Notices) Changes(f *live.Frame) []notify.Change {
	if f.Application == nil {
		return nil
	}
	app := f.Application.NativeID
	now := []notify.Change{}
	for i := range f.Machines {
		m := &f.Machines[i]
		now = append(now, notify.Change{ID: "machine " + m.Machine, State: notify.Open, Application: app, Severity: "warning",
			Subject: title(f.Application) + ": " + m.Advice})
	}
	for i := range f.Stages {
		s := &f.Stages[i]
		if c, ok := slowStage(f, s.Phase, s.Stage, s.Attempt); ok {
			now = append(now, c)
		}
	}
	all := slices.Clone(now)
	for _, c := range n.open {
		still := slices.ContainsFunc(now, func(x notify.Change) bool { return x.ID == c.ID })
		stage := slices.ContainsFunc(f.Stages, func(s live.Stage) bool { return stageID(s.Phase) == c.ID })
		switch {
		case still:
		case stage: // it has no slow task at the moment, but is not over
			all = append(all, c)
			now = append(now, c)
		default:
			c.State = notify.Fixed
			all = append(all, c)
		}
	}
	n.open = now
	return all
}

func stageID(phase schema.Key) string { return fmt.Sprint("stage ", phase) }

// slowStage returns the finding about a stage, if it has slow tasks that a copy would help.
func slowStage(f *live.Frame, phase schema.Key, stage string, attempt int32) (notify.Change, bool) {
	count, worst := 0, (*live.SlowTask)(nil)
	for i := range f.Slow {
		if t := &f.Slow[i]; t.Stage == stage && t.StageTry == attempt && t.Copy.Helps == live.Yes {
			if count++; worst == nil {
				worst = t
			}
		}
	}
	if worst == nil {
		return notify.Change{}, false
	}
	return notify.Change{ID: stageID(phase), State: notify.Open, Application: f.Application.NativeID, Severity: "warning",
		Subject: fmt.Sprintf("%s: %d slow tasks in stage %s", title(f.Application), count, stage), Detail: slowLine(worst) + "; " + worst.Copy.Advice}, true
}

// Notice returns the message about changes.
func Notice(f *live.Frame, news []notify.Change) *notify.Message {
	return notify.NewMessage("watch", "straggler watch of "+title(f.Application), news)
}
