package audit

import (
	"strings"
	"testing"

	"straggler/audit/measure"
)

// A query whose join is no longer a broadcast is reported with the difference until the change is normal; other ids, or a
// query that scans other tables, are not a change.
func TestChangedPlans(t *testing.T) {
	night := func(id, start, fingerprint string, operators ...string) *measure.Run {
		return &measure.Run{Group: "nightly", ID: id, Start: start,
			Plans: []measure.Plan{{Query: "by_region", Shape: "s", Fingerprint: fingerprint, Operators: operators}}}
	}
	never := func(string, *measure.Run) bool { return false }
	cfg := &Config{}
	a := night("a", "2026-01-01", "f1", "Scan of orders: parquet, pushed filters [IsNotNull(id)]",
		"BroadcastHashJoin Inner on region_id = id", "BroadcastExchange")
	b := night("b", "2026-01-02", "f2", "Scan of orders: parquet", "SortMergeJoin Inner on region_id = id",
		"Exchange hashpartitioning(region_id)", "Exchange hashpartitioning(id)")
	found := changedPlans(b, []*measure.Run{a}, cfg, never)
	if len(found) != 1 || found[0].Severity != Note {
		t.Fatalf("%+v", found)
	}
	want := "query by_region: no longer Scan of orders: parquet, pushed filters [IsNotNull(id)], BroadcastHashJoin Inner on region_id = id, BroadcastExchange; " +
		"now Scan of orders: parquet, SortMergeJoin Inner on region_id = id, Exchange hashpartitioning(region_id), Exchange hashpartitioning(id)"
	if found[0].Detail != want || !strings.Contains(found[0].SQL, "plan_nodes") {
		t.Errorf("%s", found[0].Detail)
	}
	c := night("c", "2026-01-03", "f2", b.Plans[0].Operators...)
	if again := changedPlans(c, []*measure.Run{a, b}, cfg,
		func(id string, h *measure.Run) bool { return h.ID == "b" }); len(again) != 1 || again[0].ID != found[0].ID {
		t.Errorf("a night later it is still another than what is normal: %+v", again)
	}
	if normal := changedPlans(c, []*measure.Run{a, b}, cfg, func(id string, h *measure.Run) bool { return h.ID == "a" }); len(normal) != 0 {
		t.Errorf("it was accepted: %+v", normal)
	}
	if same := changedPlans(night("d", "2026-01-04", "f1", a.Plans[0].Operators...), []*measure.Run{a}, cfg, never); len(same) != 0 {
		t.Errorf("the same plan: %+v", same)
	}
	other := night("e", "2026-01-05", "f9", "Scan of customers: csv")
	other.Plans[0].Shape = "t"
	if new := changedPlans(other, []*measure.Run{a}, cfg, never); len(new) != 0 {
		t.Errorf("another query of that name: %+v", new)
	}
}

// The reason why a join is no longer a broadcast is given as far as the log shows it: the threshold, the input, or, if both
// are unchanged, what remains. Nothing is said if the log has no sizes, or if no join changed.
func TestOtherJoin(t *testing.T) {
	plan := func(fingerprint, join, threshold string, inputs ...measure.Input) *measure.Plan {
		return &measure.Plan{Query: "q", Fingerprint: fingerprint, Operators: []string{join + " Inner on id = id"}, Broadcast: threshold, Inputs: inputs}
	}
	orders, small, large := measure.Input{Table: "orders", Bytes: 9e9}, measure.Input{Table: "regions", Bytes: 4e6}, measure.Input{Table: "regions", Bytes: 4e7}
	bhj, smj := "BroadcastHashJoin", "SortMergeJoin"
	for name, c := range map[string]struct {
		old, now   *measure.Plan
		want, nope string
	}{
		"estimate": {plan("a", bhj, "", orders, small), plan("b", smj, "", orders, small),
			"what changed is Spark's estimate (statistics that are gone or new), a hint", "has changed:"},
		"about as much": {plan("a", bhj, "", orders, small),
			plan("b", "ShuffledHashJoin", "", orders, measure.Input{Table: "regions", Bytes: 4.3e6}), "Spark's estimate", "has changed:"},
		"back again": {plan("a", smj, "", orders, small), plan("b", bhj, "", orders, small), "Spark's estimate", "has changed:"},
		"grown": {plan("a", bhj, "", orders, small), plan("b", smj, "", orders, large),
			"; what it reads has changed: regions was 3.81 MiB and is 38.1 MiB", "estimate"},
		"rows": {plan("a", bhj, "", measure.Input{Table: "v", Rows: 50}),
			plan("b", smj, "", measure.Input{Table: "v", Rows: 60_000}), "v was 50 rows and is 60000", "estimate"},
		"threshold": {plan("a", bhj, "", orders, small), plan("b", smj, "-1", orders, small),
			"; spark.sql.autoBroadcastJoinThreshold was the default and is -1", "estimate"},
		"no sizes":     {plan("a", bhj, "", measure.Input{Table: "v"}), plan("b", smj, "", measure.Input{Table: "v"}), "now SortMergeJoin", "; its"},
		"old baseline": {plan("a", bhj, ""), plan("b", smj, "", orders, small), "now SortMergeJoin", "; its"},
		"no broadcast": {plan("a", "ShuffledHashJoin", "", orders, small), plan("b", smj, "", orders, small), "now SortMergeJoin", "estimate"},
	} {
		if got := planChange(c.old, c.now); !strings.Contains(got, c.want) || strings.Contains(got, c.nope) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
