package sqlplan

import (
	"fmt"
	"strings"
	"testing"
)

// What adaptive execution inserts into a plan, ids, literals and sizes are not part of its fingerprint; another join is.
func TestFingerprint(t *testing.T) {
	make := func(texts ...string) *Tree {
		var nodes []Node
		for i, s := range texts {
			name := firstPart(strings.ReplaceAll(s, "(keys", " (keys"))
			nodes = append(nodes, Node{Parent: int32(i) - 1, Name: name, Simple: s})
		}
		return NewReader(false, 0).Tree(nodes)
	}
	first := make("AdaptiveSparkPlan isFinalPlan=false", "HashAggregate(keys=[k#1L], functions=[count(1)])",
		"Exchange hashpartitioning(k#1L, 200), ENSURE_REQUIREMENTS, [plan_id=1]", "Filter (v#2 > 10)")
	same := make("WholeStageCodegen", "HashAggregate(keys=[k#71L], functions=[count(1)])", "AQEShuffleRead coalesced",
		"ShuffleQueryStage 0, Statistics(sizeInBytes=2.4 KiB, rowCount=1)",
		"Exchange hashpartitioning(k#71L, 64), ENSURE_REQUIREMENTS, [plan_id=99]", "Filter (v#72 > 77)")
	other := make("HashAggregate(keys=[k#1L], functions=[count(1)])", "Exchange hashpartitioning(j#1L, 200)", "Filter (v#2 > 10)")
	if first.Fingerprint() != same.Fingerprint() {
		t.Error("the same plan has another fingerprint")
	}
	if first.Fingerprint() == other.Fingerprint() || first.Shape() != other.Shape() {
		t.Error("another exchange is another fingerprint and the same shape")
	}
	for i := range first.Nodes {
		if len(first.Hash(i)) != 16 {
			t.Error(first.Hash(i))
		}
	}
}

// The rows of a subquery that prunes a scan, such as one in a merge into an Iceberg table, do not reach the operators above.
func TestSubqueryTables(t *testing.T) {
	node := func(parent int32, name, simple string) Node {
		return Node{Parent: parent, Name: name, Simple: simple}
	}
	tr := NewReader(false, 0).Tree([]Node{node(None, "Exchange", "Exchange hashpartitioning(customer_id#1L, 24)"),
		node(0, "BatchScan ice.shop.orders", "BatchScan ice.shop.orders[customer_id#1L]"),
		node(1, "Subquery", "Subquery subquery#3, [id=#9]"), node(2, "BatchScan ice.shop.customers", "BatchScan ice.shop.customers[id#2L]")})
	want := [][]string{{"ice.shop.orders"}, {"ice.shop.orders"}, {"ice.shop.customers"}, {"ice.shop.customers"}}
	if fmt.Sprint(tr.Tables) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", tr.Tables, want)
	}
}

// What Spark repeats below a reused exchange is left out: it ran once, and its scans are named above both.
func TestReusedExchange(t *testing.T) {
	node := func(parent int32, name, simple string) Node {
		return Node{Parent: parent, Name: name, Simple: simple}
	}
	reused := "ReusedExchange [g#9L], Exchange hashpartitioning(g#1L, 24), ENSURE_REQUIREMENTS, [plan_id=5]"
	nodes := []Node{node(None, "SortMergeJoin", "SortMergeJoin [g#9L], [g#1L], Inner"), node(0, "ReusedExchange", reused),
		node(1, "Exchange", reused[len("ReusedExchange [g#9L], "):]),
		node(2, "Scan", "Scan parquet shop.few"), node(0, "Sort", "Sort [g#1L ASC NULLS FIRST]"),
		node(4, "Exchange", reused[len("ReusedExchange [g#9L], "):]), node(5, "Scan parquet shop.few", "FileScan parquet shop.few[g#1L]")}
	tr := NewReader(true, 0).Tree(nodes)
	var names []string
	for i := range tr.Nodes {
		names = append(names, fmt.Sprintf("%s under %d of %s reuses %d", tr.Nodes[i].Name, tr.Raw[i].Parent, strings.Join(tr.Tables[i], ", "), tr.Reuses[i]))
	}
	want := "SortMergeJoin under -1 of shop.few reuses -1; ReusedExchange under 0 of shop.few reuses 3; Sort under 0 of shop.few reuses -1; Exchange under 2 of shop.few reuses -1; Scan under 3 of shop.few reuses -1"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// If the original is nowhere in the plan, what is below the reused exchange is all that is known.
	if tr = NewReader(false, 0).Tree(nodes[:4]); len(tr.Nodes) != 4 || tr.Reuses[1] != None {
		t.Errorf("%d operators, reuses %v", len(tr.Nodes), tr.Reuses)
	}
}
