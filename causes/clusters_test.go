package causes

import (
	"fmt"
	"slices"
	"straggler/stats"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// verdictOf is an outlier of a generated trace with its verdict and its true causes.
type verdictOf struct {
	attempt *schema.Attempt
	truth   *synth.AttemptTruth
	excess  float64
	row     schema.Attribution
}

// generated attributes a generated trace whose outliers are found as detect does.
func generated(t testing.TB, o synth.Options) (*schema.Trace, *synth.Truth, []verdictOf) {
	t.Helper()
	trace, truth, err := synth.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	outliers := outliersOf(trace)
	rows := verdicts(Attribute(trace, outliers, 3600))
	var out []verdictOf
	excess := map[schema.Key]float64{}
	for _, x := range outliers {
		excess[x.AttemptID] = max(excess[x.AttemptID], x.ExcessS.V)
	}
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		if x, ok := excess[a.AttemptID]; ok {
			out = append(out, verdictOf{a, &truth.Attempts[i], x, rows[a.AttemptID]})
		}
	}
	return trace, truth, out
}

// outliersOf returns successful attempts longer than 1.5 times the median of their phase, and recomputed ones.
func outliersOf(t *schema.Trace) (out []schema.Outlier) {
	by := map[schema.Key][]float64{}
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Status == schema.Success && a.DurationS.OK {
			by[a.PhaseID] = append(by[a.PhaseID], a.DurationS.V)
		}
	}
	for k, d := range by {
		by[k] = []float64{stats.Median(d), float64(len(d))}
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.Status != schema.Success || !a.DurationS.OK {
			continue
		}
		m := by[a.PhaseID]
		switch o := (schema.Outlier{AttemptID: a.AttemptID, PhaseID: a.PhaseID}); {
		case a.Recompute:
			o.Rule, o.ExcessS = schema.RecomputeRule, a.DurationS
			out = append(out, o)
		case m[1] >= 3 && a.DurationS.V > 1.5*m[0]:
			o.Rule, o.ExcessS = schema.HighRuntime, schema.Some(a.DurationS.V-m[0])
			out = append(out, o)
		}
	}
	return out
}

// right reports whether a verdict names the largest true cause, and which that is. If nothing known to the truth made the
// attempt slow, no cause may be named. An exception is a machine of a slower generation, which the truth counts with the
// base.
func (v *verdictOf) right(slower map[string]bool) (of schema.Cause, ok bool) {
	largest, seconds, known := v.truth.Largest()
	if v.row.Cause == schema.BadMachine && slower[v.attempt.Machine.V] {
		return v.row.Cause, true
	}
	if !known || seconds < 0.2*v.excess {
		return "-", v.row.Cause == schema.Startup || v.row.Cause == schema.Transient || v.row.Cause == schema.UnexplainedCause
	}
	return largest, v.row.Cause == largest
}

// confusion counts verdicts by true cause.
type confusion map[[2]schema.Cause]int

func (c confusion) String() string {
	keys := make([][2]schema.Cause, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]schema.Cause) int { return strings.Compare(string(a[0]+" "+a[1]), string(b[0]+" "+b[1])) })
	var b strings.Builder
	for _, k := range keys {
		if k[0] != k[1] {
			fmt.Fprintf(&b, " %s→%s %d", k[0], k[1], c[k])
		}
	}
	return b.String()
}

// Every kind of generated cluster, eight of most: over 200 in all. The share of verdicts that name the largest true cause
// must reach the number given here; the reasons for low ones are beside them.
func TestScenarios(t *testing.T) {
	least := map[string]float64{
		"no-bytes":        0.85, // machines with fewer than three tasks of a phase leave no measure of work
		"nightly":         0.97, // skew of 3 on an attempt slow by 2.5: the truth gives both together to the latter
		"generations-bad": 0.97,
	}
	var sure []float64
	var rights []bool
	for _, s := range synth.Scenarios() {
		n, right := 0, 0
		wrong := confusion{}
		seeds := uint64(8)
		if s.Name == "nightly" { // is fourteen clusters itself
			seeds = 2
		}
		for seed := range seeds {
			_, truth, vs := generated(t, s.Make(seed+1))
			slower := generationsOf(truth)
			for i := range vs {
				n++
				of, ok := vs[i].right(slower)
				if ok {
					right++
				} else {
					wrong[[2]schema.Cause{of, vs[i].row.Cause}]++
				}
				if c := vs[i].row.Confidence; c.OK {
					// as on the labelled logs, any cause that acted is right
					acted := vs[i].truth.Seconds(vs[i].row.Cause) > 0.2*vs[i].excess
					sure, rights = append(sure, c.V), append(rights, ok || acted)
				}
			}
		}
		share := float64(right) / float64(max(1, n))
		t.Logf("%-16s %5d outliers, right %.3f %s", s.Name, n, share, wrong)
		want := 0.98
		if w, ok := least[s.Name]; ok {
			want = w
		}
		if n > 20 && share < want {
			t.Errorf("%s: %.3f of the verdicts are right, want %.2f:%s", s.Name, share, want, wrong)
		}
	}
	calibrated(t, sure, rights)
}

// calibrated compares claims with results over all scenarios: no class of confidence may be far too confident.
func calibrated(t *testing.T, sure []float64, right []bool) {
	t.Helper()
	for _, edge := range [][2]float64{{0, 0.5}, {0.5, 0.7}, {0.7, 0.8}, {0.8, 0.9}, {0.9, 0.95}, {0.95, 0.98}, {0.98, 1}} {
		var n, hits, claimed float64
		for i, c := range sure {
			if c >= edge[0] && c < edge[1] {
				n++
				claimed += c
				if right[i] {
					hits++
				}
			}
		}
		if n == 0 {
			continue
		}
		t.Logf("confidence %.2f to %.2f: %5.0f verdicts, claimed %.3f, right %.3f", edge[0], edge[1], n, claimed/n, hits/n)
		if n > 50 && hits/n < claimed/n-0.1 {
			t.Errorf("of %g verdicts at %.2f to %.2f only %.2f are right", n, edge[0], edge[1], hits/n)
		}
	}
}

// generationsOf returns the machines with hardware slower than the median.
func generationsOf(truth *synth.Truth) map[string]bool {
	var all []float64
	for _, m := range truth.Machines {
		all = append(all, m.Generation)
	}
	middle := stats.Median(slices.Clone(all))
	slower := map[string]bool{}
	for _, m := range truth.Machines {
		if m.Generation > 1.2*middle {
			slower[m.Machine] = true
		}
	}
	return slower
}
