package spark

import (
	"bytes"
	"slices"

	"straggler/ingest/read"
	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// Limits of a plan. Plans of ten joins have about two hundred operators; those beyond a limit are counted and reported.
const (
	maxPlanNodes  = 20_000  // operators of one plan that are kept
	maxPlanText   = 4 << 20 // bytes of the texts of one plan that are kept
	maxPlanDepth  = 1 << 20 // objects and lists within one another; a plan is walked without recursion
	maxNodeText   = 4 << 10 // bytes of the text of one operator that are kept; Spark itself writes 25 fields at most
	maxNodeMetric = 256     // metrics of one operator; the widest native ones have fifty
)

// plan is a physical plan of an event: its operators, parents first.
type plan struct {
	nodes   []sqlplan.Node
	seen    int64            // operators in the log
	cutText bool             // some texts are not kept whole
	text    int              // bytes of texts
	metrics []sqlplan.Metric // of the operators, which have parts of it
}

// planEvent is a SparkListenerSQLExecutionStart, a SparkListenerSQLAdaptiveExecutionUpdate, or a
// SparkListenerSQLAdaptiveSQLMetricUpdates.
type planEvent struct {
	execution   int64
	root        int64
	time        int64
	description string
	settings    properties
	plan        *plan
	metrics     []sqlplan.Metric // of an update of metrics
}

// queryEnd is a SparkListenerSQLExecutionEnd.
type queryEnd struct {
	Execution int64               `json:"executionId"`
	Time      int64               `json:"time"`
	Error     schema.Null[string] `json:"errorMessage"` // since Spark 3.4; "" where it succeeded
}

// driverUpdates is a SparkListenerDriverAccumUpdates: values of accumulators that the driver set.
type driverUpdates struct {
	Execution int64       `json:"executionId"`
	Updates   accumValues `json:"accumUpdates"`
}

// accumValue is a value of an accumulator.
type accumValue struct{ id, value int64 }

type accumValues []accumValue

// maxAccumValues bounds the values of one event.
const maxAccumValues = 100_000

// heldUpdate is an update of a plan whose decoding is deferred to the end of its block: each contains the whole plan, so only
// the last one of a query is needed.
type heldUpdate struct {
	line   read.Line
	record []byte
	event  *planEvent // among the others of the batch, without a plan yet
	why    string     // it cannot be used
}

// hold defers an update in Spark's own layout until the end of the block; it returns false for any other.
func (d *decoder) hold(record []byte, out *batch) bool {
	i := len(eventPrefix) + bytes.IndexByte(record[len(eventPrefix):], '"')
	execution, i := digits(record, expect(record, i, `","executionId":`))
	if i >= len(record) || record[i] != ',' {
		return false
	}
	e := &planEvent{execution: execution, root: none, time: none}
	d.held = append(d.held, heldUpdate{line: d.line, record: record, event: e})
	out.add(kindPlanUpdate, e)
	return true
}

// release decodes the last decodable update of each query, and returns later ones that cannot be decoded.
func (d *decoder) release() (bad []heldUpdate) {
	var done []int64
	for _, u := range slices.Backward(d.held) {
		if slices.Contains(done, u.event.execution) {
			continue
		}
		d.pull.Reset(u.record)
		e := planEvent{}
		if u.why = d.pullPlanEvent(&e); u.why != "" {
			bad = append(bad, u)
			continue
		}
		u.event.plan = e.plan
		done = append(done, u.event.execution)
	}
	clear(d.held)
	d.held = d.held[:0]
	return bad
}

// pullPlanEvent decodes an event that has a plan.
func (d *decoder) pullPlanEvent(e *planEvent) (why string) {
	p := &d.pull
	p.Deep = maxPlanDepth
	defer func() { p.Deep = 0 }()
	*e = planEvent{execution: none, root: none, time: none}
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "executionId":
			e.execution = d.integer()
		case "rootExecutionId":
			e.root = d.integer()
		case "time":
			e.time = d.integer()
		case "description":
			b, _ := p.Str()
			e.description = read.Text(string(b[:min(len(b), maxNodeText)]))
		case "modifiedConfigs":
			d.properties(&e.settings)
		case "sparkPlanInfo":
			e.plan = d.plan()
		case "sqlPlanMetrics":
			e.metrics = d.planMetrics()
		default:
			p.Skip()
		}
	}
	if !p.End() {
		return p.Why
	}
	if e.execution < 0 {
		return "it has no executionId"
	}
	return ""
}

// mostAhead bounds the memory allocated for a plan according to the size of the previous one, since successive plans of a query
// are similar.
const mostAhead = 1000

// planFrame is an operator that is being read.
type planFrame struct {
	node       int32 // its position, none where it is not kept
	inChildren bool
}

