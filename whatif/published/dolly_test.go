package published

import "testing"

// Jobs of at most ten tasks (DOLLY §2.2) have no more over all of their phases, and their number is the paper's.
func TestSmallJobs(t *testing.T) {
	for i := range traces {
		x := &traces[i]
		for _, phases := range []int{1, 2, 3, 6} {
			pool, err := x.cluster(1, straggling{p: 0.1, large: 0.1}, 0.2, phases).Build()
			if err != nil {
				t.Fatal(err)
			}
			small := 0
			for j := range pool.Jobs {
				if pool.JobName(j) != "small" {
					continue
				}
				small++
				if n := pool.JobTasks(j); n < phases || n > 10 {
					t.Errorf("%s: a small job of %d phases has %d tasks", x.name, phases, n)
				}
			}
			if share, want := float64(small)/float64(len(pool.Jobs)), map[string]float64{"Facebook": 0.82, "Bing": 0.61}[x.name]; share < want-0.01 || share > want+0.01 {
				t.Errorf("%s: %.2f of the jobs are small, want about %.2f", x.name, share, want)
			}
		}
	}
}
