package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// Machines compares the machines.
type Machines struct {
	List   List[Machine] `col:"list" doc:"bad verdicts first, then by cost and by factor"`
	Phases []HeatColumn  `col:"phases" doc:"the columns of the heat map, in order of time"`
	Hidden int64         `col:"hidden" doc:"phases that the heat map leaves out"`
}

// HeatColumn is a phase of the heat map.
type HeatColumn struct {
	PhaseID     schema.Key           `col:"phase_id"`
	NativeID    string               `col:"native_id"`
	Attempt     int32                `col:"attempt"`
	Name        schema.Null[string]  `col:"name"`
	Application string               `col:"application"`
	Job         string               `col:"job"`
	MedianS     schema.Null[float64] `col:"median_s" unit:"s"`
}

// Machine is a machine's health.
type Machine struct {
	MachineRow
	CostS schema.Null[float64] `col:"cost_s" unit:"s" doc:"part of the time jobs lost that is attributed to bad_machine on it"`
	Cells []Heat               `col:"cells" doc:"one a column of the heat map"`

	shown int64 // attempts of the window that Factor is of
}

// MachineRow is a machine with the health that it is listed with.
type MachineRow struct {
	Machine     string               `col:"machine"`
	Rack        schema.Null[string]  `col:"rack"`
	Attempts    int64                `col:"attempts" doc:"attempts that its health was judged by, over all windows"`
	Phases      int64                `col:"phases" doc:"phases of those attempts"`
	Factor      schema.Null[float64] `col:"factor" unit:"ratio" doc:"of its worst window that has a verdict, else of its largest"`
	FactorLow   schema.Null[float64] `col:"factor_low" unit:"ratio"`
	FactorHigh  schema.Null[float64] `col:"factor_high" unit:"ratio"`
	OutlierRate schema.Null[float64] `col:"outlier_rate" unit:"fraction"`
	Losses      int64                `col:"losses"`
	Verdict     schema.Verdict       `col:"verdict"`
	Windows     int64                `col:"windows"`
	BadWindows  int64                `col:"bad_windows" doc:"windows in which it was slow or flaky"`
	Course      schema.Null[string]  `col:"course" doc:"over all windows: chronic, intermittent, recovered"`
	Note        schema.Null[string]  `col:"note" doc:"why the verdict is what the factor alone does not say"`
}

// Heat compares the tasks of a phase on one machine with the whole phase.
type Heat struct {
	N     int64                `col:"n" doc:"tasks; 0 where it ran none"`
	Ratio schema.Null[float64] `col:"ratio" unit:"ratio" doc:"median duration on the machine / median of the phase"`
}

// machines lists the machines, bad verdicts first and then by cost, and fills the heat map.
func (b *builder) machines() error {
	m := &b.doc.Machines
	m.List.SQL = "SELECT * FROM machine_health ORDER BY factor DESC NULLS LAST"
	m.List.Note = "The logs name no machines."
	if n := b.doc.Trust.Counts.Listed; n > 0 {
		m.List.Note = fmt.Sprintf("No attempt says where it ran. The table machines has %s that the logs list.", prose.Plural(n, "machine", "machines"))
	}
	all, err := b.machineRows()
	if err != nil {
		return err
	}
	slices.SortFunc(all, compareMachines)
	m.List.Total = int64(len(all))
	m.List.Rows = all[:min(len(all), topMachines)]
	return b.heat()
}

