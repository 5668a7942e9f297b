package whatif

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/selection"
)

// A report waits for a replay no longer because tasks run for hours: policies look at each of them every few seconds.
func TestBrief(t *testing.T) {
	for _, c := range []struct {
		name  string
		log   string
		small bool
		seeds int
	}{
		{"a log of a minute", labelled(t, "transient"), true, 0},
		{"400 tasks of an hour", hours(t, 400, 1), false, 16}, // 400 + 400 · 3600 / 20 = 72 400; 6 000 000 / (5 · 72 400)
		{"400 tasks of a week", hours(t, 400, 168), false, 3}, // as few as an interval needs
		{"400 tasks of a second", hours(t, 400, 0), true, 0},  // 400
		{"60 tasks of two hours", hours(t, 60, 2), false, 20}, // 21 660; as many as whatif has by itself
		{"no task", hours(t, 0, 1), true, 0},
	} {
		_, eng := storeOf(t, c.log)
		o, err := Brief(t.Context(), eng, selection.Applications{})
		if err != nil || o.Seeds != c.seeds || o.Optimize != c.small || (len(o.Policies) == 0) != c.small {
			t.Errorf("%s: %d seeds, %d policies, optimize %v: %v", c.name, o.Seeds, len(o.Policies), o.Optimize, err)
		}
	}
}

// hours is a table of tasks that take so many hours, or a second.
func hours(t *testing.T, tasks, hours int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("application,job,phase,task,duration_s,status\n")
	for n := range tasks {
		fmt.Fprintf(&b, "a,j,p,%d,%d,success\n", n, max(3600*hours, 1))
	}
	name := filepath.Join(t.TempDir(), "attempts.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
