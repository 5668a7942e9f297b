package audit

import (
	"context"
	"embed"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"time"

	"straggler/engine"
	"straggler/schema"
)

//go:embed sql/*.sql
var queries embed.FS

// Values are measured by name; what the log does not say is not there.
type Values map[string]float64

// Run is what is remembered of one run of an application.
type Run struct {
	Group    string             `json:"group"`           // what it is compared within: the application's name, or what --group-by makes of it
	Start    string             `json:"start,omitempty"` // RFC 3339, UTC
	ID       string             `json:"id"`              // the framework's own id
	Name     string             `json:"name,omitempty"`
	Complete bool               `json:"complete"`
	Values   Values             `json:"values"`
	Causes   Values             `json:"causes,omitempty"`   // seconds of excess by cause
	Squares  Values             `json:"squares,omitempty"`  // sums of their squares over the outliers: how many tasks they are spread over
	Machines map[string]Machine `json:"machines,omitempty"` // those that were not like the others
	Flagged  []string           `json:"flagged,omitempty"`  // ids of the findings of that night: what they are about is no example of what is normal
	Stages   []Stage            `json:"-"`

	key      schema.Key
	machines int // judged
}

// night identifies a run within its group.
func (r *Run) night() string { return r.Start + " " + r.ID }

// Stage is what is remembered of one stage of a run.
type Stage struct {
	Signature
	Values Values    `json:"values"`
	Causes Values    `json:"causes,omitempty"`
	Sketch []float64 `json:"sketch"` // durations of its tasks: shortest, quartiles, 90 %, 99 %, longest

	key     schema.Key
	longest []float64 // durations of the longest tasks; of a run that was just measured
}

// Machine is the worst that a run says about a machine.
type Machine struct {
	Verdict string  `json:"verdict"`
	Factor  float64 `json:"factor"` // time relative to prediction, 1 = like the others
	Low     float64 `json:"low"`    // 95 % interval
	High    float64 `json:"high"`
	Q       float64 `json:"q"` // false discovery rate among the machines of its window
}

// Grouping says which runs belong together. The zero Grouping takes the application's name.
type Grouping struct{ pattern *regexp.Regexp }

// NewGrouping groups by what a regular expression finds in the name: its first group in parentheses, or all of it.
func NewGrouping(pattern string) (Grouping, error) {
	if pattern == "" {
		return Grouping{}, nil
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Grouping{}, fmt.Errorf("%w: --group-by: %w", ErrConfig, err)
	}
	return Grouping{re}, nil
}

func (g Grouping) of(name string) string {
	if g.pattern != nil {
		switch m := g.pattern.FindStringSubmatch(name); {
		case len(m) > 1 && m[1] != "":
			return m[1]
		case len(m) > 0 && m[0] != "":
			return m[0]
		}
	}
	if name == "" {
		return "(no name)"
	}
	return name
}

// Measure reads the applications of a store, of which detect and causes have written their tables, in order of time.
func Measure(ctx context.Context, eng engine.Engine, g Grouping) ([]Run, error) {
	m := measuring{ctx: ctx, eng: eng, grouping: g, index: map[schema.Key]int{}, stages: map[schema.Key]*Stage{}}
	for _, step := range []func() error{m.applications, m.readStages, m.longest, m.causes, m.machines} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("audit: measuring: %w", err)
		}
	}
	sort.SliceStable(m.runs, func(i, j int) bool { return before(&m.runs[i], &m.runs[j]) })
	return m.runs, nil
}

// before is the order of runs: by group, then by time.
func before(a, b *Run) bool {
	if a.Group != b.Group {
		return a.Group < b.Group
	}
	if a.Start != b.Start {
		return a.Start < b.Start
	}
	return a.ID < b.ID
}

type measuring struct {
	ctx      context.Context
	eng      engine.Engine
	grouping Grouping
	runs     []Run
	index    map[schema.Key]int // of runs, by application
	stages   map[schema.Key]*Stage
}

// each runs one of the .sql files.
func each[R any](m *measuring, file string, do func(*R)) error {
	sql, err := queries.ReadFile("sql/" + file)
	if err != nil {
		return err
	}
	for r, err := range engine.Read[R](m.ctx, m.eng, string(sql)) {
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		do(r)
	}
	return nil
}

type (
	float  = schema.Null[float64]
	count  = schema.Null[int64]
	moment = schema.Null[schema.Time]
	text   = schema.Null[string]
)

