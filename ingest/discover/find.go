package discover

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"straggler/ingest"
	"straggler/ingest/codec"
	"straggler/ingest/read/parquet"
	"straggler/schema"
	"straggler/spelling"
)

// Options configure the search. The zero value is a good default.
type Options struct {
	From     string // name of the format; "" to recognise it
	Parallel int    // number of files examined at once; 0 means one per processor
	Limits   ingest.Limits
	Remote   Remote        // reads URLs; nil reads none
	TempDir  string        // for archives that cannot be read in place; "" means the system's directory
	Stdin    *os.File      // read for "-"; nil means the process's
	Progress *atomic.Int64 // raw bytes of the inputs read so far; may be nil

	// Choose, if set, gets the candidates found by name alone, in no archive, and returns for each whether to examine it: a
	// follower has seen most of them.
	Choose func([]Named) []bool
	// Recognised, if set, is called for each input found, with its first bytes, which are reused. It is called from several
	// goroutines.
	Recognised func(in *Input, head []byte)
}

func (o Options) withDefaults() Options {
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	o.Limits = o.Limits.WithDefaults()
	return o
}

// Found is what the arguments contain.
type Found struct {
	Inputs  []*Input  // by name and key
	Skipped []Skipped // by name

	spool     *spool
	cancel    context.CancelFunc
	sourceErr *atomic.Pointer[error]
}

// Input is a log whose format is known.
type Input struct {
	*ingest.Input
	Format ingest.Format
	Why    string // the sign by which it was recognised
	Codec  string // around its first file; "" for none

	Unrecognised bool // --from names its format, which does not recognise its beginning

	*candidate
	reading *reading
}

// Close removes the temporary files of archives and releases streams. The inputs must not be read afterwards.
func (f *Found) Close() error {
	f.cancel()
	return f.spool.close()
}

// SourceErr returns the first error of kind ErrSource met while reading the inputs, or nil. Data read since then may be
// incomplete.
func (f *Found) SourceErr() error {
	if err := f.sourceErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Find finds the logs in the arguments, without reading more than their heads.
func Find(ctx context.Context, formats []ingest.Format, paths []string, o Options) (*Found, error) {
	o = o.withDefaults()
	readable := formats
	if o.From != "" {
		format, err := FormatNamed(formats, o.From)
		if err != nil {
			return nil, fmt.Errorf("ingest: %w", err)
		}
		readable = []ingest.Format{format}
	}
	ctx, cancel := context.WithCancel(ctx)
	out := &Found{cancel: cancel, spool: newSpool(o.TempDir, o.Limits.Spool), sourceErr: new(atomic.Pointer[error])}
	f := &finder{formats: readable, all: formats, o: o, spool: out.spool, sourceErr: out.sourceErr}
	if err := f.find(ctx, paths); err != nil {
		return nil, errors.Join(fmt.Errorf("ingest: %w", err), out.Close())
	}
	out.sourceErr.Store(nil) // an error met while sniffing concerns that log only
	out.Inputs, out.Skipped = f.found, f.skipped
	slices.SortFunc(out.Inputs, func(a, b *Input) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) })
	slices.SortStableFunc(out.Skipped, func(a, b Skipped) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// FormatNamed returns the format with a name, or ErrUnknownFormat.
func FormatNamed(formats []ingest.Format, name string) (ingest.Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return ingest.Format{}, fmt.Errorf("%w %q; %s", ErrUnknownFormat, name, spelling.Choices(name, names))
}

// finder takes arguments and returns the inputs whose format is known.
type finder struct {
	formats   []ingest.Format // those that may be read
	all       []ingest.Format
	o         Options
	spool     *spool
	sourceErr *atomic.Pointer[error] // see remoteWalk

	mu      sync.Mutex
	found   []*Input
	skipped []Skipped
}

// find walks the arguments, examines what it finds, and walks the archives among that, until none is left.
func (f *finder) find(ctx context.Context, paths []string) error {
	w := &walker{formats: f.formats, limits: f.o.Limits, budget: codec.NewBudget(nil, runLimits(f.o.Limits), 0), seen: make(map[string]bool)}
	w.remote = &remoteWalk{ctx: ctx, remote: f.o.Remote, trees: make(map[Tree]*remoteTree), sourceErr: f.sourceErr}
	w.arguments(paths, f.o.Stdin)
	for {
		if err := w.finish(ctx); err != nil {
			return err
		}
		batch := w.found
		w.found = nil
		if len(batch) == 0 {
			f.skipped = append(f.skipped, w.skipped...)
			return nil
		}
		outcomes, err := f.sniffAll(ctx, batch)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			f.expandOutcome(ctx, w, o)
		}
	}
}

// outcome is the result of examining a candidate, other than an input or a refusal.
type outcome struct {
	candidate *candidate
	archive   string   // it is an archive
	layers    []string // layers around the archive
	ungroup   bool     // its files are not a group after all
}

// sniffAll sniffs candidates in parallel. The outcomes are in the order of the candidates.
func (f *finder) sniffAll(ctx context.Context, batch []*candidate) ([]outcome, error) {
	all := make([]outcome, len(batch))
	skip := f.unwanted(batch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(f.o.Parallel, len(batch)) {
		wg.Go(func() {
			buf := make([]byte, ingest.HeadBytes)
			for i := int(next.Add(1)) - 1; i < len(batch) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if !skip[batch[i]] {
					all[i] = f.sniff(ctx, batch[i], buf)
				}
			}
		})
	}
	wg.Wait()
	var out []outcome
	for _, o := range all {
		if o.archive != "" || o.ungroup {
			out = append(out, o)
		}
	}
	return out, ctx.Err()
}

