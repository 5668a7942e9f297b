package report

import (
	"cmp"
	"strings"
)

// compareNatural compares in natural order, in which m2 comes before m10.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digitsOf(x), digitsOf(y)
		if dx != "" && dy != "" {
			tx, ty := strings.TrimLeft(dx, "0"), strings.TrimLeft(dy, "0")
			if c := cmp.Or(cmp.Compare(len(tx), len(ty)), cmp.Compare(tx, ty)); c != 0 {
				return c
			}
			x, y = x[len(dx):], y[len(dy):]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digitsOf(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}
