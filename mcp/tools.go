package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
)

type applicationsInput struct {
	Search string `json:"search,omitempty" jsonschema:"words that the id, name, user or file must hold"`
	By     string `json:"by,omitempty" jsonschema:"newest (the default) or lost"`
	paging
}

type applicationRow struct {
	Key       string      `json:"application"`
	ID        string      `json:"id_from_log"`
	Name      *string     `json:"name_from_log"`
	User      *string     `json:"user_from_log"`
	Framework string      `json:"framework_from_log"`
	Started   *string     `json:"started"`
	Status    string      `json:"status"`
	Complete  bool        `json:"log_complete"`
	Attempts  int64       `json:"attempts"`
	JobS      *float64    `json:"job_time_s"`
	LostS     *float64    `json:"lost_s"`
	Share     *float64    `json:"lost_share"`
	Causes    []causePart `json:"lost_by_cause,omitempty"`
	Unknown   string      `json:"why_unknown,omitempty"`
}

type causePart struct {
	Cause string   `json:"cause"`
	LostS *float64 `json:"lost_s"`
}

func (s *Server) applications(_ context.Context, in applicationsInput) (*answer, error) {
	apps, judged := s.c.Applications()
	apps = slices.Clone(apps)
	if in.By == "lost" {
		slices.SortStableFunc(apps, func(a, b report.Application) int { return cmp.Compare(b.Loss.LostS.V, a.Loss.LostS.V) })
	}
	a := &answer{About: "Applications, the newest first", SQL: "SELECT * FROM applications ORDER BY start_time DESC NULLS LAST", From: in.From}
	if in.By == "lost" {
		a.About = "Applications by time lost"
	}
	if !judged {
		a.CannotTell = append(a.CannotTell, "what was lost: it is being added up; ask again in a few seconds")
	}
	if st := s.c.Status(); len(st.Waiting) > 0 {
		a.CannotTell = append(a.CannotTell, fmt.Sprintf("what is in %d logs that were found and not read yet; ask again later", len(st.Waiting)+st.More))
	}
	words := strings.Fields(strings.ToLower(in.Search))
	for i := range apps {
		p := &apps[i]
		text := strings.ToLower(p.NativeID + " " + p.Name.V + " " + p.User.V + " " + p.SourceFile)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			continue
		}
		a.Rows = append(a.Rows, applicationRow{Key: keyText(p.ApplicationID), ID: name(p.NativeID), Name: maybeName(p.Name),
			User: maybeName(p.User), Framework: name(strings.TrimSpace(p.Framework + " " + p.FrameworkVersion.V)),
			Started: instant(p.StartTime), Status: string(p.Status), Complete: p.Complete, Attempts: p.Attempts,
			JobS: number(p.Loss.CompletionS), LostS: number(p.Loss.LostS), Share: number(p.Loss.LostShare),
			Causes: causeParts(p.Loss.Parts), Unknown: p.Loss.Note})
	}
	return a, nil
}

func causeParts(parts []report.LostPart) []causePart {
	var out []causePart
	for _, p := range parts {
		out = append(out, causePart{causeName(p.Cause), rounded(p.LostS)})
	}
	return out
}

// causeName returns a cause as it is written in the tables.
func causeName(c schema.Cause) string {
	if c == report.NotOutlier {
		return "no outlier"
	}
	return string(c)
}

// scopeInput selects the application, job, phase or attempt that a tool is about, by one key.
type scopeInput struct {
	Application string `json:"application,omitempty" jsonschema:"key of an application; without any key all of them"`
	Job         string `json:"job,omitempty" jsonschema:"key of a job"`
	Phase       string `json:"phase,omitempty" jsonschema:"key of a phase"`
	paging
}

func (in *scopeInput) scope() (sc report.Scope, err error) {
	for _, k := range []struct {
		text string
		to   *schema.Key
	}{{in.Phase, &sc.Phase}, {in.Job, &sc.Job}, {in.Application, &sc.Application}} {
		if k.text != "" {
			*k.to, err = key(k.text)
			return sc, err
		}
	}
	return sc, nil
}

