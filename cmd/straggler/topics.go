package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"straggler/schema"
	"straggler/whatif/policy"
)

// topics are chapters of the manual that belong to no verb: straggler help TOPIC. They are made of the tables that the
// program itself uses, so that they can not fall behind.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "tables", Short: "Every table and column, with units and meanings", Long: tablesText()},
		{Use: "policies", Short: "Every policy of whatif, with its rules' source and its options", Long: policiesText()},
	}
}

func tablesText() string {
	var b strings.Builder
	b.WriteString(`Times are instants in UTC; columns that end in _s are seconds, in _bytes bytes. NULL means that the log does not say.
Ingest writes the log tables; detect, causes and whatif write theirs in place of those of an earlier run.

`)
	schema.WriteText(&b, schema.Tables()) // a strings.Builder takes everything
	return strings.TrimRight(b.String(), "\n")
}

func policiesText() string {
	var b strings.Builder
	b.WriteString("Choose with whatif --policy NAME,…, change options with --set NAME.OPTION=VALUE.\n")
	for _, s := range policy.Specs() {
		fmt.Fprintf(&b, "\n%s: %s (%s)\n", s.Name, s.Doc, s.Source)
		for _, o := range s.Options() {
			unit := ""
			if o.Unit != "" {
				unit = " " + o.Unit
			}
			fmt.Fprintf(&b, "  %s=%s%s  %s\n", o.Name, o.Default, unit, o.Doc)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// glossary appends words and their meanings to a help text.
func glossary(text string, entries []schema.Entry) string {
	var b strings.Builder
	b.WriteString(text + "\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "\n  %-13s %s", e.Word, e.Meaning)
	}
	return b.String()
}
