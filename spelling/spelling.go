// Package spelling takes a name that is not known and the names that are, and gives the one that was probably meant.
//
// Start with Nearest.
package spelling

import "strings"

// farthest is how many letters a misspelt name may differ in; one for every three that it has.
const farthest = 2

// Nearest is the known name that a misspelt one is nearest to, the first of several; "" when none is near. A name that was
// begun is near, whatever is missing.
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

// Choices is what an error says after a name that is not known: the one that was probably meant, and all that there are.
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

// distance is Levenshtein's: the fewest bytes to insert, drop or replace.
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