type reportInput struct {
	Application string `json:"application,omitempty" jsonschema:"key of an application; without it all of them"`
}

type reportFacts struct {
	Title   string       `json:"title_from_log"`
	Verdict string       `json:"verdict"`
	Why     string       `json:"why"`
	Trust   string       `json:"trust"`
	Sound   bool         `json:"sound"`
	Counts  countFacts   `json:"counts"`
	Causes  []causeFacts `json:"causes"`
	Jobs    []jobFacts   `json:"worst_jobs"`
	Phases  []phaseFacts `json:"worst_phases"`
}

type countFacts struct {
	Applications int64    `json:"applications"`
	Jobs         int64    `json:"jobs"`
	Phases       int64    `json:"phases"`
	Attempts     int64    `json:"attempts"`
	Machines     int64    `json:"machines"`
	Outliers     int64    `json:"outliers"`
	Rejects      int64    `json:"rejected_records"`
	JobS         *float64 `json:"job_time_s"`
	LostS        *float64 `json:"lost_s"`
}

type causeFacts struct {
	Cause    string   `json:"cause"`
	Outliers int64    `json:"outliers"`
	LostS    *float64 `json:"job_time_lost_s"`
	WithoutS *float64 `json:"saved_without_it_s"`
	Low      *float64 `json:"saved_low_s"`
	High     *float64 `json:"saved_high_s"`
}

type jobFacts struct {
	Key   string      `json:"job"`
	ID    string      `json:"id_from_log"`
	Name  *string     `json:"name_from_log"`
	TookS *float64    `json:"took_s"`
	LostS *float64    `json:"lost_s"`
	Parts []causePart `json:"lost_by_cause,omitempty"`
}

type phaseFacts struct {
	Key     string   `json:"phase"`
	ID      string   `json:"id_from_log"`
	Name    *string  `json:"name_from_log"`
	Tasks   int64    `json:"tasks"`
	MedianS *float64 `json:"median_s"`
	MaxS    *float64 `json:"slowest_s"`
	CostS   *float64 `json:"cost_its_job_s"`
}

type adviceRow struct {
	Kind       string   `json:"kind"`
	Rule       string   `json:"rule"`
	Title      string   `json:"title_from_log"`
	Action     string   `json:"action_from_log"`
	Evidence   string   `json:"evidence_from_log,omitempty"`
	GainS      *float64 `json:"gain_s"`
	Low        *float64 `json:"gain_low_s"`
	High       *float64 `json:"gain_high_s"`
	Basis      string   `json:"gain_basis,omitempty"`
	Confidence string   `json:"confidence,omitempty"`
	Reason     string   `json:"why_not_more,omitempty"`
	SQL        string   `json:"sql,omitempty"`
}

// mostListed bounds the lists within the facts of a report; worst_tasks and sql return the rest.
const mostListed = 5

