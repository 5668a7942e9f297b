package yarn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/schema"
)

// masterAPI is the API of MapReduce's application masters.
var masterAPI = rest.API{Path: "/ws/v1/mapreduce/", Name: "MapReduce's application master"}

// mapReduce polls the application master of a job. A poll requests the job, the list of its tasks with their progress, and the
// attempts, with their machines, of a bounded number of tasks: running ones with the least progress first, then ended ones.
type mapReduce struct {
	c      *rest.Client
	pause  time.Duration // between two polls
	app    string
	rows   *rows
	read   map[string]string    // by task: its state when its attempts were last read
	readAt map[string]time.Time // and the time of that
	unread int                  // tasks whose attempts must still be read
	skew   time.Duration
}

const (
	// attemptsAPoll bounds the tasks whose attempts are requested in a poll. An answer has about 500 bytes.
	attemptsAPoll = 50
	// perTask divides the pause between polls, which gives the pause between requests about single tasks.
	perTask = 10
	// copiesEvery is the interval at which the attempts of a running task are requested again, since it may have a copy by
	// then.
	copiesEvery = 15 * time.Second
)

func newMapReduce(address, app string, o rest.Options) (*mapReduce, error) {
	if o.Pause == 0 {
		o.Pause = time.Second
	}
	pause := o.Pause
	o.Pause /= perTask
	c, err := rest.New(address, masterAPI, o)
	if err != nil {
		return nil, err
	}
	return &mapReduce{c: c, pause: pause, app: app, read: map[string]string{}, readAt: map[string]time.Time{}}, nil
}

// Close closes the connections.
func (m *mapReduce) Close() { m.c.Close() }

// Pause returns how long to wait before the next poll.
func (m *mapReduce) Pause() time.Duration { return max(m.pause, m.c.Pause()) }

// Poll requests changes.
func (m *mapReduce) Poll(ctx context.Context) (*live.State, error) {
	var list jobs
	if err := m.get(ctx, "jobs", &list); err != nil {
		return nil, err
	}
	at := time.Now()
	if len(list.Jobs.Job) == 0 {
		return nil, fmt.Errorf("%w: the application master of %s has no job yet", live.ErrAway, m.app)
	}
	j := &list.Jobs.Job[0] // a master has a single job
	if m.rows == nil {
		m.rows = newRows(m.app, m.c.Address())
	}
	m.rows.job(j)
	now := schema.FromMillis(j.StartTime + j.ElapsedTime)
	m.skew = time.Duration(int64(now)-at.UnixMicro()) * time.Microsecond
	job := "jobs/" + url.PathEscape(j.ID) + "/"
	var all tasks
	if err := m.get(ctx, job+"tasks", &all); err != nil {
		return nil, err
	}
	due := m.due(all.Tasks.Task)
	for _, t := range due[:min(len(due), attemptsAPoll)] {
		var x taskAttempts
		err := m.get(ctx, job+"tasks/"+url.PathEscape(t.ID)+"/attempts", &x)
		if errors.Is(err, rest.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.rows.attempts(t, x.TaskAttempts.TaskAttempt)
		m.read[t.ID], m.readAt[t.ID] = t.State, time.Now()
	}
	if len(due) > 0 {
		m.rows.slots()
	}
	m.unread = max(len(due)-attemptsAPoll, 0)
	if m.unread == 0 {
		m.rows.over(all.Tasks.Task)
	}
	for i := range all.Tasks.Task {
		m.rows.progress(&all.Tasks.Task[i])
	}
	m.c.Meter()
	return m.state(now, at), nil
}

// get sends a request to the master.
func (m *mapReduce) get(ctx context.Context, path string, into any) error {
	err := m.c.Get(ctx, path, nil, into)
	if errors.Is(err, rest.ErrNotFound) && path == "jobs" {
		return fmt.Errorf("%w: %w", live.ErrAway, err) // a master that is starting or ending
	}
	return err
}

// due returns the tasks whose attempts should be requested, the most urgent first.
func (m *mapReduce) due(list []task) []*task {
	type entry struct {
		t     *task
		first int
		rate  float64
	}
	var out []entry
	for i := range list {
		t := &list[i]
		state, seen := m.read[t.ID]
		switch {
		case t.StartTime <= 0 || seen && state == t.State && t.State != "RUNNING":
		case t.State != "RUNNING":
			// in an order unrelated to when they ran, so that the first ones read are representative
			out = append(out, entry{t, 1, float64(schema.InputKey(t.ID, nil))})
		case !seen || state != t.State || time.Since(m.readAt[t.ID]) > copiesEvery:
			out = append(out, entry{t, 0, t.Progress / float64(1+time.Now().UnixMilli()-t.StartTime)})
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.rate, b.rate), cmp.Compare(a.t.ID, b.t.ID))
	})
	tasks := make([]*task, len(out))
	for i := range out {
		tasks[i] = out[i].t
	}
	return tasks
}

func (m *mapReduce) state(now schema.Time, at time.Time) *live.State {
	app := &m.rows.Applications[0]
	st := &live.State{Trace: &m.rows.Trace, Now: now + schema.Time(time.Since(at).Microseconds()), Progress: m.rows.shares}
	if app.Status != schema.RunRunning && m.unread == 0 {
		st.Ended, st.Now = true, app.FinishTime.Or(now)
	}
	if app.Status == schema.RunRunning {
		st.Notes = live.SkewNote("master", m.skew)
	}
	if m.unread > 0 {
		st.Notes = append(st.Notes, fmt.Sprintf("%d tasks have not been read yet", m.unread))
	}
	return st
}
