package published

import (
	"embed"
	"fmt"
	"strings"

	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// clusters are the papers' clusters and workloads by the numbers that the papers give, and what is assumed where they give
// none.
//
//go:embed clusters/*.yaml
var clusters embed.FS

// clusterFile is one of them.
func clusterFile(name string) (*scenario.File, error) {
	file := "clusters/" + name + ".yaml"
	data, err := clusters.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("published: %w", err)
	}
	return scenario.Parse(file, data)
}

// draw is the workload of a cluster of a file.
func draw(f *scenario.File, seed uint64) (*workload.Workload, error) {
	c, err := f.Cluster(seed)
	if err != nil {
		return nil, err
	}
	return build(c), nil
}

// assumedIn is the note of the rows that a file gives.
func assumedIn(f *scenario.File) string {
	return "rebuilt from " + f.Source + ". Assumed: " + strings.Join(f.Assumed, "; ")
}
