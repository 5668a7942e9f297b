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
		Long: glossary(`Detect compares the tasks of each phase, and each stage with its earlier executions, and writes the tables phase_stats,
stage_history and outliers. straggler schema phase_stats stage_history outliers explains their columns. It also writes
task_times: the tasks that later executions of a stage will be compared with.

Only new or changed logs are processed; rows of the others are kept, and those of removed logs are dropped. An execution
of a stage that is added late, or removed, changes what is usual for the executions after it: these are compared again.

With --application or --since only the logs of these applications are processed and counted. Other rows stay as they are,
and other new logs are left to a later run.`, schema.Rules()),
		Example: `  straggler detect --store lake
  straggler detect --again --store lake
  straggler detect --store lake --since 2020-01-01
  straggler sql --store lake "SELECT rule, count(*) AS n FROM outliers GROUP BY rule ORDER BY n DESC"`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error { return runDetect(c.Context(), e, o) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().BoolVar(&o.again, "again", false, "process all logs of the store, not only new or changed ones")
	o.apps.flags(c.Flags(), "process only")
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
		return useError("--again processes all logs of the store; leave out --application and --since")
	}
	return e.withEngine(ctx, o.store, engine.Options{MemoryBytes: min(engine.DefaultMemory(), detect.EngineMemory)},
		func(st *store.Store, eng engine.Engine) error {
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
			e.say("%d of %s with a verdict, %s; %s", s.Judged, count(s.Phases, "phase"), count(s.Attempts, "attempt"), historyWords(s))
			return nil
		})
}

// historyWords describes the history of stages and what it showed.
func historyWords(s detect.Summary) string {
	words := "no history: no stage has three earlier executions in the store"
	if s.Repeated > 0 {
		words = fmt.Sprintf("%s with a history, %d slow as a whole", count(s.Repeated, "phase"), s.Slow)
	}
	return fmt.Sprintf("%s; %.2f s", words, s.Seconds)
}
