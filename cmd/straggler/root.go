package main

import (
	"regexp"
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

// helpCommand shows the help of a verb or a topic.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "Show the help of a command or a topic",
		Example: "  straggler help engine",
		RunE: func(_ *cobra.Command, args []string) error {
			c, _, err := root.Find(args)
			if err != nil || c == root && len(args) > 0 {
				return useError("no help on %q; straggler --help lists commands and topics", strings.Join(args, " "))
			}
			return c.Help()
		},
	}
}

var argumentCount = regexp.MustCompile(`^(?:requires (at least \d+)|accepts (at most \d+)|accepts (\d+)) arg\(s\), (?:only )?received (\d+)$`)

// plainUse says what cobra found wrong with a command line.
func plainUse(err error) string {
	text := err.Error()
	if flags, ok := strings.CutPrefix(text, "required flag(s) "); ok {
		return "missing --" + strings.ReplaceAll(strings.Trim(strings.TrimSuffix(flags, " not set"), `"`), `", "`, " and --")
	}
	if m := argumentCount.FindStringSubmatch(text); m != nil {
		expected := m[1] + m[2] + m[3]
		if strings.HasSuffix(expected, "1") {
			return "expected " + expected + " argument, got " + m[4]
		}
		return "expected " + expected + " arguments, got " + m[4]
	}
	return text
}

var wrongValue = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "([^"]+)" flag: `)

// flagKinds says what the value of a flag must be, by its type.
var flagKinds = map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number",
	"float64Slice": "numbers, comma separated", "bool": "true or false", "duration": "a duration such as 30s or 5m"}

// flagError suggests the flag that was probably meant.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	if _, name, ok := strings.Cut(text, "unknown flag: --"); ok {
		if near := nearestFlag(c, name); near != "" {
			return useError("%s; did you mean --%s?", text, near)
		}
	}
	if m := wrongValue.FindStringSubmatch(text); m != nil {
		name := strings.TrimPrefix(m[2][strings.LastIndexByte(m[2], ' ')+1:], "--")
		if f := c.Flags().Lookup(name); f != nil && flagKinds[f.Value.Type()] != "" {
			return useError("--%s %s: expected %s", name, m[1], flagKinds[f.Value.Type()])
		}
	}
	return useError("%s; see %s --help", text, c.CommandPath())
}
