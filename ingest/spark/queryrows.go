package spark

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"straggler/ingest/read"
	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// planRows holds pending rows of queries.
type planRows struct {
	queries  []schema.Query
	settings []schema.QuerySetting
	jobs     []schema.QueryJob
	nodes    []schema.PlanNode
	metrics  []schema.NodeMetric
	phases   []schema.NodePhase
	attempts []schema.NodeAttempt
}

func (r *planRows) flush(f *fold) {
	flush(f, &r.queries)
	flush(f, &r.settings)
	flush(f, &r.jobs)
	flush(f, &r.nodes)
	flush(f, &r.metrics)
	flush(f, &r.phases)
	flush(f, &r.attempts)
}

// writeQuery writes a query with its plans and operators, and drops it. A query that is only named by jobs has no row.
func (a *app) writeQuery(q *query, complete bool) {
	defer a.forgetQuery(q)
	if !q.known() {
		delete(a.queryKeys, q.id)
		return
	}
	for _, j := range q.jobs {
		put(a.fold, &a.plans.jobs, schema.QueryJob{QueryID: q.key, JobID: j.key})
	}
	a.countCut(q)
	row := a.queryRow(q, complete)
	final := q.latest
	if final == nil {
		final = q.initial
	}
	if final != nil && len(final.nodes) > 0 {
		remembered := 0
		if q.initial != nil && q.latest != nil {
			remembered = len(q.latest.nodes)
		}
		plans := sqlplan.NewReader(a.in.KeepLiterals, remembered)
		t := plans.Tree(final.nodes)
		adaptive, finished := t.Adaptive()
		row.Adaptive, row.FinalPlan = schema.Some(adaptive), schema.Some(finished)
		row.Operators = schema.Some(final.seen)
		row.PlanFingerprint, row.InitialFingerprint, row.Shape = known(t.Fingerprint()), known(t.Fingerprint()), known(t.Shape())
		if q.initial != nil && len(q.initial.nodes) > 0 {
			first := t
			if q.latest != nil {
				first = plans.Tree(q.initial.nodes)
				row.InitialFingerprint, row.Shape = known(first.Fingerprint()), known(first.Shape())
			}
			a.writeNodes(q, first, schema.InitialPlan)
		}
		a.writeFinal(q, t, len(final.metrics))
	}
	put(a.fold, &a.plans.queries, row)
	a.writeQuerySettings(q)
}

func (a *app) queryRow(q *query, complete bool) schema.Query {
	row := schema.Query{QueryID: q.key, ApplicationID: a.key, NativeID: strconv.FormatInt(q.id, 10), Status: q.status(complete)}
	if s := q.start; s != nil {
		row.Description = known(read.Text(a.description(s.description)))
		row.StartTime = read.Millis(s.time)
		if root := a.queries[s.root]; s.root >= 0 && s.root != q.id {
			if root != nil && root.known() {
				row.RootID = schema.Some(root.key)
			} else if key, written := a.queryKeys[s.root]; written && root == nil {
				row.RootID = schema.Some(key)
			}
		}
	}
	if q.end != nil {
		row.FinishTime = read.Millis(q.end.Time)
	}
	if row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V < row.StartTime.V {
		row.FinishTime = schema.Null[schema.Time]{}
	}
	return row
}

