package run

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/schema"
)

// plan finds the inputs and decides which of them to read: one of several copies of a log, and only those of this shard.
func (r *run) plan(ctx context.Context, formats []ingest.Format, paths []string) error {
	jobs, err := r.find(ctx, formats, paths)
	if err != nil {
		return err
	}
	if jobs, err = r.withoutCopies(ctx, r.withoutStates(jobs)); err == nil {
		jobs, err = r.withoutForms(ctx, jobs)
	}
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	for _, j := range jobs {
		if !r.o.Shard.has(j.Input.Key) {
			j.result.Status = OtherShard
			r.summary.Results = append(r.summary.Results, j.result)
			continue
		}
		r.jobs = append(r.jobs, j)
		r.streams = r.streams || j.Size() < 0
	}
	if err := r.withoutStoredForms(ctx, formats); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	r.bound()
	for _, j := range r.jobs {
		r.total.Add(max(j.Size(), 0))
	}
	r.inputs.Store(int64(len(r.jobs)))
	r.announce()
	return nil
}

// find finds the inputs, with the key and the application of each.
func (r *run) find(ctx context.Context, formats []ingest.Format, paths []string) (jobs []*job, err error) {
	var (
		mu   sync.Mutex
		keys = make(map[*discover.Input]storeKey)
		apps = make(map[*discover.Input]string)
	)
	o := discover.Options{From: r.o.From, Parallel: r.o.Parallel, Limits: r.o.Limits, Remote: r.o.Remote, TempDir: r.o.TempDir, Stdin: r.o.Stdin,
		Progress: &r.bytes, Recognised: func(in *discover.Input, head []byte) {
			key, app := r.known.key(in, head), ""
			if about := in.Format.Application; about != nil {
				app = about(ingest.Head{Name: in.Base, Bytes: head})
			}
			mu.Lock()
			keys[in], apps[in] = key, app
			mu.Unlock()
		}}
	if r.seen != nil {
		o.Choose = r.choose
	}
	if r.found, err = discover.Find(ctx, formats, paths, o); err != nil {
		return nil, err
	}
	for _, s := range r.found.Skipped {
		r.summary.Results = append(r.summary.Results, skipped(s))
	}
	for _, in := range r.found.Inputs {
		jobs = append(jobs, &job{Input: in, storeKey: keys[in], application: apps[in],
			result: Result{Name: in.Name, Format: in.Format.Name, Why: in.Why, Files: len(in.Parts), Changed: in.Version().Modified}})
	}
	return jobs, nil
}

// announce passes on what will be read and what will not.
func (r *run) announce() {
	if r.o.Planned == nil {
		return
	}
	found := slices.Clone(r.summary.Results)
	for _, j := range r.jobs {
		planned := j.result
		planned.Status, planned.Bytes = Planned, max(j.Size(), 0)
		found = append(found, planned)
	}
	r.o.Planned(found)
}

// choose decides which logs a follower examines in this round. With a bound they are the most recently changed ones, and after
// those the ones that failed before; the others wait, known only by name.
func (r *run) choose(found []discover.Named) []bool {
	var due []int
	for i := range found {
		if r.seen.due(found[i].ID, found[i].Version) {
			due = append(due, i)
		}
	}
	results := make([]Result, len(found))
	for _, i := range due {
		v := found[i].Version
		results[i] = Result{Name: found[i].Name, Status: Planned, Files: v.Files, Changed: v.Modified, Bytes: max(v.Bytes, 0)}
	}
	if r.o.Round > 0 {
		r.seen.newestFirst(due, results)
		room := r.o.Round
		for n, i := range due {
			if room -= results[i].Bytes; n > 0 && (room < 0 || n >= r.seen.most()) {
				results[i].Status = Waiting
				r.seen.postpone(found[i].ID)
			}
		}
	}
	var waiting, planned []Result
	wanted := make([]bool, len(found))
	for _, i := range due {
		if wanted[i] = results[i].Status == Planned; wanted[i] {
			planned = append(planned, results[i])
		} else if !r.seen.failedBefore(&results[i]) { // a failed log is listed as such until it is retried
			waiting = append(waiting, results[i])
		}
	}
	if r.summary.Results = append(r.summary.Results, waiting...); r.o.Planned != nil && len(due) > 0 {
		r.o.Planned(slices.Concat(planned, waiting))
	}
	return wanted
}

// bound postpones the logs that exceed the size of a round. The most recently changed logs are read first, and those that
// failed before last. The order of the logs stays the same.
func (r *run) bound() {
	if r.o.Round <= 0 {
		return
	}
	results, newest := make([]Result, len(r.jobs)), make([]int, len(r.jobs))
	for i, j := range r.jobs {
		results[i], newest[i] = j.result, i
	}
	r.seen.newestFirst(newest, results)
	later, room := make(map[*job]bool), r.o.Round
	for n, i := range newest {
		if room -= max(r.jobs[i].Size(), 0); room < 0 && n > 0 {
			later[r.jobs[i]] = true
		}
	}
	r.jobs = slices.DeleteFunc(r.jobs, func(j *job) bool {
		if later[j] {
			j.result.Status, j.result.Bytes = Waiting, max(j.Size(), 0)
			r.summary.Results = append(r.summary.Results, j.result)
		}
		return later[j]
	})
}

// withoutStates keeps the largest of the inputs that have the same key: they are versions of one log, such as a copy that
// was made while it was being written.
func (r *run) withoutStates(found []*job) []*job {
	best := make(map[schema.Key]*job)
	for _, j := range found {
		if b := best[j.key]; b == nil || j.Size() > b.Size() {
			best[j.key] = j
		}
	}
	var out []*job
	for _, j := range found {
		if b := best[j.key]; b != j {
			r.duplicate(j, "it starts like "+b.Name+", which is larger or comes first")
			continue
		}
		out = append(out, j)
	}
	return out
}

// withoutCopies keeps the first of several inputs with the same content. Only inputs of equal size are hashed.
func (r *run) withoutCopies(ctx context.Context, found []*job) ([]*job, error) {
	prints, err := r.printsOfEquals(ctx, found)
	if err != nil {
		return nil, err
	}
	first := make(map[string]string)
	var out []*job
	for i, j := range found {
		if name, ok := first[prints[i]]; ok && prints[i] != "" {
			r.duplicate(j, "its content is that of "+name)
			continue
		}
		first[prints[i]] = j.Name
		out = append(out, j)
	}
	return out, nil
}

// printsOfEquals returns the fingerprints of the inputs that have the same size as another one. They are "" for the others, and
// for those that cannot be read: reading them later will give the error again.
func (r *run) printsOfEquals(ctx context.Context, found []*job) ([]string, error) {
	sizes := make(map[int64]int)
	for _, j := range found {
		sizes[j.Size()]++
	}
	prints := make([]string, len(found))
	var g errgroup.Group
	g.SetLimit(r.o.Parallel)
	for i, j := range found {
		if size := j.Size(); size <= 0 || sizes[size] == 1 {
			continue
		}
		g.Go(func() error {
			if print, err := j.Fingerprint(ctx); err == nil {
				prints[i] = print
			}
			return ctx.Err()
		})
	}
	return prints, g.Wait()
}

func (r *run) duplicate(j *job, why string) {
	j.result.Status, j.result.Reason = Duplicate, why
	r.summary.Results = append(r.summary.Results, j.result)
}
