package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"straggler/generate"
	"straggler/generate/sparklog"
	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/schema/synth"
	"straggler/selection"
	"straggler/table"
)

type generateOptions struct {
	what  generate.Synthetic
	list  bool
	like  string
	bytes string
	store string
	logs  string
	count int
	file  string
	truth string
	start string
	terse bool
}

func generateCommand(e *env) *cobra.Command {
	var o generateOptions
	c := &cobra.Command{
		Use:   "generate {--scenario NAME | --like LOG} {-o FILE | --store DIR | --logs DIR}",
		Short: "Generate traces with known ground truth, and large logs",
		Long: `Generate makes a synthetic trace with faults, and the truth about every attempt: as a Spark event log, as a
directory of labelled logs, or straight into the tables of a store. The same scenario and seed give the same bytes.

With --like it repeats a real Spark event log under new ids, as one longer application, until it has --bytes; or makes
one stage of --wide tasks out of its largest stage.`,
		Example: `  straggler generate --list
  straggler generate --scenario skew --seed 7 -o skew.log --truth skew.json
  straggler generate --scenario mixed --tasks 20000 --store synthetic --truth truth.csv
  straggler generate --scenario mixed --tasks 1000 --seed 2 --start 2026-01-06 --store synthetic
  straggler generate --scenario weak --logs labelled --count 2
  straggler generate --like skew.log --bytes 20MB -o large.log.zst`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return runGenerate(c.Context(), e, o) },
	}
	f := c.Flags()
	f.StringVar(&o.what.Scenario, "scenario", "mixed", "`NAME` of what goes wrong; --list lists them")
	f.Uint64Var(&o.what.Seed, "seed", 1, "seed the random numbers with `N`")
	f.Var(&atLeastOne[int64]{&o.what.Tasks}, "tasks", "about `N` tasks; without it as many as the scenario has")
	f.Var(&atLeastOne[int]{&o.what.Wide}, "wide", "instead of a scenario, one phase of `N` tasks")
	f.Var(&atLeastOne[int]{&o.what.Phases}, "phases", "instead of a scenario, `N` phases of a few tasks")
	f.StringVar(&o.start, "start", "",
		"`DATE` at which the first application starts, such as 2026-11-22 or '2026-11-22 18:30' (UTC), for a store of several nights")
	f.BoolVar(&o.list, "list", false, "list the scenarios")
	f.StringVar(&o.like, "like", "", "repeat this Spark event `LOG`")
	f.StringVar(&o.bytes, "bytes", "1GB", "`SIZE` of the log to make with --like, uncompressed")
	f.StringVarP(&o.file, "output", "o", "", "write a Spark event log to `FILE`, compressed if it ends in .zst or .gz; - is standard output")
	f.StringVar(&o.store, "store", "", "write the tables into the store in `DIR`, or at a URL")
	cacheFlag(c, e)
	f.StringVar(&o.logs, "logs", "", "write a directory with a log and its truth.json into `DIR` for each application of each seed")
	f.IntVar(&o.count, "count", 1, "with --logs: use `N` seeds")
	f.StringVar(&o.truth, "truth", "", "write the truth to `FILE`: labels as JSON for a log, seconds by cause as CSV for a store")
	f.BoolVar(&o.terse, "terse", false, "leave the accumulables out of a log, which repeat its metrics")
	combinesOnly(f, "list")
	combinesOnly(f, "like", "bytes", "wide", "output")
	combinesOnly(f, "wide", "seed", "start", "output", "store", "cache", "logs", "count", "truth", "terse", "like")
	combinesOnly(f, "phases", "seed", "start", "output", "store", "cache", "logs", "count", "truth", "terse")
	needs(f, "bytes", "like")
	needs(f, "count", "logs")
	needs(f, "terse", "output", "logs")
	return c
}

func runGenerate(ctx context.Context, e *env, o generateOptions) error {
	if o.list {
		return e.rows(output{file: "-"}, scenarios())
	}
	if err := o.check(e); err != nil {
		return err
	}
	began := time.Now()
	made, err := o.make(ctx, e)
	if err != nil {
		return err
	}
	what := humanize.Bytes(uint64(made.Bytes))
	if made.Commit != nil {
		what = count(made.Rows, "row") + ", commit " + made.Commit.ID
	}
	if made.Attempts > 0 {
		what = count(made.Applications, "application") + ", " + count(made.Attempts, "attempt") + ", " + what
	}
	e.say("%s in %.2f s", what, time.Since(began).Seconds())
	return nil
}

// maxTasks bounds --tasks: such a log has 5 TB.
const maxTasks = 1 << 30

