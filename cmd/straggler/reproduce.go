package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"straggler/table"
	"straggler/whatif/published"
)

// papers are the words that reproduce takes.
var papers = []string{"late", "mantri", "dolly"}

func reproduceCommand(e *env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:   "reproduce [PAPER…]",
		Short: "Rebuild the papers' experiments and set their numbers beside ours",
		Long: `Reproduce rebuilds the experiments of LATE, Mantri and Dolly from the numbers that the papers give and replays them. The
traces that the papers used are not public, so some inputs are assumed; the notes say which, and no input was chosen to meet
a number. A number that follows from the rules alone and is not met makes the exit code 1.`,
		Example: `  straggler reproduce late
  straggler reproduce -o published.md`,
		ValidArgs: papers,
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if !slices.Contains(papers, a) {
					return useError("there is no paper %q; there are %s", a, strings.Join(papers, ", "))
				}
			}
			defer e.step("rebuilding experiments")()
			rows, err := published.Rows(c.Context())
			if err != nil {
				return err
			}
			f, missed := publishedRows(rows, args)
			if err := e.rows(o, f); err != nil {
				return err
			}
			if missed > 0 {
				return fmt.Errorf("%w: %s that the rules alone give differ from the published ones", errFound, count(int64(missed), "number"))
			}
			return nil
		},
	}
	o.flags(c, rowEncodings)
	return c
}

// publishedRows are the rows of the papers asked for, and how many that follow from the rules alone are missed.
func publishedRows(rows []published.Row, papers []string) (f *table.Fixed, missed int) {
	f = table.NewFixed("paper", "section", "quantity", "published DOUBLE", "ours DOUBLE", "tolerance DOUBLE", "within BOOLEAN", "rebuilt BOOLEAN", "note")
	for _, r := range rows {
		if len(papers) > 0 && !slices.Contains(papers, strings.ToLower(r.Paper)) {
			continue
		}
		if !r.Within && !r.Rebuilt {
			missed++
		}
		f.Add(r.Paper, r.Section, r.Quantity, r.Published, r.Ours, r.Tolerance, r.Within, r.Rebuilt, r.Note)
	}
	return f, missed
}
