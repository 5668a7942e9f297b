package policy

import (
	"errors"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	late, err := ByName("late")
	if err != nil {
		t.Fatal(err)
	}
	describe := func(ps []Policy) string {
		var out []string
		for _, p := range ps {
			out = append(out, p.Name+p.Parameters())
		}
		return strings.Join(out, " ")
	}
	got, err := Choose([]string{"none", "late"}, []string{"late.cap=0.2", "dolly.budget=0.1"}, []string{"late.cap=0.1:0.3:0.1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := describe(got)
	for _, want := range []string{"none", `"cap":0.2`, "dolly", `"cap":0.1`, `"cap":0.3`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d policies: %s", len(got), text)
	}
	if got, err := Choose(nil, nil, nil, []Policy{late}); err != nil || len(got) != 1 {
		t.Errorf("the fallback: %v %v", got, err)
	}
	for _, bad := range [][3]string{
		{"nobody", "", ""}, {"", "late", ""}, {"", "late.cap=many", ""}, {"", "late.nothing=1", ""}, {"", "", "late.cap=1:0:0.1"},
		{"", "", "late.cap=0:1:0"}, {"", "", "late.cap=0:1"}, {"", "", "late.cap=0:1:1e-9"}, {"", "", "late.cap=0:NaN:1"},
	} {
		args := make([][]string, 3)
		for i, s := range bad {
			if s != "" {
				args[i] = []string{s}
			}
		}
		if _, err := Choose(args[0], args[1], args[2], nil); !errors.Is(err, ErrChoice) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
