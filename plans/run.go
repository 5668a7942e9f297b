package plans

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed skewed.sql
var skewedSQL string

//go:embed operators.sql
var operatorsSQL string

//go:embed placed.sql
var placedSQL string

//go:embed counted.sql
var countedSQL string

//go:embed settings.sql
var settingsSQL string

//go:embed queries.sql
var queriesSQL string

//go:embed durations.sql
var durationsSQL string

// Options say how to run.
type Options struct {
	Tool string // version of straggler, for the commit
}

// Summary is the result of a run.
type Summary struct {
	Queries  int64 // queries with a finding
	Findings int64
}

// Run finds what slow phases mean in terms of their queries and replaces query_findings by one commit.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	rows, err := find(ctx, eng)
	if err != nil {
		return Summary{}, err
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Plans, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("plans: %w", err)
	}
	if err := store.Append(tx, 0, rows); err != nil {
		return Summary{}, fmt.Errorf("plans: %w", errors.Join(err, tx.Abort()))
	}
	if _, err := tx.Commit(ctx); err != nil {
		return Summary{}, fmt.Errorf("plans: %w", err)
	}
	s := Summary{Findings: int64(len(rows))}
	for i := range rows {
		if i == 0 || rows[i].QueryID != rows[i-1].QueryID {
			s.Queries++
		}
	}
	return s, nil
}

// find returns the findings of the queries of a store, query by query.
func find(ctx context.Context, eng engine.Engine) ([]schema.QueryFinding, error) {
	r := reading{queries: map[schema.Key]*query{}}
	if err := r.all(ctx, eng); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	var rows []schema.QueryFinding
	for _, q := range r.order {
		rows = append(rows, q.find()...)
	}
	return rows, nil
}

// query has the rows of the store about a query with slow tasks.
type query struct {
	queryRow
	settings map[string]string
	tree     tree
	phases   []*phase
	byPhase  map[schema.Key]*phase
	rows     map[counter]float64
}

// phase is a phase with skewed tasks.
type phase struct {
	id        schema.Key
	skewed    []skewedRow // most seconds first
	exchanges []schema.Key
	scans     []schema.Key
	reads     []schema.Key // of adaptive execution
	tasks     []taskTime   // that succeeded, in the order of their starts
	slots     int64        // most that ran at once
}

// counter is a metric of an operator, of an attempt or (0) of all.
type counter struct {
	node, attempt schema.Key
	name          string
}

type skewedRow struct {
	QueryID       schema.Key           `col:"query_id"`
	PhaseID       schema.Key           `col:"phase_id"`
	AttemptID     schema.Key           `col:"attempt_id"`
	Seconds       float64              `col:"seconds"`
	Task          int64                `col:"task"`
	InputRecords  schema.Null[int64]   `col:"input_records"`
	InputBytes    schema.Null[int64]   `col:"input_bytes"`
	DurationS     schema.Null[float64] `col:"duration_s"`
	Tasks         int64                `col:"tasks"`
	MedianRecords schema.Null[float64] `col:"median_records"`
	MedianBytes   schema.Null[float64] `col:"median_bytes"`
	MedianS       schema.Null[float64] `col:"median_s"`
	TotalBytes    schema.Null[float64] `col:"total_bytes"`
}

type operatorRow struct {
	QueryID     schema.Key              `col:"query_id"`
	NodeID      schema.Key              `col:"node_id"`
	ParentID    schema.Null[schema.Key] `col:"parent_id"`
	ReusesID    schema.Null[schema.Key] `col:"reuses_id"`
	Position    int32                   `col:"position"`
	Kind        schema.NodeKind         `col:"kind"`
	Operator    string                  `col:"operator"`
	Engine      schema.Native           `col:"engine"`
	Keys        schema.Null[string]     `col:"keys"`
	RightKeys   schema.Null[string]     `col:"right_keys"`
	Detail      schema.Null[string]     `col:"detail"`
	JoinType    schema.Null[string]     `col:"join_type"`
	Source      schema.Null[string]     `col:"source"`
	Tables      schema.Null[string]     `col:"tables"`
	Coalesced   bool                    `col:"coalesced"`
	Split       bool                    `col:"split"`
	Fingerprint string                  `col:"fingerprint"`
}

type placedRow struct {
	QueryID schema.Key      `col:"query_id"`
	PhaseID schema.Key      `col:"phase_id"`
	NodeID  schema.Key      `col:"node_id"`
	Role    schema.NodeRole `col:"role"`
}

