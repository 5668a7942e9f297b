package sparkrest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"straggler/live/rest"
)

// stageTasks are the tasks of a stage. Their positions in the order of their ids do not change, since a task that starts
// later has a larger id.
type stageTasks struct {
	stage
	open  map[int64]int // by id: positions of tasks that had not ended when they were read
	next  int           // position of the first that was never read
	count int           // number of tasks read
	seen  counts        // when they were last read
	at    time.Time     // time of that
	looks int           // looks at the stage since then; 0: they were read at the last one
	over  bool
	read  bool // all of them were read after the stage had ended
	tries int
}

// counts are the figures of a stage that change when tasks do.
type counts struct{ active, complete, failed, killed int64 }

func (s *stage) counts() counts {
	return counts{s.NumActiveTasks, s.NumCompleteTasks, s.NumFailedTasks, s.NumKilledTasks}
}

func (c counts) launched() int64 { return c.active + c.complete + c.failed + c.killed }

const (
	// pageTasks is the number of tasks per request: about 1 MB, which takes a driver some 15 ms.
	pageTasks = 500
	// pagesAPoll bounds the pages read in a poll, so that a stage of a hundred thousand tasks is read over several polls.
	pagesAPoll = 8
	// started is how many tasks may have started since the stage reported their number, and are still read in the same
	// request.
	started = 50
	// maxRunning bounds the running tasks of a stage that are requested separately.
	maxRunning = 1000
	// perHeartbeat is the number of requests per heartbeat for what running tasks have read, while none starts or ends: it
	// changes with the heartbeats of their executors.
	perHeartbeat = 3
	// mostLooks bounds the number of looks at an unchanged stage without such a request.
	mostLooks = 3
)

// unread reports whether tasks must be read, given that executors report at intervals.
func (p *stageTasks) unread(heartbeat time.Duration) bool {
	p.looks++
	switch {
	case p.read:
		return false
	case p.over || p.seen != p.counts():
		return true
	}
	often := heartbeat / perHeartbeat
	return p.NumActiveTasks > 0 && (p.looks >= min(int(often/time.Second), mostLooks) || time.Since(p.at) >= often)
}

// readTasks reads the tasks of a stage that were not known to have ended, in as many pages as remain; more reports whether it
// must continue. If the first such task is far before the last, running tasks are requested separately, so that those in
// between are not read again. Their run time is 0 until they end: sorted by it they come first, the oldest before the others,
// and Spark must sort only the tasks of this stage and not all that it keeps.
func (s *Source) readTasks(ctx context.Context, id stageID, left *int) (more bool, err error) {
	p := s.stages[id]
	at, over := p.counts(), p.over
	end := max(int(min(at.launched(), 1<<30)), p.next)
	wanted := slices.Sorted(maps.Values(p.open))
	if from := append(wanted, p.next)[0]; end-from > pageTasks && at.active > 0 {
		*left--
		list, err := s.tasks(ctx, id,
			url.Values{"status": {"running"}, "sortBy": {"runtime"}, "length": {strconv.FormatInt(min(at.active+started, maxRunning), 10)}})
		if err != nil {
			return true, err
		}
		ended := maps.Clone(p.open)
		for i := range list {
			if list[i].runs() {
				delete(ended, list[i].TaskID)
			}
		}
		wanted = slices.Sorted(maps.Values(ended))
	}
	for wanted = append(wanted, p.next); len(wanted) > 0; {
		from := wanted[0]
		if from >= end {
			break
		}
		if *left <= 0 {
			return true, nil
		}
		*left--
		length := min(end+started-from, pageTasks)
		if last := wanted[len(wanted)-1]; last != p.next {
			length = min(last+1-from, pageTasks)
		}
		list, err := s.tasks(ctx, id, url.Values{"offset": {strconv.Itoa(from)}, "length": {strconv.Itoa(length)}})
		if err != nil {
			return true, err
		}
		p.take(list, from)
		if len(list) < length {
			break
		}
		wanted = slices.DeleteFunc(wanted, func(place int) bool { return place < from+length })
		if p.next < end {
			wanted = append(wanted, p.next)
		}
	}
	p.seen, p.at, p.looks = at, time.Now(), 0
	if over {
		p.tries++
		p.read = len(p.open) == 0 && p.count >= end || p.tries > 3 // killed copies may never be reported as ended
		if !p.read && len(p.open) == 0 {
			p.next, p.count = 0, 0 // some are missing: start again
		}
	}
	return false, nil
}

// take records the positions of tasks that were read from a position on.
func (p *stageTasks) take(list []task, from int) {
	for i := range list {
		t := &list[i]
		if from+i >= p.next {
			p.count++
		}
		if t.runs() {
			p.open[t.TaskID] = from + i
		} else {
			delete(p.open, t.TaskID)
		}
	}
	p.next = max(p.next, from+len(list))
}

func (t *task) runs() bool { return t.Status == "RUNNING" || t.Status == "PENDING" }

// tasks requests tasks of a stage and stores them.
func (s *Source) tasks(ctx context.Context, id stageID, query url.Values) ([]task, error) {
	var list []task
	err := s.get(ctx, fmt.Sprintf("stages/%d/%d/taskList", id.id, id.attempt), query, &list)
	if errors.Is(err, rest.ErrNotFound) { // Spark has dropped the stage from its pages
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		s.rows.task(id, &list[i])
		if _, ok := s.rows.executors[list[i].ExecutorID]; !ok {
			s.unknown = true
		}
	}
	return list, nil
}
