package plans

import (
	"math"
	"strings"
	"testing"

	"straggler/schema"
)

// joined returns a query that joins orders with customers, with a plan as Spark writes it.
func joined(operator, joinType string, settings map[string]string, version string) *query {
	q := &query{settings: settings, rows: map[counter]float64{}, byPhase: map[schema.Key]*phase{}}
	q.QueryID, q.Version = 1, schema.Some(version)
	text := func(s string) schema.Null[string] { return schema.Null[string]{V: s, OK: s != ""} }
	add := func(id, parent schema.Key, kind schema.NodeKind, name, keys, source, tables string) {
		n := operatorRow{QueryID: 1, NodeID: id, Position: int32(id), Kind: kind, Operator: name, Engine: schema.SparkEngine,
			Keys: text(keys), Source: text(source), Tables: text(tables), JoinType: text(joinType)}
		if parent > 0 {
			n.ParentID = schema.Some(parent)
		}
		q.tree.add(n)
	}
	add(1, 0, schema.AggregateNode, "HashAggregate", "", "", "orders, customers")
	q.tree.nodes[0].Detail = text("(keys=[], functions=[partial_sum(amount)])")
	add(2, 1, schema.JoinNode, operator, "customer_id", "", "orders, customers")
	add(3, 2, schema.WrapperNode, "ShuffleQueryStage", "", "", "orders")
	add(4, 3, schema.ExchangeNode, "Exchange", "customer_id", "", "orders")
	add(5, 4, schema.ScanNode, "Scan", "", "orders", "orders")
	add(6, 2, schema.ExchangeNode, "Exchange", "id", "", "customers")
	add(7, 6, schema.ScanNode, "Scan", "", "customers", "customers")
	q.rows[counter{4, 100, "records read"}], q.rows[counter{4, 0, "records read"}] = 4100, 4100+23*100
	q.rows[counter{6, 100, "records read"}], q.rows[counter{6, 0, "records read"}] = 10, 240
	q.rows[counter{6, 0, "data size"}] = 10 << 30
	return q
}

func skewedPhase(bytes, median float64) *phase {
	p := &phase{id: 50, exchanges: []schema.Key{4, 6}, slots: 4, skewed: []skewedRow{{QueryID: 1, PhaseID: 50, AttemptID: 100, Seconds: 40, Task: 17,
		InputRecords: schema.Some[int64](4110), InputBytes: schema.Some(int64(bytes)), DurationS: schema.Some(41.0), Tasks: 24,
		MedianRecords: schema.Some(110.0), MedianBytes: schema.Some(median), MedianS: schema.Some(1.0), TotalBytes: schema.Some(bytes + 23*median)}}}
	p.tasks = append(p.tasks, taskTime{100, 41})
	for i := range 23 {
		p.tasks = append(p.tasks, taskTime{schema.Key(200 + i), 1})
	}
	return p
}

