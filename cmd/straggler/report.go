package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"straggler/analysis"
	"straggler/report"
	"straggler/report/html"
	"straggler/report/json"
	"straggler/report/markdown"
	"straggler/report/perfetto"
	"straggler/report/terminal"
)

type reportOptions struct {
	store  string
	logs   logOptions
	apps   selectionFlags
	top    int
	output output
}

// renderings of a report; the first is for terminals. A trace is streamed from the store, without a document.
func (e *env) renderings() []rendering[*report.Document] {
	return []rendering[*report.Document]{
		{"text", ".txt", func(w io.Writer, d *report.Document) error {
			return terminal.Write(w, d, terminal.Options{Width: e.width(), Color: e.color})
		}},
		{"html", ".html", html.Write},
		{"md", ".md", markdown.Write},
		{"json", ".json", func(w io.Writer, d *report.Document) error { return json.Write(w, d) }},
		{trace, ".perfetto.json", nil},
	}
}

const trace = "perfetto"

func reportCommand(e *env) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report LOG… | --store DIR",
		Short: "Show what slow tasks cost, why they were slow, and what to do about them",
		Long: `Report reads logs into a temporary store, or into the one of --store, finds outliers and their causes, and writes a
report. A LOG may also be the address of a Spark History Server, see straggler help ingest. Without LOG it reports on what
the store holds. --as perfetto writes the timeline for ui.perfetto.dev.`,
		Example: `  straggler report eventlogs
  straggler report eventlogs/*.zstd -o report.html
  straggler report --store lake -o report.md
  straggler report --store lake --since 2020-01-01 -o report.html
  straggler report --store lake -o timeline.perfetto.json`,
		RunE: func(c *cobra.Command, args []string) error { return runReport(c.Context(), e, o, args) },
	}
	c.Flags().StringVar(&o.store, "store", "", "`DIR` or URL of a store to use and to keep; without it a temporary one")
	cacheFlag(c, e)
	o.logs.flags(c.Flags())
	o.apps.withShort(c.Flags(), "report only on")
	o.top = 50
	c.Flags().Var(&atLeastOne[int]{&o.top}, "top", "list `N` outliers")
	engineFlag(c, e)
	o.output.flags(c, encodingNames(e.renderings()))
	return c
}

func runReport(ctx context.Context, e *env, o reportOptions, logs []string) error {
	if len(logs) == 0 && o.store == "" {
		return useError("name a log, or a store with --store DIR; straggler demo shows a report on real logs")
	}
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	r, err := pickRendering(o.output, e.renderings())
	if err != nil {
		return err
	}
	logs, missing, err := e.fetched(ctx, logs)
	if err != nil {
		return err
	}
	st, err := e.openOrTemp(ctx, o.store, len(logs) > 0)
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
		unread = errors.Join(e.unread(&s), missing)
	}
	explain := !apps.All() || r.name == trace // savings are replayed for the applications that are shown, or not asked for
	a, err := e.analysed(ctx, st, analysis.Options{Explain: explain})
	if err != nil {
		return err
	}
	defer a.Close()
	err = e.write(o.output, func(w io.Writer) error {
		if r.name == trace {
			return perfetto.Write(ctx, w, a.eng, apps)
		}
		doc, err := e.document(ctx, a, report.Options{Store: o.store, Apps: apps, Top: o.top})
		if err != nil {
			return err
		}
		return r.write(w, doc)
	})
	if err != nil {
		return err
	}
	return unread
}

// document builds a report.
func (e *env) document(ctx context.Context, a *analysed, o report.Options) (*report.Document, error) {
	defer e.step("writing the report")()
	return analysis.Report(ctx, a.Store, a.eng, a.last, o)
}