func (s *Server) report(ctx context.Context, in reportInput) (*answer, error) {
	scope, err := (&scopeInput{Application: in.Application}).scope()
	if err != nil {
		return nil, err
	}
	d, current, err := s.document(ctx, scope)
	if err != nil {
		return nil, err
	}
	c := d.Trust.Counts
	f := reportFacts{Title: view.Title(d), Verdict: d.Headline.Verdict, Why: d.Headline.Why, Trust: d.Headline.Trust, Sound: d.Headline.Sound,
		Counts: countFacts{c.Applications, c.Jobs, c.Phases, c.Attempts, c.Machines, c.Outliers, c.Rejects,
			number(d.Cost.Loss.CompletionS), number(d.Cost.Loss.LostS)}}
	for _, c := range d.Cost.Causes {
		f.Causes = append(f.Causes, causeFacts{causeName(c.Cause), c.Outliers, number(c.LostS), number(c.CostS), number(c.CostLow), number(c.CostHigh)})
	}
	for _, j := range d.Cost.Jobs.Rows[:min(mostListed, len(d.Cost.Jobs.Rows))] {
		f.Jobs = append(f.Jobs, jobFacts{keyText(j.JobID), name(j.NativeID), maybeName(j.Name), number(j.Loss.CompletionS),
			number(j.Loss.LostS), causeParts(j.Loss.Parts)})
	}
	for _, p := range d.Phases.Rows[:min(mostListed, len(d.Phases.Rows))] {
		f.Phases = append(f.Phases, phaseFacts{keyText(p.PhaseID), name(p.NativeID), maybeName(p.Name), p.Tasks, number(p.MedianS),
			number(p.MaxS), number(p.CostS)})
	}
	a := &answer{About: "What slow tasks cost and why; the rows are what to do about it", Facts: f, SQL: d.Cost.Jobs.SQL,
		Caveats: slices.Clone(d.Trust.Assumptions)}
	if a.age(current); !s.c.Fresh() {
		a.Caveats = append(a.Caveats, "The store has changed since its outliers and causes were found: what is new is not judged yet.")
	}
	if d.Cost.Loss.Note != "" {
		a.CannotTell = append(a.CannotTell, "lost time: "+d.Cost.Loss.Note)
	}
	for _, v := range d.Advice {
		if v.Kind == report.CannotTell {
			a.CannotTell = append(a.CannotTell, "what the advice of the rule "+v.Rule+" is about")
		}
		a.Rows = append(a.Rows, adviceRow{string(v.Kind), v.Rule, prose.Clean(v.Title, prose.TextRunes),
			prose.Clean(v.Action, prose.TextRunes), prose.Clean(v.Evidence, prose.TextRunes), number(v.GainS), number(v.GainLow), number(v.GainHigh),
			v.GainBasis, string(v.Confidence), v.Reason, v.SQL})
	}
	return a, nil
}

type taskRow struct {
	Key        string    `json:"attempt"`
	Phase      string    `json:"phase"`
	Job        string    `json:"job"`
	Task       int64     `json:"task"`
	Number     int32     `json:"number"`
	ID         string    `json:"id_from_log"`
	PhaseName  *string   `json:"phase_name_from_log"`
	Machine    *string   `json:"machine_from_log"`
	TookS      *float64  `json:"took_s"`
	MedianS    *float64  `json:"median_of_phase_s"`
	ExcessS    *float64  `json:"excess_s"`
	CostS      *float64  `json:"cost_its_job_s"`
	Cause      string    `json:"cause,omitempty"`
	Confidence *float64  `json:"confidence"`
	Evidence   string    `json:"evidence_from_log,omitempty"`
	Causes     []partRow `json:"causes,omitempty"`
}

type partRow struct {
	Cause      string   `json:"cause"`
	Seconds    *float64 `json:"seconds"`
	Share      *float64 `json:"share"`
	Confidence *float64 `json:"confidence"`
	Evidence   string   `json:"evidence_from_log,omitempty"`
}

func newTask(o *report.Outlier) taskRow {
	t := taskRow{Key: keyText(o.AttemptID), Phase: keyText(o.PhaseID), Job: keyText(o.JobID), Task: o.Task, Number: o.Number,
		ID: name(o.NativeID), PhaseName: maybeName(o.PhaseName), Machine: maybeName(o.Machine),
		TookS: number(o.DurationS), MedianS: number(o.MedianS), ExcessS: number(o.ExcessS), CostS: number(o.CostS), Confidence: number(o.Confidence)}
	if len(o.Causes) > 0 {
		t.Cause, t.Evidence = causeName(o.Cause), prose.Clean(o.Words, 2*prose.TextRunes)
	}
	return t
}

func (s *Server) worstTasks(ctx context.Context, in scopeInput) (*answer, error) {
	scope, err := in.scope()
	if err != nil {
		return nil, err
	}
	d, current, err := s.document(ctx, scope)
	if err != nil {
		return nil, err
	}
	a := &answer{About: fmt.Sprintf("The outliers that cost their jobs most, %d of %d", len(d.Outliers.Rows), d.Outliers.Total),
		SQL: d.Outliers.SQL, From: in.From,
		Caveats: []string{"Outliers without a cost delayed no job. The confidence is the share of such verdicts that are right on labelled logs."}}
	a.age(current)
	for i := range d.Outliers.Rows {
		a.Rows = append(a.Rows, newTask(&d.Outliers.Rows[i]))
	}
	if len(a.Rows) == 0 {
		a.CannotTell = []string{d.Outliers.Note}
	}
	return a, nil
}

