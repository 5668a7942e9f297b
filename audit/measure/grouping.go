package measure

import (
	"errors"
	"fmt"
	"regexp"

	"straggler/schema"
)

// ErrGrouping is returned for a pattern that is no regular expression.
var ErrGrouping = errors.New("wrong --group-by")

// Grouping decides which runs belong together. The zero Grouping uses the application's name without what differs in each run,
// like the history of stages (schema.Lasting).
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
	if g.pattern != nil {
		switch m := g.pattern.FindStringSubmatch(name); {
		case len(m) > 1 && m[1] != "":
			return m[1]
		case len(m) > 0 && m[0] != "":
			return m[0]
		}
	}
	if name == "" {
		return "(no name)"
	}
	return schema.Lasting(name)
}
