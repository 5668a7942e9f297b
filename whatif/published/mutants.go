package published

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// mutantText is the results of the mutants when it was last written: keys of numbers that depend on policies, sorted, each with
// the range under policies that do nothing, and the range under ours without their main rules. A test runs the mutants and
// compares.
//
//go:embed mutants.tsv
var mutantText string

// Range is the interval of a number; NaN if there is none.
type Range struct{ Low, High float64 }

func (x Range) String() string {
	if low, high := Number(x.Low), Number(x.High); low != high {
		return low + " to " + high
	}
	return Number(x.Low)
}

func (x Range) has(v float64) bool { return v >= x.Low-1e-9 && v <= x.High+1e-9 }

// byMutants is mutantText by key.
var byMutants = sync.OnceValue(func() map[string][2]Range {
	by := map[string][2]Range{}
	for line := range strings.Lines(mutantText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at := func(n int) float64 {
			if x, err := strconv.ParseFloat(f[n], 64); err == nil {
				return x
			}
			return math.NaN()
		}
		by[strings.Join(f[:3], "\t")] = [2]Range{{at(3), at(4)}, {at(5), at(6)}}
	}
	return by
})

// mutants returns the results for a row of policies that do nothing, and of ours without their main rules.
func mutants(r *Row) (noAction, withoutRule Range) {
	if x, ok := byMutants()[r.Key()]; ok {
		return x[0], x[1]
	}
	return Range{math.NaN(), math.NaN()}, Range{math.NaN(), math.NaN()}
}

// dependsOnPolicies reports whether policies affect a number that is met, or that a band may contain.
func (r *Row) dependsOnPolicies() bool {
	return r.Kind == Rebuilt || r.Kind == Replayed || r.Kind == Band
}

// span returns the range of our result.
func (r *Row) span() Range {
	if r.Kind == Band {
		return Range{r.Ours - r.Tolerance, r.Ours + r.Tolerance}
	}
	return Range{r.Ours, r.Ours}
}
