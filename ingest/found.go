package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
)

// Found is what arguments hold.
type Found struct {
	Inputs  []Recognised // by name
	Skipped []Result

	spool  *spool
	cancel context.CancelFunc
}

// Recognised is an input with its format.
type Recognised struct {
	*Input
	Format Format
	Why    string
}

// Close removes the temporary files of archives and lets streams go. The inputs must not be read afterwards.
func (f *Found) Close() error {
	f.cancel()
	return f.spool.close()
}

// Find says what arguments hold, without reading more than the heads. Run reads what Find finds; tests and tools that
// only want to know call it alone.
func Find(ctx context.Context, formats []Format, paths []string, o Options) (*Found, error) {
	o = o.withDefaults()
	picked, err := pick(formats, o.From)
	if err != nil {
		return nil, fmt.Errorf("ingest: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	out := &Found{cancel: cancel, spool: newSpool(o.TempDir, o.Limits.Spool)}
	f := &finder{formats: picked, all: formats, o: o, spool: out.spool, broken: new(atomic.Pointer[error])}
	if err := f.find(ctx, paths, o.Stdin); err != nil {
		return nil, errors.Join(fmt.Errorf("ingest: %w", err), out.Close())
	}
	for _, r := range f.found {
		in := r.candidate.input(o.Limits, out.spool, nil)
		in.Key = r.key
		out.Inputs = append(out.Inputs, Recognised{Input: in, Format: *r.format, Why: r.why})
	}
	slices.SortFunc(out.Inputs, func(a, b Recognised) int { return cmp.Compare(a.Name, b.Name) })
	out.Skipped = f.skipped
	slices.SortFunc(out.Skipped, func(a, b Result) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func (o Options) withDefaults() Options {
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	o.Limits = o.Limits.withDefaults()
	return o
}
