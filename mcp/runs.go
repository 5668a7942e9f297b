package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"straggler/audit"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

type compareInput struct {
	A string `json:"a" jsonschema:"key of an application, usually the earlier one"`
	B string `json:"b" jsonschema:"key of the application to compare with it"`
	paging
}

type differenceRow struct {
	Rule   string   `json:"rule"`
	Stage  string   `json:"stage_from_log,omitempty"`
	Cause  string   `json:"cause,omitempty"`
	Unit   string   `json:"unit"`
	A      *float64 `json:"a"`
	B      *float64 `json:"b"`
	Change *float64 `json:"change"`
	P      *float64 `json:"p_value"`
	Q      *float64 `json:"q_value"`
}

func (s *Server) compare(ctx context.Context, in compareInput) (*answer, error) {
	var keys [2]schema.Key
	for i, text := range [...]string{in.A, in.B} {
		var err error
		if keys[i], err = key(text); err != nil {
			return nil, err
		}
	}
	p, err := s.c.Compare(ctx, keys[0], keys[1])
	if err != nil {
		return nil, err
	}
	facts := map[string]string{"a_from_log": prose.Clean(p.A.String(), prose.TextRunes), "b_from_log": prose.Clean(p.B.String(), prose.TextRunes)}
	if len(p.Plans) > 0 {
		facts["plans_changed_from_log"] = prose.Clean(strings.Join(p.Plans, "; "), 4*prose.TextRunes)
	}
	a := &answer{About: "Differences between two runs, the best supported first; change is a fraction of a", From: in.From, SQL: "SELECT * FROM phase_stats",
		Facts: facts, Caveats: []string{p.Method}}
	untested := false
	for _, d := range p.Differences {
		row := differenceRow{Rule: d.Rule, Cause: d.Cause, Unit: d.Unit, A: d.A, B: d.B, Change: d.Change, P: d.P, Q: d.Q}
		if d.Stage != nil {
			row.Stage = prose.Clean(d.Stage.String(), 2*prose.NameRunes)
		}
		untested = untested || d.P == nil
		a.Rows = append(a.Rows, row)
	}
	if untested {
		a.CannotTell = []string{"whether differences without a p_value are more than runs differ anyway"}
	}
	if n := len(p.OnlyA) + len(p.OnlyB); n > 0 {
		a.Caveats = append(a.Caveats, fmt.Sprintf("%d stages are in one of the two only, so the programs differ.", n))
	}
	return a, nil
}

type findingRow struct {
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Status   string   `json:"status"`
	Group    string   `json:"application_from_log"`
	Run      string   `json:"run_from_log"`
	Stage    string   `json:"stage_from_log,omitempty"`
	Cause    string   `json:"cause,omitempty"`
	Machine  string   `json:"machine_from_log,omitempty"`
	Rack     string   `json:"rack_from_log,omitempty"`
	Shared   bool     `json:"nearly_all_machines,omitempty"`
	Unit     string   `json:"unit,omitempty"`
	Value    *float64 `json:"value"`
	Normal   *float64 `json:"normal"`
	Low      *float64 `json:"normal_low"`
	High     *float64 `json:"normal_high"`
	Change   *float64 `json:"change"`
	Runs     int      `json:"runs_compared_with"`
	Q        *float64 `json:"q_value"`
	Likely   string   `json:"likely_cause,omitempty"`
	SQL      string   `json:"sql,omitempty"`

	MachineRuns []machineRunRow `json:"machine_runs,omitempty"` // of a machine that is slow again and again
}

type machineRunRow struct {
	Run     string   `json:"run_from_log"`
	Start   string   `json:"start"`
	Verdict *string  `json:"verdict"`
	Factor  *float64 `json:"factor"`
}

func newFindingRow(f *audit.Finding) findingRow {
	row := findingRow{Rule: f.Rule, Severity: string(f.Severity), Status: string(f.Status), Group: name(f.Group),
		Run: name(f.Run), Cause: f.Cause, Machine: name(f.Machine), Rack: name(f.Rack), Shared: f.Shared, Unit: f.Unit,
		Value: f.Value, Normal: f.Normal, Low: f.Low, High: f.High,
		Change: f.Change, Runs: f.Runs, Q: f.Q, Likely: f.Likely, SQL: f.SQL}
	if f.Stage != nil {
		row.Stage = prose.Clean(f.Stage.String(), 2*prose.NameRunes)
	}
	for _, r := range f.MachineRuns {
		row.MachineRuns = append(row.MachineRuns, machineRunRow{name(r.Run), r.Start, r.Verdict, r.Factor})
	}
	return row
}

func (s *Server) audit(ctx context.Context, in listInput) (*answer, error) {
	runs, current, err := s.c.Runs(ctx)
	if err != nil {
		return nil, err
	}
	a := &answer{About: "What got worse in the latest run of each program than in its earlier runs in this store", From: in.From}
	night, ofThese, err := s.c.Night(ctx)
	if errors.Is(err, catalog.ErrBuilding) {
		a.CannotTell = []string{"whether anything got worse: " + err.Error() + "; ask again later"}
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.Caveats = []string{night.Method}
	a.Facts = map[string]any{"runs": len(runs), "needed_runs": night.MinRuns, "false_discovery_rate": night.FDR}
	a.age(current && ofThese)
	for _, f := range night.Findings() {
		a.Rows = append(a.Rows, newFindingRow(&f))
	}
	if len(runs) < night.MinRuns {
		a.CannotTell = []string{fmt.Sprintf("whether anything got worse: a judgement needs %d runs of a program, and the store has %d runs in all", night.MinRuns, len(runs))}
	}
	return a, nil
}
