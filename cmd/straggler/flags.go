package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags: those that a flag can be combined with, and those that it needs one of. A flag without effect is
// refused, because somebody who gives it expects one.
const (
	onlyWith  = "only with"
	neededFor = "needed"
)

// combinesOnly marks a flag that leaves others without effect, such as --list, and names those that keep theirs.
func combinesOnly(f *pflag.FlagSet, flag string, others ...string) {
	annotate(f, flag, onlyWith, others)
}

// needs marks a flag that has an effect only besides one of others.
func needs(f *pflag.FlagSet, flag string, others ...string) { annotate(f, flag, neededFor, others) }

func annotate(f *pflag.FlagSet, flag, key string, others []string) {
	if err := f.SetAnnotation(flag, key, others); err != nil {
		panic(err) // there is no such flag
	}
}

// checkCombination returns an error if a flag of a command line has no effect because of the others.
func checkCombination(c *cobra.Command) error {
	var given []*pflag.Flag
	c.Flags().Visit(func(f *pflag.Flag) { given = append(given, f) })
	for _, f := range given {
		if others, ok := f.Annotations[onlyWith]; ok {
			for _, g := range given {
				if g != f && !slices.Contains(others, g.Name) {
					return useError("--%s has no effect with --%s; leave out one of them", g.Name, f.Name)
				}
			}
		}
		others, ok := f.Annotations[neededFor]
		if ok && !slices.ContainsFunc(given, func(g *pflag.Flag) bool { return slices.Contains(others, g.Name) }) {
			return useError("--%s has no effect without --%s", f.Name, strings.Join(others, " or --"))
		}
	}
	return nil
}
