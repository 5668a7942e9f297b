package published

import (
	"math"
	"testing"
)

// Jobs of at most ten tasks (DOLLY §2.2) have no more over all of their phases, or in each, and their number is the paper's.
func TestSmallJobs(t *testing.T) {
	for i := range traces {
		x := &traces[i]
		for _, form := range []jobForm{{1, 1, false}, {2, 3, false}, {2, 10, false}, {6, 3, false}, {2, 3, true}, {6, 3, true}} {
			pool, err := x.cluster(1, straggling{p: 0.1, large: 0.1}, 0.2, form).Build()
			if err != nil {
				t.Fatal(err)
			}
			small := 0
			for j := range pool.Jobs {
				if pool.JobName(j) != "small" {
					continue
				}
				small++
				n, phases := pool.JobTasks(j), 1
				if form.each {
					phases = form.phases
				}
				if n%phases != 0 || n/phases < form.least || n/phases > 10 || n < form.phases {
					t.Errorf("%s: a small job has %d tasks, want %+v and at most ten", x.name, n, form)
				}
			}
			if share, want := float64(small)/float64(len(pool.Jobs)), map[string]float64{"Facebook": 0.82, "Bing": 0.61}[x.name]; share < want-0.01 || share > want+0.01 {
				t.Errorf("%s: %.2f of the jobs are small, want about %.2f", x.name, share, want)
			}
		}
	}
}

// At the median rate, the jobs of a trace gain what DOLLY §2.1.1 says: 47 and 29 %, and those of at most ten tasks 49 and 38 %.
func TestStraggling(t *testing.T) {
	if testing.Short() {
		t.Skip("solves for the stragglers of six workloads")
	}
	solver := table{lab: shipped}
	solver.solved = solvedOnce
	ideal, err := named("medianrate")
	if err != nil {
		t.Fatal(err)
	}
	for i := range traces {
		x, seed := &traces[i], uint64(i)+1
		forms := dollyForms[:]
		if x.name == "Bing" { // §5.3
			forms = append(forms, jobForm{2, 3, true}, jobForm{6, 3, true})
		}
		for _, form := range forms {
			s, err := solver.straggling(t.Context(), x, seed, form)
			if err != nil {
				t.Fatal(err)
			}
			pool, err := x.cluster(seed, s, dollyLoad, form).Build()
			if err != nil {
				t.Fatal(err)
			}
			g, err := gainsUnder(t.Context(), pool, ideal, 1)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(g.all-x.ideal) > 0.01 || math.Abs(g.small-x.idealSmall) > 0.01 {
				t.Errorf("%s, %+v: jobs gain %.3f and small ones %.3f, want %.2f and %.2f", x.name, form, g.all, g.small, x.ideal, x.idealSmall)
			}
		}
	}
}
