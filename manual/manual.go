// Package manual takes a command line and returns its manual pages, one for each command, in the language of man(7).
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const section = "1"

// Write writes the pages of a command and of those below it into a directory: straggler.1, straggler-ingest.1 and so on.
func Write(root *cobra.Command, version, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return write(root, version, dir)
}

func write(c *cobra.Command, version, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, name(c)+"."+section), []byte(page(c, version)), 0o666); err != nil {
		return err
	}
	for _, sub := range documented(c) {
		if err := write(sub, version, dir); err != nil {
			return err
		}
	}
	return nil
}

// page returns the page of one command.
func page(c *cobra.Command, version string) string {
	var b strings.Builder
	title := strings.ToUpper(name(c))
	fmt.Fprintf(&b, ".TH %s %s \"\" %s %s\n", quoted(title), section, quoted("straggler "+version), quoted("straggler"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escaped(name(c)), escaped(c.Short))
	if c.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", quoted(c.UseLine()))
	}
	asIs(&b, "DESCRIPTION", c.Long)
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	asIs(&b, "EXAMPLES", c.Example)
	seeAlso(&b, c)
	return b.String()
}

// asIs writes a section whose lines are kept: help texts are laid out by hand.
func asIs(b *strings.Builder, heading, text string) {
	if text = strings.Trim(text, "\n"); text == "" {
		return
	}
	fmt.Fprintf(b, ".SH %s\n.nf\n", heading)
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(escaped(line) + "\n")
	}
	b.WriteString(".fi\n")
}

func options(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		argument, usage := pflag.UnquoteUsage(f)
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		if argument != "" {
			spelled += " " + argument
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", quoted(spelled), escaped(usage))
	})
}

func seeAlso(b *strings.Builder, c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, name(c.Parent()))
	}
	for _, sub := range documented(c) {
		names = append(names, name(sub))
	}
	for i, n := range names {
		names[i] = ".BR " + quoted(n) + " (" + section + ")"
	}
	if len(names) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(names, ",\n"))
	}
}

// name returns that of a command's page.
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// documented returns the commands below another that its help lists, including topics.
func documented(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			out = append(out, sub)
		}
	}
	return out
}

// quoted returns an argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"` }

// escapes are the characters with a meaning in man(7).
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`)

// escaped returns a line of text that starts no request.
func escaped(line string) string {
	line = escapes.Replace(strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
