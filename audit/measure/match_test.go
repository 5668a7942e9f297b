package measure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// night returns a run of a program whose stages all have one name, as in Python programs; each stage is an exchange of a query.
// Stages are ordered by name, as Runs returns them.
func night(tables ...string) *Run {
	r := &Run{Group: "nightly"}
	for i, table := range tables {
		o := Operator{Query: "collect at NativeMethodAccessorImpl.java:0", Name: "Exchange hashpartitioning(id) of " + table,
			Shape: "shape " + table, Plan: "plan " + table, Node: "node " + table, Place: i + 1}
		r.Stages = append(r.Stages, Stage{Signature: Signature{Stage: "collect at NativeMethodAccessorImpl.java:0", Kind: "shuffle_map", Nth: i, Operator: o}})
	}
	return r
}

func withoutPlans(r *Run) *Run {
	s := &Run{Group: r.Group, Stages: slices.Clone(r.Stages)}
	for i := range s.Stages {
		s.Stages[i].Operator = Operator{}
	}
	return s
}

// pairs returns the indices of the stages of b that match those of a; -1 if there is none.
func pairs(a, b *Run) []int {
	m := Match(a, []*Run{b})
	var out []int
	for i := range a.Stages {
		t := m.Stage(b, &a.Stages[i])
		out = append(out, slices.IndexFunc(b.Stages, func(s Stage) bool { return t != nil && s.Signature == t.Signature }))
	}
	return out
}

// A stage added before the others shifts those after it if only names are known, but not if plans are.
func TestAddedStageShiftsNothing(t *testing.T) {
	before, after := night("orders", "customers", "regions"), night("vendors", "orders", "customers", "regions")
	if got := pairs(after, before); !slices.Equal(got, []int{-1, 0, 1, 2}) {
		t.Errorf("by plans: %v", got)
	}
	for _, c := range [][2]*Run{{after, withoutPlans(before)}, {withoutPlans(after), before}, {withoutPlans(after), withoutPlans(before)}} {
		if got := pairs(c[0], c[1]); !slices.Equal(got, []int{0, 1, 2, -1}) {
			t.Errorf("by names where a run has no plans: %v", got)
		}
	}
}

// A query's work on a table is matched although its plan, its tables or its line in the program changed; the more certain
// match comes first.
func TestChangedQueriesMatch(t *testing.T) {
	before := night("orders", "customers")
	for _, c := range []struct {
		what   string
		change func(o *Operator)
	}{
		{"a broadcast that became a sort-merge join", func(o *Operator) { o.Plan, o.Node = "p", "n" }},
		{"a table that is joined too", func(o *Operator) { o.Plan, o.Shape = "p", "s" }},
		{"a filter and a table", func(o *Operator) { o.Plan, o.Shape, o.Node = "p", "s", "n" }},
		{"a line that moved", func(o *Operator) { o.Query = "collect at Main.scala:2" }},
		{"a line that moved and a filter", func(o *Operator) { o.Query, o.Plan, o.Node = "collect at Main.scala:2", "p", "n" }},
	} {
		after := night("vendors", "orders", "customers")
		c.change(&after.Stages[2].Operator)
		if got := pairs(after, before); !slices.Equal(got, []int{-1, 0, 1}) {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	// Of two stages with the same name, the one with the same plan matches, whatever their order.
	twice := night("orders", "orders")
	twice.Stages[0].Operator.Plan, twice.Stages[0].Operator.Node = "p", "n"
	if got := pairs(twice, night("orders")); !slices.Equal(got, []int{-1, 0}) {
		t.Errorf("the same plan: %v", got)
	}
}

// For any runs, no stage is matched twice, and matching is symmetric.
func TestMatchIsOneToOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	any := func(prefix string) string { return fmt.Sprint(prefix, r.IntN(3)) }
	run := func() *Run {
		out, share := &Run{}, r.Float64()
		for i := range 1 + r.IntN(12) {
			s := Signature{Stage: any("stage "), Nth: i}
			if r.Float64() < share {
				s.Operator = Operator{Query: any("q"), Name: any("o"), Shape: any("s"), Plan: any("p"), Node: any("n"), Place: r.IntN(12)}
			}
			out.Stages = append(out.Stages, Stage{Signature: s})
		}
		sort.Slice(out.Stages, func(i, k int) bool { return out.Stages[i].Less(out.Stages[k].Signature) })
		return out
	}
	for range 2000 {
		a, b := run(), run()
		forth, back := pairs(a, b), pairs(b, a)
		for i, k := range forth {
			if k >= 0 && back[k] != i {
				t.Fatalf("stage %d is %d, which is %d\n%+v\n%+v", i, k, back[k], a.Stages, b.Stages)
			}
		}
		for k, i := range back {
			if i >= 0 && forth[i] != k {
				t.Fatalf("stage %d of b is %d, which is %d", k, i, forth[i])
			}
		}
		if own := pairs(a, a); !slices.IsSorted(own) || own[0] != 0 || own[len(own)-1] != len(own)-1 {
			t.Fatalf("a run is itself: %v", own)
		}
	}
}
