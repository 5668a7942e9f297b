package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command line. Verbs are in the order in which users need them.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "straggler",
		Short: "Find the slow tasks in cluster logs, why they were slow, and what would have helped",
		Long: `straggler turns the logs of clusters into tables, finds the outlier tasks in them, says why each one was slow,
and estimates what each known remedy would have saved.

Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 some input could not be read (the store has the rest, and
the summary names it), 4 internal error, or a full or read-only disk, 130 interrupted.`,
		Example:       "  straggler demo",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownVerb,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SuggestionsMinimumDistance = 2
	root.Version = version
	root.SetVersionTemplate("straggler {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(demoCommand(e), reportCommand(e), ingestCommand(e), exportCommand(e), sqlCommand(e), detectCommand(e),
		causesCommand(e), whatifCommand(e), watchCommand(e), serveCommand(e), mcpCommand(e), simulateCommand(e), reproduceCommand(e),
		auditCommand(e), compareCommand(e), generateCommand(e), schemaCommand(e), notebookCommand(e), formatsCommand(e),
		storeCommand(e), versionCommand(e), copyCommand(e))
	root.AddCommand(manCommand(root))
	root.AddCommand(topics()...)
	root.SetHelpCommand(helpCommand(root))
	each(root, func(c *cobra.Command) {
		c.SetFlagErrorFunc(flagError)
		c.Flags().SortFlags = false
		c.DisableFlagsInUseLine = true
		run := c.RunE
		if run == nil { // a help topic
			return
		}
		c.RunE = func(c *cobra.Command, args []string) error {
			e.running = true
			if err := checkEmpty(c, args); err != nil {
				return err
			}
			if err := checkCombination(c); err != nil {
				return err
			}
			if err := checkOutputs(c); err != nil {
				return err
			}
			err := run(c, args)
			if err != nil && e.made != nil {
				err = errors.Join(err, e.made.Unmake(context.WithoutCancel(c.Context())))
			}
			return err
		}
	})
	return root
}

func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// helpCommand shows the help of a verb or a topic.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Show the help of a command or a topic",
		Example: "  straggler help engine",
		RunE: func(_ *cobra.Command, args []string) error {
			c, _, err := root.Find(args)
			if err != nil || c == root && len(args) > 0 {
				if near := root.SuggestionsFor(args[0]); len(near) > 0 {
					return useError("no help on %q; did you mean %s?", strings.Join(args, " "), strings.Join(near, " or "))
				}
				return useError("no help on %q; straggler --help lists commands and topics", strings.Join(args, " "))
			}
			return c.Help()
		},
	}
}
