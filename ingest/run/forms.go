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
)

// mostForms is how many inputs of one application are held against each other. A log has few forms: one file, rolled,
// compacted, cut. This bounds how often a log is read.
const mostForms = 8

// withoutForms keeps one of several inputs that are one log in several forms, such as rolled into a directory and as one file,
// compressed in two ways, or as it was and compacted. Of inputs of the same application one is left out when all of its
// records are, in the same order, records of another. Inputs that only have records in common are all kept, and say so.
func (r *run) withoutForms(ctx context.Context, found []*job) ([]*job, error) {
	kept := make(map[string][]*job)
	form := make(map[*job]*job) // what is left out, and the input that has its records
	for _, j := range found {
		if j.application == "" || j.Size() < 0 {
			continue
		}
		app := j.Format.Name + " " + j.application
		for _, k := range kept[app] {
			if in, err := within(ctx, j, k); err != nil {
				return nil, err
			} else if in {
				form[j] = k
				break
			}
			if in, err := within(ctx, k, j); err != nil {
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
			r.duplicate(j, "all of its records are in "+k.Name)
			continue
		}
		if all := kept[j.Format.Name+" "+j.application]; j.application != "" && len(all) > 1 && all[0] != j {
			j.result.Reason = "it is about the same run of an application as " + all[0].Name + ", and neither has all records of the other: what is in both counts twice"
		}
		out = append(out, j)
	}
	return out, nil
}

// within reports whether all records of a part, in their order, are records of the whole. What cannot be read is in nothing:
// reading it later will give the error again.
func within(ctx context.Context, part, whole *job) (bool, error) {
	next, stop := iter.Pull2(records(ctx, whole.Input))
	defer stop()
	matched, exhausted := false, false
	for want, err := range records(ctx, part.Input) {
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
				exhausted, found = true, true // where the part is cut within its last record
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
	cut bool // it has no end of line: the log may stop within it
}

// records are the lines of an input that are not empty, as far as it goes, in constant memory.
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

// eachLine yields the lines of a text, and the error that ends it early; it returns false when no more is wanted.
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
