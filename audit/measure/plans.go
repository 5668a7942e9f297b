package measure

import (
	"slices"
	"strings"

	"straggler/schema"
)

// Plan describes a query; the same query of another run has the same name, shape and number.
type Plan struct {
	Query       string   `json:"query"`         // what the user called it, or its call site
	Shape       string   `json:"shape"`         // the tables that it scans and the keys that it joins and groups by
	Nth         int      `json:"nth,omitempty"` // of several alike, in the order of their start
	Fingerprint string   `json:"fingerprint"`   // of the plan that ran
	Operators   []string `json:"operators"`     // those that say how, in the order of the plan
	Inputs      []Input  `json:"inputs,omitempty"`
	// spark.sql.autoBroadcastJoinThreshold of its session; empty where nothing set it
	Broadcast string     `json:"broadcast,omitempty"`
	QueryKey  schema.Key `json:"-"` // of a run that was just measured
}

// Input is what a query's scans of one table read. Unknown values are 0, and are not used for explanations.
type Input struct {
	Table string  `json:"table"`
	Rows  float64 `json:"rows,omitempty"`
	Bytes float64 `json:"bytes,omitempty"` // of files
}

// Limits on the plans of a run in a baseline.
const (
	mostPlans     = 50
	mostOperators = 60
	mostInputs    = 12 // tables
)

// plans reads the plans of the queries.
func (m *measuring) plans() error {
	type alike struct {
		run         int
		name, shape string
	}
	seen := map[alike]int{}
	last := map[int]schema.Key{}
	return each(m, "plans.sql", func(n *struct {
		ApplicationID schema.Key      `col:"application_id"`
		QueryID       schema.Key      `col:"query_id"`
		Description   text            `col:"description"`
		Shape         string          `col:"shape"`
		Fingerprint   string          `col:"plan_fingerprint"`
		Kind          schema.NodeKind `col:"kind"`
		Operator      string          `col:"operator"`
		Keys          text            `col:"keys"`
		RightKeys     text            `col:"right_keys"`
		JoinType      text            `col:"join_type"`
		Source        text            `col:"source"`
		Detail        text            `col:"detail"`
		Rows          float           `col:"rows_read"`
		Bytes         float           `col:"bytes_read"`
		Threshold     text            `col:"broadcast_threshold"`
	}) {
		i, ok := m.index[n.ApplicationID]
		if !ok {
			return
		}
		r := &m.runs[i]
		if last[i] != n.QueryID {
			last[i] = n.QueryID
			at := alike{i, lasting(n.Description.V), n.Shape}
			p := Plan{Query: at.name, Shape: n.Shape, Nth: seen[at], Fingerprint: n.Fingerprint, QueryKey: n.QueryID, Broadcast: short(n.Threshold.V)}
			seen[at]++
			if len(r.Plans) < mostPlans {
				r.Plans = append(r.Plans, p)
			}
		}
		if k := len(r.Plans); k > 0 && r.Plans[k-1].QueryKey == n.QueryID && len(r.Plans[k-1].Operators) < mostOperators {
			p := &r.Plans[k-1]
			o := planOperator{n.Kind, n.Operator, n.Keys.V, n.RightKeys.V, n.JoinType.V, lasting(n.Source.V), n.Detail.V}
			p.Operators = append(p.Operators, short(o.String()))
			p.scanned(lasting(n.Source.V), n.Rows.V, n.Bytes.V)
		}
	})
}

// scanned adds the input of a scan of a table. Operators without a table are ignored.
func (p *Plan) scanned(table string, rows, bytes float64) {
	if table == "" {
		return
	}
	i := slices.IndexFunc(p.Inputs, func(in Input) bool { return in.Table == table })
	if i < 0 {
		if len(p.Inputs) >= mostInputs {
			return
		}
		i = len(p.Inputs)
		p.Inputs = append(p.Inputs, Input{Table: table})
	}
	in := &p.Inputs[i]
	in.Rows, in.Bytes = Round(in.Rows+rows), Round(in.Bytes+bytes)
}

// readOperators reads which operators the stages ran.
func (m *measuring) readOperators() error {
	type alike struct {
		app                schema.Key
		query, shape, name string
	}
	seen, places := map[alike]int{}, map[schema.Key]int{}
	return each(m, "operators.sql", func(n *struct {
		PhaseID       schema.Key      `col:"phase_id"`
		ApplicationID schema.Key      `col:"application_id"`
		Description   text            `col:"description"`
		Shape         text            `col:"shape"`
		Plan          text            `col:"plan_fingerprint"`
		Kind          schema.NodeKind `col:"kind"`
		Operator      string          `col:"operator"`
		Keys          text            `col:"keys"`
		RightKeys     text            `col:"right_keys"`
		JoinType      text            `col:"join_type"`
		Source        text            `col:"source"`
		Tables        text            `col:"tables"`
		Detail        text            `col:"detail"`
		Node          string          `col:"fingerprint"`
	}) {
		name := planOperator{n.Kind, n.Operator, n.Keys.V, n.RightKeys.V, n.JoinType.V, lasting(n.Source.V), n.Detail.V}.String()
		if n.Kind != schema.ScanNode && n.Tables.V != "" {
			name += " of " + lasting(n.Tables.V)
		}
		o := Operator{Query: lasting(n.Description.V), Name: short(name), Shape: n.Shape.V, Plan: n.Plan.V, Node: n.Node}
		at := alike{n.ApplicationID, o.Query, o.Shape, o.Name}
		o.Nth = seen[at]
		seen[at]++
		places[n.ApplicationID]++
		o.Place = places[n.ApplicationID]
		m.operators[n.PhaseID] = o
	})
}

// planOperator is what identifies an operator from run to run.
type planOperator struct {
	kind                                            schema.NodeKind
	name, keys, rightKeys, joinType, source, detail string
}

// String describes it in one line.
func (o planOperator) String() string {
	s := o.name
	switch o.kind {
	case schema.JoinNode:
		if o.joinType != "" {
			s += " " + o.joinType
		}
		if o.keys != "" {
			s += " on " + o.keys + " = " + o.rightKeys
		}
	case schema.ScanNode:
		if o.source != "" {
			s += " of " + o.source
		}
		if o.detail != "" {
			s += ": " + o.detail
		}
	case schema.ExchangeNode:
		s = strings.TrimSuffix(s+" "+o.detail, " ")
	case schema.AggregateNode, schema.WindowNode:
		if o.keys != "" {
			s += " by " + o.keys
		}
	}
	return s
}