func (m *measuring) applications() error {
	return each(m, "applications.sql", func(a *struct {
		Key         schema.Key       `col:"application_id"`
		ID          string           `col:"native_id"`
		Name        text             `col:"name"`
		Start       moment           `col:"start_time"`
		Finish      moment           `col:"finish_time"`
		FirstStart  moment           `col:"first_start"`
		LastFinish  moment           `col:"last_finish"`
		Status      schema.RunStatus `col:"status"`
		Complete    bool             `col:"complete"`
		SourceFile  string           `col:"source_file"`
		Attempts    int64            `col:"attempts"`
		Failed      int64            `col:"failed"`
		Recomputed  int64            `col:"recomputed"`
		SlotSeconds float            `col:"slot_s"`
		Rejects     int64            `col:"rejects"`
	}) {
		start, finish := a.Start, a.Finish
		if !start.OK {
			start = a.FirstStart
		}
		if !finish.OK && a.Complete {
			finish = a.LastFinish
		}
		r := Run{ID: short(a.ID), Name: short(a.Name.V), Complete: a.Complete, Values: Values{}, Causes: Values{}, Squares: Values{}, Machines: map[string]Machine{}, key: a.Key}
		r.Group = short(m.grouping.of(a.Name.V))
		if start.OK {
			r.Start = time.UnixMicro(int64(start.V)).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		if start.OK && finish.OK && finish.V >= start.V {
			r.Values.set("time_s", finish.V.Sub(start.V))
		}
		r.Values.put("slot_s", a.SlotSeconds)
		r.Values.set("attempts", float64(a.Attempts))
		r.Values.set("failed", float64(a.Failed))
		r.Values.set("recomputed", float64(a.Recomputed))
		r.Values.set("rejects", float64(a.Rejects))
		m.index[a.Key] = len(m.runs)
		m.runs = append(m.runs, r)
	})
}

// stageRow is a row of stages.sql.
type stageRow struct {
	Key           schema.Key `col:"phase_id"`
	JobID         schema.Key `col:"job_id"`
	ApplicationID schema.Key `col:"application_id"`
	NativeID      string     `col:"native_id"`
	Job           text       `col:"job"`
	Name          text       `col:"name"`
	Kind          string     `col:"kind"`
	Submit        moment     `col:"submit_time"`
	Start         moment     `col:"start_time"`
	Finish        moment     `col:"finish_time"`
	Tasks         int64      `col:"tasks"`
	MedianS       float      `col:"median_s"`
	MaxS          float      `col:"max_s"`
	SlowdownRatio float      `col:"slowdown_ratio"`
	Outliers      count      `col:"outliers"`
	LostS         float      `col:"lost_s"`
	Timed         int64      `col:"timed"`
	SlotS         float      `col:"slot_s"`
	ExcessS       float      `col:"excess_s"`
	ExcessSq      float      `col:"excess_sq"`
	MinS          float      `col:"min_s"`
	P25S          float      `col:"p25_s"`
	P75S          float      `col:"p75_s"`
	P90S          float      `col:"p90_s"`
	P99S          float      `col:"p99_s"`
	InputSkew     float      `col:"input_skew"`
}

func (m *measuring) readStages() error {
	var edges []edgeRow
	if err := each(m, "edges.sql", func(e *edgeRow) { edges = append(edges, *e) }); err != nil {
		return err
	}
	depth := depths(edges)
	type alike struct {
		app schema.Key
		sig Signature
	}
	seen := map[alike]int{}
	err := each(m, "stages.sql", func(r *stageRow) {
		i, ok := m.index[r.ApplicationID]
		if !ok {
			return
		}
		sig := Signature{Job: lasting(r.Job.V), Stage: lasting(r.Name.V), Kind: short(r.Kind), Depth: depth[r.Key]}
		at := alike{r.ApplicationID, sig}
		sig.Nth = seen[at]
		seen[at]++
		if sig.Nth < mostAlike {
			m.runs[i].Stages = append(m.runs[i].Stages, r.stage(sig))
		}
	})
	for i := range m.runs {
		r := &m.runs[i]
		sort.Slice(r.Stages, func(a, b int) bool { return r.Stages[a].Signature.less(r.Stages[b].Signature) })
		for k := range r.Stages {
			s := &r.Stages[k]
			m.stages[s.key] = s
			for _, name := range []string{"excess_s", "excess_sq", "lost_s"} {
				if v, ok := s.Values[name]; ok {
					r.Values.set(name, r.Values[name]+v)
				}
			}
		}
	}
	return err
}

func (s Signature) less(t Signature) bool {
	switch {
	case s.Job != t.Job:
		return s.Job < t.Job
	case s.Stage != t.Stage:
		return s.Stage < t.Stage
	case s.Kind != t.Kind:
		return s.Kind < t.Kind
	case s.Depth != t.Depth:
		return s.Depth < t.Depth
	}
	return s.Nth < t.Nth
}

func (r *stageRow) stage(sig Signature) Stage {
	s := Stage{Signature: sig, Values: Values{}, Causes: Values{}, key: r.Key}
	if r.Start.OK && r.Finish.OK && r.Finish.V >= r.Start.V {
		s.Values.set("time_s", r.Finish.V.Sub(r.Start.V))
	}
	s.Values.set("tasks", float64(r.Tasks))
	for _, v := range []struct {
		name  string
		value float
	}{
		{"median_s", r.MedianS}, {"max_s", r.MaxS}, {"slot_s", r.SlotS}, {"lost_s", r.LostS}, {"slowdown_ratio", r.SlowdownRatio}, {"input_skew", r.InputSkew},
	} {
		s.Values.put(v.name, v.value)
	}
	if r.Outliers.OK { // the rules say nothing about stages with too few tasks
		s.Values.set("outliers", float64(r.Outliers.V))
		s.Values.put("excess_s", r.ExcessS)
		s.Values.put("excess_sq", r.ExcessSq)
	}
	for _, q := range []float{r.MinS, r.P25S, r.MedianS, r.P75S, r.P90S, r.P99S, r.MaxS} {
		s.Sketch = append(s.Sketch, round(q.V))
	}
	return s
}

func (m *measuring) longest() error {
	return each(m, "longest.sql", func(r *struct {
		PhaseID   schema.Key `col:"phase_id"`
		DurationS float64    `col:"duration_s"`
	}) {
		if s := m.stages[r.PhaseID]; s != nil {
			s.longest = append(s.longest, r.DurationS)
		}
	})
}

func (m *measuring) causes() error {
	return each(m, "causes.sql", func(c *struct {
		ApplicationID schema.Key   `col:"application_id"`
		PhaseID       schema.Key   `col:"phase_id"`
		Cause         schema.Cause `col:"cause"`
		Seconds       float64      `col:"seconds"`
		Squares       float64      `col:"squares"`
	}) {
		if i, ok := m.index[c.ApplicationID]; ok {
			r, cause := &m.runs[i], string(c.Cause)
			r.Causes.set(cause, r.Causes[cause]+c.Seconds)
			r.Squares.set(cause, r.Squares[cause]+c.Squares)
		}
		if s := m.stages[c.PhaseID]; s != nil {
			s.Causes.set(string(c.Cause), c.Seconds)
		}
	})
}

func (m *measuring) machines() error {
	type of struct {
		run     int
		machine string
	}
	seen := map[of]bool{}
	return each(m, "machines.sql", func(h *struct {
		ApplicationID schema.Key     `col:"application_id"`
		Machine       string         `col:"machine"`
		Verdict       schema.Verdict `col:"verdict"`
		Attempts      int64          `col:"attempts"`
		Factor        float          `col:"factor"`
		Low           float          `col:"factor_low"`
		High          float          `col:"factor_high"`
		Q             float          `col:"q_value"`
		Window        schema.Time    `col:"window_start"`
	}) {
		i, ok := m.index[h.ApplicationID]
		if !ok || h.Verdict == schema.UnknownVerdict {
			return
		}
		name := short(h.Machine)
		if at := (of{i, name}); !seen[at] {
			seen[at] = true
			m.runs[i].machines++
		}
		if h.Verdict == schema.Healthy || !h.Factor.OK {
			return
		}
		if was, ok := m.runs[i].Machines[name]; !ok || h.Factor.V > was.Factor {
			m.runs[i].Machines[name] = Machine{string(h.Verdict), round(h.Factor.V), round(h.Low.V), round(h.High.V), round(h.Q.Or(1))}
		}
	})
}

func (v Values) set(name string, x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v[name] = round(x)
	}
}

func (v Values) put(name string, x float) {
	if x.OK {
		v.set(name, x.V)
	}
}

// round keeps six significant digits: more than a log's milliseconds say, and short to read in a review.
func round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil || math.IsInf(y, 0) || math.IsNaN(y) {
		return 0
	}
	return y
}
