package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// newRoot makes the command line. Verbs are in the order in which people meet them.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "straggler",
		Short: "Find the slow tasks in cluster logs, why they were slow, and what would have helped",
		Long: `straggler turns the logs of clusters into tables, finds the outlier tasks in them, says why each one was slow,
and estimates what each known remedy would have saved.

Exit codes: 0 done, 1 a check found something, 2 wrong use, 3 input could not be read (what could be is in the store, and
the summary says what could not), 4 internal error, or a disk that is full or read-only, 130 interrupted.`,
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
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(demoCommand(e), reportCommand(e), ingestCommand(e), exportCommand(e), sqlCommand(e), detectCommand(e), causesCommand(e), whatifCommand(e), simulateCommand(e), reproduceCommand(e),
		auditCommand(e), compareCommand(e), generateCommand(e), schemaCommand(e), notebookCommand(e), formatsCommand(e), storeCommand(e), versionCommand(e), copyCommand(e))
	root.AddCommand(topics()...)
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
			return run(c, args)
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

// unknownVerb is the answer to a word that is no verb.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return useError("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return useError("there is no command %q; straggler --help lists them", args[0])
}

// onlyFlags is for verbs without arguments; people tend to give the store as one.
func onlyFlags(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Flags().Lookup("store") != nil {
		return useError("%s takes no %q; name the store with --store", c.CommandPath(), args[0])
	}
	return useError("%s takes no arguments, and got %q", c.CommandPath(), args[0])
}

// flagError suggests the flag that was probably meant.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	if _, name, ok := strings.Cut(text, "unknown flag: --"); ok {
		if near := nearestFlag(c, name); near != "" {
			return useError("%s; did you mean --%s?", text, near)
		}
	}
	return useError("%s; see %s --help", text, c.CommandPath())
}
