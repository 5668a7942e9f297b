package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"straggler/report/html"
	"straggler/spelling"
	"straggler/table"
	"straggler/whatif/published"
)

func reproduceCommand(e *env) *cobra.Command {
	var o output
	var swim string
	c := &cobra.Command{
		Use:   "reproduce [PAPER…]",
		Short: "Rebuild the experiments of the papers and compare the published numbers",
		Long: `Reproduce rebuilds the experiments of the papers whose policies whatif replays, from the numbers that the papers give. For
each published number it prints the published value, the value computed here, the tolerance, and what had to be assumed:
the traces that the papers used are not public. No assumption was chosen to meet a number. With -o published.html or
published.md the result is a page that also draws the papers' figures.

A number is met when the computed value is within its tolerance. To show that the tolerance means something, the experiment
is repeated with two other policies, one that does nothing and the same policy without its main rule; they must miss it.

The kind of a row says how the value was obtained:

  rule, replayed  it follows from what the paper says, and must be met
  rebuilt         it needed assumptions; the note says why a number is missed
  band            the paper leaves something open; the value is a range, computed over the plausible choices. The result is
                  'outside' when the published number does not lie in it, and 'inside' when it does, unless the range says
                  little: it is 'wide' when the range is wider than the number itself, and 'inconclusive' when one of the
                  two other policies has the number in its range too
  baseline        what a policy is compared with; not counted
  missing         it cannot be rebuilt; the note says what the paper does not state

The exit code is 1 when a number is missed that this version of straggler is known to meet.

With --swim the experiments of Dolly and of fair scheduling also use the arrival times of a SWIM file, such as
workloadSuite/FB-2010_samples_24_times_1hr_withInputPaths_0.tsv of github.com/SWIMProjectUCB/SWIM; these rows are bands.

Papers: ` + strings.Join(published.Names(), ", ") + ".",
		Example: `  straggler reproduce late
  straggler reproduce mantri dolly -o published.html
  straggler reproduce -o published.md
  straggler reproduce --as json`,
		ValidArgs: published.Names(),
		RunE:      func(c *cobra.Command, args []string) error { return e.reproduce(c.Context(), o, args, swim) },
	}
	o.flags(c, rowEncodings+"; html and md are pages")
	c.Flags().StringVar(&swim, "swim", "", "use the arrival times of this SWIM `FILE` as well, in the experiments of Dolly and of fair scheduling")
	return c
}

func (e *env) reproduce(ctx context.Context, o output, papers []string, swim string) error {
	for _, p := range papers {
		if !slices.Contains(published.Names(), p) {
			return useError("no paper %q; %s", p, spelling.Choices(p, published.Names()))
		}
	}
	if _, err := o.encoding(); err != nil && !o.page() {
		return err
	}
	arrivals, err := swimArrivals(ctx, e, swim)
	if err != nil {
		return err
	}
	show, done := e.countBar("rebuilding experiments")
	rows, figures, err := published.Run(ctx, papers, published.Options{Watch: show, Arrivals: arrivals})
	done()
	if err != nil {
		return err
	}
	if err := e.published(o, rows, figures); err != nil {
		return err
	}
	if lost := published.Lost(rows); len(lost) > 0 {
		return fmt.Errorf("%w: %s no longer met:\n  %s", errFound, count(int64(len(lost)), "published number"),
			strings.ReplaceAll(strings.Join(lost, "\n  "), "\t", " "))
	}
	return nil
}

// swimArrivals returns the times at which the jobs of a SWIM file were submitted, or nil without a file.
func swimArrivals(ctx context.Context, e *env, file string) (at []float64, err error) {
	if file == "" {
		return nil, nil
	}
	jobs, err := sources(e).SWIM(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range jobs {
		at = append(at, jobs[i].Submit)
	}
	return at, nil
}

// page reports whether the result is a page rather than rows.
func (o *output) page() bool { return o.pageAs("html") || o.pageAs("md") }

func (o *output) pageAs(kind string) bool {
	return o.as == kind || o.as == "" && o.toFile() && strings.EqualFold(filepath.Ext(o.file), "."+kind)
}

// published writes a run of experiments as a page or as rows.
func (e *env) published(o output, rows []published.Row, figures []published.Figure) error {
	switch {
	case o.pageAs("html"):
		return e.write(o, func(w io.Writer) error { return published.HTML(w, rows, figures, html.Style()) })
	case o.pageAs("md"):
		return e.write(o, func(w io.Writer) error { return published.Markdown(w, rows) })
	}
	if enc, err := o.encoding(); err == nil && enc.Name == "table" { // for people, on a line that a terminal can hold
		f := table.NewFixed("paper", "section", "verdict", "published", "ours", "tolerance", "quantity")
		for i := range rows {
			r := &rows[i]
			ours, tolerance := r.Result()
			f.Add(r.Paper, r.Section, string(r.Verdict), published.Number(r.Published), ours, tolerance, r.Quantity)
		}
		if err := e.rows(o, f); err != nil {
			return err
		}
		e.say("%s", published.Summary(rows))
		e.say("The notes and assumptions are in a page (-o published.html) and in the other encodings.")
		return nil
	}
	f := table.NewFixed("paper", "section", "quantity", "published DOUBLE", "ours DOUBLE", "tolerance DOUBLE",
		"no_action_low DOUBLE", "no_action_high DOUBLE", "without_rule_low DOUBLE", "without_rule_high DOUBLE", "kind", "verdict", "seconds DOUBLE", "note", "assumed")
	known := func(x float64) any {
		if math.IsNaN(x) {
			return nil
		}
		return x
	}
	for _, r := range rows {
		f.Add(r.Paper, r.Section, r.Quantity, r.Published, known(r.Ours), known(r.Tolerance),
			known(r.NoAction.Low), known(r.NoAction.High), known(r.WithoutRule.Low), known(r.WithoutRule.High), string(r.Kind), string(r.Verdict),
			math.Round(r.Seconds*100)/100, r.Note, strings.Join(r.Assumed, " "))
	}
	return e.rows(o, f)
}