// machineRows returns every machine that ran an attempt, with its health.
func (b *builder) machineRows() ([]Machine, error) {
	var all []Machine
	at := map[string]int{}
	err := read(b, "machines", func(r *struct {
		Machine  string              `col:"machine"`
		Rack     schema.Null[string] `col:"rack"`
		Attempts int64               `col:"attempts"`
		Phases   int64               `col:"phases"`
	}) error {
		row := Machine{MachineRow: MachineRow{Machine: r.Machine, Rack: r.Rack, Attempts: r.Attempts, Phases: r.Phases, Verdict: schema.UnknownVerdict}}
		if b.sums.all.measured {
			row.CostS = schema.Some(b.sums.machines[r.Machine])
		}
		at[r.Machine] = len(all)
		all = append(all, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var inRuns []schema.MachineHealth
	err = read(b, "machine_health", func(r *schema.MachineHealth) error {
		i, ok := at[r.Machine]
		switch {
		case !ok:
		case !r.ApplicationID.OK:
			all[i].window(r)
		case BadVerdict(r.Verdict):
			if _, ok := b.sums.apps[r.ApplicationID.V]; ok {
				inRuns = append(inRuns, *r)
			}
		}
		return nil
	})
	for i := range inRuns {
		all[at[inRuns[i].Machine]].run(&inRuns[i])
	}
	return all, err
}

// run takes into account that the machine was bad in one run compared with the history of its stages: if no window has a bad
// verdict, the machine is listed with its worst run.
func (m *Machine) run(h *schema.MachineHealth) {
	if m.BadWindows > 0 || BadVerdict(m.Verdict) && !(h.Factor.V > m.Factor.V) {
		return
	}
	m.Verdict, m.Factor, m.FactorLow, m.FactorHigh, m.OutlierRate, m.shown = h.Verdict, h.Factor, h.FactorLow, h.FactorHigh, h.OutlierRate, h.Attempts
	m.Course, m.Note = h.Course, schema.Some(prose.After("in one run, against the history of its stages: ", againstHistory(h)))
}

// againstHistory describes what the tasks of a machine spent more time on than usual.
func againstHistory(h *schema.MachineHealth) string {
	var words []string
	if h.WaitRatio.OK {
		words = append(words, "they waited "+prose.Times(h.WaitRatio.V)+" their usual time for input")
	}
	if h.CPURatio.OK {
		words = append(words, "their processor time was "+prose.Times(h.CPURatio.V)+" the usual")
	}
	if h.Note.OK {
		words = append(words, h.Note.V)
	}
	if len(words) == 0 {
		return fmt.Sprintf("%s of its attempts were slower than usual", prose.OrDash(h.OutlierRate, prose.Percent))
	}
	return strings.Join(words, "; ")
}

// window takes the health of one window into account: the machine is listed with its worst window that has a
// bad verdict, else with the window that was judged by most attempts.
func (m *Machine) window(h *schema.MachineHealth) {
	first := m.Windows == 0
	m.Windows++
	m.Losses += h.Losses
	bad := BadVerdict(h.Verdict)
	if bad {
		m.BadWindows++
	}
	if first {
		m.Attempts, m.Phases = 0, 0
	}
	m.Attempts += h.Attempts
	m.Phases += h.Phases
	better := first
	switch was := BadVerdict(m.Verdict); {
	case first:
	case bad != was:
		better = bad
	case bad:
		better = h.Factor.V > m.Factor.V
	default:
		better = h.Verdict != schema.UnknownVerdict && (m.Verdict == schema.UnknownVerdict || h.Attempts > m.shown)
	}
	if better {
		m.Verdict, m.Factor, m.FactorLow, m.FactorHigh, m.OutlierRate, m.shown = h.Verdict, h.Factor, h.FactorLow, h.FactorHigh, h.OutlierRate, h.Attempts
		m.Course, m.Note = h.Course, h.Note
	}
}

func compareMachines(a, b Machine) int {
	bad := func(m Machine) int {
		if BadVerdict(m.Verdict) {
			return 0
		}
		return 1
	}
	known := func(m Machine) int {
		if m.Factor.OK {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(bad(a), bad(b)), -cmp.Compare(a.CostS.V, b.CostS.V), cmp.Compare(known(a), known(b)),
		-cmp.Compare(a.Factor.V, b.Factor.V), cmp.Compare(a.Machine, b.Machine))
}

// heat fills the heat map of the listed machines.
func (b *builder) heat() error {
	m := &b.doc.Machines
	var keys []schema.Key
	column := map[schema.Key]int{}
	err := read(b, "heavy_phases", func(r *struct {
		PhaseID     schema.Key           `col:"phase_id"`
		Application string               `col:"application"`
		Job         string               `col:"job"`
		NativeID    string               `col:"native_id"`
		Attempt     int32                `col:"attempt"`
		Name        schema.Null[string]  `col:"name"`
		MedianS     schema.Null[float64] `col:"median_s"`
		Total       int64                `col:"total"`
	}) error {
		column[r.PhaseID] = len(keys)
		keys = append(keys, r.PhaseID)
		m.Phases = append(m.Phases, HeatColumn{r.PhaseID, r.NativeID, r.Attempt, r.Name, r.Application, r.Job, r.MedianS})
		m.Hidden = r.Total
		return nil
	})
	if err != nil {
		return err
	}
	m.Hidden = max(0, m.Hidden-int64(len(m.Phases)))
	if err := b.pick("report_picked_phases", "phase_id", keys); err != nil {
		return err
	}
	if err := b.keep("report_tasks", "tasks"); err != nil {
		return err
	}
	row := map[string]int{}
	for i := range m.List.Rows {
		row[m.List.Rows[i].Machine] = i
		m.List.Rows[i].Cells = make([]Heat, len(m.Phases))
	}
	return read(b, "heat", func(r *struct {
		PhaseID schema.Key `col:"phase_id"`
		Machine string     `col:"machine"`
		N       int64      `col:"n"`
		MedianS float64    `col:"median_s"`
	}) error {
		i, ok := row[r.Machine]
		if !ok {
			return nil
		}
		c := column[r.PhaseID]
		cell := Heat{N: r.N}
		if median := m.Phases[c].MedianS; median.V > 0 {
			cell.Ratio = schema.Some(r.MedianS / median.V)
		}
		m.List.Rows[i].Cells[c] = cell
		return nil
	})
}
