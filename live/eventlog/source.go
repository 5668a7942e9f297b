// Package eventlog reads the state of an application from a log that is still being written, as a source of package live: it
// reads the log again whenever it has grown.
//
// Start with Source.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/live"
	"straggler/schema"
)

// Source watches the log of one application among those of a path.
type Source struct {
	path    string
	want    string // the application's id; "": the only one that has not ended
	formats []ingest.Format
	remote  discover.Remote

	logs    map[string]*log
	watched string       // id of the watched application, once there is one; a log that has only begun may not contain it yet
	at      string       // its log
	keys    *schema.Keys // of attempts, by their first appearance
	ids     map[attemptID]schema.Key
	pause   time.Duration
}

// log is the state of a log when it was last read.
type log struct {
	version discover.FileVersion
	trace   *schema.Trace // nil: nothing is known yet
	last    schema.Time   // last time in the log
	grown   time.Time     // when it was last seen to have grown
	before  bool          // it had been read before
}

// attemptID identifies an attempt permanently. The rows of a log number attempts by their end, so the key of a running
// attempt changes whenever another one ends.
type attemptID struct {
	phase  schema.Key
	native string
}

const (
	// leastPause is the shortest pause between two looks at a log.
	leastPause = 2 * time.Second
	// readingShare bounds the share of time spent on reading a log again: a twentieth.
	readingShare = 20
	// recent is the age of the last change up to which a log in a directory counts as still being written.
	recent = time.Hour
	// quiet is how long a log may not grow before a note says so. Spark writes events through a buffer: some minutes are
	// normal.
	quiet = 5 * time.Minute
)

// New watches a path: a log, a directory of logs, or a pattern; or a URL of these, which remote reads if it is set.
func New(path, app string, formats []ingest.Format, remote discover.Remote) *Source {
	return &Source{path: path, want: app, formats: formats, remote: remote, logs: map[string]*log{}, pause: leastPause,
		keys: schema.NewKeys(schema.InputKey(path, nil), "watched attempts"), ids: map[attemptID]schema.Key{}}
}

// Close does nothing.
func (s *Source) Close() {}

// Pause returns how long to wait before the next Poll.
func (s *Source) Pause() time.Duration { return s.pause }

// Poll reads what has grown.
func (s *Source) Poll(ctx context.Context) (*live.State, error) {
	began := time.Now()
	unread, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.pick()
	switch {
	case err != nil && unread != nil: // the watched log may be one of them
		return nil, fmt.Errorf("%w: %s: %w", live.ErrAway, s.path, unread)
	case err != nil:
		return nil, err
	}
	s.pause = max(leastPause, readingShare*time.Since(began))
	return l.state(), nil
}

// read reads the logs that have changed. unread is the reason why some of them could not be read now: the next Poll tries
// again, for a damaged log once it has changed.
func (s *Source) read(ctx context.Context) (unread, err error) {
	seen, due := map[string]bool{}, map[string]discover.FileVersion{}
	choose := func(found []discover.Named) []bool {
		wanted := make([]bool, len(found))
		for i, n := range found {
			seen[n.ID] = true
			l := s.logs[n.ID]
			if l != nil && l.version == n.Version || l == nil && n.ID != s.path && time.Since(time.Unix(0, n.Version.Modified)) > recent {
				continue
			}
			due[n.ID], wanted[i] = n.Version, true
		}
		return wanted
	}
	found, err := discover.Find(ctx, s.formats, []string{s.path}, discover.Options{Remote: s.remote, Choose: choose})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ingest.ErrUse):
		return nil, s.vanished(err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", live.ErrAway, s.path, err)
	}
	defer found.Close()
	for id, v := range due { // those that are not logs, or no longer, stay without rows
		s.logs[id] = &log{version: v, before: s.logs[id] != nil}
	}
	unread = s.againLater(due, found.Skipped)
	if _, err := os.Stat(s.path); err != nil && len(seen) == 0 && unread == nil {
		return nil, s.vanished(fmt.Errorf("%s: there is no log", s.path))
	}
	for _, in := range found.Inputs {
		id := in.Name
		if _, ok := due[id]; !ok {
			id = in.Name + "/" + in.Base
		}
		v, ok := due[id]
		if !ok {
			continue
		}
		before := found.SourceErr()
		err := s.readLog(ctx, id, v, in)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if broken := found.SourceErr(); broken != nil && (before == nil || errors.Is(err, discover.ErrSource)) {
			s.logs[id], err = &log{before: true}, broken
		}
		if err != nil { // the others are read anyway
			unread = err
		}
	}
	maps.DeleteFunc(s.logs, func(id string, _ *log) bool { return !seen[id] })
	return unread, nil
}

// againLater marks logs as due again that could not be opened because their location did not answer, or because they were
// renamed after they had been listed, as Spark does at the end of a log. It returns the first reason, which may also be that
// a directory could not be listed; nil if there is none.
func (s *Source) againLater(logs map[string]discover.FileVersion, skipped []discover.Skipped) (why error) {
	for _, x := range skipped {
		broken, renamed := errors.Is(x.Err, discover.ErrSource), false
		for id := range logs {
			if id != x.Name && !strings.HasPrefix(id, x.Name+"/") {
				continue
			}
			if renamed = errors.Is(x.Err, fs.ErrNotExist); broken || renamed {
				s.logs[id].version = discover.FileVersion{}
			}
		}
		if why == nil && (broken || renamed) {
			why = x.Err
		}
	}
	return why
}

