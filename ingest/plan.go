package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"straggler/schema"
)

var errDepth = fmt.Errorf("%w: it is an archive within too many others", ErrLimit)

// plan finds the inputs and decides which of them to read: of logs that are there twice one, and of the rest this
// shard's.
func (r *run) plan(ctx context.Context, formats []Format, paths []string) error {
	picked, err := pick(formats, r.o.From)
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	f := &finder{formats: picked, all: formats, o: r.o, spool: r.spool, known: r.known, memo: r.memo, broken: &r.broken}
	if err := f.find(ctx, paths, r.o.Stdin); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	r.broken.Store(nil) // a log that could not even be recognised is its own loss alone
	r.summary.Results = f.skipped
	slices.SortFunc(f.found, func(a, b recognised) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.key, b.key)) })
	kept, err := r.withoutCopies(ctx, r.withoutStates(f.found))
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	for _, in := range kept {
		j := &job{recognised: in, result: in.result()}
		if !r.o.Shard.has(in.key) {
			j.result.Status = OtherShard
			r.summary.Results = append(r.summary.Results, j.result)
			continue
		}
		r.jobs = append(r.jobs, j)
		r.streams = r.streams || in.size() < 0
		r.total.Add(max(in.size(), 0))
	}
	r.inputs.Store(int64(len(r.jobs)))
	return nil
}

func (in *recognised) result() Result {
	return Result{Name: in.name, Format: in.format.Name, Why: in.why, Files: len(in.files)}
}

// withoutStates keeps the largest of the inputs that have the same key: they are states of one log, such as a copy that
// was made while it was written.
func (r *run) withoutStates(found []recognised) []recognised {
	best := make(map[schema.Key]int)
	for i := range found {
		if b, ok := best[found[i].mine]; !ok || found[i].size() > found[b].size() {
			best[found[i].mine] = i
		}
	}
	var out []recognised
	for i := range found {
		if b := best[found[i].mine]; b != i {
			r.duplicate(&found[i], "it starts like "+found[b].name+", which is larger or comes first")
			continue
		}
		out = append(out, found[i])
	}
	return out
}

// withoutCopies keeps the first of the inputs that have the same content under different names. Only those of equal size
// have to be hashed.
func (r *run) withoutCopies(ctx context.Context, found []recognised) ([]recognised, error) {
	prints, err := r.printsOfEquals(ctx, found)
	if err != nil {
		return nil, err
	}
	first := make(map[string]string)
	var out []recognised
	for i := range found {
		in := &found[i]
		if name, ok := first[prints[i]]; ok && prints[i] != "" {
			r.duplicate(in, "its content is that of "+name)
			continue
		}
		first[prints[i]] = in.name
		out = append(out, *in)
	}
	return out, nil
}

// printsOfEquals are the fingerprints of the inputs that have the size of another one; "" of the others, and of those
// that can not be read: reading them later will meet the error again.
func (r *run) printsOfEquals(ctx context.Context, found []recognised) ([]string, error) {
	sizes := make(map[int64]int)
	for i := range found {
		sizes[found[i].size()]++
	}
	prints := make([]string, len(found))
	err := parallel(ctx, r.o.Parallel, len(found), func(next func() (int, bool)) error {
		for i, ok := next(); ok; i, ok = next() {
			in := &found[i]
			if size := in.size(); size <= 0 || sizes[size] == 1 {
				continue
			}
			if sums, err := in.sums(ctx, &tallies{list: make([]*tally, len(in.files))}); err == nil {
				prints[i] = fingerprint(sums)
			}
		}
		return nil
	})
	return prints, err
}

func (r *run) duplicate(in *recognised, why string) {
	res := in.result()
	res.Status, res.Reason = Duplicate, why
	r.summary.Results = append(r.summary.Results, res)
}
