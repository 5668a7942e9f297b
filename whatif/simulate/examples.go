package simulate

import (
	"embed"
	"fmt"

	"straggler/spelling"
	"straggler/whatif/workload"
)

//go:embed examples/*.yaml
var examples embed.FS

// exampleNames are the workloads that are built in, in the order in which they are listed.
var exampleNames = []string{"fair", "small-jobs", "sticky", "hotspot", "batch", "pools", "stragglers", "mantri", "quincy"}

// Examples returns the workloads that are built in.
func Examples() []*workload.File {
	var out []*workload.File
	for _, name := range exampleNames {
		w, err := Example(name)
		if err != nil { // they are ours, and a test reads them
			panic(err)
		}
		out = append(out, w)
	}
	return out
}

// Example returns a workload that is built in.
func Example(name string) (*workload.File, error) {
	text, err := ExampleText(name)
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}

// ExampleText is its file.
func ExampleText(name string) ([]byte, error) {
	text, err := examples.ReadFile("examples/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("%w: there is no example %q; %s", workload.ErrFile, name, spelling.Choices(name, exampleNames))
	}
	return text, nil
}
