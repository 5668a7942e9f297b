package schedule

import (
	"errors"
	"fmt"
	"strings"
)

// ErrChoice is wrapped by errors about an invalid choice of schedulers.
var ErrChoice = errors.New("schedulers")

// Choose returns the schedulers given by texts, each a name followed by options, as in: delay t1=5 t2=5.
func Choose(texts []string) ([]Scheduler, error) {
	var out []Scheduler
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, fmt.Errorf("%w: an empty name", ErrChoice)
		}
		s, err := ByName(words[0])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChoice, err)
		}
		for _, word := range words[1:] {
			name, value, ok := strings.Cut(word, "=")
			if !ok {
				return nil, fmt.Errorf("%w: %q is not of the form delay t1=5 t2=5", ErrChoice, text)
			}
			if s, err = s.With(name, value); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrChoice, err)
			}
		}
		s.label = strings.Join(words, " ")
		out = append(out, s)
	}
	return out, nil
}