// document returns the document on a part of the store or on all of it, and whether it is up to date.
func (s *Server) document(ctx context.Context, scope report.Scope) (d *report.Document, current bool, err error) {
	if scope == (report.Scope{}) {
		return s.c.All(ctx)
	}
	d, err = s.c.Document(ctx, scope)
	return d, true, err
}

type taskInput struct {
	Attempt string `json:"attempt" jsonschema:"key of the attempt, as worst_tasks gives it"`
}

func (s *Server) explainTask(ctx context.Context, in taskInput) (*answer, error) {
	k, err := key(in.Attempt)
	if err != nil {
		return nil, err
	}
	d, err := s.c.Document(ctx, report.Scope{Attempt: k})
	if err != nil {
		return nil, err
	}
	if len(d.Outliers.Rows) == 0 {
		return nil, report.ErrNoRow
	}
	o := &d.Outliers.Rows[0]
	t := newTask(o)
	a := &answer{About: "One attempt: where its excess over the median of its phase went; the seconds of the causes sum to it", SQL: o.SQL}
	if len(o.Causes) == 0 {
		a.About = "One attempt, which is not an outlier: no rule calls it slow"
	}
	for i := range o.Causes {
		c := &o.Causes[i]
		t.Causes = append(t.Causes, partRow{causeName(c.Cause), rounded(c.Seconds), number(c.Share), number(c.Confidence),
			prose.Clean(c.Words, prose.TextRunes)})
		if c.Cause == schema.UnexplainedCause && c.Rank == 1 {
			a.CannotTell = append(a.CannotTell, "why: there is too little data to say more")
		}
	}
	if len(o.Causes) > 0 && !o.Confidence.OK {
		a.CannotTell = append(a.CannotTell, "how sure the verdict is")
	}
	a.Facts = t
	return a, nil
}

// listInput is the input of a tool that lists everything.
type listInput struct{ paging }

type machineRow struct {
	Machine  string   `json:"machine_from_log"`
	Rack     *string  `json:"rack_from_log"`
	Verdict  string   `json:"verdict"`
	Factor   *float64 `json:"factor"`
	Low      *float64 `json:"factor_low"`
	High     *float64 `json:"factor_high"`
	Attempts int64    `json:"attempts"`
	Outliers *float64 `json:"outlier_share"`
	Losses   int64    `json:"outputs_lost"`
	Windows  int64    `json:"windows"`
	Bad      int64    `json:"bad_windows"`
	CostS    *float64 `json:"cost_jobs_s"`
	Note     *string  `json:"note_from_log"`
}

func (s *Server) machines(ctx context.Context, in listInput) (*answer, error) {
	d, current, err := s.c.Overview(ctx)
	if err != nil {
		return nil, err
	}
	l := d.Machines.List
	a := &answer{About: "Machines over all applications, bad ones first; a factor of 1 is like the others", SQL: l.SQL, From: in.From}
	if a.age(current); l.Total > int64(len(l.Rows)) {
		a.Caveats = append(a.Caveats, fmt.Sprintf("These are %d of %d machines; the table machine_health has all of them.", len(l.Rows), l.Total))
	}
	for _, m := range l.Rows {
		a.Rows = append(a.Rows, machineRow{name(m.Machine), maybeName(m.Rack), string(m.Verdict), number(m.Factor),
			number(m.FactorLow), number(m.FactorHigh), m.Attempts, number(m.OutlierRate), m.Losses, m.Windows, m.BadWindows,
			number(m.CostS), maybeName(m.Note)})
	}
	if len(l.Rows) == 0 {
		a.CannotTell = []string{l.Note}
	}
	return a, nil
}

type policyRow struct {
	Policy    string   `json:"policy"`
	Settings  string   `json:"settings,omitempty"`
	Bound     bool     `json:"bound_no_scheduler_reaches"`
	Verdict   string   `json:"verdict"`
	SavingS   *float64 `json:"saving_s"`
	Low       *float64 `json:"saving_low_s"`
	High      *float64 `json:"saving_high_s"`
	RunLow    *float64 `json:"this_run_low_s"`
	RunHigh   *float64 `json:"this_run_high_s"`
	Share     *float64 `json:"saving_share"`
	SlotTime  *float64 `json:"slot_time_change"`
	Copies    *float64 `json:"copies"`
	Wins      *float64 `json:"copies_that_won"`
	Replicate int64    `json:"seeds"`
}

