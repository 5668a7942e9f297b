package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"straggler/spelling"
)

// onlyFlags rejects arguments, with a hint for people who pass the store as one.
func onlyFlags(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Flags().Lookup("store") != nil {
		return useError("%s takes no %q; name the store with --store", c.CommandPath(), args[0])
	}
	return useError("%s takes no arguments, and got %q", c.CommandPath(), args[0])
}

// checkEmpty rejects empty arguments and flag values, for instance from an unset variable of a script: without them the verb
// would do something else, such as report on everything.
func checkEmpty(c *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return useError("an argument is empty")
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if text := f.Value.String(); err == nil && (text == "" || text == "[]") {
			err = useError("--%s is empty", f.Name)
		}
	})
	return err
}

// unknownVerb returns the error for an unknown verb.
func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return useError("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return useError("there is no command %q; straggler --help lists them", args[0])
}

// plainUse rewords cobra's errors about a command line.
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

var argumentCount = regexp.MustCompile(`^(?:requires (at least \d+)|accepts (at most \d+)|accepts (\d+)) arg\(s\), (?:only )?received (\d+)$`)

// flagError suggests the flag that was probably meant.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	if _, name, ok := strings.Cut(text, "unknown flag: --"); ok {
		if why := notSelected[c.Name()]; why != "" && (name == "application" || name == "since" || name == "app") {
			return useError("%s; %s", text, why)
		}
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

var wrongValue = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "([^"]+)" flag: `)

// flagKinds describes the values of flags by type.
var flagKinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number",
	"number": "a whole number, 1 or more", "float64Slice": "numbers, comma separated", "bool": "true or false", "duration": "a duration such as 30s or 5m",
}

// nearestFlag returns the flag of a command most similar to a misspelt name, or "" if none is similar.
func nearestFlag(c *cobra.Command, name string) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return spelling.Nearest(name, names)
}
