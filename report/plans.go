package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// Query is a query with what it lost and what was found in it.
type Query struct {
	QueryRow
	Jobs     int64                `col:"jobs" doc:"jobs that it ran"`
	TookS    schema.Null[float64] `col:"took_s" unit:"s"`
	Loss     Loss                 `col:"loss" doc:"summed over its jobs"`
	Findings []QueryFinding       `col:"findings" doc:"most seconds first"`
	Plan     []PlanNode           `col:"plan" doc:"the plan that ran; empty where it is not drawn"`
}

// QueryRow is a row of queries.sql.
type QueryRow struct {
	QueryID         schema.Key               `col:"query_id"`
	ApplicationID   schema.Key               `col:"application_id"`
	Application     string                   `col:"application" doc:"its application's native id"`
	NativeID        string                   `col:"native_id"`
	Description     schema.Null[string]      `col:"description"`
	StartTime       schema.Null[schema.Time] `col:"start_time"`
	FinishTime      schema.Null[schema.Time] `col:"finish_time"`
	Status          schema.RunStatus         `col:"status"`
	Adaptive        schema.Null[bool]        `col:"adaptive"`
	Operators       schema.Null[int64]       `col:"operators"`
	PlanFingerprint schema.Null[string]      `col:"plan_fingerprint"`
}

// QueryFinding is a finding with its sentence.
type QueryFinding struct {
	QueryFindingRow
	Words string `col:"words"`
}

// QueryFindingRow is a row of query_findings.sql.
type QueryFindingRow struct {
	QueryID      schema.Key                 `col:"query_id"`
	Kind         schema.FindingKind         `col:"kind"`
	PhaseID      schema.Null[schema.Key]    `col:"phase_id"`
	Phase        schema.Null[string]        `col:"phase" doc:"native id"`
	PhaseAttempt schema.Null[int32]         `col:"phase_attempt"`
	NodeID       schema.Key                 `col:"node_id"`
	OperatorID   schema.Null[schema.Key]    `col:"operator_id"`
	Operator     string                     `col:"operator"`
	Keys         schema.Null[string]        `col:"keys"`
	Side         schema.Null[schema.Side]   `col:"side"`
	Tables       schema.Null[string]        `col:"tables"`
	Other        schema.Null[string]        `col:"other"`
	Task         schema.Null[int64]         `col:"task"`
	Rows         schema.Null[float64]       `col:"rows" unit:"records"`
	Ratio        schema.Null[float64]       `col:"ratio" unit:"ratio"`
	Bytes        schema.Null[float64]       `col:"bytes" unit:"bytes"`
	Tasks        int64                      `col:"tasks"`
	Partitions   schema.Null[int64]         `col:"partitions"`
	Seconds      schema.Null[float64]       `col:"seconds" unit:"s"`
	QueryS       schema.Null[float64]       `col:"query_s" unit:"s"`
	SavesS       schema.Null[float64]       `col:"saves_s" unit:"s"`
	SplitInto    schema.Null[int64]         `col:"split_into"`
	Remedy       schema.Null[schema.Remedy] `col:"remedy"`
	Apply        schema.Null[string]        `col:"apply"`
	WhyNot       schema.Null[string]        `col:"why_not"`
	AttemptID    schema.Null[schema.Key]    `col:"attempt_id"`
}

// PlanNode is an operator of a plan that is drawn. Wrappers are omitted: the parent of a wrapper becomes the parent of its
// children.
type PlanNode struct {
	PlanNodeRow
	Phases []string             `col:"phases" doc:"native ids of the phases that ran it"`
	LostS  schema.Null[float64] `col:"lost_s" unit:"s" doc:"what the phases that ran it cost the query; all operators of a phase show the same"`
	Parts  []LostPart           `col:"parts" doc:"lost_s by cause"`
	Skewed bool                 `col:"skewed" doc:"a finding names it"`
	OnPath bool                 `col:"on_path" doc:"it is on the way of a slow task's rows, from the scan that they come from"`
}