// check validates the combination of flags.
func (o *generateOptions) check(e *env) error {
	outputs := 0
	for _, p := range []string{o.file, o.store, o.logs} {
		if p != "" {
			outputs++
		}
	}
	switch {
	case outputs != 1:
		return useError("name one output: -o FILE, --store DIR or --logs DIR")
	case o.logs != "" && o.truth != "":
		return useError("--logs writes a truth.json for each log; leave out --truth")
	case o.file == "-" && e.outTerminal:
		return useError("a log is not written to a terminal; give -o FILE")
	case o.what.Tasks > maxTasks:
		return useError("--tasks %d: at most %d", o.what.Tasks, int64(maxTasks))
	case o.count < 1:
		return useError("--count %d: at least 1", o.count)
	}
	if o.start == "" {
		return nil
	}
	var err error
	if o.what.Start, err = selection.ParseSince(o.start); err != nil {
		return useError("--start: %v", err)
	}
	return nil
}

func (o *generateOptions) make(ctx context.Context, e *env) (made generate.Made, err error) {
	if o.like != "" {
		return o.repeat(ctx, e)
	}
	options, err := o.what.Options()
	if err != nil {
		return made, err
	}
	lo := sparklog.Options{Terse: o.terse}
	if o.logs != "" {
		return generate.ToLogs(ctx, o.logs, o.count, options, lo)
	}
	err = withTruth(o.truth, func(truth io.Writer) error {
		if o.store != "" {
			st, err := e.makeStore(ctx, o.store)
			if err != nil {
				return err
			}
			made, err = generate.ToStore(ctx, st, options, version, truth)
			return err
		}
		return e.log(o.file, func(w io.Writer) error {
			made, err = generate.ToLog(ctx, w, options, lo, truth)
			return err
		})
	})
	return made, err
}

// withTruth calls do with the file for the truth, or with nil if none is requested.
func withTruth(name string, do func(io.Writer) error) error {
	if name == "" {
		return do(nil)
	}
	return writeFile(name, do)
}

// log calls do with a writer of the log.
func (e *env) log(name string, do func(io.Writer) error) error {
	return e.writeBinary(output{file: name}, func(w io.Writer) error {
		z, err := generate.Compress(name, w)
		if err != nil {
			return err
		}
		return errors.Join(do(z), z.Close())
	})
}

func (o *generateOptions) repeat(ctx context.Context, e *env) (made generate.Made, err error) {
	size, err := humanize.ParseBytes(o.bytes)
	if err != nil || size == 0 || size > maxSize {
		return made, useError("--bytes %s: write it as 500MB, 1GB or 10GB", o.bytes)
	}
	found, err := discover.Find(ctx, formats.All(), []string{o.like}, discover.Options{From: "spark", Stdin: e.in})
	if err != nil {
		return made, err
	}
	defer found.Close()
	switch len(found.Inputs) {
	case 0:
		return made, useError("--like %s: no Spark event log is there", o.like)
	case 1:
	default:
		return made, useError("--like %s: %d Spark event logs are there; name one", o.like, len(found.Inputs))
	}
	in := &parts{ctx: ctx, left: found.Inputs[0].Parts}
	defer in.Close()
	err = e.log(o.file, func(w io.Writer) (err error) {
		if o.what.Wide > 0 {
			made.Bytes, err = generate.Wide(ctx, w, in, int64(o.what.Wide))
		} else {
			made.Bytes, err = generate.Like(ctx, w, in, int64(size))
		}
		return err
	})
	if errors.Is(err, generate.ErrNoTasks) || errors.Is(err, generate.ErrTooLarge) {
		err = fmt.Errorf("--like %s: %w", o.like, err)
	}
	return made, err
}

// parts reads the files of an input one after the other.
type parts struct {
	ctx  context.Context
	left []ingest.Part
	now  io.ReadCloser
}

func (p *parts) Read(b []byte) (int, error) {
	for {
		if p.now == nil {
			if len(p.left) == 0 {
				return 0, io.EOF
			}
			r, err := p.left[0].Open(p.ctx)
			if err != nil {
				return 0, err
			}
			p.now, p.left = r, p.left[1:]
		}
		n, err := p.now.Read(b)
		if !errors.Is(err, io.EOF) || n > 0 {
			return n, ignoreEOF(err)
		}
		if err := p.Close(); err != nil {
			return 0, err
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil // the next read sees it again
	}
	return err
}

func (p *parts) Close() error {
	if p.now == nil {
		return nil
	}
	err := p.now.Close()
	p.now = nil
	return err
}

func scenarios() table.Rows {
	f := table.NewFixed("scenario", "what goes wrong")
	for _, s := range synth.Scenarios() {
		f.Add(s.Name, s.Doc)
	}
	return f
}
