package report

import (
	"slices"
	"testing"
)

func TestNaturalOrder(t *testing.T) {
	got := []string{"m10", "m2", "m1", "rack2-m1", "rack10-m1", "m02", "", "m"}
	slices.SortFunc(got, compareNatural)
	want := []string{"", "m", "m1", "m02", "m2", "m10", "rack2-m1", "rack10-m1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
