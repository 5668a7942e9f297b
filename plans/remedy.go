package plans

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/schema"
)

// Defaults of Spark's OptimizeSkewedJoin (SQLConf, Spark 3.0 to 4.0).
const (
	defaultFactor    = 5         // spark.sql.adaptive.skewJoin.skewedPartitionFactor
	defaultThreshold = 256 << 20 // spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes
)

// smallSide is the size up to which broadcasting the other side of a join is proposed: ten times the default of
// spark.sql.autoBroadcastJoinThreshold. An estimate: the driver collects it, and each executor holds all of it.
const smallSide = 100 << 20

// remedy proposes what would spread the rows of the worst task.
func (q *query) remedy(row *schema.QueryFinding, worst *skewedRow) {
	n := q.tree.node(row.NodeID)
	by := q.tree.node(row.OperatorID.V)
	switch {
	case row.Kind == schema.SkewedScan:
		q.files(row, worst)
	case by != nil && by.Kind == schema.JoinNode:
		q.join(row, by, worst)
	case by != nil && by.Kind == schema.AggregateNode:
		row.Remedy = schema.Some(schema.SaltKeys)
		row.WhyNot = schema.Some("The skew settings of adaptive execution split joins only, and this is an aggregate: all rows of a key have to come to one task. Group by the keys and a salt first, then by the keys.")
	case by != nil && by.Kind == schema.WindowNode:
		row.Remedy = schema.Some(schema.SaltKeys)
		row.WhyNot = schema.Some("The skew settings of adaptive execution split joins only, and a window needs all rows of its partition in one task. Partition it by more columns, or filter or aggregate the rows of each partition before it.")
	case by != nil && by.Kind == schema.SortNode:
		row.Remedy = schema.Some(schema.NoneApplies)
		row.WhyNot = schema.Some("The skew settings of adaptive execution split joins only, and a sort of all rows brings those of a key to one task. Sort by a column more, so that they may go to several.")
	case strings.Contains(n.Detail.V, "REPARTITION_BY") && q.since(3, 2):
		row.Remedy = schema.Some(schema.Rebalance)
		hint := "/*+ REBALANCE */"
		if columns(row.Keys.V) {
			hint = fmt.Sprintf("/*+ REBALANCE(%s) */", row.Keys.V)
		}
		lines := []string{hint + " in place of the repartitioning"}
		if !q.on("spark.sql.adaptive.enabled", true) {
			lines = append(lines, "spark.conf.set(\"spark.sql.adaptive.enabled\", \"true\")")
		}
		row.Apply = schema.Some(strings.Join(lines, "\n"))
	default:
		row.Remedy = schema.Some(schema.NoneApplies)
		row.WhyNot = schema.Some("No join needs this exchange, so the skew settings of adaptive execution do not apply to it.")
	}
}

// splittable lists the kinds of join for which OptimizeSkewedJoin can split a side (canSplitLeftSide, canSplitRightSide).
var splittable = map[schema.Side]string{
	schema.LeftSide:  " Inner Cross LeftSemi LeftAnti LeftOuter ",
	schema.RightSide: " Inner Cross RightOuter ",
}

// buildable lists the kinds of join that can broadcast the other side of a skewed one (canBuildBroadcastRight, …Left).
var buildable = map[schema.Side]string{
	schema.LeftSide:  " Inner Cross LeftSemi LeftAnti LeftOuter ExistenceJoin ",
	schema.RightSide: " Inner Cross RightOuter ",
}

