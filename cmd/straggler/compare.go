package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"straggler/audit"
	"straggler/audit/measure"
	"straggler/audit/render"
	"straggler/selection"
	"straggler/table"
)

type compareOptions struct {
	logs          logOptions
	store, config string
	output        output
}

// comparisons returns the renderings of a pair of runs; the first is for terminals.
func (e *env) comparisons() []rendering[*audit.Pair] {
	return []rendering[*audit.Pair]{
		{"text", ".txt", func(w io.Writer, p *audit.Pair) error { return render.PairText(w, p, e.width()) }},
		{"json", ".json", render.PairJSON},
		{"md", ".md", render.PairMarkdown},
		{"html", ".html", render.PairHTML},
	}
}

func compareCommand(e *env) *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Show what differs between two runs",
		Long: `Compare matches the stages of two runs and shows what differs. Stages are matched by the operators of their query plans
where both logs have plans, else by name and order; queries that ran with another plan are named, with the difference.

A and B are logs or stores, by path or URL, of which the latest application is taken; with --store they are ids of
applications in that store. Rules that straggler.yaml turns off are left out. Two runs do not show how much runs vary;
straggler audit learns that from many.`,
		Example: `  straggler compare eventlogs/*0011.zstd eventlogs/*0012.zstd
  straggler compare eventlogs/*0011.zstd eventlogs/*0012.zstd -o compare.html
  straggler compare --store lake app-20261121033031-0011 app-20261121033311-0012 -o compare.md`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return runCompare(c.Context(), e, o, args) },
	}
	c.Flags().StringVar(&o.store, "store", "", "`DIR` or URL of a store that A and B are applications of")
	cacheFlag(c, e)
	o.logs.flags(c.Flags())
	configFlag(c, &o.config)
	o.output.flags(c, encodingNames(e.comparisons()))
	return c
}

func runCompare(ctx context.Context, e *env, o compareOptions, args []string) error {
	rendering, err := pickRendering(o.output, e.comparisons())
	if err != nil {
		return err
	}
	cfg, err := configured(o.config)
	if err != nil {
		return err
	}
	var pair [2]measure.Run
	var unread error
	for i, arg := range args {
		r, u, err := o.run(ctx, e, arg)
		if err != nil {
			return err
		}
		if u != nil {
			unread = u
		}
		pair[i] = *r
	}
	p := audit.Compare(&pair[0], &pair[1], cfg)
	if err = e.write(o.output, func(w io.Writer) error { return rendering.write(w, p) }); err != nil {
		return err
	}
	return unread
}

// run returns the latest application of a log or of a store, or the one with an id.
func (o *compareOptions) run(ctx context.Context, e *env, arg string) (*measure.Run, error, error) {
	dir, apps, logs := "", selection.Applications{}, []string{arg}
	if o.store != "" {
		dir, apps, logs = o.store, selection.Applications{Named: arg}, nil
	} else if _, err := e.openStore(ctx, arg); err == nil { // else it is a log
		dir, logs = arg, nil
	}
	var runs []measure.Run
	unread, err := e.measure(ctx, measuring{store: dir, logs: logs, in: o.logs, apps: apps}, func(m *measured) error { runs = m.runs; return nil })
	if err != nil {
		return nil, nil, err
	}
	if len(runs) == 0 {
		return nil, nil, useError("%s: no application in it", table.Printable(arg))
	}
	latest := &runs[0]
	for i := range runs {
		if runs[i].Start >= latest.Start {
			latest = &runs[i]
		}
	}
	return latest, unread, nil
}
