package measure

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"sort"
	"time"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
)

// Runs reads applications of a store on which detect and causes have run, in order of time: those with the given keys, or all
// if there are none. Tasks adds what is needed only for runs that are judged.
func Runs(ctx context.Context, eng engine.Engine, g Grouping, applications ...schema.Key) ([]Run, error) {
	m := measuring{ctx: ctx, eng: eng, seen: append(only(applications), selection.Rejects()), grouping: g,
		index: map[schema.Key]int{}, stages: map[schema.Key]*Stage{}, operators: map[schema.Key]Operator{}}
	for _, step := range []func() error{m.applications, m.readOperators, m.readStages, m.causes, m.machines, m.plans} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("audit: measuring: %w", err)
		}
	}
	sort.SliceStable(m.runs, func(i, j int) bool { return Before(&m.runs[i], &m.runs[j]) })
	return m.runs, nil
}

// only restricts the tables to the rows of applications.
func only(applications []schema.Key) (seen []engine.Seen) {
	if len(applications) == 0 {
		return nil
	}
	for _, table := range []string{"applications", "jobs", "attempts", "queries"} {
		seen = append(seen, engine.Seen{Table: table, SQL: "SELECT * FROM " + table + " WHERE application_id IN (" + schema.KeyList(applications) + ")"})
	}
	return seen
}

type measuring struct {
	ctx      context.Context
	eng      engine.Engine
	seen     []engine.Seen
	grouping Grouping
	runs     []Run
	index    map[schema.Key]int // of runs, by application
	stages   map[schema.Key]*Stage

	operators map[schema.Key]Operator // by phase
}

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
		r := Run{ID: short(a.ID), Name: short(a.Name.V), Complete: a.Complete, Values: Values{}, Causes: Values{},
			Squares: Values{}, Machines: map[string]Machine{}, ApplicationKey: a.Key}
		r.Group, r.Session = short(m.grouping.of(a.Name.V)), m.grouping.session(a.Name.V)
		if start.OK {
			r.Start = time.UnixMicro(int64(start.V)).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		if start.OK && finish.OK && finish.V >= start.V {
			r.Values.Set("time_s", finish.V.Sub(start.V))
		}
		r.Values.put("slot_s", a.SlotSeconds)
		r.Values.Set("attempts", float64(a.Attempts))
		r.Values.Set("failed", float64(a.Failed))
		r.Values.Set("recomputed", float64(a.Recomputed))
		r.Values.Set("rejects", float64(a.Rejects))
		m.index[a.Key] = len(m.runs)
		m.runs = append(m.runs, r)
	})
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
	seen, onlyByPlan := map[alike]int{}, map[int]int{}
	err := each(m, "stages.sql", func(r *stageRow) {
		i, ok := m.index[r.ApplicationID]
		if !ok {
			return
		}
		sig := Signature{Job: lasting(r.Job.V), Stage: lasting(r.Name.V), Kind: short(r.Kind), Depth: depth[r.Key]}
		at := alike{r.ApplicationID, sig}
		sig.Nth = seen[at]
		seen[at]++
		sig.Operator = m.operators[r.Key]
		byPlan := sig.Nth >= mostAlike && sig.Operator.Name != "" && sig.Operator.Nth < mostAlike && onlyByPlan[i] < mostByPlan
		if byPlan {
			onlyByPlan[i]++
		}
		if sig.Nth < mostAlike || byPlan {
			m.runs[i].Stages = append(m.runs[i].Stages, r.stage(sig))
		}
	})
	for i := range m.runs {
		r := &m.runs[i]
		sort.Slice(r.Stages, func(a, b int) bool { return r.Stages[a].Signature.Less(r.Stages[b].Signature) })
		for k := range r.Stages {
			s := &r.Stages[k]
			m.stages[s.ApplicationKey] = s
			for _, name := range []string{"excess_s", "excess_sq", "lost_s", "input_bytes"} {
				if v, ok := s.Values[name]; ok {
					r.Values.Set(name, r.Values[name]+v)
				}
			}
		}
		r.complete()
	}
	return err
}