type countedRow struct {
	QueryID   schema.Key              `col:"query_id"`
	NodeID    schema.Key              `col:"node_id"`
	AttemptID schema.Null[schema.Key] `col:"attempt_id"`
	Name      string                  `col:"name"`
	Value     float64                 `col:"value"`
}

type queryRow struct {
	QueryID    schema.Key               `col:"query_id"`
	StartTime  schema.Null[schema.Time] `col:"start_time"`
	FinishTime schema.Null[schema.Time] `col:"finish_time"`
	Slots      schema.Null[int64]       `col:"slots"`
	Version    schema.Null[string]      `col:"version"`
}

type settingRow struct {
	QueryID schema.Key `col:"query_id"`
	Name    string     `col:"name"`
	Value   string     `col:"value"`
}

type durationRow struct {
	AttemptID schema.Key         `col:"attempt_id"`
	PhaseID   schema.Key         `col:"phase_id"`
	DurationS float64            `col:"duration_s"`
	Slots     schema.Null[int64] `col:"slots"`
}

// reading collects the queries that may have findings.
type reading struct {
	queries map[schema.Key]*query
	order   []*query
}

func (r *reading) all(ctx context.Context, eng engine.Engine) error {
	return errors.Join(
		each(ctx, eng, operatorsSQL, func(o *operatorRow) {
			q := r.queries[o.QueryID]
			if q == nil {
				q = &query{byPhase: map[schema.Key]*phase{}, rows: map[counter]float64{}, settings: map[string]string{}}
				q.QueryID = o.QueryID
				r.queries[o.QueryID] = q
				r.order = append(r.order, q)
			}
			q.tree.add(*o)
		}),
		each(ctx, eng, skewedSQL, func(s *skewedRow) {
			if q := r.queries[s.QueryID]; q != nil {
				p := q.byPhase[s.PhaseID]
				if p == nil {
					p = &phase{id: s.PhaseID}
					q.byPhase[s.PhaseID] = p
					q.phases = append(q.phases, p)
				}
				p.skewed = append(p.skewed, *s)
			}
		}),
		each(ctx, eng, placedSQL, r.place),
		each(ctx, eng, countedSQL, func(c *countedRow) {
			if q := r.queries[c.QueryID]; q != nil {
				q.rows[counter{c.NodeID, c.AttemptID.V, c.Name}] = c.Value
			}
		}),
		each(ctx, eng, queriesSQL, func(s *queryRow) {
			if q := r.queries[s.QueryID]; q != nil {
				q.queryRow = *s
			}
		}),
		each(ctx, eng, settingsSQL, func(s *settingRow) {
			if q := r.queries[s.QueryID]; q != nil {
				q.settings[s.Name] = s.Value
			}
		}),
		r.times(ctx, eng))
}

func (r *reading) place(p *placedRow) {
	q := r.queries[p.QueryID]
	if q == nil || q.byPhase[p.PhaseID] == nil {
		return
	}
	at, n := q.byPhase[p.PhaseID], q.tree.node(p.NodeID)
	switch {
	case n == nil:
	case n.Kind == schema.ExchangeNode && p.Role == schema.NodeReads:
		at.exchanges = append(at.exchanges, p.NodeID)
	case n.Kind == schema.ScanNode:
		at.scans = append(at.scans, p.NodeID)
	case n.Kind == schema.ShuffleReadNode:
		at.reads = append(at.reads, p.NodeID)
	}
}

// times reads the durations of the phases with skewed tasks.
func (r *reading) times(ctx context.Context, eng engine.Engine) error {
	of := map[schema.Key]*phase{}
	for _, q := range r.order {
		for _, p := range q.phases {
			of[p.id] = p
		}
	}
	if len(of) == 0 {
		return nil
	}
	return each(ctx, eng, durationsSQL, func(d *durationRow) {
		if p := of[d.PhaseID]; p != nil && len(p.tasks) < maxReplayed {
			p.tasks = append(p.tasks, taskTime{d.AttemptID, d.DurationS})
			p.slots = d.Slots.V
		}
	})
}

func each[R any](ctx context.Context, eng engine.Engine, sql string, f func(*R)) error {
	for row, err := range engine.Read[R](ctx, eng, sql) {
		if err != nil {
			return err
		}
		f(row)
	}
	return nil
}
