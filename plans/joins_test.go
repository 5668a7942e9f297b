package plans

import (
	"fmt"
	"strings"
	"testing"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// broadcasts returns a query that joins orders with customers, which are broadcast.
func broadcasts(operator string, size float64, settings map[string]string, version string) *query {
	q := joined(operator, "Inner", settings, version)
	q.tree.nodes[5].Kind, q.tree.nodes[5].Operator = schema.BroadcastNode, "BroadcastExchange"
	q.rows = map[counter]float64{{6, 0, "data size"}: size}
	return q
}

// shuffles returns a query that shuffles both sides of a join, with the given sizes.
func shuffles(operator, joinType string, left, right float64, settings map[string]string, version string) *query {
	q := joined(operator, joinType, settings, version)
	q.rows = map[counter]float64{{4, 0, "data size"}: left, {6, 0, "data size"}: right}
	return q
}

// gives returns a join with the given numbers of input and output rows.
func gives(keys string, left, right, out float64) *query {
	q := joined("SortMergeJoin", "Inner", nil, "3.5.6")
	q.tree.nodes[1].Keys = schema.Null[string]{V: keys, OK: keys != ""}
	q.rows = map[counter]float64{{4, 0, "shuffle records written"}: left, {7, 0, "number of output rows"}: right, {2, 0, "number of output rows"}: out}
	return q
}

// Joins of the wrong kind are found by their metrics, and only if the node is eligible for the advice.
func TestJoins(t *testing.T) {
	const gib, mib = 1 << 30, 1 << 20
	off := map[string]string{"spark.sql.adaptive.enabled": "false"}
	native := gives("customer_id", 1e6, 1e5, 5e7)
	for i := range native.tree.nodes {
		native.tree.nodes[i].Engine = schema.RapidsEngine
	}
	native.rows[counter{7, 0, "number of output rows"}] = 0
	counted := gives("customer_id", 1e6, 1e5, 5e7)
	for i := range counted.tree.nodes {
		counted.tree.nodes[i].Engine = schema.RapidsEngine
	}
	counted.rows = map[counter]float64{{4, 0, "shuffle records written"}: 1e6, {7, 0, "output rows"}: 1e5, {2, 0, "output rows"}: 5e7}
	several := broadcasts("BroadcastHashJoin", gib, nil, "3.5.6")
	several.tree.nodes[5].Tables = schema.Some("customers, regions")
	aggregated := shuffles("SortMergeJoin", "Inner", gib, 5*mib, off, "3.5.6")
	aggregated.tree.nodes[2].Kind = schema.AggregateNode
	for _, c := range []struct {
		name   string
		q      *query
		kind   schema.FindingKind // "" nothing
		remedy schema.Remedy
		side   schema.Side
		says   []string
	}{
		{name: "50 × the larger input", q: gives("customer_id", 1e6, 1e5, 5e7), kind: schema.ExplodingJoin,
			remedy: schema.FewerMatches, says: []string{"No setting helps"}},
		{name: "without an equality", q: gives("", 1e4, 1e4, 1e8), kind: schema.ExplodingJoin, remedy: schema.NoneApplies, says: []string{"no equality"}},
		{name: "a key that is unique on one side", q: gives("customer_id", 5e7, 1e5, 5e7)},
		{name: "few rows", q: gives("customer_id", 100, 100, 1e4)},
		{name: "a native engine that did not count one input", q: native},
		{name: "one that calls them output rows", q: counted, kind: schema.ExplodingJoin, remedy: schema.FewerMatches},
		{name: "a side of 5 MiB", q: shuffles("SortMergeJoin", "Inner", gib, 5*mib, off, "3.5.6"), kind: schema.ShuffledSmall,
			remedy: schema.Broadcast, side: schema.RightSide,
			says: []string{"/*+ BROADCAST(customers) */", `spark.conf.set("spark.sql.adaptive.enabled", "true")`}},
		{name: "the left side", q: shuffles("ShuffledHashJoin", "RightOuter", 5*mib, gib, nil, "3.5.6"),
			kind: schema.ShuffledSmall, remedy: schema.Broadcast, side: schema.LeftSide, says: []string{"/*+ BROADCAST(orders) */"}},
		{name: "adaptive execution is unknown to Spark 2", q: shuffles("SortMergeJoin", "Inner", gib, 5*mib, nil, "2.4.8"),
			kind: schema.ShuffledSmall, remedy: schema.Broadcast, side: schema.RightSide, says: []string{"BROADCAST"}},
		{name: "the left side of a left join may not be broadcast", q: shuffles("SortMergeJoin", "LeftOuter", 5*mib, gib, off, "3.5.6")},
		{name: "no side of a full join may", q: shuffles("SortMergeJoin", "FullOuter", gib, 5*mib, off, "3.5.6")},
		{name: "over the threshold", q: shuffles("SortMergeJoin", "Inner", gib, 11*mib, off, "3.5.6")},
		{name: "the session's threshold", q: shuffles("SortMergeJoin", "Inner", gib, 11*mib,
			map[string]string{"spark.sql.autoBroadcastJoinThreshold": "20m"}, "3.5.6"), kind: schema.ShuffledSmall,
			remedy: schema.Broadcast, side: schema.RightSide},
		{name: "the threshold of adaptive execution",
			q: shuffles("SortMergeJoin", "Inner", gib, 5*mib, map[string]string{"spark.sql.adaptive.autoBroadcastJoinThreshold": "1m"}, "3.5.6")},
		{name: "which is not asked where that is off",
			q: shuffles("SortMergeJoin", "Inner", gib, 5*mib,
				map[string]string{"spark.sql.adaptive.autoBroadcastJoinThreshold": "1m", "spark.sql.adaptive.enabled": "false"},
				"3.5.6"), kind: schema.ShuffledSmall, remedy: schema.Broadcast, side: schema.RightSide},
		{name: "broadcasts were turned off", q: shuffles("SortMergeJoin", "Inner", gib, 5*mib,
			map[string]string{"spark.sql.autoBroadcastJoinThreshold": "-1"}, "3.5.6")},
		{name: "both are small", q: shuffles("SortMergeJoin", "Inner", 50*mib, 5*mib, off, "3.5.6")},
		{name: "a size of 0 is unknown", q: shuffles("SortMergeJoin", "Inner", gib, 0, off, "3.5.6")},
		{name: "an exchange below an aggregate is not the join's", q: aggregated},
		{name: "a broadcast of 1 GiB", q: broadcasts("BroadcastHashJoin", gib, nil, "3.5.6"), kind: schema.LargeBroadcast,
			remedy: schema.ShuffleJoin, side: schema.RightSide, says: []string{"/*+ MERGE(customers) */"}},
		{name: "of several tables", q: several, kind: schema.LargeBroadcast, remedy: schema.ShuffleJoin, side: schema.RightSide,
			says: []string{`"spark.sql.autoBroadcastJoinThreshold", "-1"`}},
		{name: "the hint is one of Spark 3", q: broadcasts("BroadcastHashJoin", gib, nil, "2.4.8"), kind: schema.LargeBroadcast,
			remedy: schema.ShuffleJoin, side: schema.RightSide, says: []string{`"spark.sql.autoBroadcastJoinThreshold", "-1"`}},
		{name: "without an equality there is no other join", q: broadcasts("BroadcastNestedLoopJoin", gib, nil, "3.5.6"),
			kind: schema.LargeBroadcast, remedy: schema.NoneApplies, side: schema.RightSide, says: []string{"no equality"}},
		{name: "the session asked for it", q: broadcasts("BroadcastHashJoin", gib, map[string]string{"spark.sql.autoBroadcastJoinThreshold": "2g"}, "3.5.6")},
		{name: "30 MiB are advised elsewhere", q: broadcasts("BroadcastHashJoin", 30*mib, nil, "3.5.6")},
	} {
		found := c.q.joins()
		if c.kind == "" {
			if len(found) != 0 {
				t.Errorf("%s: %+v", c.name, found)
			}
			continue
		}
		if len(found) != 1 {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		f := found[0]
		if f.Kind != c.kind || f.Remedy.V != c.remedy || f.Side.V != c.side {
			t.Errorf("%s: %s %s %s", c.name, f.Kind, f.Remedy.V, f.Side.V)
		}
		for _, s := range c.says {
			if said := f.Apply.V + "\n" + f.WhyNot.V; !strings.Contains(said, s) {
				t.Errorf("%s: %q does not say %q", c.name, said, s)
			}
		}
		if strings.Contains(f.Apply.V, "adaptive.enabled") && !c.q.since(3, 0) {
			t.Errorf("%s: %q of Spark %s", c.name, f.Apply.V, c.q.Version.V)
		}
	}
}

// Real logs: one joins 300 rows with 100 000 and outputs 6 000 000; the ten joins of the other are fine.
func TestRealJoins(t *testing.T) {
	for name, want := range map[string]string{"spark/apache/app-20200706201101-0003": "exploding_join of BroadcastHashJoin by i2: 6e+06 rows, 60 times", "spark/rapids-tools/nds_q72_dataproc_2_2.zstd": ""} {
		_, eng := analysed(t, ingesttest.Corpus(t, name)[0])
		found, err := find(t.Context(), eng)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			if !f.Kind.IsSkew() {
				got = append(got, fmt.Sprintf("%s of %s by %s: %g rows, %g times", f.Kind, f.Operator, f.Keys.V, f.Rows.V, f.Ratio.V))
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
