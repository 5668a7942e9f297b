package policy_test

import (
	"strconv"
	"testing"

	"straggler/statements"
	"straggler/whatif/policy"
)

// Four times the tasks of a phase, or its machines with them, run each statement of a replay and of its policy about four times
// as often.
func TestGrowth(t *testing.T) {
	program := statements.Build(t, "./testdata/growth", "straggler/whatif/heap", "straggler/whatif/policy", "straggler/whatif/replay",
		"straggler/whatif/policy/testdata/growth")
	settings := map[string][]string{"dolly": {"dolly.budget=100", "dolly.ceiling=100"}} // so that a phase of any size is cloned
	for _, spec := range policy.Specs() {
		if spec.Ideal {
			continue
		}
		for _, c := range []struct {
			of        string
			few, many [2]int // tasks, machines
		}{
			{"tasks", [2]int{1000, 50}, [2]int{4000, 50}},
			{"tasks and machines", [2]int{1000, 125}, [2]int{4000, 500}},
		} {
			run := func(size [2]int) map[string]int {
				return program.Run(t, append([]string{spec.Name, strconv.Itoa(size[0]), strconv.Itoa(size[1])}, settings[spec.Name]...)...)
			}
			statements.Linear(t, c.of+" under "+spec.Name, c.many[0], 50, run(c.few), run(c.many))
		}
	}
}