// unwanted returns the candidates that are not to be examined.
func (f *finder) unwanted(batch []*candidate) map[*candidate]bool {
	if f.o.Choose == nil {
		return nil
	}
	var found []Named
	var asked []*candidate
	for _, c := range batch {
		if c.depth == 0 {
			found, asked = append(found, Named{ID: c.id(), Name: c.name, Version: c.Version()}), append(asked, c)
		}
	}
	skip := make(map[*candidate]bool)
	for i, wanted := range f.o.Choose(found) {
		if !wanted {
			skip[asked[i]] = true
		}
	}
	return skip
}

func (f *finder) sniff(ctx context.Context, c *candidate, buf []byte) outcome {
	head, layers, err := peek(ctx, c, buf)
	if err != nil {
		f.refuse(unreadable(c.name, err))
		return outcome{}
	}
	if kind := archive(head.Bytes); kind != "" && c.claim == nil {
		return outcome{candidate: c, archive: kind, layers: layers}
	}
	if bytes.HasPrefix(head.Bytes, []byte(parquet.Magic)) {
		if head.Columns, err = f.columns(ctx, c); err != nil {
			f.refuse(unreadable(c.name, err))
			return outcome{}
		}
	}
	format, match, err := recognise(f.formats, c, head, f.o.From != "")
	if len(layers) > 0 && errors.Is(err, ErrNotRecognised) {
		if damage := f.damage(ctx, c); damage != nil {
			f.refuse(unreadable(c.name, damage))
			return outcome{}
		}
	}
	switch {
	case err == nil && match.Confidence == 0 && f.certainlyOther(c, head):
		f.refuse(unreadable(c.name, errors.New(f.whyNot(c, head, ErrNotRecognised))))
	case err == nil:
		f.accept(c, format, match, layers, head.Bytes)
	case c.claim != nil:
		return outcome{candidate: c, ungroup: true}
	case errors.Is(err, ErrNotRecognised) && !c.explicit:
		f.refuse(Skipped{Name: c.name, Reason: f.whyNot(c, head, err)})
	default:
		f.refuse(unreadable(c.name, err))
	}
	return outcome{}
}

// columns returns those of the candidate's first file, which is Parquet.
func (f *finder) columns(ctx context.Context, c *candidate) ([]string, error) {
	if c.files[0].once != nil {
		return nil, fmt.Errorf("%w: Parquet cannot be read from a stream; give the file by name", parquet.ErrUnreadable)
	}
	file, err := c.files[0].random(ctx, f.spool)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parquet.Columns(file)
}

// damage returns the error in a compressed file that holds no log, or nil: some codecs return the bytes of a block before they
// have verified its checksum.
func (f *finder) damage(ctx context.Context, c *candidate) error {
	if c.files[0].once != nil {
		return nil
	}
	r, err := c.files[0].reader(ctx, new(fileStats))
	if err == nil {
		_, err = io.CopyN(io.Discard, r, restBytes)
		r.Close()
	}
	if !errors.Is(err, ingest.ErrCorrupt) {
		return nil
	}
	return err
}

// whyNot explains why a file was not recognised: if --from names a format, perhaps because it belongs to another one.
func (f *finder) whyNot(c *candidate, head ingest.Head, err error) string {
	if f.o.From != "" && c.claim == nil {
		if other, m, e := recognise(f.all, c, head, false); e == nil {
			return fmt.Sprintf("not recognised as %s, which --from names: it is %s (%s)", f.o.From, other.Name, m.Why)
		}
	}
	return err.Error()
}

// certainlyOther reports that a file not recognised by the format of --from is a log of another one.
func (f *finder) certainlyOther(c *candidate, head ingest.Head) bool {
	_, m, err := recognise(f.all, c, head, false)
	return err == nil && m.Confidence == ingest.Certain
}

func (f *finder) accept(c *candidate, format *ingest.Format, match ingest.Match, layers []string, head []byte) {
	why := match.Why
	for i := len(layers) - 1; i >= 0; i-- {
		why += ", in " + layers[i]
	}
	in := &Input{candidate: c, Format: *format, Why: why, Unrecognised: match.Confidence == 0, Codec: strings.Join(layers, ", ")}
	in.reading = &reading{progress: f.o.Progress, stats: make([]*fileStats, len(c.files))}
	in.Input = c.input(f.spool, in.reading)
	in.Key = schema.InputKey(c.base, head)
	if f.o.Recognised != nil {
		f.o.Recognised(in, head)
	}
	f.mu.Lock()
	f.found = append(f.found, in)
	f.mu.Unlock()
}

func (f *finder) refuse(s Skipped) {
	f.mu.Lock()
	f.skipped = append(f.skipped, s)
	f.mu.Unlock()
}

// expandOutcome walks an archive, or examines the files of a group one by one.
func (f *finder) expandOutcome(ctx context.Context, w *walker, o outcome) {
	c := o.candidate
	if o.ungroup {
		for _, file := range c.files {
			w.add(single(file, c.explicit, c.depth))
		}
		return
	}
	if c.depth >= f.o.Limits.Depth {
		f.refuse(unreadable(c.name, errDepth))
		return
	}
	folder, err := f.expand(ctx, c.files[0], o.archive, o.layers)
	if err != nil {
		f.refuse(unreadable(c.name, err))
	}
	if folder != nil {
		w.walk(folder, nil, c.depth+1)
	}
}
