package main

import (
	"context"

	"github.com/spf13/cobra"

	"straggler/causes"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/table"
)

type causesOptions struct {
	store   string
	figures bool
	output  output
}

func causesCommand(e *env) *cobra.Command {
	var o causesOptions
	c := &cobra.Command{
		Use:   "causes --store DIR",
		Short: "Split the excess of every outlier into its causes",
		Long: glossary(`Causes fills the tables attributions, history_attributions, machine_health, skew_repeats and job_costs, in place of those of an earlier run,
and sums up what it found. It needs the outliers, so detect comes first.`, schema.Causes()) + glossary(`

Where a stage has earlier executions in the store, history_attributions split what attempts took more than usual:`, schema.HistoryCauses()),
		Example: `  straggler detect --store lake
  straggler causes --store lake
  straggler sql --store lake "SELECT cause, sum(seconds) AS s FROM attributions WHERE rank = 1 GROUP BY cause ORDER BY s DESC"`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return runCauses(c.Context(), e, o) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().BoolVar(&o.figures, "paper-figures", false, "print the figures of the Mantri and Dolly papers for this store instead of the summary")
	engineFlag(c, e)
	o.output.flags(c, rowEncodings)
	return c
}

func runCauses(ctx context.Context, e *env, o causesOptions) error {
	return e.withEngine(ctx, o.store, func(st *store.Store, eng engine.Engine) error {
		defer e.step("finding causes")()
		s, err := causes.Run(ctx, st, eng, causes.Options{Tool: version})
		if err != nil {
			return err
		}
		f := causeRows(&s)
		if o.figures {
			if f, err = figureRows(ctx, eng); err != nil {
				return err
			}
		}
		if err := e.rows(o.output, f); err != nil {
			return err
		}
		e.say("%s with %.1f s of excess; %s judged, %d slow, %d flaky", count(s.Outliers, "outlier"), s.ExcessS,
			count(s.Machines, "machine"), s.Slow, s.Flaky)
		return nil
	})
}

func causeRows(s *causes.Summary) *table.Fixed {
	f := table.NewFixed("cause", "verdicts BIGINT", "seconds DOUBLE")
	for _, c := range s.Causes {
		f.Add(string(c.Cause), c.Verdicts, c.Seconds)
	}
	return f
}

func figureRows(ctx context.Context, eng engine.Engine) (*table.Fixed, error) {
	figures, err := causes.PaperFigures(ctx, eng)
	if err != nil {
		return nil, err
	}
	f := table.NewFixed("figure", "series", "x DOUBLE", "y DOUBLE", "n BIGINT", "note", "title")
	for _, p := range figures {
		var y, n any
		if p.Y.OK {
			y = p.Y.V
		}
		if p.N.OK {
			n = p.N.V
		}
		f.Add(p.Figure, p.Series, p.X, y, n, p.Note, causes.FigureTitle(p.Figure))
	}
	return f, nil
}
