package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"straggler/ingest/formats"
	"straggler/table"
)

func formatsCommand(e *env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:   "formats [FORMAT]",
		Short: "List the log formats that can be read, or say all about one",
		Long:  formatsHelp(),
		Example: `  straggler formats
  straggler formats spark`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return runFormat(e, o, args[0])
			}
			f := table.NewFixed("format", "reads")
			for _, x := range formats.All() {
				f.Add(x.Name, x.Doc)
			}
			return e.rows(o, f)
		},
	}
	o.flags(c, rowEncodings)
	return c
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString("A format is recognised by what is in a file, not by its name; --from FORMAT overrides that. Files may be compressed, and lie\n" +
		"in archives and directories together. straggler formats FORMAT says what is read, what stays unknown, and whether it was\n" +
		"tried on files of real clusters. The formats:\n\n")
	for _, x := range formats.All() {
		fmt.Fprintf(&b, "  %-18s %s\n", x.Name, x.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func runFormat(e *env, o output, name string) error {
	f, ok := formats.Named(name)
	if !ok {
		return useError("there is no format %q; straggler formats lists them", name)
	}
	if o.as != "" && o.as != "table" {
		rows := table.NewFixed("format", "reads", "detail")
		rows.Add(f.Name, f.Doc, f.Detail)
		return e.rows(o, rows)
	}
	return e.write(o, false, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s\n\n%s\n", f.Name, f.Doc, strings.TrimSpace(f.Detail))
		return err
	})
}
