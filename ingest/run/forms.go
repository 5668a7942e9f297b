package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/schema"
	"straggler/store"
)

// mostForms bounds the inputs of one application that are compared with each other. A log has few forms: one file, rolled,
// compacted, truncated. This bounds how often a log is read.
const mostForms = 8

// withoutForms keeps one of several inputs that are one log in several forms, such as rolled into a directory and as one file,
// compressed in two ways, or original and compacted. Of inputs of the same application one is left out if all of its records
// are, in the same order, records of another. Inputs that only share some records are all kept, with a caveat.
func (r *run) withoutForms(ctx context.Context, found []*job) ([]*job, error) {
	kept := make(map[string][]*job)
	form := make(map[*job]*job) // what is left out, and the input that has its records
	for _, j := range found {
		if j.application == "" || j.Size() < 0 {
			continue
		}
		app := j.Format.Name + " " + j.application
		for _, k := range kept[app] {
			if in, err := within(ctx, j.Input, k.Input); err != nil {
				return nil, err
			} else if in {
				form[j] = k
				break
			}
			if in, err := within(ctx, k.Input, j.Input); err != nil {
				return nil, err
			} else if in {
				form[k] = j
			}
		}
		kept[app] = slices.DeleteFunc(kept[app], func(k *job) bool { return form[k] != nil })
		if form[j] == nil && len(kept[app]) < mostForms {
			kept[app] = append(kept[app], j)
		}
	}
	var out []*job
	for _, j := range found {
		if k := form[j]; k != nil {
			for form[k] != nil {
				k = form[k]
			}
			k.forms = append(k.forms, j.key)
			r.duplicate(j, "all of its records are in "+k.Name)
			continue
		}
		if all := kept[j.Format.Name+" "+j.application]; j.application != "" && len(all) > 1 && all[0] != j {
			j.result.Reason = "it is about the same run of an application as " + all[0].Name +
				", and neither has all records of the other: what is in both counts twice"
		}
		out = append(out, j)
	}
	return out, nil
}

// withoutStoredForms leaves out the jobs all of whose records are in an input that the store has under another key. A job that
// has all records of such an input replaces it. This is determined by reading the logs: if the log of an input is gone or has
// changed since, the job only gets a caveat that it may count twice.
func (r *run) withoutStoredForms(ctx context.Context, formats []ingest.Format) error {
	sources := &sources{run: r, formats: formats, found: make(map[string]*discover.Found)}
	defer sources.close()
	var left []*job
	for _, j := range r.jobs {
		stored, err := r.isStored(ctx, sources, j)
		switch {
		case err != nil:
			return err
		case stored:
			r.summary.Results = append(r.summary.Results, j.result)
		default:
			left = append(left, j)
		}
	}
	r.jobs = left
	return nil
}

// isStored reports whether the store has all records of a job under another key, and notes the inputs that the job replaces.
func (r *run) isStored(ctx context.Context, sources *sources, j *job) (bool, error) {
	if j.application == "" || j.Size() < 0 || r.known.byKey[j.key] != nil {
		return false, nil
	}
	stored := false
	for _, rec := range r.known.byApp[about{j.Format.Name, j.application}] {
		if slices.Contains(j.forms, schema.Key(rec.Key)) {
			continue
		}
		there, err := sources.of(ctx, rec)
		if err != nil {
			return false, err
		}
		f, err := r.compare(ctx, j, there)
		if err != nil {
			return false, err
		}
		switch f {
		case storedHasAll:
			stored = true
			j.result.Status, j.result.Reason = AlreadyThere, "as "+rec.Name+", which has all of its records"
		case jobHasAll:
			j.forms = append(j.forms, schema.Key(rec.Key))
		case neitherHasAll:
			j.result.Reason = "it is about the same run of an application as " + rec.Name + ", which the store has: what is in both counts twice"
		}
	}
	return stored, nil
}

// compared is the relation between a job and a stored input of the same application: which has all records of the other.
type compared int

