package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"straggler/analysis"
	"straggler/ingest/run"
	"straggler/report"
	"straggler/report/html"
	"straggler/store"
)

// Event logs of a real Spark cluster with known faults: machines, network and data were made slow on purpose (mixed,
// and again with speculation), executors were killed with their map outputs (recompute).
//
//go:embed demo/*.zstd
var demoLogs embed.FS

type demoOptions struct{ dir string }

func demoCommand(e *env) *cobra.Command {
	o := demoOptions{dir: "straggler-demo"}
	c := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Make a report on built-in real logs",
		Long: `Demo writes three event logs of a real Spark cluster into a directory, reads them into a store there, and writes a
report on them, to be opened in a browser.`,
		Example: "  straggler demo",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.dir = args[0]
			}
			return runDemo(c.Context(), e, o)
		},
	}
	return c
}

func runDemo(ctx context.Context, e *env, o demoOptions) error {
	logs := filepath.Join(o.dir, "eventlogs")
	if err := unpack(logs); err != nil {
		return useError("%w", err)
	}
	lake := filepath.Join(o.dir, "store")
	st, err := store.Open(ctx, lake, store.Options{})
	if err != nil {
		return err
	}
	s, err := e.ingest(ctx, st, []string{logs}, run.Options{})
	if err == nil {
		err = e.unread(&s)
	}
	if err != nil {
		return err
	}
	a, err := e.analysed(ctx, st, analysis.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	doc, err := e.document(ctx, a, report.Options{Store: lake})
	if err != nil {
		return err
	}
	page := filepath.Join(o.dir, "report.html")
	if err := writeFile(page, func(w io.Writer) error { return html.Write(w, doc) }); err != nil {
		return err
	}
	me := invocation()
	fmt.Fprintf(e.out, `%s is ready: open it in a browser.

Try next:
  %s report YOUR-EVENT-LOG -o report.html
  %s sql --store %s "SELECT cause, count(*) AS outliers, sum(seconds) AS s FROM attributions WHERE rank = 1 GROUP BY cause ORDER BY s DESC"
  %s sql --store %s
`, page, me, me, lake, me, lake)
	return nil
}

// unpack writes the built-in logs into a directory.
func unpack(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	entries, err := demoLogs.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, f := range entries {
		data, err := demoLogs.ReadFile("demo/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// invocation returns the command that runs this program again: after go run there is no binary.
func invocation() string {
	if me, err := os.Executable(); err == nil && strings.Contains(me, "go-build") {
		return "go run ./cmd/straggler"
	}
	return "straggler"
}