// plan reads a `SparkPlanInfo` with all that is below it, without recursion.
func (d *decoder) plan() *plan {
	p, made := &d.pull, &plan{}
	if !p.Object() {
		return nil
	}
	made.nodes, made.metrics = make([]sqlplan.Node, 0, d.lastPlan.nodes), make([]sqlplan.Metric, 0, d.lastPlan.metrics)
	defer func() {
		d.lastPlan.nodes, d.lastPlan.metrics = min(len(made.nodes), mostAhead), min(len(made.metrics), mostAhead)
	}()
	stack := []planFrame{{node: made.open(none)}}
	for len(stack) > 0 && p.Why == "" {
		top := &stack[len(stack)-1]
		switch {
		case top.inChildren:
			if !p.Elem() {
				top.inChildren = false
			} else if parent := top.node; p.Object() {
				stack = append(stack, planFrame{node: made.open(parent)})
			}
		case !p.Key():
			stack = stack[:len(stack)-1]
		case string(p.Name) == "children":
			top.inChildren = p.Array()
		case top.node < 0:
			p.Skip()
		default:
			d.nodeKey(made, &made.nodes[top.node])
		}
	}
	return made
}

// open adds an operator and returns its position; none if there are too many.
func (p *plan) open(parent int32) int32 {
	p.seen++
	if len(p.nodes) >= maxPlanNodes || parent < 0 && len(p.nodes) > 0 {
		return none
	}
	p.nodes = append(p.nodes, sqlplan.Node{Parent: parent})
	return int32(len(p.nodes) - 1)
}

func (d *decoder) nodeKey(made *plan, n *sqlplan.Node) {
	p := &d.pull
	switch string(p.Name) {
	case "nodeName":
		n.Name = d.planName(made)
	case "simpleString":
		n.Simple = d.planText(made)
	case "metadata":
		for ok := p.Object(); ok && p.Key(); {
			switch string(p.Name) {
			case "Location":
				n.Location = d.planText(made)
			case "PartitionFilters":
				n.Partition = d.planText(made)
			case "PushedFilters":
				n.Pushed = d.planText(made)
			default:
				p.Skip()
			}
		}
	case "metrics":
		n.Metrics = d.nodeMetrics(made)
	default:
		p.Skip()
	}
}

// planName reads the name of an operator, interned because a log has few.
func (d *decoder) planName(made *plan) string {
	b, _ := d.pull.Str()
	if len(b) > 64 {
		return d.keptText(made, b)
	}
	return d.intern.Text(b)
}

// planText reads a text of a plan, truncated if it, or all texts of the plan, are too long.
func (d *decoder) planText(made *plan) string {
	b, _ := d.pull.Str()
	return d.keptText(made, b)
}

func (d *decoder) keptText(made *plan, b []byte) string {
	most := min(maxNodeText, maxPlanText-made.text)
	if len(b) > most {
		b, made.cutText = b[:most], true
	}
	made.text += len(b)
	return read.Text(string(b))
}

// nodeMetrics reads the metrics of an operator. Those of a plan share one allocation.
func (d *decoder) nodeMetrics(made *plan) []sqlplan.Metric {
	start := len(made.metrics)
	metrics, next := d.scanPlanMetrics(d.pull.Value(), made.metrics)
	if made.metrics = metrics; next < 0 {
		return d.planMetrics()
	}
	d.pull.Take(next)
	return metrics[start:len(metrics):len(metrics)]
}

func (d *decoder) planMetrics() []sqlplan.Metric {
	p := &d.pull
	var metrics []sqlplan.Metric
	for ok := p.Array(); ok && p.Elem(); {
		m := sqlplan.Metric{ID: none}
		for ok := p.Object(); ok && p.Key(); {
			switch string(p.Name) {
			case "name":
				m.Name = d.text()
			case "accumulatorId":
				m.ID = d.integer()
			case "metricType":
				m.Kind = d.text()
			default:
				p.Skip()
			}
		}
		if m.ID >= 0 && m.Name != "" && len(metrics) < maxNodeMetric {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// accumPairs reads a list of pairs of an accumulator's id and its value.
func (d *decoder) accumPairs() accumValues {
	p := &d.pull
	var values accumValues
	for ok := p.Array(); ok && p.Elem(); {
		v, n := accumValue{id: none}, 0
		for ok := p.Array(); ok && p.Elem(); {
			switch n {
			case 0:
				v.id = d.integer()
			case 1:
				v.value, _ = p.Number()
			default:
				p.Skip()
			}
			n++
		}
		if v.id >= 0 && n == 2 && len(values) < maxAccumValues {
			values = append(values, v)
		}
	}
	return values
}
