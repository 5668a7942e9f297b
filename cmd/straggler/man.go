package main

import (
	"github.com/spf13/cobra"

	"straggler/manual"
)

// manCommand writes the pages that a release comes with.
func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return manual.Write(root, version, args[0]) },
	}
}
