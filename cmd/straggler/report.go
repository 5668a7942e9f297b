package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"straggler/ingest"
	"straggler/report"
	"straggler/store"
)

type reportOptions struct {
	store  string
	from   string
	app    string
	top    int
	output output
}

// renderings are what a report can be written as; the first is for terminals.
var renderings = []struct {
	name, extension string
	render          func(io.Writer, *report.Document) error
}{
	{"json", ".json", report.JSON},
	{"html", ".html", report.HTML},
}

const reportEncodings = "json, html"

func reportCommand(e *env) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report LOG… | --store DIR",
		Short: "Say what slow tasks cost, why they were slow, and what to do: the whole way in one go",
		Long: `Report reads logs into a temporary store, or into the one of --store, finds outliers and their causes, and writes a
report. Without LOG it reports on what the store holds.`,
		Example: `  straggler report eventlogs/app-1.zstd -o report.html
  straggler report --store lake -o report.json
  straggler report --store lake --app app-1 -o report.html`,
		RunE: func(c *cobra.Command, args []string) error { return runReport(c.Context(), e, o, args) },
	}
	c.Flags().StringVar(&o.store, "store", "", "`DIR` of a store to use and to keep; without it a temporary one")
	fromFlag(c, &o.from)
	c.Flags().StringVar(&o.app, "app", "", "report on one application, by its `ID` or name")
	c.Flags().IntVar(&o.top, "top", 50, "list this many outliers")
	o.output.flags(c, reportEncodings)
	return c
}

func runReport(ctx context.Context, e *env, o reportOptions, logs []string) error {
	if len(logs) == 0 && o.store == "" {
		return useError("name a log, or a store with --store; straggler demo shows a report on real logs")
	}
	render, err := o.rendering()
	if err != nil {
		return err
	}
	st, err := o.open(ctx, len(logs) > 0)
	if err != nil {
		return err
	}
	defer st.Close()
	var unread error
	if len(logs) > 0 {
		s, err := e.ingest(ctx, st, logs, ingest.Options{From: o.from})
		if unread = e.unread(&s, err); unread != nil && exitCode(unread) != exitInput || err != nil {
			return unread
		}
	}
	doc, err := e.document(ctx, st, report.Options{Store: o.store, App: o.app, Top: o.top})
	if err != nil {
		return err
	}
	if err := e.write(o.output, false, func(w io.Writer) error { return render(w, doc) }); err != nil {
		return err
	}
	return unread
}

// open opens the store of a report: a temporary one, or the one that is named.
func (o *reportOptions) open(ctx context.Context, make bool) (*store.Store, error) {
	if o.store == "" {
		return store.Temp(ctx)
	}
	if !make {
		if _, err := openStore(ctx, o.store); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, o.store, store.Options{})
}

// document computes what is missing and builds the report.
func (e *env) document(ctx context.Context, st *store.Store, o report.Options) (*report.Document, error) {
	eng, err := st.Engine(ctx, store.EngineOptions{})
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	if err := e.analyse(ctx, st, eng); err != nil {
		return nil, err
	}
	defer e.step("writing the report")()
	return report.Build(ctx, eng, o)
}

func (o *reportOptions) rendering() (func(io.Writer, *report.Document) error, error) {
	for _, r := range renderings {
		switch {
		case o.output.as == r.name,
			o.output.as == "" && o.output.toFile() && strings.EqualFold(filepath.Ext(o.output.file), r.extension):
			return r.render, nil
		}
	}
	switch {
	case o.output.as != "":
		return nil, useError("--as %s: a report is %s", o.output.as, reportEncodings)
	case o.output.toFile():
		return nil, useError("-o %s: the extension says no encoding; give --as %s", o.output.file, reportEncodings)
	}
	return renderings[0].render, nil
}
