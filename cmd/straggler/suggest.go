package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearestFlag is the flag of a command that is nearest to a misspelt name, "" when none is near.
func nearestFlag(c *cobra.Command, name string) string {
	best, near := "", 3
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < near {
			best, near = f.Name, d
		}
	})
	return best
}

// distance is Levenshtein's: the fewest letters to insert, drop or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
