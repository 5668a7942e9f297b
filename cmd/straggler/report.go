package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"straggler/engine"
	"straggler/report"
	"straggler/report/html"
	"straggler/report/json"
	"straggler/report/markdown"
	"straggler/report/perfetto"
	"straggler/report/terminal"
	"straggler/store"
	"straggler/whatif"
)

type reportOptions struct {
	store  string
	logs   logOptions
	app    string
	top    int
	output output
}

// rendering is what a report can be written as.
type rendering struct {
	name, extension string
	write           func(ctx context.Context, w io.Writer, eng engine.Engine, o report.Options) error
}

// renderings lists them; the first is for terminals.
func (e *env) renderings() []rendering {
	text := func(w io.Writer, d *report.Document) error {
		return terminal.Write(w, d, terminal.Options{Width: e.width(), Color: e.color})
	}
	return []rendering{
		{"text", ".txt", e.documented(text)},
		{"html", ".html", e.documented(html.Write)},
		{"md", ".md", e.documented(markdown.Write)},
		{"json", ".json", e.documented(func(w io.Writer, d *report.Document) error { return json.Write(w, d) })},
		{"perfetto", ".perfetto.json", func(ctx context.Context, w io.Writer, eng engine.Engine, o report.Options) error {
			return perfetto.Write(ctx, w, eng, o.App)
		}},
	}
}

const reportEncodings = "text, html, md, json, perfetto"

// documented renders by way of a document.
func (e *env) documented(render func(io.Writer, *report.Document) error) func(context.Context, io.Writer, engine.Engine, report.Options) error {
	return func(ctx context.Context, w io.Writer, eng engine.Engine, o report.Options) error {
		done := e.step("writing the report")
		var err error
		if o.Papers, err = paperFigures(ctx, eng); err != nil {
			done()
			return err
		}
		doc, err := report.Build(ctx, eng, o)
		done()
		if err != nil {
			return err
		}
		return render(w, doc)
	}
}

func reportCommand(e *env) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report LOG… | --store DIR",
		Short: "Say what slow tasks cost, why they were slow, and what to do: the whole way in one go",
		Long: `Report reads logs into a temporary store, or into the one of --store, finds outliers and their causes, and writes a
report. Without LOG it reports on what the store holds. --as perfetto writes the timeline for ui.perfetto.dev.`,
		Example: `  straggler report eventlogs
  straggler report eventlogs/*.zstd -o report.html
  straggler report --store lake -o report.md
  straggler report --store lake -o timeline.perfetto.json`,
		RunE: func(c *cobra.Command, args []string) error { return runReport(c.Context(), e, o, args) },
	}
	c.Flags().StringVar(&o.store, "store", "", "`DIR` or URL of a store to use and to keep; without it a temporary one")
	cacheFlag(c, e)
	o.logs.flags(c.Flags())
	c.Flags().StringVar(&o.app, "app", "", "report on one application, by its `ID` or name")
	c.Flags().IntVar(&o.top, "top", 50, "list this many outliers")
	engineFlag(c, e)
	o.output.flags(c, reportEncodings)
	return c
}

func runReport(ctx context.Context, e *env, o reportOptions, logs []string) error {
	if len(logs) == 0 && o.store == "" {
		return useError("name a log, or a store with --store; straggler demo shows a report on real logs")
	}
	r, err := pickRendering(o.output, e.renderings(), "a report is "+reportEncodings)
	if err != nil {
		return err
	}
	st, err := o.open(ctx, e, len(logs) > 0)
	if err != nil {
		return err
	}
	defer st.Close()
	var unread error
	if len(logs) > 0 {
		s, err := e.ingest(ctx, st, logs, o.logs.options())
		if err != nil {
			return err
		}
		unread = e.unread(&s)
	}
	eng, err := e.analysed(ctx, st)
	if err != nil {
		return err
	}
	defer eng.Close()
	options := report.Options{Store: o.store, App: o.app, Top: o.top}
	if options.Replayed, err = replayed(ctx, st, eng); err != nil {
		return err
	}
	err = e.write(o.output, false, func(w io.Writer) error { return r.write(ctx, w, eng, options) })
	if err != nil {
		return err
	}
	return unread
}

// replayed is the job that gains most, for the pictures of a report.
func replayed(ctx context.Context, st *store.Store, eng engine.Engine) (*report.Replayed, error) {
	g, err := whatif.MostGained(ctx, st, eng)
	if err != nil || g == nil {
		return nil, err
	}
	name := g.Variant.Name
	if changed := g.Variant.Changed(); changed != "" {
		name += " with " + changed
	}
	return &report.Replayed{JobID: g.Job, Policy: name, Before: replayedAttempts(g.Before), After: replayedAttempts(g.After)}, nil
}

func replayedAttempts(bars []whatif.Bar) []report.ReplayedAttempt {
	out := make([]report.ReplayedAttempt, len(bars))
	for i, b := range bars {
		out[i] = report.ReplayedAttempt{
			Phase: b.Phase, Task: int64(b.Task), Machine: b.Machine, Slot: b.Slot, StartS: b.StartS, EndS: b.EndS, Copy: b.Copy, Killed: b.Killed,
		}
	}
	return out
}

// open opens the store of a report: a temporary one, or the one that is named.
func (o *reportOptions) open(ctx context.Context, e *env, create bool) (*store.Store, error) {
	if o.store == "" {
		return store.Temp(ctx)
	}
	if !create {
		return e.changedStore(ctx, o.store)
	}
	return e.makeStore(ctx, o.store)
}

// pickRendering chooses by --as, or by the longest extension that fits. what says what there is to choose from.
func pickRendering(o output, all []rendering, what string) (best rendering, err error) {
	for _, r := range all {
		switch {
		case o.as == r.name:
			return r, nil
		case strings.HasSuffix(strings.ToLower(o.file), r.extension) && len(r.extension) > len(best.extension):
			best = r
		}
	}
	switch {
	case o.as != "":
		return best, useError("--as %s: %s", o.as, what)
	case !o.toFile():
		return all[0], nil
	case best.write == nil:
		return best, useError("-o %s: the extension says no encoding; give --as; %s", o.file, what)
	}
	return best, nil
}
