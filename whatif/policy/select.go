package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrChoice is wrapped by errors about an invalid choice of policies.
var ErrChoice = errors.New("policies")

// maxSweep bounds the values of one sweep.
const maxSweep = 1000

// ideals is the word that names all ideals of the usual policies.
const ideals = "ideal"

// Choose returns the named policies (nil: the usual ones; "ideal": those of the usual ones that are ideals) with settings such as
// late.cap=0.2 applied, and one more of a policy for each value of its sweeps: late.cap=0.05:0.5:0.05 goes from the first value
// to the second in steps of the third. A policy that only a setting or a sweep names is added.
func Choose(names, settings, sweeps []string, usual []Policy) ([]Policy, error) {
	c := chooser{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == ideals {
			c.ideals(usual)
			continue
		}
		if _, err := c.at(name); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChoice, err)
		}
	}
	if len(names) == 0 && len(sweeps) == 0 {
		c.chosen = slices.Clone(usual)
	}
	for _, s := range settings {
		name, option, value, err := split(s, "late.cap=0.2")
		if err != nil {
			return nil, err
		}
		i, err := c.at(name)
		if err == nil {
			c.chosen[i], err = c.chosen[i].With(option, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChoice, err)
		}
	}
	for _, s := range sweeps {
		if err := c.sweep(s); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrChoice, err)
		}
	}
	return append(c.chosen, c.swept...), nil
}

type chooser struct{ chosen, swept []Policy }

// ideals adds the ideals of the usual policies that are not chosen yet.
func (c *chooser) ideals(usual []Policy) {
	for _, p := range usual {
		if p.Ideal && !slices.ContainsFunc(c.chosen, func(q Policy) bool { return q.Name == p.Name }) {
			c.chosen = append(c.chosen, p)
		}
	}
}

// at returns the position of a policy among the chosen ones, to which it is added if it is missing.
func (c *chooser) at(name string) (int, error) {
	if i := slices.IndexFunc(c.chosen, func(p Policy) bool { return p.Name == name }); i >= 0 {
		return i, nil
	}
	p, err := ByName(name)
	if err != nil {
		return 0, err
	}
	c.chosen = append(c.chosen, p)
	return len(c.chosen) - 1, nil
}

func (c *chooser) sweep(s string) error {
	name, option, text, err := split(s, "late.cap=0.05:0.5:0.05")
	if err != nil {
		return err
	}
	values, err := steps(text)
	if err != nil {
		return fmt.Errorf("sweep %s: %w", s, err)
	}
	base, err := ByName(name)
	if i := slices.IndexFunc(c.chosen, func(p Policy) bool { return p.Name == name }); i >= 0 {
		base, err = c.chosen[i], nil
	}
	if err != nil {
		return err
	}
	for _, v := range values {
		p, err := base.With(option, v)
		if err != nil {
			return err
		}
		c.swept = append(c.swept, p)
	}
	return nil
}

func split(s, example string) (policy, option, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	policy, option, dot := strings.Cut(key, ".")
	if !ok || !dot || policy == "" || option == "" || value == "" {
		return "", "", "", fmt.Errorf("%w: %q is not of the form %s", ErrChoice, s, example)
	}
	return policy, option, value, nil
}

// steps returns the values from the first to the last, both included, without the rounding errors of additions.
func steps(text string) ([]string, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q is not from:to:step", text)
	}
	var v [3]float64
	for i, p := range parts {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("%q is not a number", p)
		}
		v[i] = n
	}
	count := math.Floor((v[1]-v[0])/v[2]+1e-9) + 1
	if !(v[2] > 0) || !(count >= 1) || count > maxSweep {
		return nil, fmt.Errorf("%q has no value, or more than %d", text, maxSweep)
	}
	out := make([]string, int(count))
	for i := range out {
		out[i] = strconv.FormatFloat(math.Round((v[0]+float64(i)*v[2])*1e9)/1e9, 'g', -1, 64)
	}
	return out, nil
}
