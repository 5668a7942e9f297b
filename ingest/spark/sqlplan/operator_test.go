package sqlplan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest/read"
	"straggler/schema"
)

// The texts are those of real plans. A column keeps its name and loses its id, a literal is removed, and an operator of a
// native engine gets Spark's name.
func TestOperators(t *testing.T) {
	for _, c := range []struct {
		name, simple string
		want         Operator
	}{
		{"SortMergeJoin", "SortMergeJoin [cs_item_sk#750, cs_order_number#752], [cr_item_sk#567, cr_order_number#581], LeftOuter",
			Operator{Kind: schema.JoinNode, Name: "SortMergeJoin", Keys: "cs_item_sk, cs_order_number",
				RightKeys: "cr_item_sk, cr_order_number", JoinType: "LeftOuter"}},
		{"SortMergeJoin(skew=true)", "SortMergeJoin(skew=true) [a#1L], [b#2L], Inner",
			Operator{Kind: schema.JoinNode, Name: "SortMergeJoin", Keys: "a", RightKeys: "b", JoinType: "Inner", Split: true}},
		{"BroadcastHashJoin", "BroadcastHashJoin [cast(a#1 as bigint)], [b#2L], Inner, BuildRight, (name#3 = John Smith), false",
			Operator{Kind: schema.JoinNode, Name: "BroadcastHashJoin", Keys: "cast(a as bigint)", RightKeys: "b", JoinType: "Inner", Build: schema.RightSide}},
		{"GpuShuffledHashJoin", "GpuShuffledHashJoin [a#1], [b#2], Inner, GpuBuildLeft",
			Operator{Kind: schema.JoinNode, Name: "ShuffledHashJoin", Engine: schema.RapidsEngine, Keys: "a", RightKeys: "b",
				JoinType: "Inner", Build: schema.LeftSide}},
		{"PhotonShuffledHashJoin", "PhotonShuffledHashJoin [a#1], [b#2], Inner, BuildRight",
			Operator{Kind: schema.JoinNode, Name: "ShuffledHashJoin", Engine: schema.PhotonEngine, Keys: "a", RightKeys: "b",
				JoinType: "Inner", Build: schema.RightSide}},
		{"SortMergeJoinExecTransformer", "SortMergeJoinExecTransformer [a#1], [b#2], Inner",
			Operator{Kind: schema.JoinNode, Name: "SortMergeJoin", Engine: schema.GlutenEngine, Keys: "a", RightKeys: "b", JoinType: "Inner"}},
		{"CometSortMergeJoin", "CometSortMergeJoin [a#1], [b#2], Inner",
			Operator{Kind: schema.JoinNode, Name: "SortMergeJoin", Engine: schema.CometEngine, Keys: "a", RightKeys: "b", JoinType: "Inner"}},
		{"Exchange", "Exchange hashpartitioning(a#1, coalesce(b#2, 7), 200), ENSURE_REQUIREMENTS, [plan_id=1528]",
			Operator{Kind: schema.ExchangeNode, Name: "Exchange", Keys: "a, coalesce(b, ?)", Partitions: 200, PlanID: "1528",
				Detail: "hashpartitioning(a, coalesce(b, ?))"}},
		{"GpuColumnarExchange", "GpuColumnarExchange gpuhashpartitioning(Product#10, Country#12, 200), ENSURE_REQUIREMENTS, [id=#150]",
			Operator{Kind: schema.ExchangeNode, Name: "Exchange", Engine: schema.RapidsEngine, Keys: "Product, Country",
				Partitions: 200, PlanID: "150", Detail: "hashpartitioning(Product, Country)"}},
		{"Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=3]",
			Operator{Kind: schema.ExchangeNode, Name: "Exchange", Partitions: 1, PlanID: "3", Detail: "SinglePartition"}},
		{"HashAggregate", "HashAggregate(keys=[day#1, floor((ts#2 / 3600.5))#9L], functions=[partial_sum(v#3), partial_count(1)])",
			Operator{Kind: schema.AggregateNode, Name: "HashAggregate", Keys: "day, floor((ts / ?))",
				Detail: "(keys=[day, floor((ts / ?))], functions=[partial_sum(v), partial_count(?)])"}},
		{"Window", "Window [row_number() windowspecdefinition(k#1, v#2 DESC NULLS LAST, specifiedwindowframe(RowFrame, unboundedpreceding$(), currentrow$())) AS rn#5], [k#1], [v#2 DESC NULLS LAST]",
			Operator{Kind: schema.WindowNode, Name: "Window", Keys: "k"}},
		{"AQEShuffleRead", "AQEShuffleRead coalesced and skewed", Operator{Kind: schema.ShuffleReadNode, Name: "AQEShuffleRead", Coalesced: true, Split: true}},
		{"CustomShuffleReader", "CustomShuffleReader coalesced", Operator{Kind: schema.ShuffleReadNode, Name: "CustomShuffleReader", Coalesced: true}},
		{"Filter", "Filter ((isnotnull(name#1) AND (name#1 = John Smith)) AND ssn#2 IN (123-45-6789,987-65-4321))",
			Operator{Kind: schema.FilterNode, Name: "Filter", Detail: "((isnotnull(name) AND (name = ?)) AND ssn IN (?,?))"}},
		{"Filter", "Filter StartsWith(name#4, Jürgen \"O'Neil)", Operator{Kind: schema.FilterNode, Name: "Filter"}},
		{"Scan parquet shop.orders", "FileScan parquet shop.orders[id#1] Batched: true, Location: InMemoryFileIndex(1 paths)[s3://key:secret@shop/orders], PartitionFilters: []",
			Operator{Kind: schema.ScanNode, Name: "Scan", Source: "shop.orders", Path: "s3://shop/orders", Detail: "parquet"}},
		{"BatchScan ice.shop.orders", "BatchScan ice.shop.orders[id#1L, name#2] ice.shop.orders (branch=null) [filters=id IS NOT NULL, (name = 'Smith, John = ''x''' OR name IN ('O''Neil')), day >= 123, groupedBy=] RuntimeFilters: []",
			Operator{Kind: schema.ScanNode, Name: "BatchScan", Source: "ice.shop.orders", Detail: "ice.shop.orders, pushed filters on id, name, day"}},
		{"BatchScan parquet file:/d/orders", "BatchScan parquet file:/d/orders[id#1L] ParquetScan DataFilters: [(id#1L > 123)], Format: parquet, Location: InMemoryFileIndex(1 paths)[file:/d/orders/day=3/part-0001.parquet], PartitionFilters: [], PushedAggregation: [], PushedFilters: [IsNotNull(id), GreaterThan(id,123)] RuntimeFilters: []",
			Operator{Kind: schema.ScanNode, Name: "BatchScan", Source: "orders", Path: "file:/d/orders/day=3/part-0001.parquet",
				Detail: "parquet, pushed filters [IsNotNull(id), GreaterThan(id,?)]"}},
		{"Scan json ", "FileScan json [add#1] Batched: false, Location: DeltaLogFileIndex(1 paths)[file:/d/shop/orders/_delta_log/00000000000000000000.json]",
			Operator{Kind: schema.ScanNode, Name: "Scan", Source: "orders/_delta_log", Path: "file:/d/shop/orders/_delta_log/00000000000000000000.json"}},
		{"Scan parquet ", "FileScan parquet [id#1L] Batched: true, Location: InMemoryFileIndex(3 paths)[file:/d/orders/day=3/part-0001.parquet, ...",
			Operator{Kind: schema.ScanNode, Name: "Scan", Source: "orders", Path: "file:/d/orders/day=3/part-0001.parquet", Detail: ""}},
		{"Sort", "Sort [a#1L ASC NULLS FIRST, b#2 DESC NULLS LAST], true, 0", Operator{Kind: schema.SortNode, Name: "Sort", Keys: "a, b DESC"}},
		{"Scan In-memory table shop", "Scan In-memory table shop [id#1]", Operator{Kind: schema.ScanNode, Name: "InMemoryTableScan", Source: "shop"}},
		{"InMemoryTableScan", "InMemoryTableScan [id#1]", Operator{Kind: schema.ScanNode, Name: "InMemoryTableScan"}},
		{"ReusedExchange", "ReusedExchange [g#9L], Exchange hashpartitioning(g#1L, 24), ENSURE_REQUIREMENTS, [plan_id=5]",
			Operator{Kind: schema.ExchangeNode, Name: "ReusedExchange", Keys: "g", Partitions: 24, PlanID: "5", Reuses: true, Detail: "hashpartitioning(g)"}},
		{"ReusedExchange", "ReusedExchange [g#9L], BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]),false), [plan_id=6]",
			Operator{Kind: schema.BroadcastNode, Name: "ReusedExchange", PlanID: "6", Reuses: true}},
		{"Exchange", "Exchange rangepartitioning(a#1 ASC NULLS FIRST, b#2 DESC NULLS LAST, c#3 ASC NULLS LAST, 200), ENSURE_REQUIREMENTS, [plan_id=7]",
			Operator{Kind: schema.ExchangeNode, Name: "Exchange", Keys: "a, b DESC, c ASC NULLS LAST", Partitions: 200,
				PlanID: "7", Detail: "rangepartitioning(a, b DESC, c ASC NULLS LAST)"}},
		{"FlatMapGroupsInPandas", "FlatMapGroupsInPandas [k#1L], slow(k#1L, v#2)#9, [k#10L, s#11]",
			Operator{Kind: schema.AggregateNode, Name: "FlatMapGroupsInPandas", Keys: "k"}},
		{"FlatMapCoGroupsInPandas", "FlatMapCoGroupsInPandas [k#1L], [j#2L], both(k#1L, v#3, j#2L)#9, [k#10L]",
			Operator{Kind: schema.JoinNode, Name: "FlatMapCoGroupsInPandas", Keys: "k", RightKeys: "j"}},
		{"Scan JDBCRelation(shop.TBLS) [numPartitions=1] ",
			"Scan JDBCRelation(shop.TBLS) [numPartitions=1] [TBL_ID#24L] PushedFilters: [], ReadSchema: struct<TBL_ID:bigint>",
			Operator{Kind: schema.ScanNode, Name: "Scan", Source: "shop.TBLS", Detail: "JDBCRelation"}},
		{"Scan JDBCRelation((select*from(t)where(n='John'))) [numPartitions=1] ", "Scan JDBCRelation((select*from(t)where(n='John'))) [numPartitions=1] [n#24]",
			Operator{Kind: schema.ScanNode, Name: "Scan", Detail: "JDBCRelation"}},
		{"GpuColumnarExchange", "GpuColumnarExchange gpusinglepartitioning$(), ENSURE_REQUIREMENTS, [id=#70]",
			Operator{Kind: schema.ExchangeNode, Name: "Exchange", Engine: schema.RapidsEngine, Partitions: 1, PlanID: "70", Detail: "SinglePartition"}},
		{"AtomicReplaceTableAsSelect", "AtomicReplaceTableAsSelect [num_affected_rows#213L], com.example.Catalog@4a023a26, default.people", Operator{Kind: schema.WriteNode, Name: "AtomicReplaceTableAsSelect"}},
		{"WholeStageCodegen (18)", "WholeStageCodegen (18)", Operator{Kind: schema.WrapperNode, Name: "WholeStageCodegen", Codegen: 18}},
	} {
		want := c.want
		if want.Engine == "" {
			want.Engine = schema.SparkEngine
		}
		got := operatorOf(&Node{Name: c.name, Simple: c.simple}, false)
		if want.Detail == "" {
			got.Detail = ""
		}
		want.Partitions = map[bool]int64{true: want.Partitions, false: None}[want.Partitions > 0]
		want.Codegen = map[bool]int32{true: want.Codegen, false: None}[want.Codegen > 0]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", c.simple, diff)
		}
		whole := operatorOf(&Node{Name: c.name, Simple: c.simple}, false)
		for _, personal := range []string{"John", "Smith", "123", "4321", "rgen", "Neil", "secret"} {
			if all := fmt.Sprint(whole); strings.Contains(all, personal) {
				t.Errorf("%s: %s keeps %q", c.simple, all, personal)
			}
		}
	}
}