// join proposes how to spread the skewed side of a join: by a split if adaptive execution can, or else by broadcasting the
// other side.
func (q *query) join(row *schema.QueryFinding, by *operatorRow, worst *skewedRow) {
	side := row.Side.V
	if side == "" {
		row.Remedy = schema.Some(schema.NoneApplies)
		row.WhyNot = schema.Some("The log does not say which side of the join is skewed, so neither a split nor a broadcast can be advised.")
		return
	}
	in := func(list string) bool { return strings.Contains(list, " "+by.JoinType.V+" ") }
	broadcast, unsplit := q.broadcastLine(row, by, in(buildable[side])), q.tree.unsplit(by)
	switch {
	case by.Operator != "SortMergeJoin" && !(by.Operator == "ShuffledHashJoin" && q.since(3, 2)):
		row.WhyNot = schema.Some(fmt.Sprintf("The skew settings of adaptive execution do not apply to a %s.", by.Operator))
	case !in(splittable[side]):
		row.WhyNot = schema.Some(fmt.Sprintf("The skew settings of adaptive execution do not help: the %s side of a %s join is not split, since rows of the other side may then come out once a part.", side, by.JoinType.V))
	case !q.since(3, 0):
		row.WhyNot = schema.Some("This version of Spark cannot split skewed partitions; 3.0 and later can.")
	case unsplit != "":
		row.WhyNot = schema.Some("The skew settings of adaptive execution do not help: it splits a join only where both inputs come straight from exchanges that the join needs, and " + unsplit + ".")
	case q.rows[counter{q.tree.original(q.tree.node(row.NodeID)).NodeID, 0, "tasks that write it"}] == 1:
		row.WhyNot = schema.Some("The skew settings of adaptive execution do not help: it splits a partition between the tasks that wrote it, and one task wrote all of this exchange.")
	case !q.since(3, 3) && q.tree.exchangesAround(by) != 2:
		row.WhyNot = schema.Some("The skew settings of adaptive execution do not help: before Spark 3.3 it splits a join only in a phase that reads two exchanges.")
	case q.tree.keepsPartitioning(by) && !q.since(3, 3):
		row.WhyNot = schema.Some("The skew settings of adaptive execution do not help: what follows the join needs its rows as they are partitioned, and this version of Spark then splits nothing.")
	default:
		if lines := q.splitLines(by, worst); len(lines) > 0 {
			row.Remedy = schema.Some(schema.SplitJoin)
			if q.databricks() && columns(row.Keys.V) && columns(row.Tables.V) && !strings.ContainsAny(row.Keys.V+row.Tables.V, ",") {
				lines = append(lines, fmt.Sprintf("or in the query: /*+ SKEW('%s', '%s') */", quoted(row.Tables.V), quoted(row.Keys.V)))
			}
			if broadcast != "" {
				lines = append(lines, "or in the query: "+broadcast)
			}
			row.Apply = schema.Some(strings.Join(lines, "\n"))
			return
		}
		row.WhyNot = schema.Some("Adaptive execution was on, with settings under which it splits a partition of this size, and did not: what the log says of the sizes is not what it planned with.")
	}
	if broadcast != "" {
		row.Remedy, row.Apply = schema.Some(schema.Broadcast), schema.Some(broadcast)
		return
	}
	row.Remedy = schema.Some(schema.SaltKeys)
}

// broadcastLine returns the hint that broadcasts the other side of a join, or "" if that is impossible or too large.
func (q *query) broadcastLine(row *schema.QueryFinding, by *operatorRow, can bool) string {
	other := q.tree.otherExchange(by, row.NodeID)
	hint := hintOf("BROADCAST", row.Other.V, row.Tables.V)
	if !can || other == nil || hint == "" {
		return ""
	}
	size, known := q.rows[counter{other.NodeID, 0, "data size"}]
	if !known || size <= 0 || size > smallSide {
		return ""
	}
	return fmt.Sprintf("%s; it took %s here", hint, inBytes(size))
}

// hintOf returns a hint for an input of a join over one table; "" if it has none or several. Spark uses the name that the
// query gives an input, its alias if it has one; the log does not contain it.
func hintOf(name, table, other string) string {
	switch {
	case table == "" || strings.Contains(table, ","):
		return ""
	case slices.Contains(strings.Split(other, ", "), table) || strings.ContainsFunc(table, notOfNames):
		return fmt.Sprintf("/*+ %s(ALIAS) */ with the alias of the input over %s", name, table)
	}
	return fmt.Sprintf("/*+ %s(%s) */, or its alias where the query gives it one", name, table)
}