// complete drops the sum of inputs if it is unknown for some stages, and determines the clock of all stages.
func (r *Run) complete() {
	sized, ticks := 0, 0
	for i := range r.Stages {
		if _, ok := r.Stages[i].Values["input_bytes"]; ok {
			sized++
		}
		if _, ok := r.Stages[i].Values["tick_s"]; ok {
			ticks++
		}
	}
	if sized < len(r.Stages) {
		delete(r.Values, "input_bytes")
	}
	if ticks == len(r.Stages) && ticks > 0 {
		r.Values.Set("tick_s", 1)
	}
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
	CPUS          float      `col:"cpu_s"`
	WaitS         float      `col:"wait_s"`
	MovedBytes    float      `col:"moved_bytes"`
	InputBytes    float      `col:"input_bytes"`
	Sized         int64      `col:"sized"`
	Ticks         int64      `col:"ticks"`
}

func (r *stageRow) stage(sig Signature) Stage {
	s := Stage{Signature: sig, Values: Values{}, Causes: Values{}, ApplicationKey: r.Key}
	if r.Start.OK && r.Finish.OK && r.Finish.V >= r.Start.V {
		s.Values.Set("time_s", r.Finish.V.Sub(r.Start.V))
	}
	s.Values.Set("tasks", float64(r.Tasks))
	for _, v := range []struct {
		name  string
		value float
	}{
		{"median_s", r.MedianS}, {"max_s", r.MaxS}, {"slot_s", r.SlotS}, {"lost_s", r.LostS}, {"slowdown_ratio", r.SlowdownRatio}, {"input_skew", r.InputSkew},
		{"cpu_s", r.CPUS}, {"wait_s", r.WaitS}, {"moved_bytes", r.MovedBytes},
	} {
		s.Values.put(v.name, v.value)
	}
	if r.Sized == r.Timed { // a part of the inputs is no measure of work
		s.Values.put("input_bytes", r.InputBytes)
	}
	if r.Ticks == r.Timed {
		s.Values.Set("tick_s", 1)
	}
	if r.Outliers.OK { // the rules say nothing about stages with too few tasks
		s.Values.Set("outliers", float64(r.Outliers.V))
		s.Values.put("excess_s", r.ExcessS)
		s.Values.put("excess_sq", r.ExcessSq)
	}
	for _, q := range []float{r.MinS, r.P25S, r.MedianS, r.P75S, r.P90S, r.P99S, r.MaxS} {
		s.Sketch = append(s.Sketch, Round(q.V))
	}
	return s
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
			r.Causes.Set(cause, r.Causes[cause]+c.Seconds)
			r.Squares.Set(cause, r.Squares[cause]+c.Squares)
		}
		if s := m.stages[c.PhaseID]; s != nil {
			s.Causes.Set(string(c.Cause), c.Seconds)
		}
	})
}

func (m *measuring) machines() error {
	type of struct {
		run     int
		machine string
	}
	seen := map[of]bool{}
	healthy := map[of]bool{}
	err := each(m, "machines.sql", func(h *struct {
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
			m.runs[i].JudgedMachines++
		}
		if h.Verdict == schema.Healthy {
			healthy[of{i, name}] = true
		}
		if h.Verdict == schema.Healthy || !h.Factor.OK {
			return
		}
		if was, ok := m.runs[i].Machines[name]; !ok || h.Factor.V > was.Factor {
			m.runs[i].Machines[name] = Machine{string(h.Verdict), Round(h.Factor.V), Round(h.Low.V), Round(h.High.V), Round(h.Q.Or(1))}
		}
	})
	for at := range healthy {
		r := &m.runs[at.run]
		if _, slow := r.Machines[at.machine]; !slow {
			r.Healthy = append(r.Healthy, at.machine)
		}
	}
	for i := range m.runs {
		slices.Sort(m.runs[i].Healthy)
	}
	return err
}

// each runs one of the .sql files.
func each[R any](m *measuring, file string, do func(*R)) error {
	sql, err := queries.ReadFile("sql/" + file)
	if err != nil {
		return err
	}
	for r, err := range engine.ReadParts[R](m.ctx, m.eng, "audit", string(sql), m.seen...) {
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		do(r)
	}
	return nil
}

//go:embed sql/*.sql
var queries embed.FS

type (
	float  = schema.Null[float64]
	count  = schema.Null[int64]
	moment = schema.Null[schema.Time]
	text   = schema.Null[string]
)