// PlanNodeRow is a row of query_nodes.sql.
type PlanNodeRow struct {
	QueryID    schema.Key              `col:"query_id"`
	NodeID     schema.Key              `col:"node_id"`
	ParentID   schema.Null[schema.Key] `col:"parent_id"`
	Position   int32                   `col:"position"`
	Kind       schema.NodeKind         `col:"kind"`
	Operator   string                  `col:"operator"`
	Engine     schema.Native           `col:"engine"`
	Detail     schema.Null[string]     `col:"detail"`
	Keys       schema.Null[string]     `col:"keys"`
	RightKeys  schema.Null[string]     `col:"right_keys"`
	JoinType   schema.Null[string]     `col:"join_type"`
	Source     schema.Null[string]     `col:"source"`
	Coalesced  bool                    `col:"coalesced"`
	Split      bool                    `col:"split"`
	Rows       schema.Null[float64]    `col:"rows" unit:"records"`
	SpillBytes schema.Null[float64]    `col:"spill_bytes" unit:"bytes"`
}

// skewS returns what skew of data cost the query's jobs.
func (q *Query) skewS() float64 {
	for _, p := range q.Loss.Parts {
		if p.Cause == schema.DataSkew {
			return p.LostS
		}
	}
	return 0
}

// skews returns the findings about skewed tasks.
func (q *Query) skews() []QueryFinding {
	var out []QueryFinding
	for _, f := range q.Findings {
		if f.Kind.IsSkew() {
			out = append(out, f)
		}
	}
	return out
}

// QueryTitle names a query: by its number, and what the user called it.
func QueryTitle(q *Query) string {
	s := prose.Clean(q.NativeID, 24)
	if name := prose.MaybeName(q.Description); name != "" {
		s += " (" + name + ")"
	}
	return s
}

// How many queries are listed, and how many plans are drawn, of how many operators.
const (
	topQueries   = 20
	drawnPlans   = 3
	mostOperator = 400
)

// queries lists the queries that lost most, and draws the plans of the first.
func (b *builder) queries() error {
	l := &b.doc.Queries
	l.Note = "No query of Spark SQL is in the logs."
	l.SQL = "SELECT q.query_id, q.native_id, q.description, sum(s.lost_s) AS phases_lost_s\nFROM queries q JOIN query_jobs j ON j.query_id = q.query_id JOIN phases p ON p.job_id = j.job_id JOIN phase_stats s ON s.phase_id = p.phase_id\nGROUP BY q.query_id, q.native_id, q.description ORDER BY phases_lost_s DESC NULLS LAST"
	totals, jobs, err := b.queryTotals()
	if err != nil {
		return err
	}
	findings, err := collect[QueryFindingRow](b, "query_findings")
	if err != nil {
		return err
	}
	found := map[schema.Key][]QueryFinding{}
	for _, f := range findings {
		found[f.QueryID] = append(found[f.QueryID], QueryFinding{f, findingWords(&f)})
		if totals[f.QueryID] == nil { // none of its jobs is in the log
			totals[f.QueryID] = &total{parts: &parts{}}
		}
	}
	l.Total = int64(len(totals))
	keys := withFindings(b.sums.worst(totals, topQueries), findings)
	if k := b.o.Scope.Query; k != 0 {
		keys, l.Total = []schema.Key{k}, 1
		if totals[k] == nil { // it ran no job
			totals[k] = &total{parts: &parts{}}
		}
	}
	if err := b.pick("report_picked_queries", "query_id", keys); err != nil {
		return err
	}
	rows, err := collect[QueryRow](b, "queries")
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *QueryRow) schema.Key { return r.QueryID })
	for _, k := range keys {
		i, ok := byKey[k]
		if !ok {
			continue
		}
		q := Query{QueryRow: rows[i], Jobs: jobs[k], Loss: totals[k].loss(), Findings: found[k]}
		if q.StartTime.OK && q.FinishTime.OK {
			q.TookS = schema.Some(q.FinishTime.V.Sub(q.StartTime.V))
		}
		l.Rows = append(l.Rows, q)
	}
	return b.drawPlans()
}

// queryTotals returns what the jobs of each query lost, and how many jobs it has.
func (b *builder) queryTotals() (totals map[schema.Key]*total, jobs map[schema.Key]int64, err error) {
	totals, jobs = map[schema.Key]*total{}, map[schema.Key]int64{}
	err = read(b, "query_jobs", func(r *struct {
		QueryID schema.Key `col:"query_id"`
		JobID   schema.Key `col:"job_id"`
	}) error {
		t := totals[r.QueryID]
		if t == nil {
			t = &total{parts: &parts{}}
			totals[r.QueryID] = t
		}
		jobs[r.QueryID]++
		if j := b.sums.jobs[r.JobID]; j != nil {
			t.completion += j.completion
			t.timed, t.compared, t.measured = t.timed || j.timed, t.compared || j.compared, t.measured || j.measured
			t.lost += j.lost
			t.excess += j.excess
			t.outliers += j.outliers
			if j.parts != nil {
				t.parts.merge(j.parts)
			}
		}
		return nil
	})
	return totals, jobs, err
}

