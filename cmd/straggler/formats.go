package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/table"
)

func formatsCommand(e *env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:   "formats [FORMAT]",
		Short: "List the log formats that can be read, or describe one",
		Long:  formatsHelp(),
		Example: `  straggler formats
  straggler formats spark`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return runFormat(e, o, args[0])
			}
			f := table.NewFixed("format", "state", "reads")
			for _, x := range formats.All() {
				f.Add(x.Name, state(x), x.Doc)
			}
			return e.rows(o, f)
		},
	}
	o.flags(c, rowEncodings)
	return c
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString("A format is recognised by the content of a file, not by its name; --from FORMAT overrides that. Files may be compressed, and be\n" +
		"in archives and directories. straggler formats FORMAT says what is read, what stays unknown, and why a format is\n" +
		"experimental. The formats:\n\n")
	for _, x := range formats.All() {
		fmt.Fprintf(&b, "  %-12s %-13s %s\n", x.Name, state(x), x.Doc)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func runFormat(e *env, o output, name string) error {
	f, err := discover.FormatNamed(formats.All(), name)
	if err != nil {
		return err
	}
	if o.as != "" && o.as != "table" {
		rows := table.NewFixed("format", "reads", "detail", "experimental")
		rows.Add(f.Name, f.Doc, f.Detail, f.Experimental)
		return e.rows(o, rows)
	}
	return e.write(o, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s\n\n%s\n", f.Name, f.Doc, strings.TrimSpace(f.Detail))
		if f.Experimental != "" && err == nil {
			_, err = fmt.Fprintf(w, "\nExperimental: %s.\n", f.Experimental)
		}
		return err
	})
}

// state returns "experimental" for experimental formats, or "".
func state(f ingest.Format) string {
	if f.Experimental == "" {
		return ""
	}
	return "experimental"
}
