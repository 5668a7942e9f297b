package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"straggler/causes"
)

// copyCommand is what a cluster runs of this program: straggler causes --engine spark://… starts it there.
func copyCommand(e *env) *cobra.Command {
	var of string
	c := &cobra.Command{
		Use:    "copy STEP [FILE]",
		Short:  "Work on the rows of standard input for another straggler",
		Hidden: true,
		Args:   cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if of != version {
				return useError("this machine has straggler %s and was asked by %s: put the same version there", version, of)
			}
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			if err := causes.Copy(c.Context(), args[0], file, e.in, e.out); err != nil {
				return fmt.Errorf("a copy on the cluster: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&of, "version", version, "the `VERSION` that asks")
	return c
}