func TestFiltersOfSources(t *testing.T) {
	got := cleanFilters("[IsNotNull(d_year), EqualTo(d_year,2000), Or(EqualTo(name,John (x) Smith),In(ssn, [1-2,EqualTo])), StringStartsWith(city,New York)]", false)
	want := "[IsNotNull(d_year), EqualTo(d_year,?), Or(EqualTo(name,?(?)?),In(ssn, [?,?])), StringStartsWith(city,?)]"
	if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDescriptions(t *testing.T) {
	for s, want := range map[string]string{
		"count at <console>:25": "count at <console>:25",
		"select * from people where name = 'John' and age > 42 limit 10":    "select * from people where name = ? and age > ? limit ?",
		"select * from people where name = 'John at Home:1' -- x at y.sc:9": "select * from people where name = ? -- x at y.sc:?",
		"select 'cut in the mid": "select ?",
		"query72":                "query72",
		"by_day\nid = 8d25979b-ef1c-49f1-a997-3dce26aed479\nrunId = 8fb405b3-888a-4d55-93be-72206156e386\nbatch = 7": "micro-batch of stream by_day",
		"<br/>id = 8d25979b-ef1c<br/>runId = 8fb405b3<br/>batch = init":                                              "micro-batch of stream 8d25979b-ef1c",
	} {
		if got := CleanSQL(s, false); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
		if got := CleanSQL(s, true); got != s && !strings.Contains(s, "runId") {
			t.Errorf("kept: %q", got)
		}
	}
}

// FuzzOperator reads texts of operators. For any text, quoted literals and ids are removed unless literals are kept, and
// other ids of the same columns change nothing.
func FuzzOperator(f *testing.F) {
	log, err := os.ReadFile("../testdata/plans.log")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		var e struct {
			Plan *seed `json:"sparkPlanInfo"`
		}
		if json.Unmarshal(line, &e) == nil && e.Plan != nil {
			e.Plan.add(f)
		}
	}
	f.Add("SortMergeJoin(skew=true)", "SortMergeJoin(skew=true) [a#1L, `b c`#2], [d#3], LeftOuter, (name#4 = O'Neil)")
	f.Add("ReusedExchange", "ReusedExchange [g#9L], Exchange hashpartitioning(g#1L, 24), ENSURE_REQUIREMENTS, [plan_id=5]")
	f.Add("Window", "Window [rank(v#2) windowspecdefinition(k#1, v#2 DESC NULLS LAST)], [k#1], [v#2 DESC NULLS LAST]")
	f.Add("Scan \x03\x03\x03", "0")
	f.Fuzz(func(t *testing.T, name, simple string) {
		of := func(simple string, keep bool) Operator {
			return operatorOf(&Node{Name: read.Text(name), Simple: read.Text(simple)}, keep)
		}
		got := of(simple, false)
		for _, text := range []string{got.Keys, got.RightKeys, got.Detail} {
			if bare := quotedName.ReplaceAllString(text, ""); got.Kind != schema.ScanNode && strings.ContainsAny(bare, "'\"") || columnID.MatchString(bare) {
				t.Errorf("%q of %q", text, simple)
			}
		}
		of(simple, true)
		if strings.Contains(simple, "`") || noID.MatchString(simple) {
			return
		}
		other := of(columnID.ReplaceAllString(simple, "${0}0"), false)
		other.PlanID = got.PlanID
		if other != got {
			t.Errorf("other ids: %+v, want %+v", other, got)
		}
	})
}

var (
	columnID   = regexp.MustCompile(`#[0-9]+`)
	noID       = regexp.MustCompile(`#[0-9]+L?[^][ ,()]`) // something else that begins like an id
	quotedName = regexp.MustCompile("`[^`]*`?")           // of a column, kept whatever it contains
)

// seed is a plan of a log.
type seed struct {
	Node     string `json:"nodeName"`
	Simple   string `json:"simpleString"`
	Children []*seed
}

func (s *seed) add(f *testing.F) {
	f.Add(s.Node, s.Simple)
	for _, c := range s.Children {
		c.add(f)
	}
}
