package published

import (
	"context"
	"embed"
	"fmt"

	"straggler/whatif/workload"
)

// clusters are the clusters and workloads of the papers, with the numbers that the papers give, and assumptions for the others.
//
//go:embed clusters/*.yaml
var clusters embed.FS

// clusterFile reads one of them.
func clusterFile(name string) (*workload.File, error) {
	file := "clusters/" + name + ".yaml"
	data, err := clusters.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("published: %w", err)
	}
	return workload.ParseFile(file, data)
}

// draw returns the pool of the cluster in a file.
func draw(ctx context.Context, f *workload.File, seed int64) (*workload.Pool, error) {
	pl, err := f.Plan(ctx, seed, workload.Source{})
	if err != nil {
		return nil, err
	}
	return pl.Build()
}

// assumedIn returns how the experiment of a file is rebuilt.
func assumedIn(f *workload.File) []string {
	how := []string{"Rebuilt from " + f.Source + "."}
	for _, a := range f.Assumed {
		how = append(how, "Assumed: "+a+".")
	}
	return how
}
