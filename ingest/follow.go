package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"straggler/store"
)

// Follow runs again and again, every so often, until the context ends, and hands each round that did something to each.
// Logs that are new, have grown or have rolled are read; what became of the others is in the store, so a restart costs
// one reading and loses or doubles nothing. A round that fails is reported and tried again.
//
// A log that is still written is read again when it was quiet for a round, or has grown by a tenth: all its readings
// together cost a few times what one does, however long it grows.
func Follow(ctx context.Context, st *store.Store, formats []Format, paths []string, o Options, every time.Duration, each func(Summary, error)) error {
	for _, p := range paths {
		if p == "-" {
			return fmt.Errorf("ingest: %w: standard input can not be followed", ErrUse)
		}
	}
	memo := &memo{states: make(map[string]*state)}
	for {
		s, err := runAgain(ctx, st, formats, paths, o, memo)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrUse) || errors.Is(err, ErrUnknownFormat):
			return err
		case errors.Is(err, ErrNothingToRead) && s.Commit == nil: // nothing new
		default:
			each(s, err)
		}
		wait := time.NewTimer(every)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// memo is what a follower knows of the candidates of earlier rounds. The zero pointer is that of a run that stands alone.
type memo struct {
	mu     sync.Mutex
	states map[string]*state
}

// state is what was seen of a candidate.
type state struct {
	read  stamp // when it was read last; the zero stamp is never
	seen  stamp // in the last round
	taken bool  // in this round
	there bool  // in this round
}

// stamp tells whether files have changed, without reading them.
type stamp struct {
	bytes    int64
	modified int64 // the latest, in ns
	files    int
}

func (c *candidate) stamp() stamp {
	s := stamp{files: len(c.files)}
	for _, f := range c.files {
		s.bytes += f.size
		s.modified = max(s.modified, f.modified)
	}
	return s
}

// due says whether to look into a candidate in this round.
func (m *memo) due(c *candidate) bool {
	if m == nil || c.depth > 0 {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := c.stamp()
	s := m.states[c.id()]
	if s == nil {
		s = new(state)
		m.states[c.id()] = s
	}
	quiet := s.seen == now
	s.seen, s.there = now, true
	s.taken = s.read != now && (s.read == stamp{} || quiet || now.bytes-s.read.bytes >= s.read.bytes/10+1)
	return s.taken
}

// id names a candidate from round to round. A group may have more files every time.
func (c *candidate) id() string {
	if c.claim != nil {
		return c.name + "/" + c.base
	}
	return c.name
}

// settle remembers what a round has read, and forgets what is no longer there. What failed is tried again.
func (m *memo) settle(s *Summary, err error) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	lost := err != nil && !errors.Is(err, ErrNothingToRead) && !errors.Is(err, ErrUnreadable)
	var failed []string
	for _, r := range s.Results {
		if r.Status == Failed {
			failed = append(failed, r.Name)
		}
	}
	for id, st := range m.states {
		if st.taken && !lost && !touches(id, failed) {
			st.read = st.seen
		}
		if !st.there && !lost {
			delete(m.states, id)
		}
		st.taken, st.there = false, false
	}
}

// touches reports whether one of the names is a candidate's, or lies in it.
func touches(id string, names []string) bool {
	for _, n := range names {
		if n == id || strings.HasPrefix(n, id+"/") || strings.HasPrefix(id, n+"/") {
			return true
		}
	}
	return false
}
