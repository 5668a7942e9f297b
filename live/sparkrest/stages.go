package sparkrest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"straggler/live/rest"
)

// listing records when all stages and jobs were last requested; these answers grow with the application.
type listing struct {
	known int // stages known at that time
	polls int // since then
	ended bool
}

const (
	// listEvery is the number of polls after which all stages are requested again if some have appeared or gone, to find
	// those that did both between two polls.
	listEvery = 10
	// goneAlone is the number of stages that no longer run up to which each is requested separately.
	goneAlone = 2
)

// activeStages requests the running stages, and those that no longer run.
func (s *Source) activeStages(ctx context.Context) error {
	s.listing.polls++
	var list []stage
	if err := s.get(ctx, "stages", url.Values{"status": {"active"}}, &list); err != nil {
		return err
	}
	active := map[stageID]bool{}
	newJobs := false
	for i := range list {
		active[stageID{list[i].StageID, list[i].AttemptID}] = true
		_, ok := s.rows.jobOf[list[i].StageID]
		newJobs = newJobs || !ok
	}
	if newJobs {
		if err := s.jobs(ctx, url.Values{"status": {"running"}}); err != nil {
			return err
		}
	}
	for i := range list {
		s.stage(&list[i])
	}
	gone := slices.DeleteFunc(s.running(), func(id stageID) bool { return active[id] })
	if l := &s.listing; len(gone) > goneAlone || s.ended && !l.ended || l.known != len(s.stages) && (l.polls >= listEvery || len(list) == 0) {
		if err := s.list(ctx); err != nil {
			return err
		}
	}
	for _, id := range gone {
		if s.stages[id].over {
			continue
		}
		var one stage
		err := s.get(ctx, fmt.Sprintf("stages/%d/%d", id.id, id.attempt), url.Values{"details": {"false"}}, &one)
		switch {
		case errors.Is(err, rest.ErrNotFound):
			one = s.stages[id].stage
			one.Status = "COMPLETE"
		case err != nil:
			return err
		}
		s.stage(&one)
	}
	return nil
}

// list requests all stages and jobs.
func (s *Source) list(ctx context.Context) error {
	var list []stage
	if err := s.get(ctx, "stages", nil, &list); err != nil {
		return err
	}
	if err := s.jobs(ctx, nil); err != nil {
		return err
	}
	for i := range list {
		s.stage(&list[i])
	}
	s.listing = listing{known: len(s.stages), ended: s.ended}
	return nil
}

func (s *Source) jobs(ctx context.Context, query url.Values) error {
	var list []job
	if err := s.get(ctx, "jobs", query, &list); err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b job) int { return int(a.JobID - b.JobID) })
	for i := range list {
		s.rows.job(&list[i])
	}
	return nil
}

// stage stores the figures of a stage.
func (s *Source) stage(x *stage) {
	if x.Status == "PENDING" || x.Status == "SKIPPED" || !s.rows.stage(x) {
		return
	}
	id := stageID{x.StageID, x.AttemptID}
	p := s.stages[id]
	if p == nil {
		p = &stageTasks{open: map[int64]int{}}
		s.stages[id] = p
	}
	p.stage = *x
	p.over = x.Status != "ACTIVE"
	if p.unread(s.rows.heartbeat) && !slices.Contains(s.due, id) {
		s.due = append(s.due, id)
	}
}

// running returns the running stages, in order.
func (s *Source) running() []stageID { return s.which(func(p *stageTasks) bool { return !p.over }) }

// which returns the stages that satisfy a condition, in order.
func (s *Source) which(holds func(*stageTasks) bool) []stageID {
	var out []stageID
	for id, p := range s.stages {
		if holds(p) {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b stageID) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.attempt, b.attempt))
	})
	return out
}
