// Package spelling takes a name that is not known and the names that are, and returns the one that was probably meant.
//
// Start with Nearest.
package spelling

import "strings"

// farthest is how many letters a misspelt name may differ in; one for every three that it has.
const farthest = 2

// Nearest returns the known name most similar to a misspelt one, the first of several, or "" if none is similar. The beginning of
// a name is similar to it, whatever its length.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, near := "", min(farthest, (len(name)+1)/3)+1
	for _, k := range known {
		if d := distance(name, strings.ToLower(k)); d < near {
			best, near = k, d
		}
	}
	if best != "" || len(name) < 2 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(strings.ToLower(k), name) {
			return k
		}
	}
	return ""
}

// Choices returns the end of the error for an unknown name: the known name that was probably meant, and all known names.
func Choices(name string, known []string) string {
	all := "there are "
	if len(known) == 1 {
		all = "there is "
	}
	all += strings.Join(known, ", ")
	if best := Nearest(name, known); best != "" {
		return "did you mean " + best + "? " + strings.ToUpper(all[:1]) + all[1:]
	}
	return all
}

// distance returns the Levenshtein distance: the least number of bytes to insert, delete or replace.
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
