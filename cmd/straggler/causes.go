package main

import (
	"context"
	"fmt"

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
	again   bool
	apps    selectionFlags
	output  output
}

func causesCommand(e *env) *cobra.Command {
	var o causesOptions
	c := &cobra.Command{
		Use:   "causes --store DIR",
		Short: "Split the excess of every outlier into its causes",
		Long: glossary(`Causes splits the excess of every outlier into causes and writes the tables attributions, history_attributions,
machine_health, skew_repeats and job_costs; run straggler detect first.

Only new or changed logs are processed; rows of the others are kept. The model of machines and stages covers the whole
store: what each application contributes is kept in machine_statistics and stage_statistics and added up anew. Logs for which
the new sums change the model by more than a tolerance are attributed again. Rows that are kept differ little from those of
a run over all logs: 99 of 100 outliers have the same causes to 5 % of their excess, and 998 of 1000 the same verdict. With
--again all logs are processed.

With --application or --since only the logs of these applications are processed and summed up. Other rows stay as they are,
and other new logs are left to a later run.`, schema.Causes()) + glossary(`

Where a stage has earlier executions in the store, history_attributions splits the time beyond the usual:`, schema.HistoryCauses()),
		Example: `  straggler detect --store lake
  straggler causes --store lake
  straggler causes --again --store lake
  straggler causes --store lake --since 2020-01-01
  straggler sql --store lake "SELECT cause, sum(seconds) AS s FROM attributions WHERE rank = 1 GROUP BY cause ORDER BY s DESC"`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return runCauses(c.Context(), e, o) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().BoolVar(&o.again, "again", false, "process all logs of the store, not only new or changed ones")
	o.apps.flags(c.Flags(), "process only")
	c.Flags().BoolVar(&o.figures, "paper-figures", false, "print the figures of the Mantri and Dolly papers for this store instead of the summary")
	engineFlag(c, e)
	o.output.flags(c, rowEncodings)
	return c
}

func runCauses(ctx context.Context, e *env, o causesOptions) error {
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	switch {
	case o.again && !apps.All():
		return useError("--again processes all logs of the store; leave out --application and --since")
	case o.figures && !apps.All():
		return useError("--paper-figures covers all logs of the store; leave out --application and --since")
	}
	return e.withEngine(ctx, o.store, engine.Options{}, func(st *store.Store, eng engine.Engine) error {
		defer e.step("finding causes")()
		s, err := causes.Run(ctx, st, eng, causes.Options{Again: o.again, Tool: version, Applications: apps})
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
		if s.Kept {
			e.say("%s", keptWords(s.Inputs, s.Renewed))
		}
		e.say("%s with %.1f s of excess; %s judged, %d slow, %d flaky", count(s.Outliers, "outlier"), s.ExcessS,
			count(s.Machines, "machine"), s.Slow, s.Flaky)
		return nil
	})
}

// keptWords describes how many logs have new results.
func keptWords(fresh, renewed int) string {
	if renewed == 0 {
		return count(int64(fresh), "log") + " new or changed; the results of the others are kept"
	}
	return fmt.Sprintf("%s new or changed, %s attributed again because of what is known of their machines and stages by now; the results of the others are kept",
		count(int64(fresh), "log"), count(int64(renewed), "log"))
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
