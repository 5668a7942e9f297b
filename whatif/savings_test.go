package whatif

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// 95 of 100 further values lie in the interval of a sample, whatever its size: it holds their spread, and not only the error of
// their mean.
func TestIntervalOfAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{3, 20, 500} {
		inside, rounds := 0, 4000
		for range rounds {
			var m moments
			for range n {
				m.add(7 + 2*r.NormFloat64())
			}
			if x, i := 7+2*r.NormFloat64(), m.interval95(m.sum/m.n, false, student(m.n)); i.Low <= x && x <= i.High {
				inside++
			}
		}
		if share := float64(inside) / float64(rounds); math.Abs(share-0.95) > 0.015 {
			t.Errorf("samples of %d: %.1f %% of further values are inside", n, 100*share)
		}
	}
}

// One seed does not show how much other runs would differ: the limits are NULL, the verdict is that it cannot be told, and a
// note says why. Bounds, and policies that do nothing, are fixed. From two seeds on there are limits. The interval for this run is
// known where that for another run is.
func TestOneSeed(t *testing.T) {
	w := workload.Build(loadRun(t, "../testdata/labelled/mixed"))
	o := Options{Policies: []policy.Policy{mustPolicy(t, "spark"), mustPolicy(t, "noskew"), mustPolicy(t, "dolly")}}
	var err error
	if o.Policies[2], err = o.Policies[2].With("budget", "0"); err != nil {
		t.Fatal(err)
	}
	for o.Seeds = range 3 {
		if o.Seeds == 0 {
			continue
		}
		s, err := Compare(t.Context(), w, o)
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range []schema.SavingVerdict{schema.CannotTell, schema.Saves, schema.Nothing} {
			r := &s.Results[n]
			known := !math.IsNaN(r.All.Saving.Low) && !math.IsNaN(r.All.Saving.High)
			if here := r.All.ThisRun; known == (math.IsNaN(here.Low) || math.IsNaN(here.High)) || known && !(here.Low <= here.Mean && here.Mean <= here.High) {
				t.Errorf("%s under %d seeds: %+v in this run, %+v in another", r.Name, o.Seeds, here, r.All.Saving)
			}
			noted := slices.Contains(s.notes(r), oneSeed)
			switch {
			case n == 0 && o.Seeds == 1:
				if known || !noted || r.Verdict(0) != want {
					t.Errorf("%s under one seed: %+v, %s, noted %v", r.Name, r.All.Saving, r.Verdict(0), noted)
				}
				if text := encode(assume(r, &s)); !strings.Contains(text, ",null,null]") {
					t.Errorf("assumptions of one seed: %s", text)
				}
			case n == 0:
				if !known || r.All.Saving.High-r.All.Saving.Low <= 0 || noted {
					t.Errorf("%s under two seeds: %+v, noted %v", r.Name, r.All.Saving, noted)
				}
			default:
				if r.All.Saving.High != r.All.Saving.Low || r.Verdict(0) != want {
					t.Errorf("%s, which is the same in any run, under %d seeds: %+v, %s", r.Name, o.Seeds, r.All.Saving, r.Verdict(0))
				}
			}
		}
	}
}

// However the model is drawn, a log takes as long as it did under no policy: draws move what would have been, and not what was.
func TestDrawsKeepTheLog(t *testing.T) {
	logs, _ := filepath.Glob("../testdata/labelled/[bm]*")
	losers := 0
	var plain, drawn replay.Sim
	var sample workload.Sample // of all logs: what it holds of one must not reach the next
	for _, dir := range logs {
		w := workload.Build(loadRun(t, dir))
		for _, p := range w.Pools {
			losers += len(p.Losers)
			want := plain.Run(p, replay.Options{})
			for seed := range int64(3) {
				got := drawn.Run(sample.Draw(p, seed), replay.Options{})
				for j := range want.Jobs {
					if got.Jobs[j].Took != want.Jobs[j].Took {
						t.Errorf("%s, seed %d: job %d takes %d µs, and took %d", filepath.Base(dir), seed, j, got.Jobs[j].Took, want.Jobs[j].Took)
					}
				}
			}
		}
	}
	if losers == 0 && strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "corpus") {
		t.Error("no attempt lost against a copy")
	}
	t.Logf("%d attempts lost against copies in %d logs", losers, len(logs))
}

// However much runs differ, no job saves more than the time it takes; with one seed the limits stay unknown.
func TestSavingIsAtMostTheTime(t *testing.T) {
	g := (&groupTotal{sum: 4, other: []float64{-1000, 900, 12, 30}, same: []float64{1, 1, 1, 1}, varies: true, before: []float64{6, 4}}).group()
	if g.Saving.Mean != 1 || g.Saving.High != 10 || !(g.Saving.Low < -1000) {
		t.Errorf("jobs of 10 s save %+v", g.Saving)
	}
	if one := (&groupTotal{sum: 4, other: []float64{4}, same: []float64{4}, varies: true, before: []float64{10}}).group(); !math.IsNaN(one.Saving.High) {
		t.Errorf("one seed gives %+v", one.Saving)
	}
}