// withFindings adds queries with findings about other things than slow tasks, which may have lost nothing to outliers.
func withFindings(keys []schema.Key, findings []QueryFindingRow) []schema.Key {
	for i := range findings {
		if k := findings[i].QueryID; len(keys) < 2*topQueries && !findings[i].Kind.IsSkew() && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// drawPlans fills in the plans of the first queries that lost anything, or of the one that the document is on.
func (b *builder) drawPlans() error {
	at := map[schema.Key]*Query{}
	var keys []schema.Key
	for i := range b.doc.Queries.Rows {
		q := &b.doc.Queries.Rows[i]
		if len(keys) < drawnPlans && (q.Loss.LostS.V > 0 || b.o.Scope.Query != 0) && q.Operators.OK && q.Operators.V <= mostOperator {
			keys = append(keys, q.QueryID)
			at[q.QueryID] = q
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := b.pick("report_drawn_queries", "query_id", keys); err != nil {
		return err
	}
	nodes, err := collect[PlanNodeRow](b, "query_nodes")
	if err != nil {
		return err
	}
	plans := map[schema.Key]*planOf{}
	for _, n := range nodes {
		if plans[n.QueryID] == nil {
			plans[n.QueryID] = &planOf{byID: map[schema.Key]int{}}
		}
		plans[n.QueryID].add(n)
	}
	err = read(b, "query_places", func(r *struct {
		QueryID schema.Key      `col:"query_id"`
		NodeID  schema.Key      `col:"node_id"`
		PhaseID schema.Key      `col:"phase_id"`
		Role    schema.NodeRole `col:"role"`
		Phase   string          `col:"phase"`
		Attempt int32           `col:"attempt"`
	}) error {
		if p := plans[r.QueryID]; p != nil {
			p.ran(r.NodeID, r.PhaseID, r.Role, PhaseTitle(r.Phase, r.Attempt))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if p := plans[k]; p != nil {
			at[k].Plan = p.drawn(b.sums, at[k].Findings)
		}
	}
	return nil
}

// planOf is a plan that is being read.
type planOf struct {
	nodes  []PlanNode
	byID   map[schema.Key]int
	phases map[schema.Key][]schema.Key // of each operator, without those that only read an exchange
}

func (p *planOf) add(n PlanNodeRow) {
	p.byID[n.NodeID] = len(p.nodes)
	p.nodes = append(p.nodes, PlanNode{PlanNodeRow: n})
}

func (p *planOf) ran(node, phase schema.Key, role schema.NodeRole, title string) {
	i, ok := p.byID[node]
	if !ok || role == schema.NodeReads {
		return
	}
	if p.phases == nil {
		p.phases = map[schema.Key][]schema.Key{}
	}
	if !slices.Contains(p.phases[node], phase) && len(p.phases[node]) < 8 {
		p.phases[node] = append(p.phases[node], phase)
		p.nodes[i].Phases = append(p.nodes[i].Phases, title)
	}
}

// drawn returns the operators, without wrappers, with what their phases lost. The path of the rows is marked from an operator
// with a finding down to the scans.
func (p *planOf) drawn(s *sums, findings []QueryFinding) []PlanNode {
	for _, f := range findings {
		for _, id := range []schema.Key{f.NodeID, f.OperatorID.V} {
			if i, ok := p.byID[id]; ok {
				p.nodes[i].Skewed = p.nodes[i].Skewed || f.Kind.IsSkew()
			}
		}
		if f.Kind.IsSkew() {
			p.mark(f.NodeID)
		}
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		var lost parts
		known := false
		for _, phase := range p.phases[n.NodeID] {
			if at, ok := s.onPath[phase]; ok {
				n.LostS = schema.Some(n.LostS.V + at.cost)
				known = true
			}
			if q := s.phaseParts[phase]; q != nil {
				lost.merge(q)
			}
		}
		if known && n.LostS.V > 0 {
			n.Parts = lost.list()
		}
	}
	var kept []PlanNode
	for i := range p.nodes {
		n := p.nodes[i]
		if n.Kind == schema.WrapperNode {
			continue
		}
		for n.ParentID.OK {
			above := p.nodes[p.byID[n.ParentID.V]]
			if above.Kind != schema.WrapperNode {
				break
			}
			n.ParentID = above.ParentID
		}
		kept = append(kept, n)
	}
	return kept
}

// mark marks the operators below an operator, the path of the rows that it combined.
func (p *planOf) mark(id schema.Key) {
	on := map[schema.Key]bool{id: true}
	for i := range p.nodes {
		n := &p.nodes[i]
		if on[n.NodeID] || n.ParentID.OK && on[n.ParentID.V] {
			on[n.NodeID], n.OnPath = true, true
		}
	}
}

// operatorNames are the names of operators in sentences.
var operatorNames = map[string]string{
	"SortMergeJoin": "sort-merge join", "ShuffledHashJoin": "shuffled hash join", "BroadcastHashJoin": "broadcast hash join",
	"CartesianProduct": "cartesian product",
	"HashAggregate":    "hash aggregate", "ObjectHashAggregate": "object hash aggregate", "SortAggregate": "sort aggregate", "Window": "window",
	"WindowGroupLimit": "window group limit", "Exchange": "exchange", "ReusedExchange": "exchange", "Scan": "scan",
	"BatchScan": "scan", "FileSourceScan": "scan", "InMemoryTableScan": "scan of the cached table", "BroadcastNestedLoopJoin": "broadcast nested-loop join",
	"Sort": "sort",
}

// operatorWords returns the name of an operator in a sentence.
func operatorWords(name string) string {
	return cmp.Or(operatorNames[name], prose.Clean(name, 40))
}

// JoinWords names an operator with its tables and keys: the sort-merge join of orders with customers by customer_id.
func JoinWords(f *QueryFindingRow) string {
	s := "the " + operatorWords(f.Operator)
	tables, other := prose.MaybeName(f.Tables), prose.MaybeName(f.Other)
	if f.Kind == schema.SkewedScan && tables != "" {
		return s + map[bool]string{true: " ", false: " of "}[f.Operator == "InMemoryTableScan"] + tables
	}
	switch {
	case tables != "" && other != "":
		s += " of " + tables + " with " + other
	case tables != "":
		s += " of " + tables
	case other != "":
		s += " with " + other
	}
	if keys := prose.MaybeName(f.Keys); keys != "" {
		s += " by " + keys
	}
	return s
}

// ratioWords returns how much more data the worst task has than the median: in rows, or in bytes where those are what differs.
func (f *QueryFindingRow) ratioWords() string {
	return prose.Times(f.Ratio.V) + " the median " + map[bool]string{true: "bytes", false: "rows"}[f.Bytes.OK && !f.Rows.OK]
}

// findingWords states a finding in a sentence. Logs do not record which key value is frequent, so the partition is named.
func findingWords(f *QueryFindingRow) string {
	var s []string
	name := JoinWords(f)
	if f.Side.OK {
		name += ", " + string(f.Side.V) + " side"
	}
	s = append(s, prose.Upper(name))
	if f.Kind == schema.SplitByAQE {
		s = append(s, fmt.Sprintf("adaptive execution split %s into %s already",
			prose.Plural(f.Partitions.V, "skewed partition", "skewed partitions"), prose.Plural(f.Tasks, "part", "parts")))
		return strings.Join(s, ": ") + "."
	}
	switch f.Kind {
	case schema.ExplodingJoin:
		return s[0] + fmt.Sprintf(": it gave %s rows, %s its larger input.", prose.Count(int64(f.Rows.V)), prose.Times(f.Ratio.V))
	case schema.ShuffledSmall:
		return s[0] + fmt.Sprintf(": that side has %s, less than Spark broadcasts, and both sides were shuffled.", prose.Bytes(f.Bytes.V))
	case schema.LargeBroadcast:
		return s[0] + fmt.Sprintf(": that side has %s and was broadcast, so that the driver collected it and each executor holds it.", prose.Bytes(f.Bytes.V))
	}
	what := "its worst task"
	if f.Task.OK {
		what = fmt.Sprintf("partition %d", f.Task.V)
	}
	if f.Kind == schema.SkewedScan {
		what = "its largest split"
	}
	if f.Ratio.OK {
		what += " has " + f.ratioWords()
	}
	if f.Seconds.OK {
		what += prose.Unless(!f.Ratio.OK, " and") + " took " + prose.Seconds(f.Seconds.V) + " longer for it"
		if f.QueryS.OK {
			what += ", of the query’s " + prose.Seconds(f.QueryS.V)
		}
	}
	if f.Tasks > 1 {
		what += fmt.Sprintf("; %s skewed", prose.Plural(f.Tasks-1, "more is", "more are"))
	}
	return s[0] + ": " + what + "."
}