// Each setting is advised if the session does not have it and the partition needs it, and only for joins that Spark splits.
func TestRemedies(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	on := map[string]string{"spark.sql.adaptive.enabled": "true"}
	for _, c := range []struct {
		name               string
		operator, joinType string
		settings           map[string]string
		version            string
		bytes, median      float64
		remedy             schema.Remedy
		apply, whyNot      []string // contained in them
		not                []string // and not contained
	}{
		{name: "adaptive execution is off", operator: "SortMergeJoin", joinType: "Inner",
			settings: map[string]string{"spark.sql.adaptive.enabled": "false"}, version: "3.5.6", bytes: gib, median: 20 * mib,
			remedy: schema.SplitJoin, apply: []string{`spark.conf.set("spark.sql.adaptive.enabled", "true")`},
			not: []string{"Threshold", "Factor", "advisory"}},
		{name: "off by default before 3.2", operator: "SortMergeJoin", joinType: "Inner", version: "3.1.1", bytes: gib,
			median: 20 * mib, remedy: schema.SplitJoin, apply: []string{`"spark.sql.adaptive.enabled"`}},
		{name: "under the threshold", operator: "SortMergeJoin", joinType: "LeftOuter", settings: on, version: "3.5.6", bytes: 100 * mib, median: 2 * mib,
			remedy: schema.SplitJoin, apply: []string{`skewedPartitionThresholdInBytes", "50m"`,
				`advisoryPartitionSizeInBytes", "4m"`}, not: []string{"adaptive.enabled", "Factor"}},
		{name: "under the factor", operator: "ShuffledHashJoin", joinType: "LeftSemi", settings: on, version: "4.0.1", bytes: gib, median: 300 * mib,
			remedy: schema.SplitJoin, apply: []string{`skewedPartitionFactor", "2.7"`}, not: []string{"Threshold"}},
		{name: "the left side of a right join may not be split", operator: "SortMergeJoin", joinType: "RightOuter", settings: on,
			version: "3.5.6", bytes: gib, median: mib,
			remedy: schema.SaltKeys, whyNot: []string{"left side of a RightOuter join"}, not: []string{"spark.conf.set"}},
		{name: "Spark never splits a join that asks whether there is a match", operator: "SortMergeJoin",
			joinType: "ExistenceJoin", settings: on, version: "4.0.1", bytes: gib, median: mib, remedy: schema.SaltKeys,
			whyNot: []string{"left side of a ExistenceJoin join"}, not: []string{"spark.conf.set"}},
		{name: "nor any of a full one", operator: "SortMergeJoin", joinType: "FullOuter", settings: on, version: "3.5.6",
			bytes: gib, median: mib, remedy: schema.SaltKeys, whyNot: []string{"FullOuter"}, not: []string{"spark.conf.set"}},
		{name: "hash joins since 3.2", operator: "ShuffledHashJoin", joinType: "Inner", settings: on, version: "3.1.2",
			bytes: gib, median: mib, remedy: schema.SaltKeys, whyNot: []string{"do not apply to a ShuffledHashJoin"}, not: []string{"spark.conf.set"}},
		{name: "not before 3.0", operator: "SortMergeJoin", joinType: "Inner", version: "2.4.8", bytes: gib, median: mib,
			remedy: schema.SaltKeys, whyNot: []string{"3.0 and later"}, not: []string{"spark.conf.set"}},
		{name: "Databricks has a hint", operator: "SortMergeJoin", joinType: "Inner",
			settings: map[string]string{"spark.databricks.adaptive.x": "1", "spark.sql.adaptive.skewJoin.enabled": "false"},
			version:  "3.5.0", bytes: gib, median: mib,
			remedy: schema.SplitJoin, apply: []string{"/*+ SKEW('orders', 'customer_id') */", "skewJoin.enabled"}},
		{name: "all is set and it did not", operator: "SortMergeJoin", joinType: "Inner", settings: on, version: "3.5.6",
			bytes: gib, median: mib, remedy: schema.SaltKeys, whyNot: []string{"was on"}},
	} {
		if c.settings == nil {
			c.settings = map[string]string{}
		}
		q := joined(c.operator, c.joinType, c.settings, c.version)
		row, ok := q.skew(skewedPhase(c.bytes, c.median))
		if !ok || row.Side.V != schema.LeftSide || row.Tables.V != "orders" || row.Other.V != "customers" || row.Keys.V != "customer_id" || row.Task.V != 17 {
			t.Fatalf("%s: %v %+v", c.name, ok, row)
		}
		said := row.Apply.V + "\n" + row.WhyNot.V
		if row.Remedy.V != c.remedy {
			t.Errorf("%s: %s, want %s: %s", c.name, row.Remedy.V, c.remedy, said)
		}
		for _, s := range append(c.apply, c.whyNot...) {
			if !strings.Contains(said, s) {
				t.Errorf("%s: %q does not say %q", c.name, said, s)
			}
		}
		for _, s := range c.not {
			if strings.Contains(said, s) {
				t.Errorf("%s: %q says %q", c.name, said, s)
			}
		}
	}
}

// Adaptive execution splits a join whose inputs come from exchanges that it needs, and before Spark 3.3 only in a phase that
// reads two.
func TestUnsplit(t *testing.T) {
	for _, c := range []struct {
		name, version string
		change        func(q *query)
		whyNot        string // "" if a split is advised
	}{
		{name: "as Spark plans it", version: "3.2.4", change: func(*query) {}},
		{name: "an aggregate over the other exchange", version: "3.5.6",
			change: func(q *query) { q.tree.nodes[2].Kind, q.tree.nodes[2].Operator = schema.AggregateNode, "SortAggregate" },
			whyNot: "on the left one stands a SortAggregate"},
		{name: "the program repartitions", version: "3.5.6",
			change: func(q *query) { q.tree.nodes[5].Detail = schema.Some("hashpartitioning(id), REPARTITION_BY_COL") },
			whyNot: "the right one was repartitioned"},
		{name: "the other table is bucketed", version: "3.5.6",
			change: func(q *query) { q.tree.nodes[5].Kind = schema.FilterNode }, whyNot: "the right one is read as its table is bucketed"},
		{name: "one task wrote the exchange", version: "3.5.6",
			change: func(q *query) { q.rows[counter{4, 0, "tasks that write it"}] = 1 }, whyNot: "one task wrote all"},
		{name: "a second join in the phase", version: "3.2.4", change: third, whyNot: "two exchanges"},
		{name: "which later versions allow", version: "3.3.0", change: third},
	} {
		q := joined("SortMergeJoin", "Inner", map[string]string{"spark.sql.adaptive.enabled": "false"}, c.version)
		c.change(q)
		row, ok := q.skew(skewedPhase(1<<30, 1<<20))
		if c.whyNot == "" && row.Remedy.V != schema.SplitJoin ||
			c.whyNot != "" && (row.Remedy.V == schema.SplitJoin || !strings.Contains(row.WhyNot.V, c.whyNot)) || !ok {
			t.Errorf("%s: %v %s %q", c.name, ok, row.Remedy.V, row.WhyNot.V)
		}
	}
}

