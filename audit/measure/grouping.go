package measure

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"straggler/schema"
)

// ErrGrouping is returned for a pattern that is not a regular expression.
var ErrGrouping = errors.New("wrong --group-by")

// Grouping decides which runs are of one program. The zero Grouping uses the application's name without the parts that differ in
// each run, like the history of stages (schema.Lasting).
type Grouping struct{ pattern *regexp.Regexp }

// NewGrouping groups by the match of a regular expression in the name: its first capturing group, or the whole match.
func NewGrouping(pattern string) (Grouping, error) {
	if pattern == "" {
		return Grouping{}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Grouping{}, fmt.Errorf("%w: %w", ErrGrouping, err)
	}
	return Grouping{re}, nil
}

func (g Grouping) of(name string) string {
	if match := g.match(name); match != "" {
		return match
	}
	if name == "" {
		return "(no name)"
	}
	return schema.Lasting(name)
}

// match returns the group that the pattern finds in a name, or "" if there is no pattern or the name does not match it.
func (g Grouping) match(name string) string {
	if g.pattern == nil {
		return ""
	}
	switch m := g.pattern.FindStringSubmatch(name); {
	case len(m) > 1 && m[1] != "":
		return m[1]
	case len(m) > 0:
		return m[0]
	}
	return ""
}

// session reports whether a name is that of interactive sessions, which are not runs of one program. A pattern that matches the
// name overrides this.
func (g Grouping) session(name string) bool {
	return g.match(name) == "" && slices.Contains(schema.SessionNames(), name)
}
