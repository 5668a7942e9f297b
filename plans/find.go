package plans

import (
	"slices"
	"strings"

	"straggler/schema"
)

// find returns the findings about a query: phases with skewed tasks, what adaptive execution split, and joins of the wrong
// kind.
func (q *query) find() []schema.QueryFinding {
	var rows []schema.QueryFinding
	for _, p := range q.phases {
		if row, ok := q.skew(p); ok {
			rows = append(rows, row)
		}
	}
	return append(append(rows, q.splits()...), q.joins()...)
}

// skew finds the operator for which the skewed tasks of a phase worked. It ignores partitions that adaptive execution
// coalesced or split, since they do not correspond to keys.
func (q *query) skew(p *phase) (schema.QueryFinding, bool) {
	p.skewed = slices.DeleteFunc(p.skewed, func(s skewedRow) bool { return q.merged(p, &s) })
	if len(p.skewed) == 0 {
		return schema.QueryFinding{}, false
	}
	worst := &p.skewed[0]
	row := q.finding(schema.SkewedKeys)
	row.PhaseID, row.AttemptID, row.Tasks = schema.Some(p.id), schema.Some(worst.AttemptID), int64(len(p.skewed))
	row.Seconds, row.Task = schema.Some(worst.Seconds), schema.Some(worst.Task)
	ratio, byRows, known := worst.ratio()
	if known {
		row.Ratio = schema.Some(ratio)
	}
	if worst.InputRecords.OK && (byRows || !known) {
		row.Rows = schema.Some(float64(worst.InputRecords.V))
	} else if known {
		row.Bytes = schema.Some(float64(worst.InputBytes.V))
	}
	all := 0.0
	for i := range p.skewed {
		all += p.skewed[i].Seconds
	}
	if row.Ratio.V < leastRatio || all < min(leastShare*row.QueryS.V, leastSeconds) {
		return row, false
	}
	n, certain := q.heaviest(p, worst)
	if n == nil {
		return row, false
	}
	by, _ := q.tree.consumer(n.NodeID)
	switch {
	case n.Kind == schema.ExchangeNode && n.Keys.V == "":
		return row, false // rows are distributed one by one, or come from one place
	case n.Kind == schema.ExchangeNode || certain && by != nil: // for a scan: its table is bucketed by the keys
		q.name(&row, n, certain)
		if read := q.tree.readOf(n.NodeID); read != nil && read.Split {
			return row, false // covered by the finding about the split
		}
	case !certain:
		return row, false
	default:
		row.Kind, row.NodeID, row.Operator, row.Tables, row.Exchange = schema.SkewedScan, n.NodeID, n.Operator, n.Tables, n.Fingerprint
	}
	if own, known := q.readBy(n, worst.AttemptID); n.Operator == "InMemoryTableScan" && row.Rows.OK {
		row.Rows = schema.Null[float64]{V: own, OK: known} // the task itself counts batches
	}
	for _, id := range p.reads {
		if q.tree.node(id).Coalesced {
			row.Task = schema.Null[int64]{}
		}
	}
	row.SavesS, row.SplitInto = p.splitSaves()
	q.remedy(&row, worst)
	return row, true
}

const (
	// leastRatio is the least ratio of a skewed task's data to the median: below it, half of the task has less than the
	// others have. Twice the median is normal with few keys per partition: of 50 keys over 24 partitions, the fullest has
	// four or five.
	leastRatio = 2
	// leastShare is the least extra time of skewed tasks, summed, as a share of their query's time, for a finding; leastSeconds is
	// the number of seconds that suffices for any query. Estimates: the even queries of the tests reach 0.03, the skewed ones
	// begin at 0.08.
	leastShare   = 0.05
	leastSeconds = 10
)