// third adds another exchange to the phase of a query's join.
func third(q *query) {
	q.tree.add(operatorRow{QueryID: 1, NodeID: 8, ParentID: schema.Some[schema.Key](1), Kind: schema.ExchangeNode,
		Operator: "Exchange", Keys: schema.Some("id")})
}

// An exchange of a subquery feeds no join of the query that uses its value, and a scan pruned by the subquery does not come
// from an exchange.
func TestSubqueries(t *testing.T) {
	q := joined("SortMergeJoin", "Inner", map[string]string{"spark.sql.adaptive.enabled": "false"}, "3.5.6")
	q.tree.nodes[3].Kind = schema.FilterNode // the left input is bucketed
	q.tree.add(operatorRow{QueryID: 1, NodeID: 8, ParentID: schema.Some[schema.Key](5), Kind: schema.OtherNode, Operator: "Subquery"})
	q.tree.add(operatorRow{QueryID: 1, NodeID: 9, ParentID: schema.Some[schema.Key](8), Kind: schema.ExchangeNode,
		Operator: "Exchange", Keys: schema.Some("customer_id")})
	if by, _ := q.tree.consumer(9); by != nil {
		t.Errorf("an exchange of a subquery feeds %s", by.Operator)
	}
	if why := q.tree.unsplit(q.tree.node(2)); why != "the left one is read as its table is bucketed" {
		t.Errorf("%q", why)
	}
	if n := q.tree.exchangesAround(q.tree.node(2)); n != 1 {
		t.Errorf("%d exchanges, want the right one only", n)
	}
}

// A bucket replaces an exchange: the join above the scan needs it, by its keys on that side.
func TestBuckets(t *testing.T) {
	q := joined("SortMergeJoin", "Inner", map[string]string{}, "3.5.6")
	q.tree.nodes[3].Kind, q.tree.nodes[5].Kind = schema.FilterNode, schema.FilterNode
	q.tree.nodes[1].RightKeys = schema.Some("id")
	p := skewedPhase(1<<30, 1<<20)
	p.exchanges, p.scans = nil, []schema.Key{5, 7}
	for node, rows := range map[schema.Key]float64{5: 10, 7: 4100} {
		q.rows[counter{node, 100, outputRows}], q.rows[counter{node, 0, outputRows}] = rows, rows+2300
	}
	row, ok := q.skew(p)
	if !ok || row.Kind != schema.SkewedKeys || row.Operator != "SortMergeJoin" || row.Side.V != schema.RightSide ||
		row.Keys.V != "id" || row.Tables.V != "customers" || row.Other.V != "orders" || row.Remedy.V != schema.SaltKeys {
		t.Errorf("%v %+v", ok, row)
	}
	q.tree.nodes[1].Kind, q.tree.nodes[1].Operator, q.tree.nodes[1].Keys = schema.OtherNode, "Union", schema.Null[string]{}
	if row, ok = q.skew(p); !ok || row.Kind != schema.SkewedScan || row.Tables.V != "customers" {
		t.Errorf("%v %+v", ok, row)
	}
}

// A small other side may be broadcast if the kind of join allows it.
func TestBroadcast(t *testing.T) {
	q := joined("SortMergeJoin", "LeftAnti", map[string]string{}, "2.4.8")
	q.rows[counter{6, 0, "data size"}] = 30 << 20
	if row, _ := q.skew(skewedPhase(1<<30, 1<<20)); row.Remedy.V != schema.Broadcast ||
		row.Apply.V != "/*+ BROADCAST(customers) */, or its alias where the query gives it one; it took 30.0 MiB here" {
		t.Errorf("%s %q", row.Remedy.V, row.Apply.V)
	}
	q = joined("SortMergeJoin", "FullOuter", map[string]string{}, "3.5.6")
	q.rows[counter{6, 0, "data size"}] = 30 << 20
	if row, _ := q.skew(skewedPhase(1<<30, 1<<20)); row.Remedy.V == schema.Broadcast {
		t.Error("a full join has no side to broadcast")
	}
}

