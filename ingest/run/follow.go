package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/store"
)

// FollowOptions say how logs are followed.
type FollowOptions struct {
	Options
	Every time.Duration        // between rounds
	Each  func(Summary, error) // gets the summary of each round that did something
}

// Follow runs repeatedly until the context ends. Logs that are new, have grown or have rolled are read. All state that matters
// is in the store: a restart reads each log at most once more, and loses or duplicates nothing. A failed round is reported and
// retried.
//
// A log that is still being written is read again when it has not changed for a round, or has grown by a tenth: all its
// readings together cost a few times as much as one, however long it grows.
func Follow(ctx context.Context, st *store.Store, formats []ingest.Format, paths []string, o FollowOptions) error {
	for _, p := range paths {
		if p == "-" {
			return fmt.Errorf("ingest: %w: standard input cannot be followed", ingest.ErrUse)
		}
	}
	seen := &followState{logs: make(map[string]*logState), failed: make(map[string]int64)}
	for {
		s, err := runAgain(ctx, st, formats, paths, o.Options, seen)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ingest.ErrUse) || errors.Is(err, discover.ErrUnknownFormat):
			return err
		case errors.Is(err, ErrNothingToRead) && s.Commit == nil: // nothing new
		default:
			o.Each(s, err)
		}
		if s.Count(Waiting) > 0 && s.Count(Read)+s.Count(Partial)+s.Count(AlreadyThere)+s.Count(NotRecognised) > 0 && !lost(err) {
			continue
		}
		wait := time.NewTimer(o.Every)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// followState has the logs of earlier rounds of a follower. It is nil for a single run.
type followState struct {
	mu     sync.Mutex
	logs   map[string]*logState
	failed map[string]int64 // by name, the modification times of logs that failed; 0 unknown
	rounds int              // that left logs to the next one
}

// The rounds of a follower start small, so that the first logs are soon in the store, and double: every round has a commit.
const (
	firstLogs = 64
	mostLogs  = 1024
)

// most returns the number of logs read in this round, if rounds are bounded.
func (f *followState) most() int { return min(firstLogs<<min(f.rounds, 8), mostLogs) }

// newestFirst sorts the indexes of logs: the most recently changed first, except that those that failed before come last.
func (f *followState) newestFirst(due []int, logs []Result) {
	failed := func(i int) int {
		if f.failedBefore(&logs[i]) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(due, func(a, b int) int {
		return cmp.Or(cmp.Compare(failed(a), failed(b)), cmp.Compare(logs[b].Changed, logs[a].Changed))
	})
}

// postpone leaves a due log to the next round.
func (f *followState) postpone(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs[id].taken = false
}

// failedBefore reports whether a log failed in an earlier round and has not changed since.
func (f *followState) failedBefore(r *Result) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	changed, ok := f.failed[r.Name]
	return ok && (changed == r.Changed || changed == 0)
}

// logState is the state of a log as of the last round.
type logState struct {
	read  discover.FileVersion // when it was last read; the zero version means never
	seen  discover.FileVersion // in the last round
	taken bool                 // in this round
	there bool                 // in this round
}

// due reports whether to read a log in this round.
func (f *followState) due(id string, now discover.FileVersion) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.logs[id]
	if s == nil {
		s = new(logState)
		f.logs[id] = s
	}
	quiet := s.seen == now
	s.seen, s.there = now, true
	s.taken = s.read != now && (s.read == discover.FileVersion{} || quiet || now.Bytes-s.read.Bytes >= s.read.Bytes/10+1)
	return s.taken
}

// settle records what a round has read, and forgets logs that no longer exist. Logs that failed are tried again.
func (f *followState) settle(s *Summary, err error) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	lost := lost(err)
	var failed []string
	if s.Count(Waiting) > 0 {
		f.rounds++
	}
	for _, r := range s.Results {
		switch r.Status {
		case Failed:
			f.failed[r.Name] = r.Changed
		case Read, Partial, AlreadyThere:
			delete(f.failed, r.Name)
		}
		if r.Status == Failed || r.Status == Waiting {
			failed = append(failed, r.Name)
		}
	}
	for id, log := range f.logs {
		if log.taken && !lost && !touches(id, failed) {
			log.read = log.seen
		}
		if !log.there && !lost {
			delete(f.logs, id)
		}
		log.taken, log.there = false, false
	}
}

// lost reports whether the error of a round leaves the contents of its logs unknown: the store or the location of the logs
// failed, rather than some of the logs.
func lost(err error) bool {
	return err != nil && (errors.Is(err, discover.ErrSource) || !errors.Is(err, ErrNothingToRead) && !errors.Is(err, ErrUnreadable))
}

// touches reports whether one of the names is the name of a log, or of a file in it.
func touches(id string, names []string) bool {
	for _, n := range names {
		if n == id || strings.HasPrefix(n, id+"/") || strings.HasPrefix(id, n+"/") {
			return true
		}
	}
	return false
}