// description returns the name of a query: one line, truncated like the names of jobs.
func (a *app) description(s string) string {
	s = strings.Join(strings.Fields(sqlplan.CleanSQL(s, a.in.KeepLiterals)), " ")
	if len(s) > maxName {
		s = strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	return s
}

// status returns the status of a query. Spark before 3.4 does not log its error, so it follows from the jobs.
func (q *query) status(complete bool) schema.RunStatus {
	switch {
	case q.end == nil && complete:
		return schema.RunUnknown
	case q.end == nil:
		return schema.RunRunning
	case q.end.Error.OK && q.end.Error.V != "":
		return schema.RunFailed
	case q.end.Error.OK:
		return schema.RunSucceeded
	}
	status := schema.RunUnknown
	for _, j := range q.jobs {
		switch j.status {
		case schema.RunFailed, schema.RunKilled:
			return j.status
		case schema.RunSucceeded:
			status = j.status
		}
	}
	return status
}

// writeQuerySettings writes the settings of a query's session that differ from the application's, sorted by name.
func (a *app) writeQuerySettings(q *query) {
	if q.start == nil {
		return
	}
	settings := map[string]string{}
	for _, s := range q.start.settings {
		if v, same := a.settings[s.name]; !same || v != s.value {
			settings[s.name] = s.value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		put(a.fold, &a.plans.settings, schema.QuerySetting{QueryID: q.key, Name: name, Value: settings[name]})
	}
}

// writeNodes writes the operators of a plan and gives their keys.
func (a *app) writeNodes(q *query, t *sqlplan.Tree, which schema.PlanStage) []schema.Key {
	keys := make([]schema.Key, len(t.Nodes))
	for i := range keys {
		keys[i] = a.keys.nodes.Next()
	}
	for i := range t.Nodes {
		n, o := &t.Raw[i], &t.Nodes[i]
		row := schema.PlanNode{NodeID: keys[i], QueryID: q.key, Plan: which, Position: int32(i), Kind: o.Kind, Operator: o.Name,
			Engine: o.Engine, Detail: known(o.Detail), Keys: known(o.Keys), RightKeys: known(o.RightKeys), JoinType: known(o.JoinType),
			Source: known(o.Source), Path: known(o.Path), Tables: known(strings.Join(t.Tables[i], ", ")),
			Partitions: schema.Null[int64]{V: max(o.Partitions, 0), OK: o.Partitions >= 0}, Coalesced: o.Coalesced, Split: o.Split,
			Codegen: schema.Null[int32]{V: max(t.Codegen[i], 0), OK: t.Codegen[i] >= 0}, Fingerprint: t.Hash(i)}
		row.BuildSide = schema.Null[schema.Side]{V: o.Build, OK: o.Build != ""}
		row.Side = schema.Null[schema.Side]{V: t.Sides[i], OK: t.Sides[i] != ""}
		if n.Parent >= 0 {
			row.ParentID = schema.Some(keys[n.Parent])
		}
		if original := t.Reuses[i]; original >= 0 {
			row.ReusesID = schema.Some(keys[original])
		}
		put(a.fold, &a.plans.nodes, row)
	}
	return keys
}

// writeFinal writes the plan that ran, its metrics up to a limit, and where its operators ran.
func (a *app) writeFinal(q *query, t *sqlplan.Tree, metrics int) {
	keys := a.writeNodes(q, t, schema.FinalPlan)
	owner := make(map[int64]owned, metrics)
	for i := range t.Raw {
		for k := range t.Raw[i].Metrics {
			m := &t.Raw[i].Metrics[k]
			if _, taken := owner[m.ID]; !taken {
				owner[m.ID] = owned{i, m}
			}
			a.writeMetric(q, m, schema.Some(keys[i]), t.Nodes[i].Engine)
		}
	}
	for i := range q.extra {
		m := &q.extra[i]
		if _, taken := owner[m.ID]; !taken {
			owner[m.ID] = owned{none, m}
			a.writeMetric(q, m, schema.Null[schema.Key]{}, schema.SparkEngine)
		}
	}
	for _, p := range a.placed(q, t) {
		put(a.fold, &a.plans.phases, schema.NodePhase{QueryID: q.key, NodeID: keys[p.node], PhaseID: p.phase.key, Role: p.role, Basis: p.basis})
	}
	a.writeSamples(q, t, keys, owner)
}

// owned is a metric and the operator that declares it, none where the log does not say which.
type owned struct {
	node   int
	metric *sqlplan.Metric
}

// writeMetric writes a metric of an operator, if it has a value. Native engines report zero for what they do not measure, so
// there a zero is unknown.
func (a *app) writeMetric(q *query, m *sqlplan.Metric, node schema.Null[schema.Key], engine schema.Native) {
	sum, ok := q.values[m.ID]
	value, driver := sum.value, false
	if !ok {
		value, driver = q.driver[m.ID], true
		_, ok = q.driver[m.ID]
	}
	if v, unit, can := metricValue(m, value, engine); ok && can {
		put(a.fold, &a.plans.metrics, schema.NodeMetric{QueryID: q.key, NodeID: node, Name: m.Name, Value: v, Unit: unit, Driver: driver})
	}
}

// writeSamples writes the metrics of the most extreme attempts of each phase, by operator.
func (a *app) writeSamples(q *query, t *sqlplan.Tree, keys []schema.Key, owner map[int64]owned) {
	for _, j := range q.jobs {
		for _, s := range j.stages {
			for _, p := range s.phases {
				if p.job == j && p.samples != nil {
					a.parse(p.samples)
					a.writeSamplesOf(p, t, keys, owner)
				}
			}
		}
	}
}

func (a *app) writeSamplesOf(p *phase, t *sqlplan.Tree, keys []schema.Key, owner map[int64]owned) {
	var all []*sample
	for i := range p.samples.heavy {
		all = append(all, &p.samples.heavy[i], &p.samples.long[i])
	}
	slices.SortStableFunc(all, func(x, y *sample) int { return cmp.Compare(x.attempt, y.attempt) })
	for i, s := range all {
		if s.attempt == 0 || i > 0 && all[i-1].attempt == s.attempt {
			continue
		}
		attempt := a.keys.attempts.Nth(int64(s.attempt - 1))
		for _, v := range s.values {
			at, ok := owner[v.id]
			if !ok || at.node < 0 {
				continue
			}
			if value, unit, can := metricValue(at.metric, v.value, t.Nodes[at.node].Engine); can {
				put(a.fold, &a.plans.attempts, schema.NodeAttempt{AttemptID: attempt, NodeID: keys[at.node], Name: at.metric.Name, Value: value, Unit: unit})
			}
		}
	}
}

// metricValue returns the value of an accumulator in the unit of its metric. Averages do not sum.
func metricValue(m *sqlplan.Metric, value int64, engine schema.Native) (float64, schema.MetricUnit, bool) {
	if value < 0 || value == 0 && engine != schema.SparkEngine {
		return 0, "", false
	}
	switch m.Kind {
	case "sum":
		return float64(value), schema.UnitCount, true
	case "size":
		return float64(value), schema.UnitBytes, true
	case "timing":
		return float64(value) / 1e3, schema.UnitSeconds, true
	case "nsTiming":
		return float64(value) / 1e9, schema.UnitSeconds, true
	}
	return 0, "", false
}