// Coalesced partitions are not skewed tasks, and split ones are reported as such; a single partition larger than what
// adaptive execution coalesces is one.
func TestCoalesced(t *testing.T) {
	q := joined("SortMergeJoin", "Inner", map[string]string{"spark.sql.adaptive.coalescePartitions.parallelismFirst": "false"}, "3.5.6")
	q.tree.nodes[2].Kind, q.tree.nodes[2].Coalesced = schema.ShuffleReadNode, true
	p := skewedPhase(60<<20, 1<<20)
	p.reads = []schema.Key{3}
	if row, ok := q.skew(p); ok {
		t.Errorf("60 MiB are within the advisory size: %+v", row)
	}
	p = skewedPhase(100<<20, 1<<20)
	p.reads = []schema.Key{3}
	if row, ok := q.skew(p); !ok || row.Task.OK {
		t.Errorf("100 MiB are one partition, and its number means nothing: %v %+v", ok, row)
	}
	q.tree.nodes[2].Split = true
	p = skewedPhase(100<<20, 1<<20)
	p.reads = []schema.Key{3}
	if row, ok := q.skew(p); ok {
		t.Errorf("it was split: %+v", row)
	}
	q.rows[counter{3, 0, "number of skewed partitions"}], q.rows[counter{3, 0, "number of skewed partition splits"}] = 2, 9
	if rows := q.splits(); len(rows) != 1 || rows[0].Tasks != 9 || rows[0].Partitions.V != 2 || rows[0].Side.V != schema.LeftSide {
		t.Errorf("splits %+v", rows)
	}
}

// Without the numbers of rows of each side, a join has two sides, and neither is called skewed.
func TestUnknownSide(t *testing.T) {
	q := joined("SortMergeJoin", "Inner", map[string]string{}, "3.5.6")
	delete(q.rows, counter{4, 100, "records read"})
	delete(q.rows, counter{6, 100, "records read"})
	row, ok := q.skew(skewedPhase(1<<30, 1<<20))
	if !ok || row.Side.OK || row.Tables.V != "orders, customers" || row.Apply.OK {
		t.Errorf("%v %+v", ok, row)
	}
}

// One task of 41 s among 23 of 1 s on four slots: it starts first and the phase takes 41 s. Split 19 ways, (4110 / 110) / 2, a
// part takes 1 + 40 · (37.4 / 19 − 1) / 36.4 = 2.07 s: 19 parts and 23 tasks are 62.2 s of four slots, 15.5 s and a little.
func TestSplitSaves(t *testing.T) {
	saves, into := skewedPhase(1<<30, 1<<20).splitSaves()
	if into.V != 19 || math.Abs(saves.V-(41-16)) > 1 {
		t.Errorf("%v s in %d parts", saves.V, into.V)
	}
	even := skewedPhase(1<<30, 1<<20)
	even.skewed[0].InputRecords, even.skewed[0].InputBytes = schema.Some[int64](150), schema.Some[int64](3<<19)
	if saves, into := even.splitSaves(); saves.OK || into.OK {
		t.Errorf("a task with 1.4 times the median: %v %v", saves, into)
	}
}

// Skew is reported if it takes a twentieth of its query, or ten seconds.
func TestFelt(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		query   float64 // its duration
		said    bool
	}{{0.4, 10, false}, {0.6, 10, true}, {9, 3600, false}, {11, 3600, true}} {
		q := joined("SortMergeJoin", "Inner", map[string]string{}, "3.5.6")
		q.StartTime, q.FinishTime = schema.Some(schema.Time(0)), schema.Some(schema.Time(c.query*1e6))
		p := skewedPhase(1<<30, 1<<20)
		p.skewed[0].Seconds = c.seconds
		if row, ok := q.skew(p); ok != c.said {
			t.Errorf("%v s of %v: %+v", c.seconds, c.query, row)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]float64{"64m": 64 << 20, "67108864b": 64 << 20, "1GB": 1 << 30, "100": 100, " 2K ": 2 << 10, "": 7, "-1": 7, "x": 7} {
		if got := sizeOr(text, 7); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Photon reads an exchange through an operator of its own above the one that has the keys: the join needs the exchange all
// the same.
func TestPhotonExchange(t *testing.T) {
	q := joined("ShuffledHashJoin", "Inner", map[string]string{}, "3.5.0")
	q.tree.nodes[2].Operator, q.tree.nodes[2].Engine = "ShuffleExchangeSource", schema.PhotonEngine
	if row, ok := q.skew(skewedPhase(1<<30, 1<<20)); !ok || row.Operator != "ShuffledHashJoin" || row.Side.V != schema.LeftSide || row.Keys.V != "customer_id" {
		t.Errorf("%v %+v", ok, row)
	}
}
