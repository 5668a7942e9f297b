package main

import (
	"context"

	"github.com/spf13/cobra"

	"straggler/causes"
	"straggler/schema"
	"straggler/store"
	"straggler/table"
)

type causesOptions struct {
	store  string
	output output
}

func causesCommand(e *env) *cobra.Command {
	var o causesOptions
	c := &cobra.Command{
		Use:   "causes --store DIR",
		Short: "Split the excess of every outlier into its causes",
		Long: glossary(`Causes fills the tables attributions, machine_health and job_costs, in place of those of an earlier run, and sums up
what it found. It needs the outliers, so detect comes first.`, schema.Causes()),
		Example: `  straggler detect --store lake
  straggler causes --store lake
  straggler sql --store lake "SELECT cause, sum(seconds) AS s FROM attributions WHERE rank = 1 GROUP BY cause ORDER BY s DESC"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runCauses(c.Context(), e, o) },
	}
	storeFlag(c, &o.store)
	o.output.flags(c, rowEncodings)
	return c
}

func runCauses(ctx context.Context, e *env, o causesOptions) error {
	return withEngine(ctx, o.store, func(st *store.Store, eng store.Engine) error {
		defer e.step("finding causes")()
		s, err := causes.Run(ctx, st, eng, causes.Options{Tool: version})
		if err != nil {
			return err
		}
		f := table.NewFixed("cause", "verdicts BIGINT", "seconds DOUBLE")
		for _, c := range s.Causes {
			f.Add(string(c.Cause), c.Verdicts, c.Seconds)
		}
		if err := e.rows(o.output, f); err != nil {
			return err
		}
		e.say("%s with %.1f s of excess; %s judged, %d slow, %d flaky", count(s.Outliers, "outlier"), s.ExcessS,
			count(s.Machines, "machine"), s.Slow, s.Flaky)
		return nil
	})
}
