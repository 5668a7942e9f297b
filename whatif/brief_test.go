package whatif

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"straggler/causes"
	"straggler/cputime"
	"straggler/detect"
	"straggler/generate"
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

// hours returns a table of tasks that take so many hours, or a second.
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

// BenchmarkBrief is what the replay adds to a report on a fresh log of 1 GB, reading and writing included.
func BenchmarkBrief(b *testing.B) {
	name := filepath.Join(b.TempDir(), "big.log")
	if err := repeated(b, name, labelled(b, "mixed"), 1e9); err != nil {
		b.Fatal(err)
	}
	st, eng := storeOf(b, name)
	ctx := b.Context()
	if _, err := detect.Run(ctx, st, eng, detect.Options{}); err != nil {
		b.Fatal(err)
	}
	if _, err := causes.Run(ctx, st, eng, causes.Options{}); err != nil {
		b.Fatal(err)
	}
	before := cputime.Used()
	for b.Loop() {
		o, err := Brief(ctx, eng, selection.Applications{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := Run(ctx, st, eng, o)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(o.Seeds), "seeds")
		b.ReportMetric(float64(s.Attempts), "attempts")
	}
	b.ReportMetric((cputime.Used()-before).Seconds()/float64(b.N), "cpu-s/op")
}

// repeated writes a Spark event log that repeats another until it has a size.
func repeated(b *testing.B, name, log string, size int64) error {
	f, err := os.Open(log)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer d.Close()
	w, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := generate.Like(b.Context(), w, d, size); err != nil {
		return err
	}
	return w.Close()
}
