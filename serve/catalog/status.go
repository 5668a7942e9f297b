package catalog

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"straggler/ingest/run"
	"straggler/report"
)

// Status is what a catalog is doing, the logs that it has not read yet, and its problems.
type Status struct {
	Reading  bool         // logs are being read now
	Progress run.Progress // of that
	Doing    string       // the step that brings results up to date, "" for none
	// logs found and not read yet, newest first, some only with their names; shared, must not be modified
	Waiting  []run.Result
	More     int          // of them that are left out
	Failed   []run.Result // logs of which nothing or not all could be read, newest first
	Rounds   int          // rounds of reading that have ended
	Ended    time.Time    // when the last of them did
	Problems []Problem    // in the order of their tasks
}

// Problem is the error of a task that will be retried.
type Problem struct {
	Task  string
	Error error
	Since time.Time
}

// The recurring tasks of a catalog.
const (
	ingestTask   = "reading logs"
	analysisTask = "finding outliers and their causes"
	storeTask    = "looking at the store"
)

// late is the time after the last change of a log without an end until which the log counts as being written.
const late = time.Hour

// mostListed and mostWaiting bound the logs that a status lists.
const (
	mostListed  = 500
	mostWaiting = 100_000
)

// statusBoard collects the status. The zero value is ready to use.
type statusBoard struct {
	mu       sync.Mutex
	s        Status
	failed   map[string]run.Result
	written  map[string]time.Time // when logs that have changed of late did, by name
	problems map[string]Problem
}

// Status returns the current status.
func (c *Catalog) Status() Status {
	b := &c.status
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.s
	for _, r := range b.failed {
		s.Failed = append(s.Failed, r)
	}
	slices.SortFunc(s.Failed, byChange)
	s.Failed = s.Failed[:min(len(s.Failed), mostListed)]
	for _, task := range []string{storeTask, ingestTask, analysisTask} {
		if p, ok := b.problems[task]; ok {
			s.Problems = append(s.Problems, p)
		}
	}
	return s
}

// Written returns the applications whose logs have no end and changed within the last hour: they are probably running.
func (c *Catalog) Written() []report.Application {
	apps, _ := c.Applications()
	c.status.mu.Lock()
	defer c.status.mu.Unlock()
	var out []report.Application
	for i := range apps {
		if changed, ok := c.status.written[apps[i].SourceFile]; ok && !apps[i].Complete && time.Since(changed) < late {
			out = append(out, apps[i])
		}
	}
	return out
}

func byChange(a, b run.Result) int {
	return cmp.Or(cmp.Compare(b.Changed, a.Changed), cmp.Compare(a.Name, b.Name))
}

// planned records what a round of reading found.
func (b *statusBoard) planned(found []run.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Progress = run.Progress{}
	var waiting []run.Result
	for _, r := range found {
		if r.Status == run.Planned || r.Status == run.Waiting {
			b.s.Reading = b.s.Reading || r.Status == run.Planned
			waiting = append(waiting, r)
		}
	}
	b.wait(waiting)
}

// wait sets the logs that have not been read yet. The caller holds mu.
func (b *statusBoard) wait(logs []run.Result) {
	slices.SortFunc(logs, byChange)
	b.s.More = max(0, len(logs)-mostWaiting)
	b.s.Waiting = logs[:len(logs)-b.s.More]
}

func (b *statusBoard) progress(p run.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Progress = p
}

// read records the result of a round of reading.
func (b *statusBoard) read(s *run.Summary, err error) {
	b.done(ingestTask, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = make(map[string]run.Result)
	}
	if b.written == nil {
		b.written = make(map[string]time.Time)
	}
	maps.DeleteFunc(b.written, func(_ string, changed time.Time) bool { return time.Since(changed) > late })
	var waiting []run.Result
	for _, r := range s.Results {
		if changed := time.Unix(0, r.Changed); time.Since(changed) < late && len(b.written) < 4*mostListed {
			b.written[r.Name] = changed
		}
		switch r.Status {
		case run.Failed, run.Partial:
			if len(b.failed) < 4*mostListed {
				r.Rows = nil
				b.failed[r.Name] = r
			}
		case run.Waiting:
			waiting = append(waiting, r)
		default:
			delete(b.failed, r.Name)
		}
	}
	b.wait(waiting)
	b.s.Reading, b.s.Progress = false, run.Progress{}
	b.s.Rounds++
	b.s.Ended = time.Now()
	if err != nil && len(s.Results) == 0 { // about the run, and not about logs that are listed
		b.problem(ingestTask, err)
	}
}

// begin records the step by which results are being brought up to date.
func (b *statusBoard) begin(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Doing = what
}

// done records the end of a task.
func (b *statusBoard) done(task string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if task == analysisTask {
		b.s.Doing = ""
	}
	if err == nil {
		delete(b.problems, task)
		return
	}
	b.problem(task, err)
}

func (b *statusBoard) fail(task string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.s.Reading = false
	b.problem(task, err)
}

// problem records an error of a task, with the time of its first failure in a row. The caller holds mu.
func (b *statusBoard) problem(task string, err error) {
	if b.problems == nil {
		b.problems = make(map[string]Problem)
	}
	since := time.Now()
	if p, ok := b.problems[task]; ok {
		since = p.Since
	}
	b.problems[task] = Problem{task, err, since}
}
