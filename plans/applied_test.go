package plans

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/schema"
)

// Advice works: testdata/lab.py --applied pasted its settings and hints unchanged into a real session. With a hint the query
// has the requested operator, and with settings its skewed partitions were split; the query for which the advice was given
// had neither.
func TestAppliedAdvice(t *testing.T) {
	type wanted struct {
		Operator, Detail string
		Split            bool
	}
	cases := 0
	for log, advised := range map[string]string{"spark3-applied": "spark3-aqe-off", "spark3-shapes-applied": "spark3-shapes-aqe-off"} {
		text, err := os.ReadFile("testdata/" + log + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var truth struct{ Queries map[string][]wanted }
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		before, after := finalPlans(t, advised), finalPlans(t, log)
		has := func(plan []schema.PlanNode, w wanted) bool {
			for _, n := range plan {
				if w.Split && n.Split && strings.HasSuffix(n.Operator, "Join") || w.Operator == n.Operator && strings.Contains(n.Detail.V, w.Detail) {
					return true
				}
			}
			return false
		}
		for name, want := range truth.Queries {
			cases++
			query, _, _ := strings.Cut(name, " by ")
			if len(before[query]) == 0 || has(before[query], want[0]) {
				t.Errorf("%s: without the advice %s has what it is to bring, or no plan", advised, query)
			}
			if !has(after[name], want[0]) {
				t.Errorf("%s: %s did not bring %+v", log, name, want[0])
			}
		}
	}
	if cases < 15 {
		t.Errorf("only %d cases", cases)
	}
}

// finalPlans returns the operators that each query of a log ran, by its description.
func finalPlans(t *testing.T, log string) map[string][]schema.PlanNode {
	_, eng := analysed(t, "testdata/"+log+".zstd")
	type node struct {
		Description schema.Null[string] `col:"description"`
		Operator    string              `col:"operator"`
		Detail      schema.Null[string] `col:"detail"`
		Split       bool                `col:"split"`
	}
	plans := map[string][]schema.PlanNode{}
	for n, err := range engine.Read[node](t.Context(), eng, "SELECT q.description, n.operator, n.detail, n.split FROM queries q JOIN plan_nodes n ON n.query_id = q.query_id WHERE n.plan = '"+string(schema.FinalPlan)+"'") {
		if err != nil {
			t.Fatal(err)
		}
		plans[n.Description.V] = append(plans[n.Description.V], schema.PlanNode{Operator: n.Operator, Detail: n.Detail, Split: n.Split})
	}
	return plans
}