const (
	neitherHasAll compared = iota
	storedHasAll
	jobHasAll
)

// compare reads a job and the log of a stored input, nil if there is none any more. If both have the same records, the stored
// one counts, unless all is to be read again.
func (r *run) compare(ctx context.Context, j *job, stored *discover.Input) (compared, error) {
	if stored == nil {
		return neitherHasAll, nil
	}
	in, err := within(ctx, j.Input, stored)
	if err != nil || in && !r.o.Again {
		return storedHasAll, err
	}
	has, err := within(ctx, stored, j.Input)
	switch {
	case has:
		return jobHasAll, err
	case in:
		return storedHasAll, err
	}
	return neitherHasAll, err
}

// sources are the logs that inputs of the store were read from, if they still exist.
type sources struct {
	run     *run
	formats []ingest.Format
	found   map[string]*discover.Found // by name
}

func (s *sources) close() {
	for _, f := range s.found {
		f.Close()
	}
}

// of returns the log of an input of the store; nil if it is gone or has changed.
func (s *sources) of(ctx context.Context, rec *store.InputRecord) (*discover.Input, error) {
	f, ok := s.found[rec.Name]
	if !ok {
		o := s.run.o
		var err error
		f, err = discover.Find(ctx, s.formats, []string{rec.Name},
			discover.Options{Parallel: o.Parallel, Limits: o.Limits, Remote: o.Remote, TempDir: o.TempDir})
		if err != nil {
			return nil, ctx.Err()
		}
		s.found[rec.Name] = f
	}
	for _, in := range f.Inputs {
		if in.Name != rec.Name || in.Format.Name != rec.Format {
			continue
		}
		if print, err := in.Fingerprint(ctx); err == nil && print == rec.Fingerprint {
			return in, nil
		}
	}
	return nil, ctx.Err()
}

// within reports whether all records of a part, in their order, are records of the whole. An input that cannot be read is
// within none: reading it later will give the error again.
func within(ctx context.Context, part, whole *discover.Input) (bool, error) {
	next, stop := iter.Pull2(records(ctx, whole))
	defer stop()
	matched, exhausted := false, false
	for want, err := range records(ctx, part) {
		if err != nil {
			return false, ctx.Err()
		}
		for found := false; !found; {
			have, err, ok := next()
			switch {
			case err != nil:
				return false, ctx.Err()
			case !ok && (exhausted || !want.cut):
				return false, nil
			case !ok:
				exhausted, found = true, true // if the part is truncated within its last record
			case have.sum == want.sum:
				matched, found = true, true
			}
		}
	}
	return matched, nil
}

// record is a line of a log.
type record struct {
	sum xxh3.Uint128
	cut bool // it has no line end: the log may stop within it
}

// records returns the non-empty lines of an input, as far as it can be read, in constant memory.
func records(ctx context.Context, in *discover.Input) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for part := range in.Parts {
			text, err := in.Content(ctx, part)
			if err != nil {
				yield(record{}, err)
				return
			}
			more := eachLine(text, yield)
			text.Close()
			if !more {
				return
			}
		}
	}
}

// eachLine yields the lines of a text, and the error that ends it early; it returns false if no more are wanted.
func eachLine(text io.Reader, yield func(record, error) bool) bool {
	buffered, hash, size := bufio.NewReaderSize(text, 64<<10), xxh3.New(), 0
	for {
		piece, err := buffered.ReadSlice('\n')
		if err == nil {
			piece = bytes.TrimSuffix(piece[:len(piece)-1], []byte("\r"))
		}
		hash.Write(piece)
		size += len(piece)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size > 0 && !yield(record{hash.Sum128(), err != nil}, nil) {
			return false
		}
		switch {
		case err == nil:
			hash.Reset()
			size = 0
		case errors.Is(err, io.EOF) || ingest.IsCut(err):
			return true
		default:
			yield(record{}, err)
			return false
		}
	}
}
