package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/detect"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/table"
)

type detectOptions struct {
	store  string
	again  bool
	apps   selectionFlags
	output output
}

func detectCommand(e *env) *cobra.Command {
	var o detectOptions
	c := &cobra.Command{
		Use:   "detect --store DIR",
		Short: "Compare the tasks of each phase and find the slow ones",
		Long: glossary(`Detect fills the tables phase_stats, stage_history and outliers and counts what they hold. Of logs that have not changed since an
earlier run of this version, its rows are kept; only new logs are worked on, and those that have grown or were read again. Logs
that were removed take their rows along. With --application or --since it works only on the logs of these applications, and counts what it found of
them: rows about others stay as they are, and what is new of others is left to a later run. An execution of a stage that
comes late, or goes, changes what is usual for those after it, which is then worked out anew.
straggler schema phase_stats stage_history outliers says what the columns mean.`, schema.Rules()),
		Example: `  straggler detect --store lake
  straggler detect --again --store lake
  straggler detect --store lake --since 2020-01-01
  straggler sql --store lake "SELECT rule, count(*) AS n FROM outliers GROUP BY rule ORDER BY n DESC"`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return runDetect(c.Context(), e, o) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().BoolVar(&o.again, "again", false, "work on all logs of the store, also on those that an earlier run has seen")
	o.apps.flags(c.Flags(), "work only on")
	engineFlag(c, e)
	o.output.flags(c, rowEncodings)
	return c
}

func runDetect(ctx context.Context, e *env, o detectOptions) error {
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	if o.again && !apps.All() {
		return useError("--again works on all logs of the store; leave --application and --since away")
	}
	return e.withEngine(ctx, o.store, func(st *store.Store, eng engine.Engine) error {
		defer e.step("finding outliers")()
		s, err := detect.Run(ctx, st, eng, detect.Options{Again: o.again, Tool: version, Applications: apps})
		if err != nil {
			return err
		}
		f := table.NewFixed("rule", "attempts BIGINT")
		for _, rule := range schema.Rule("").Values() {
			f.Add(rule, s.Outliers[schema.Rule(rule)])
		}
		if err := e.rows(o.output, f); err != nil {
			return err
		}
		if s.Kept {
			e.say("%s new or changed; the results of the others are kept", count(int64(s.Inputs), "log"))
		}
		e.say("%s of %s with a verdict, %s; %s", count(s.Judged, "phase"), count(s.Phases, "phase"), count(s.Attempts, "attempt"), historyWords(s))
		return nil
	})
}

// historyWords says how much history there was, and what it showed.
func historyWords(s detect.Summary) string {
	words := "no history: no stage has three earlier executions in the store"
	if s.Repeated > 0 {
		words = fmt.Sprintf("%s with a history, %d slow as a whole", count(s.Repeated, "phase"), s.Slow)
	}
	return fmt.Sprintf("%s; %.2f s", words, s.Seconds)
}
