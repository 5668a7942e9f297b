package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/run"
	"straggler/report"
	"straggler/report/html"
	"straggler/report/json"
	"straggler/report/markdown"
	"straggler/report/terminal"
	"straggler/store"
	"straggler/table"
	"straggler/whatif/simulate"
	"straggler/whatif/workload"
)

type simulateOptions struct {
	store   string
	example string
	print   bool
	list    bool
	seeds   int
	output  output
}

func simulateCommand(e *env) *cobra.Command {
	var o simulateOptions
	c := &cobra.Command{
		Use:   "simulate WORKLOAD.yaml | --example NAME",
		Short: "Run a workload on a cluster under schedulers and straggler policies",
		Long: `Simulate draws the jobs of a workload file and runs them under each of its schedulers, straggler policies and seeds; the
same seed gives all of them the same jobs. It prints a line for each scheduler and policy, or writes a report with the
completion times, locality, slots and links over time. With --store all figures are written to the tables simulate_runs,
simulate_jobs and simulate_samples, in place of those of an earlier simulation. Ctrl-C keeps the runs that are finished.

The workloads of the papers are built in: --list names them, --example NAME runs one, --print writes its file, as a
start for your own. A number may be a range, 9..60, or a distribution: {uniform: [4, 9]}, {normal: [30, 5], least: 20},
{exponential: 10}, {lognormal: [MEDIAN, SIGMA]}, {sum: 100, of: NUMBER}, {mix: [{share: 0.9, of: 1}, {share: 0.1, of: 8}]}.
Machines of the cluster may be slow, slow: [{machines: 2, factor: 5}], lose the outputs of tasks,
losses: [{machines: 2, every_s: 600, count: 10, share: 0.5}], and be virtual machines that share the disks of hosts,
classes: [{count: 8, per_host: 4, factor: 2}].
straggler help schedulers lists the schedulers with their options.`,
		Example: `  straggler simulate --list
  straggler simulate --example batch
  straggler simulate --example pools -o pools.html
  straggler simulate --example pools --print > mine.yaml
  straggler simulate mine.yaml --seeds 5 --store lake`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.list {
				if len(args) > 0 {
					return useError("--list has no use for %s", args[0])
				}
				return e.rows(o.output, exampleRows())
			}
			return runSimulate(c.Context(), e, o, args)
		},
	}
	c.Flags().StringVar(&o.example, "example", "", "run the built-in workload `NAME`")
	c.Flags().BoolVar(&o.print, "print", false, "print the workload's file instead of running it")
	c.Flags().BoolVar(&o.list, "list", false, "list the built-in workloads")
	c.Flags().Var(&atLeastOne[int]{&o.seeds}, "seeds", "draw the jobs `N` times; overrides the workload")
	c.Flags().StringVar(&o.store, "store", "", "write every figure into this store, a `DIR` or URL")
	cacheFlag(c, e)
	o.output.flags(c, encodingNames(e.simulations()))
	combinesOnly(c.Flags(), "list", "output", "as")
	combinesOnly(c.Flags(), "print", "example", "output")
	return c
}

func exampleRows() table.Rows {
	f := table.NewFixed("example", "about")
	for _, w := range simulate.Examples() {
		f.Add(w.Name, strings.TrimSpace(w.About))
	}
	return f
}

// simulations returns the renderings of a simulation; the first is for terminals.
func (e *env) simulations() []rendering[*report.Simulation] {
	return []rendering[*report.Simulation]{
		{"text", ".txt", func(w io.Writer, d *report.Simulation) error {
			return terminal.WriteSimulation(w, d, terminal.Options{Width: e.width(), Color: e.color})
		}},
		{"html", ".html", html.WriteSimulation},
		{"md", ".md", markdown.WriteSimulation},
		{"json", ".json", func(w io.Writer, d *report.Simulation) error { return json.Write(w, d) }},
	}
}

func runSimulate(ctx context.Context, e *env, o simulateOptions, args []string) error {
	switch {
	case o.example == "" && len(args) == 0:
		return useError("name a workload file, or a built-in workload with --example NAME; --list lists them")
	case o.example != "" && len(args) > 0:
		return useError("give a workload file or --example, not both")
	case o.seeds > 1000:
		return useError("--seeds %d: give a number from 1 to 1000", o.seeds)
	case o.print && o.example == "":
		return useError("--print is for --example: %s is a file already", args[0])
	case o.print:
		text, err := simulate.ExampleText(o.example)
		if err != nil {
			return err
		}
		return e.write(o.output, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	r, err := pickRendering(o.output, e.simulations())
	if err != nil {
		return err
	}
	w, err := readWorkload(o, args)
	if err != nil {
		return err
	}
	if o.seeds > 0 {
		w.Seeds = o.seeds
	}
	st, err := e.openOrTemp(ctx, o.store, true)
	if err != nil {
		return err
	}
	defer st.Close()
	return e.simulate(ctx, st, w, o, r)
}

func readWorkload(o simulateOptions, args []string) (*workload.File, error) {
	if o.example != "" {
		return simulate.Example(o.example)
	}
	return simulate.Read(args[0])
}

// simulate runs a workload into a store and writes the result. If interrupted, it writes what has finished.
func (e *env) simulate(ctx context.Context, st *store.Store, w *workload.File, o simulateOptions, r rendering[*report.Simulation]) error {
	show, done := e.countBar("simulating " + table.Printable(w.Name))
	s, failed := simulate.Into(ctx, st, w, simulate.Options{Done: show, From: sources(e)}, version)
	done()
	if failed != nil && (s == nil || len(s.Runs) == 0 || !errors.Is(failed, context.Canceled)) {
		return failed
	}
	keep := context.WithoutCancel(ctx)
	eng, err := engines.Open(keep, st, engine.Options{})
	if err != nil {
		return errors.Join(failed, err)
	}
	defer eng.Close()
	err = e.write(o.output, func(out io.Writer) error {
		doc, err := report.BuildSimulation(keep, eng)
		if err != nil {
			return err
		}
		return r.write(out, doc)
	})
	if failed != nil {
		e.say("interrupted: %d of %s are finished and kept", len(s.Runs), count(int64(s.Of), "run"))
	}
	return errors.Join(err, failed)
}

// sources reads the files that a workload names.
func sources(e *env) workload.Source {
	return workload.Source{
		Store: func(ctx context.Context, dir string) ([]workload.PlanJob, error) {
			st, err := e.openStore(ctx, dir)
			if err != nil {
				return nil, err
			}
			return askStore(ctx, st, simulate.StoredJobs)
		},
		SWIM: func(ctx context.Context, name string) ([]workload.Size, error) {
			st, err := store.Temp(ctx)
			if err != nil {
				return nil, err
			}
			defer st.Close()
			if _, err := e.ingest(ctx, st, []string{name}, run.Options{From: "swim"}); err != nil {
				return nil, err
			}
			return askStore(ctx, st, simulate.SWIMJobs)
		},
	}
}

// askStore opens an engine over a store for one query.
func askStore[R any](ctx context.Context, st *store.Store, ask func(context.Context, engine.Engine) ([]R, error)) ([]R, error) {
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	return ask(ctx, eng)
}
