package plans

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/store"
)

// expected is the truth about a query according to testdata/lab.py.
type expected struct {
	Found   string // the kind of the finding, if it is not skew
	Kind    string
	Keys    string
	Side    string
	Source  string
	Other   string
	Split   bool
	Unsplit bool // a join of which adaptive execution splits no side with any settings
}

// analysed returns a store of a log on which detect and causes have run.
func analysed(t *testing.T, log string) (*store.Store, engine.Engine) {
	t.Helper()
	ctx := t.Context()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if _, err := run.Run(ctx, st, []ingest.Format{spark.Format()}, []string{log}, run.Options{}); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	if _, err := detect.Run(ctx, st, eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.Run(ctx, st, eng, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	return st, eng
}

// Real Spark with skew at known places, with adaptive execution on and off: operator, keys, side and tables are right in at
// least 95 % of the queries, even queries have no findings, and no settings are advised where they do not help.
func TestLab(t *testing.T) {
	truths, _ := filepath.Glob("testdata/*aqe*.json")
	cases, right := 0, 0
	for _, name := range truths {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var truth struct {
			AQE     bool
			Queries map[string][]expected // empty for even queries; otherwise the first must be found, and the others may be
		}
		if err := json.Unmarshal(text, &truth); err != nil {
			t.Fatal(err)
		}
		_, eng := analysed(t, strings.TrimSuffix(name, ".json")+".zstd")
		found, err := find(t.Context(), eng)
		if err != nil {
			t.Fatal(err)
		}
		names := map[schema.Key]string{} // of a query, or of the one that started it: Delta merges with several
		for q, err := range engine.Read[struct {
			ID          schema.Key          `col:"query_id"`
			Description schema.Null[string] `col:"description"`
		}](t.Context(), eng, "SELECT q.query_id, coalesce(r.description, q.description) AS description FROM queries q LEFT JOIN queries r ON r.query_id = q.root_id") {
			if err != nil {
				t.Fatal(err)
			}
			names[q.ID] = q.Description.V
		}
		byCase := map[string][]schema.QueryFinding{}
		for _, f := range found {
			byCase[names[f.QueryID]] = append(byCase[names[f.QueryID]], f)
			if f.Remedy.V == schema.SplitJoin && !strings.HasSuffix(f.Operator, "Join") {
				t.Errorf("%s: %s: a split is advised for a %s", name, names[f.QueryID], f.Operator)
			}
			if strings.Contains(f.Apply.V, "adaptive.enabled") && truth.AQE {
				t.Errorf("%s: %s: adaptive execution is on, and %q", name, names[f.QueryID], f.Apply.V)
			}
		}
		for query, want := range truth.Queries {
			cases++
			got := byCase[query]
			if len(want) == 0 && len(got) > 0 {
				t.Errorf("%s: %s is even, found %+v", name, query, got)
				continue
			}
			known, first := 0, len(want) == 0
			for i := range got {
				if slices.ContainsFunc(want, func(e expected) bool { return e.is(&got[i]) }) {
					known++
				}
				if len(want) > 0 && want[0].Unsplit && got[i].Remedy.V == schema.SplitJoin {
					t.Errorf("%s: %s: a split is advised, %q", name, query, got[i].Apply.V)
				}
				if strings.Contains(query, "bucketed") && strings.Contains(got[i].Apply.V, "maxPartitionBytes") {
					t.Errorf("%s: %s: a bucket is not read in parts by %q", name, query, got[i].Apply.V)
				}
				first = first || want[0].is(&got[i])
			}
			if first && known == len(got) {
				right++
			} else {
				t.Logf("%s: %s: found %+v, want %+v", name, query, got, want)
			}
		}
	}
	if cases < 15 || float64(right) < 0.95*float64(cases) {
		t.Errorf("%d of %d queries are right", right, cases)
	}
}

func (e *expected) is(f *schema.QueryFinding) bool {
	kind := schema.FindingKind(e.Found)
	switch {
	case e.Split:
		kind = schema.SplitByAQE
	case e.Kind == "scan":
		kind = schema.SkewedScan
	case kind == "":
		kind = schema.SkewedKeys
	}
	operator := map[string]string{"aggregate": "Aggregate", "window": "Window", "exchange": "Exchange", "scan": "Scan", "sort": "Sort"}[e.Kind]
	joins := e.Kind == "join" && (strings.HasSuffix(f.Operator, "Join") || f.Operator == "CartesianProduct")
	return f.Kind == kind && (joins || operator != "" && strings.HasSuffix(f.Operator, operator)) && f.Keys.V == e.Keys && string(f.Side.V) == e.Side &&
		f.Tables.V == e.Source && f.Other.V == e.Other
}

// The same query runs on two nights, with a dimension that outgrew the broadcast threshold on the second, and on two more,
// with the same data but without statistics on the second: it is the same query with another plan, and the joins are those
// that ran.
func TestNights(t *testing.T) {
	nights, _ := filepath.Glob("testdata/*-night[13].json")
	for _, first := range nights {
		var shapes, plans []string
		for _, name := range []string{first, strings.NewReplacer("night1", "night2", "night3", "night4").Replace(first)} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var truth struct {
				Queries map[string]struct{ Join string }
			}
			if err := json.Unmarshal(text, &truth); err != nil {
				t.Fatal(err)
			}
			_, eng := analysed(t, strings.TrimSuffix(name, ".json")+".zstd")
			for q, err := range engine.Read[struct {
				Shape string `col:"shape"`
				Plan  string `col:"plan_fingerprint"`
				Join  string `col:"operator"`
			}](t.Context(), eng, "SELECT q.shape, q.plan_fingerprint, n.operator FROM queries q JOIN plan_nodes n ON n.query_id = q.query_id WHERE q.description = 'by_region' AND n.kind = 'join' AND n.plan = 'final'") {
				if err != nil {
					t.Fatal(err)
				}
				if want := truth.Queries["by_region"].Join; q.Join != want {
					t.Errorf("%s: %s, want %s", name, q.Join, want)
				}
				shapes, plans = append(shapes, q.Shape), append(plans, q.Plan)
			}
		}
		if len(shapes) != 2 || shapes[0] != shapes[1] || plans[0] == plans[1] {
			t.Errorf("%s: shapes %q, plans %q", first, shapes, plans)
		}
	}
	if len(nights) == 0 {
		t.Error("no nights")
	}
}
