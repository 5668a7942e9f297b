package plans

import (
	"strings"

	"straggler/schema"
)

const (
	// explodes is the least ratio of a join's output to its larger input for an exploding join: a join by a key that is
	// unique in one input gives at most 1 ×; with ten, the key repeats in both. leastExploded is fewer rows than a task
	// outputs in a second. Estimates.
	explodes      = 10
	leastExploded = 1_000_000
	// worthShuffle is the size from which shuffling a side is worth avoiding. It equals smallSide, so that the side to be
	// broadcast is always the smaller one. An estimate.
	worthShuffle = smallSide
	// defaultBroadcast is the default of spark.sql.autoBroadcastJoinThreshold (SQLConf, Spark 1.1 to 4.0).
	defaultBroadcast = 10 << 20
)

// joins finds joins that returned many times their input, that shuffled both sides although one was small, or that broadcast a
// large one, according to their metrics.
func (q *query) joins() []schema.QueryFinding {
	var rows []schema.QueryFinding
	for i := range q.tree.nodes {
		n := &q.tree.nodes[i]
		inputs := q.tree.children[n.NodeID]
		if n.Kind != schema.JoinNode || len(inputs) != 2 {
			continue
		}
		for _, find := range []func(*operatorRow, []schema.Key) (schema.QueryFinding, bool){q.exploded, q.shuffledSmall, q.broadcastLarge} {
			if row, ok := find(n, inputs); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// ofJoin creates a finding about a join, naming one input first.
func (q *query) ofJoin(kind schema.FindingKind, n *operatorRow, first int) schema.QueryFinding {
	row := q.finding(kind)
	row.NodeID, row.OperatorID, row.Operator, row.Keys = n.NodeID, schema.Some(n.NodeID), n.Operator, n.Keys
	row.Tables, row.Other, row.Exchange = q.tree.input(n, first), q.tree.input(n, 1-first), strings.TrimSpace(n.Fingerprint+" "+n.Keys.V)
	return row
}

// exploded finds a join that returned many times the rows of its larger input.
//
//	rows out ≥ explodes × max(rows in left, rows in right), and ≥ leastExploded
func (q *query) exploded(n *operatorRow, inputs []schema.Key) (schema.QueryFinding, bool) {
	out, known := q.counted(n, outputRows)
	left, leftKnown := q.rowsOf(inputs[0])
	right, rightKnown := q.rowsOf(inputs[1])
	larger := max(left, right)
	if !known || !leftKnown || !rightKnown || larger < 1 || out < leastExploded || out < explodes*larger {
		return schema.QueryFinding{}, false
	}
	row := q.ofJoin(schema.ExplodingJoin, n, 0)
	row.Rows, row.Ratio = schema.Some(out), schema.Some(out/larger)
	if n.Keys.V == "" {
		row.Remedy = schema.Some(schema.NoneApplies)
		row.WhyNot = schema.Some("The join has no equality of columns, so that each row of one input is compared with each row of the other: add one if the question allows.")
		return row, true
	}
	row.Remedy = schema.Some(schema.FewerMatches)
	row.WhyNot = schema.Some("No setting helps: the keys repeat in both inputs. Aggregate one of them by the keys before the join, leave out its duplicates, or join by a column more.")
	return row, true
}

// shuffledSmall finds a join that shuffled both sides although one is smaller than Spark's broadcast threshold, if the kind of
// join allows broadcasting that side and avoiding the shuffle of the other is worthwhile.
func (q *query) shuffledSmall(n *operatorRow, inputs []schema.Key) (schema.QueryFinding, bool) {
	threshold := q.broadcastThreshold()
	if n.Operator != "SortMergeJoin" && n.Operator != "ShuffledHashJoin" || n.Split {
		return schema.QueryFinding{}, false
	}
	var sizes [2]float64
	for i, id := range inputs {
		e := q.tree.through(id, schema.ExchangeNode)
		if e == nil {
			return schema.QueryFinding{}, false
		}
		size, known := q.counted(e, "data size")
		if !known || size <= 0 {
			return schema.QueryFinding{}, false
		}
		sizes[i] = size
	}
	small, opposite := 1, schema.LeftSide
	if sizes[0] < sizes[1] {
		small, opposite = 0, schema.RightSide
	}
	if sizes[small] > threshold || sizes[1-small] < worthShuffle || !strings.Contains(buildable[opposite], " "+n.JoinType.V+" ") {
		return schema.QueryFinding{}, false
	}
	row := q.ofJoin(schema.ShuffledSmall, n, small)
	row.Side = schema.Some([]schema.Side{schema.LeftSide, schema.RightSide}[small])
	row.Bytes, row.Remedy = schema.Some(sizes[small]), schema.Some(schema.Broadcast)
	var lines []string
	if hint := hintOf("BROADCAST", row.Tables.V, row.Other.V); hint != "" {
		lines = append(lines, "in the query: "+hint)
	}
	if !q.on("spark.sql.adaptive.enabled", q.since(3, 2)) && q.since(3, 0) {
		lines = append(lines, "spark.conf.set(\"spark.sql.adaptive.enabled\", \"true\")")
	}
	if len(lines) > 0 {
		row.Apply = schema.Some(strings.Join(lines, "\nor "))
	}
	return row, true
}

// broadcastLarge finds a broadcast larger than the threshold: its size was underestimated, or a hint requested it.
func (q *query) broadcastLarge(n *operatorRow, inputs []schema.Key) (schema.QueryFinding, bool) {
	for i, id := range inputs {
		b := q.tree.through(id, schema.BroadcastNode)
		if b == nil {
			continue
		}
		size, known := q.counted(b, "data size")
		if !known || size <= max(q.broadcastThreshold(), smallSide) {
			continue
		}
		row := q.ofJoin(schema.LargeBroadcast, n, i)
		row.NodeID, row.Bytes = b.NodeID, schema.Some(size)
		row.Side = schema.Some([]schema.Side{schema.LeftSide, schema.RightSide}[i])
		switch hint := hintOf("MERGE", row.Tables.V, row.Other.V); {
		case n.Operator != "BroadcastHashJoin":
			row.Remedy = schema.Some(schema.NoneApplies)
			row.WhyNot = schema.Some("The join has no equality of columns, so there are no keys to shuffle both sides by.")
		case q.since(3, 0) && hint != "":
			row.Remedy, row.Apply = schema.Some(schema.ShuffleJoin), schema.Some("in the query: "+hint)
		default:
			row.Remedy, row.Apply = schema.Some(schema.ShuffleJoin), schema.Some("spark.conf.set(\"spark.sql.autoBroadcastJoinThreshold\", \"-1\")")
			row.WhyNot = schema.Some("A hint in the query that asks for the broadcast has to go too.")
		}
		return row, true
	}
	return schema.QueryFinding{}, false
}

// broadcastThreshold returns the size up to which Spark broadcasts a side of a join automatically, or 0 if that is disabled.
func (q *query) broadcastThreshold() float64 {
	set := q.settings["spark.sql.autoBroadcastJoinThreshold"]
	if own := q.settings["spark.sql.adaptive.autoBroadcastJoinThreshold"]; own != "" && q.on("spark.sql.adaptive.enabled", q.since(3, 2)) {
		set = own
	}
	if strings.HasPrefix(strings.TrimSpace(set), "-") {
		return 0
	}
	return sizeOr(set, defaultBroadcast)
}

// counted returns a metric of an operator over all tasks. Engines other than Spark's own report zero for what they do not
// measure, so zero is unknown there.
func (q *query) counted(n *operatorRow, metric string) (float64, bool) {
	v, ok := q.rows[counter{n.NodeID, 0, metric}]
	if native := nativeRows[n.Engine]; !ok && metric == outputRows && native != "" {
		v, ok = q.rows[counter{n.NodeID, 0, native}]
	}
	return v, ok && (v > 0 || n.Engine == schema.SparkEngine)
}

// outputRows is Spark's metric for the rows that an operator returns; nativeRows is its name in engines that use another one.
const outputRows = "number of output rows"

var nativeRows = map[schema.Native]string{schema.RapidsEngine: "output rows", schema.PhotonEngine: "rows output"}

// rowsOf returns the number of rows from an operator, as counted by it, or by the next operator below that passes its rows
// through unchanged.
func (q *query) rowsOf(id schema.Key) (float64, bool) {
	for n := q.tree.node(id); n != nil; {
		for _, metric := range []string{outputRows, "shuffle records written"} {
			if v, known := q.counted(n, metric); known {
				return v, true
			}
		}
		n = q.tree.passed(n)
	}
	return 0, false
}