// vanished is the error for a path that does not exist.
func (s *Source) vanished(err error) error {
	if s.watched == "" {
		return fmt.Errorf("%w: %w", live.ErrGone, err)
	}
	return fmt.Errorf("%w: %s has vanished", live.ErrGone, s.path)
}

// readLog reads a log as far as it has been written.
func (s *Source) readLog(ctx context.Context, id string, v discover.FileVersion, in *discover.Input) error {
	l := s.logs[id]
	l.grown = time.Unix(0, v.Modified)
	if l.before {
		l.grown = time.Now() // by this machine's clock, whatever the file's clock
	}
	t, err := readTrace(ctx, in, schema.InputKey(s.path, nil))
	if len(t.Applications) != 1 { // it has only begun, or covers a whole cluster
		return nil
	}
	if err != nil && !ingest.IsCut(err) {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	l.trace = t
	for i := range t.Attempts {
		a := &t.Attempts[i]
		l.last = max(l.last, a.StartTime.V, a.FinishTime.V)
	}
	l.last = max(l.last, t.Applications[0].StartTime.V, t.Applications[0].FinishTime.V)
	return nil
}

// readTrace reads an input into memory, as rows of a given key.
func readTrace(ctx context.Context, in *discover.Input, key schema.Key) (t *schema.Trace, err error) {
	var mu sync.Mutex
	t = &schema.Trace{}
	out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		b.AddTo(t)
		return nil
	})
	defer ingest.Recover(&err)
	it := *in.Input
	it.Key = key // a short log's own key changes while it grows
	return t, in.Format.Read(ctx, &it, out)
}

// pick returns the log of the watched application.
func (s *Source) pick() (*log, error) {
	id := s.watched
	if l := s.logs[s.at]; l != nil && l.trace != nil {
		return s.take(s.at), nil
	}
	if id == "" {
		id = s.want
	}
	var running []string
	var names, read []string
	for _, at := range slices.Sorted(maps.Keys(s.logs)) {
		l := s.logs[at]
		if l.trace == nil {
			continue
		}
		app := &l.trace.Applications[0]
		names, read = append(names, app.NativeID), append(read, at)
		switch {
		case id != "" && app.NativeID == id:
			return s.take(at), nil
		case id == "" && !app.Complete:
			running = append(running, at)
		}
	}
	switch {
	case s.watched != "":
		return nil, fmt.Errorf("%w: the log of %s has vanished from %s", live.ErrGone, id, s.path)
	case len(running) == 1:
		return s.take(running[0]), nil
	case id == "" && len(running) == 0 && len(names) == 1:
		return s.take(read[0]), nil
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: %s has no log of an application yet that changed within the last hour", live.ErrAway, s.path)
	}
	return nil, fmt.Errorf("%w: %s has the logs of %s; name one with --app", live.ErrGone, s.path, strings.Join(names[:min(len(names), 5)], ", "))
}

// take starts watching a log.
func (s *Source) take(at string) *log {
	l := s.logs[at]
	s.at, s.watched = at, l.trace.Applications[0].NativeID
	s.name(l.trace)
	return l
}

// name restores the earlier keys of attempts.
func (s *Source) name(t *schema.Trace) {
	now := make(map[schema.Key]schema.Key, len(t.Attempts))
	for i := range t.Attempts {
		a := &t.Attempts[i]
		id := attemptID{a.PhaseID, a.NativeID}
		key, ok := s.ids[id]
		if !ok {
			key = s.keys.Next()
			s.ids[attemptID{a.PhaseID, strings.Clone(a.NativeID)}] = key
		}
		now[a.AttemptID] = key
		a.AttemptID = key
	}
	rename := func(k *schema.Null[schema.Key]) {
		if key, ok := now[k.V]; ok && k.OK {
			k.V = key
		}
	}
	for i := range t.Losses {
		l := &t.Losses[i]
		rename(&l.AttemptID)
		rename(&l.DetectedBy)
		rename(&l.RecomputedBy)
	}
	for i := range t.Progress {
		if key, ok := now[t.Progress[i].AttemptID]; ok {
			t.Progress[i].AttemptID = key
		}
	}
}

// state returns the state of a log's application. Its time is that of the last event, by the clock of the log's writer, plus the
// time that has passed here since the log grew.
func (l *log) state() *live.State {
	app := &l.trace.Applications[0]
	st := &live.State{Trace: l.trace, Now: l.last, Ended: app.Complete,
		Notes: []string{"logs do not contain what running tasks have read, and Spark writes them through a buffer: slow tasks are noticed late"}}
	if st.Ended {
		return st
	}
	if since := time.Since(l.grown); since > quiet {
		st.Notes = append(st.Notes, fmt.Sprintf("the log has not grown for %s: its writer may be dead, and its time stands still here", since.Round(time.Minute)))
	} else {
		st.Now = l.last.Add(max(since.Seconds(), 0))
	}
	return st
}
