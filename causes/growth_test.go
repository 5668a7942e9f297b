package causes

import (
	"strconv"
	"testing"

	"straggler/statements"
)

// With four times the tasks of a phase, including its machines, or four times the phases, each statement of the model runs
// about four times as often, in sorting five times. Loops over nearby tasks are bounded.
func TestGrowth(t *testing.T) {
	program := statements.Build(t, "./testdata/growth", "straggler/causes", "straggler/causes/fit", "straggler/causes/jobcost", "straggler/causes/machines",
		"straggler/causes/model", "straggler/stats", "straggler/causes/testdata/growth")
	for _, c := range []struct {
		of        string
		few, many [3]int // phases, tasks of each, machines
	}{
		{"tasks of a phase", [3]int{1, 2000, 16}, [3]int{1, 8000, 16}},
		{"tasks and machines of a phase", [3]int{1, 1600, 200}, [3]int{1, 6400, 800}},
		{"phases", [3]int{40, 60, 20}, [3]int{160, 60, 20}},
	} {
		run := func(size [3]int) map[string]int {
			return program.Run(t, strconv.Itoa(size[0]), strconv.Itoa(size[1]), strconv.Itoa(size[2]))
		}
		statements.Linear(t, c.of, c.many[0]*c.many[1], 1, run(c.few), run(c.many))
	}
}