type whatifInput struct {
	Application string   `json:"application,omitempty" jsonschema:"key of an application to replay; without it what the store has of all"`
	Policies    []string `json:"policies,omitempty" jsonschema:"of one application: names of policies, such as late, spark or mantri; the usual ones without"`
	paging
}

// replaySeeds is the number of seeds with which each policy is replayed, the same as on the page.
const replaySeeds = 10

func (s *Server) whatif(ctx context.Context, in whatifInput, progress func(float64)) (*answer, error) {
	if in.Application == "" {
		return s.savings(ctx, in.From)
	}
	k, err := key(in.Application)
	if err != nil {
		return nil, err
	}
	r, err := s.c.Replayed(ctx, catalog.ReplayOptions{Application: k, Policies: in.Policies, Seeds: replaySeeds}, progress)
	if err != nil {
		return nil, err
	}
	sum := r.Summary
	a := &answer{About: "What each policy would have saved over the jobs of this application, replayed with the same random numbers; the store keeps nothing of it", Caveats: sum.Assumed(), From: in.From,
		Facts: map[string]*float64{"replay_error_s": rounded(sum.ReplayErrorS), "replay_error_share": rounded(sum.ReplayError)}}
	for i := range sum.Results {
		x := &sum.Results[i]
		g := &x.All
		verdict := string(x.Verdict(sum.Uncertainty()))
		a.unsure(x.Name, verdict)
		a.Rows = append(a.Rows, policyRow{x.Name, prose.Clean(x.Changed(), prose.TextRunes), x.Ideal, verdict,
			rounded(g.Saving.Mean), rounded(g.Saving.Low), rounded(g.Saving.High), rounded(g.ThisRun.Low), rounded(g.ThisRun.High), rounded(g.Share), rounded(g.SlotChange),
			rounded(g.Copies), rounded(g.Wins), int64(sum.Seeds)})
	}
	if len(a.Rows) == 0 || sum.Jobs == 0 {
		a.CannotTell = append(a.CannotTell, "what policies would have saved: no job of it could be replayed")
	}
	return a, nil
}

// unsure lists a policy whose saving is uncertain.
func (a *answer) unsure(policy, verdict string) {
	if verdict == string(schema.CannotTell) {
		a.CannotTell = append(a.CannotTell, "whether "+prose.Clean(policy, 40)+" saves anything")
	}
}

// savings returns the savings over all jobs, from the store.
func (s *Server) savings(ctx context.Context, from int) (*answer, error) {
	d, current, err := s.c.Overview(ctx)
	if err != nil {
		return nil, err
	}
	w := &d.Whatif
	a := &answer{About: "What each policy would have saved over all jobs of the store, replayed with the same random numbers",
		SQL: w.Savings.SQL, Caveats: slices.Clone(w.Notes), From: from,
		Facts: map[string]*float64{"replay_error_s": number(w.ReplayErrorS), "replay_error_share": number(w.ReplayErrorShare)}}
	if a.age(current); !w.ReplayErrorS.OK {
		a.CannotTell = append(a.CannotTell, "how far a replay of the unchanged log is from what was observed")
	}
	for _, p := range w.Savings.Rows {
		a.unsure(p.Policy, string(p.Verdict))
		a.Rows = append(a.Rows, policyRow{prose.Clean(p.Policy, 40), p.Settings, p.Ideal, string(p.Verdict), number(p.SavingS),
			number(p.SavingLow), number(p.SavingHigh), number(p.ThisRunLow), number(p.ThisRunHigh), number(p.SavingShare), number(p.SlotTimeChange), number(p.Copies), number(p.Wins), p.Seeds})
	}
	if len(w.Savings.Rows) == 0 {
		a.CannotTell = append(a.CannotTell, w.Savings.Note)
	}
	return a, nil
}
