package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"straggler/schema"
)

// finder takes arguments and gives the inputs whose format is known.
type finder struct {
	formats []Format // those that may be read
	all     []Format // there are
	o       Options
	spool   *spool
	known   *known
	memo    *memo                  // of a follower; nil
	broken  *atomic.Pointer[error] // see elsewhere

	mu      sync.Mutex
	found   []recognised
	skipped []Result
}

// recognised is a candidate whose format is known.
type recognised struct {
	*candidate
	format *Format
	why    string
	codec  string     // around the first file
	key    schema.Key // as in a fresh store
	mine   schema.Key // as in this store, where a log keeps the key that it had when it was shorter
	head   int        // bytes that mine was made of
}

// outcome is what looking into a candidate gave, apart from an input or a refusal.
type outcome struct {
	candidate *candidate
	archive   string   // it is an archive
	layers    []string // around the archive
	dissolve  bool     // it is no group after all
}

// find walks the arguments, looks into what it finds, and walks the archives among that, until nothing is left.
func (f *finder) find(ctx context.Context, paths []string, stdin *os.File) error {
	w := &walker{formats: f.formats, seen: make(map[string]bool)}
	w.elsewhere = &elsewhere{ctx: ctx, remote: f.o.Remote, trees: make(map[Tree]*remoteTree), broken: f.broken}
	w.arguments(paths, stdin)
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
		outcomes, err := f.look(ctx, batch)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			f.follow(ctx, w, o)
		}
	}
}

// look sniffs candidates in parallel. The outcomes have the order of the candidates.
func (f *finder) look(ctx context.Context, batch []*candidate) ([]outcome, error) {
	all := make([]outcome, len(batch))
	err := parallel(ctx, f.o.Parallel, len(batch), func(next func() (int, bool)) error {
		buf := make([]byte, HeadBytes)
		for i, ok := next(); ok; i, ok = next() {
			if f.memo.due(batch[i]) {
				all[i] = f.sniff(ctx, batch[i], buf)
			}
		}
		return nil
	})
	var out []outcome
	for _, o := range all {
		if o.archive != "" || o.dissolve {
			out = append(out, o)
		}
	}
	return out, err
}

func (f *finder) sniff(ctx context.Context, c *candidate, buf []byte) outcome {
	head, layers, err := peek(ctx, c, f.o.Limits, buf)
	if err != nil {
		f.refuse(failed(c.name, err))
		return outcome{}
	}
	if kind := archive(head.Bytes); kind != "" && c.claim == nil {
		return outcome{candidate: c, archive: kind, layers: layers}
	}
	if bytes.HasPrefix(head.Bytes, parquetMagic) {
		if head.Columns, err = f.columns(ctx, c); err != nil {
			f.refuse(failed(c.name, err))
			return outcome{}
		}
	}
	format, why, err := recognise(f.formats, c, head, f.o.From != "")
	if len(layers) > 0 && errors.Is(err, ErrNotRecognised) {
		if damage := f.damage(ctx, c); damage != nil {
			f.refuse(failed(c.name, damage))
			return outcome{}
		}
	}
	switch {
	case err == nil:
		r := recognised{candidate: c, format: format, why: because(why, layers), codec: strings.Join(layers, ", "), key: schema.InputKey(c.base, head.Bytes)}
		r.mine, r.head = f.known.key(c, format.Name, head.Bytes, r.key)
		f.mu.Lock()
		f.found = append(f.found, r)
		f.mu.Unlock()
	case c.claim != nil:
		return outcome{candidate: c, dissolve: true}
	case errors.Is(err, ErrNotRecognised) && !c.explicit:
		f.refuse(Result{Name: c.name, Status: NotRecognised, Reason: f.unless(c, head, err)})
	default:
		f.refuse(failed(c.name, err))
	}
	return outcome{}
}

// damage says whether a compressed file that is no log is one that was damaged: some codecs give the bytes of a block
// before they have seen its checksum.
func (f *finder) damage(ctx context.Context, c *candidate) error {
	if c.files[0].once != nil {
		return nil
	}
	r, err := c.files[0].reader(ctx, f.o.Limits, new(tally))
	if err == nil {
		_, err = io.CopyN(io.Discard, r, restBytes)
		r.Close()
	}
	if !errors.Is(err, ErrCorrupt) {
		return nil
	}
	return err
}

// unless says why a file was not recognised: where --from names a format, perhaps because it is of another one.
func (f *finder) unless(c *candidate, head Head, err error) string {
	if f.o.From != "" && c.claim == nil {
		if other, why, e := recognise(f.all, c, head, false); e == nil {
			return fmt.Sprintf("not recognised as %s, which --from names: it is %s (%s)", f.o.From, other.Name, why)
		}
	}
	return err.Error()
}

// columns are those of the candidate's first file, which is Parquet.
func (f *finder) columns(ctx context.Context, c *candidate) ([]string, error) {
	if c.files[0].once != nil {
		return nil, fmt.Errorf("%w: Parquet can not be read from a stream; give the file by name", ErrParquet)
	}
	file, err := c.files[0].random(ctx, f.o.Limits, f.spool)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parquetColumns(file)
}

func because(why string, layers []string) string {
	for i := len(layers) - 1; i >= 0; i-- {
		why += ", in " + layers[i]
	}
	return why
}

func (f *finder) refuse(r Result) {
	f.mu.Lock()
	f.skipped = append(f.skipped, r)
	f.mu.Unlock()
}

// follow walks an archive, or looks at the files of a group one by one.
func (f *finder) follow(ctx context.Context, w *walker, o outcome) {
	c := o.candidate
	if o.dissolve {
		for _, file := range c.files {
			w.found = append(w.found, single(file, c.explicit, c.depth))
		}
		return
	}
	if c.depth >= f.o.Limits.Depth {
		f.refuse(failed(c.name, errDepth))
		return
	}
	folder, err := expand(ctx, c.files[0], o.archive, o.layers, f.o.Limits, f.spool)
	if err != nil {
		f.refuse(failed(c.name, err))
	}
	if folder != nil {
		w.walk(folder, nil, c.depth+1)
	}
}