// heaviest returns the exchange or scan with the largest excess of rows for an attempt over the average of its phase. Without the
// numbers it is the first exchange, or scan, and certain only if there is just one.
func (q *query) heaviest(p *phase, s *skewedRow) (found *operatorRow, certain bool) {
	most := 0.0
	for _, nodes := range [][]schema.Key{p.exchanges, p.scans} {
		for _, id := range nodes {
			n := q.tree.original(q.tree.node(id)) // readers of one exchange count together
			own, known := q.readBy(n, s.AttemptID)
			all, _ := q.readBy(n, 0)
			if !known || s.Tasks < 2 {
				continue
			}
			if over := own - (all-own)/float64(s.Tasks-1); over > most {
				most, found = over, q.tree.node(id)
			}
		}
	}
	if found != nil {
		return found, true
	}
	for _, nodes := range [][]schema.Key{p.exchanges, p.scans} {
		if len(nodes) > 0 {
			return q.tree.node(nodes[0]), len(nodes) == 1
		}
	}
	return nil, false
}

// readBy returns the number of rows that an attempt, or (0) all attempts, read from an exchange or a scan.
func (q *query) readBy(n *operatorRow, attempt schema.Key) (rows float64, known bool) {
	if n.Kind == schema.ExchangeNode {
		rows, known = q.rows[counter{n.NodeID, attempt, "records read"}]
		return rows, known
	}
	rows, known = q.rows[counter{n.NodeID, attempt, outputRows}]
	if native := nativeRows[n.Engine]; !known && native != "" {
		rows, known = q.rows[counter{n.NodeID, attempt, native}]
	}
	return rows, known
}

// name finds the operator that needs an exchange, or the buckets of a scan, and the side.
func (q *query) name(row *schema.QueryFinding, n *operatorRow, certain bool) {
	by, input := q.tree.consumer(n.NodeID)
	row.NodeID, row.Operator, row.Keys, row.Tables = n.NodeID, n.Operator, n.Keys, n.Tables
	if n.Kind == schema.ScanNode && by != nil {
		if row.Keys = by.Keys; input == 1 {
			row.Keys = by.RightKeys
		}
	}
	row.Exchange = n.Fingerprint + " " + row.Keys.V
	if by == nil {
		return
	}
	row.OperatorID, row.Operator = schema.Some(by.NodeID), by.Operator
	if by.Kind != schema.JoinNode {
		return
	}
	if !certain {
		// The side is unknown, so both are named.
		both := []string{}
		for i := range 2 {
			if t := q.tree.input(by, i); t.V != "" {
				both = append(both, t.V)
			}
		}
		row.Tables = schema.Null[string]{V: strings.Join(both, ", "), OK: len(both) > 0}
		row.Keys = by.Keys
		return
	}
	row.Side = schema.Some(schema.LeftSide)
	row.Other = q.tree.input(by, 1)
	if input == 1 {
		row.Side = schema.Some(schema.RightSide)
		row.Other = q.tree.input(by, 0)
	}
}

// splits finds the skewed partitions that adaptive execution split.
func (q *query) splits() []schema.QueryFinding {
	var rows []schema.QueryFinding
	for i := range q.tree.nodes {
		read := &q.tree.nodes[i]
		parts := q.rows[counter{read.NodeID, 0, "number of skewed partition splits"}]
		skewed := q.rows[counter{read.NodeID, 0, "number of skewed partitions"}]
		exchange := q.tree.exchangeBelow(read)
		if read.Kind != schema.ShuffleReadNode || !read.Split || exchange == nil || skewed == 0 {
			continue // the other side of a split partition is read again, but not split
		}
		row := q.finding(schema.SplitByAQE)
		row.Tasks, row.Partitions = int64(parts), schema.Some(int64(skewed))
		q.name(&row, exchange, true)
		rows = append(rows, row)
	}
	return rows
}

// finding creates a finding about the query.
func (q *query) finding(kind schema.FindingKind) schema.QueryFinding {
	row := schema.QueryFinding{QueryID: q.QueryID, Kind: kind}
	if q.StartTime.OK && q.FinishTime.OK {
		row.QueryS = schema.Some(q.FinishTime.V.Sub(q.StartTime.V))
	}
	return row
}