// notOfNames reports characters that require quotes in the name of a table.
func notOfNames(c rune) bool {
	return c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// splitLines returns the settings, of those that the session did not have, that let adaptive execution split the worst partition.
//
//	skewed: size > thresholdInBytes and size > factor × median size; parts of max(advisory size, mean size of the others)
func (q *query) splitLines(by *operatorRow, worst *skewedRow) []string {
	var lines []string
	set := func(name, value string) {
		lines = append(lines, fmt.Sprintf("spark.conf.set(%q, %q)", name, value))
	}
	if !q.on("spark.sql.adaptive.enabled", q.since(3, 2)) {
		set("spark.sql.adaptive.enabled", "true")
	}
	if !q.on("spark.sql.adaptive.skewJoin.enabled", true) {
		set("spark.sql.adaptive.skewJoin.enabled", "true")
	}
	if q.tree.keepsPartitioning(by) && !q.on("spark.sql.adaptive.forceOptimizeSkewedJoin", false) {
		set("spark.sql.adaptive.forceOptimizeSkewedJoin", "true")
	}
	if !worst.InputBytes.OK || !(worst.MedianBytes.V > 0) {
		return lines
	}
	size := float64(worst.InputBytes.V)
	ratio := size / worst.MedianBytes.V
	factor := defaultFactor * 1.0
	if v, err := strconv.ParseFloat(q.settings["spark.sql.adaptive.skewJoin.skewedPartitionFactor"], 64); err == nil && v > 0 {
		factor = v
	}
	if ratio < factor*sizeTolerance {
		set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", strconv.FormatFloat(max(1.5, math.Floor(ratio*8)/10), 'f', -1, 64))
	}
	if size < sizeOr(q.settings["spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"], defaultThreshold)*sizeTolerance {
		set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", sparkSize(size/2))
	}
	if parts := math.Ceil(ratio / 2); parts > 1 && q.advisory() > size/2 {
		set("spark.sql.adaptive.advisoryPartitionSizeInBytes", sparkSize(size/parts))
	}
	return lines
}

// splittableFiles has the file formats of which Spark reads a large file in several tasks, and the condition.
var splittableFiles = map[string]string{
	"parquet": "a file is split between its row groups only", "orc": "a file is split between its stripes only", "avro": "",
	"csv":  "a file that gzip compressed is not split, nor are lines that span several",
	"json": "a file that gzip compressed is not split, nor are lines that span several",
	"text": "a file that gzip compressed is not split",
}

// files advises on a scan of which some splits hold more than others.
func (q *query) files(row *schema.QueryFinding, worst *skewedRow) {
	row.Remedy = schema.Some(schema.SplitFiles)
	n := q.tree.node(row.NodeID)
	format, _, _ := strings.Cut(n.Detail.V, ",")
	when, files := splittableFiles[format]
	switch {
	case n.Operator == "InMemoryTableScan":
		row.WhyNot = schema.Some("The table is cached with the partitions that it was made of: repartition it before it is cached.")
		return
	case !files:
		row.WhyNot = schema.Some("spark.sql.files.maxPartitionBytes does not apply to this source.")
		return
	}
	most := sizeOr(q.settings["spark.sql.files.maxPartitionBytes"], 128<<20)
	if !worst.InputBytes.OK || !(worst.MedianBytes.V > 0) {
		return
	}
	if size := float64(worst.InputBytes.V); size > most*sizeTolerance {
		row.WhyNot = schema.Some(fmt.Sprintf("A smaller spark.sql.files.maxPartitionBytes would not help: the task read %s where %s are the most, so its file cannot be split. Write it as several, or in a format and compression that can be.", inBytes(size), inBytes(most)))
	} else if target := max(worst.MedianBytes.V, 1<<20); target < most {
		row.Apply = schema.Some(fmt.Sprintf("spark.conf.set(\"spark.sql.files.maxPartitionBytes\", %q)", sparkSize(target)))
		if when != "" {
			row.WhyNot = schema.Some("The setting helps where one file is large; " + when + ".")
		}
	}
}

// columns reports whether keys are names only, so that a hint can have them: an expression cannot, and its literals are
// dropped.
func columns(keys string) bool { return keys != "" && !strings.ContainsAny(keys, "?(+*=<>\"'") }

// inBytes formats a size for people.
func inBytes(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1024 {
			return strconv.FormatFloat(v, 'f', map[bool]int{true: 0, false: 1}[v >= 100 || unit == "B"], 64) + " " + unit
		}
		v /= 1024
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " TiB"
}

// quoted returns a name for a hint, without the characters that would end it.
func quoted(s string) string {
	return strings.NewReplacer("'", "", "*/", "", "\n", " ", "\\", "").Replace(s)
}
