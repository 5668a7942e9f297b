package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/schema"
)

// Night is the result of an audit.
type Night struct {
	Tool     string              `json:"tool"` // version of straggler
	Date     string              `json:"date"`
	Method   string              `json:"method"`
	FDR      float64             `json:"fdr"`
	MinRuns  int                 `json:"min_runs"`
	Summary  map[Status]int      `json:"summary"`
	Failing  int                 `json:"failing"` // findings that fail the build
	Runs     []Judgement         `json:"runs"`    // one a group
	Accepted []baseline.Decision `json:"accepted"`
	Expired  []string            `json:"expired_suppressions"`
	Baseline string              `json:"baseline"` // file
	judged   []*measure.Run
	all      []measure.Run
}

// Options configure an audit.
type Options struct {
	Now      time.Time
	Tool     string
	Baseline string   // name of the file, for the output
	Accept   []string // ids of findings that are normal from now on
	Reason   string   // of accepting them

	Tasks func(...*measure.Run) error // reads what measure.Tasks does; nil where the runs have it
}

// Judge compares the latest run of each group with its history: the runs of the baseline, and earlier ones in the same store.
// Accepted findings become decisions of the baseline.
func Judge(runs []measure.Run, b *baseline.Baseline, cfg *Config, o Options) (*Night, error) {
	n, err := assess(runs, b, cfg, o)
	if err != nil || len(o.Accept) == 0 {
		return n, err
	}
	var accepted []baseline.Decision
	for _, id := range o.Accept {
		d, err := n.decision(id, b, o)
		if err != nil {
			return nil, err
		}
		accepted = append(accepted, d)
		b.Decide(d)
		b.Open = slices.DeleteFunc(b.Open, func(x baseline.Open) bool { return x.ID == id })
	}
	if n, err = assess(runs, b, cfg, o); err != nil {
		return nil, err
	}
	n.Accepted = accepted
	return n, nil
}

func assess(runs []measure.Run, b *baseline.Baseline, cfg *Config, o Options) (*Night, error) {
	n := &Night{Tool: o.Tool, Date: o.Now.UTC().Format(time.DateOnly), Method: method, FDR: cfg.FDR, MinRuns: cfg.MinRuns,
		Summary: map[Status]int{}, Baseline: o.Baseline, all: runs,
		Runs: []Judgement{}, Accepted: []baseline.Decision{}, Expired: []string{}}
	for _, s := range cfg.Expired(n.Date) {
		n.Expired = append(n.Expired, fmt.Sprintf("%s until %s: %s", cmp.Or(string(s.Rule), s.Finding, "*"), s.Until, s.Reason))
	}
	decisions := map[string]baseline.Decision{}
	for _, d := range b.Decisions {
		if d.From >= decisions[d.ID].From {
			decisions[d.ID] = d
		}
	}
	open := map[string][]baseline.Open{} // by group
	for _, x := range b.Open {
		open[x.Group] = append(open[x.Group], x)
	}
	inGroup := map[string][]*measure.Run{}
	for _, list := range [][]measure.Run{b.Runs, runs} {
		for i := range list {
			inGroup[list[i].Group] = append(inGroup[list[i].Group], &list[i])
		}
	}
	known := func(id string, h *measure.Run) bool {
		if d, ok := decisions[id]; ok { // what is normal began with the decision
			return h.Start < d.From
		}
		return slices.Contains(h.Flagged, id)
	}
	var latest []candidate
	for i := range runs {
		if i+1 < len(runs) && runs[i+1].Group == runs[i].Group {
			continue
		}
		r := &runs[i]
		latest = append(latest, candidate{r, historyOf(r, inGroup[r.Group], cfg.History)})
		n.judged = append(n.judged, r)
	}
	for len(latest) > 0 {
		batch := latest[:batchOf(latest)]
		latest = latest[len(batch):]
		if err := readTasks(batch, o.Tasks); err != nil {
			return nil, err
		}
		for _, x := range batch {
			j := judge(x.run, x.history, cfg, known)
			j.recurringMachines(x.run, x.history, cfg, decisions)
			j.Findings = slices.DeleteFunc(j.Findings, func(f Finding) bool { return decisions[f.ID].From == x.run.Start }) // it begins tonight
			n.status(&j, x.run, open[j.Group], cfg)
			n.Runs = append(n.Runs, j)
		}
		clear(batch)
	}
	return n, nil
}

// candidate is a run to judge, with the runs to compare it with.
type candidate struct {
	run     *measure.Run
	history []*measure.Run
}

// Tasks are read for this many runs at once: few enough to bound memory, and enough that a night of many small programs needs
// few queries.
const (
	batchRuns     = 256
	batchAttempts = 1_000_000
)

// batchOf returns the number of runs in the next batch, at least one.
func batchOf(runs []candidate) int {
	attempts := 0.0
	for i := range runs {
		if attempts += runs[i].run.Values["attempts"]; i > 0 && (i == batchRuns || attempts > batchAttempts) {
			return i
		}
	}
	return len(runs)
}

// readTasks replaces the runs to compare by copies with their tasks, because the runs themselves may be read concurrently, and
// are kept for longer than the batch.
func readTasks(batch []candidate, tasks func(...*measure.Run) error) error {
	if tasks == nil {
		return nil
	}
	var runs []*measure.Run
	for i := range batch {
		if len(batch[i].history) == 0 {
			continue
		}
		r := *batch[i].run
		r.Stages = slices.Clone(r.Stages)
		batch[i].run = &r
		runs = append(runs, &r)
	}
	if len(runs) == 0 {
		return nil
	}
	return tasks(runs...)
}

// status determines which findings were open before, adds those that are fixed, and counts.
func (n *Night) status(j *Judgement, r *measure.Run, open []baseline.Open, cfg *Config) {
	for i := range j.Findings {
		f := &j.Findings[i]
		f.Status, f.First = New, r.Start
		if f.Stage != nil {
			f.signature = *f.Stage
		}
		for _, x := range open {
			if x.ID == f.ID {
				f.Status, f.First = Ongoing, x.First
			}
		}
		j.seen[f.ID] = true
		if f.Runs < cfg.MinRuns {
			f.Status = Learning
		}
		if s, ok := cfg.suppression(f, n.Date); ok {
			f.Status, f.Reason, f.Expires = Suppressed, s.Reason, string(s.Until)
		}
		if f.Fails(cfg) {
			n.Failing++
		}
	}
	for _, x := range open {
		if !j.seen[x.ID] {
			j.Findings = append(j.Findings, Finding{ID: x.ID, Rule: x.Rule, Severity: Note, Status: Fixed, First: x.First, Group: x.Group, Run: r.ID,
				Detail: "no longer seen: " + x.Subject})
		}
	}
	for _, f := range j.Findings {
		n.Summary[f.Status]++
	}
	order := map[Severity]int{Error: 0, Warning: 1, Note: 2}
	slices.SortStableFunc(j.Findings, func(x, y Finding) int {
		by := cmp.Or(cmp.Compare(order[x.Severity], order[y.Severity]), cmp.Compare(x.scope(), y.scope()))
		if x.OnMachines() && by == 0 { // the slowest first
			by = cmp.Compare(y.rank, x.rank)
		}
		return cmp.Or(by, cmp.Compare(deref(x.Q), deref(y.Q)), cmp.Compare(x.ID, y.ID))
	})
}

// Fails reports whether a finding fails the build.
func (f *Finding) Fails(cfg *Config) bool {
	grave := f.Severity == Error || f.Severity == Warning
	return grave && (f.Status == New || f.Status == Ongoing || f.Status == Learning && cfg.FailWhileLearning)
}

// decision makes a decision from a finding of tonight or an open one.
func (n *Night) decision(id string, b *baseline.Baseline, o Options) (baseline.Decision, error) {
	d := baseline.Decision{ID: id, On: o.Now.UTC().Format(time.DateOnly), Reason: baseline.OneLine(o.Reason)}
	for _, j := range n.Runs {
		for i := range j.Findings {
			if f := &j.Findings[i]; f.ID == id && f.Status != Fixed {
				d.Subject, d.From = f.Rule+" "+f.Subject(), f.First
				return d, nil
			}
		}
	}
	for _, x := range b.Open {
		if x.ID == id {
			d.Subject, d.From = x.Subject, x.First
			return d, nil
		}
	}
	return d, fmt.Errorf("%w: %s; the audit's output lists them", ErrNoFinding, id)
}

// historyOf returns the last runs of a run's group that began no later; if both the baseline and the store have a run, the
// baseline's. An interactive session has none.
func historyOf(r *measure.Run, group []*measure.Run, most int) []*measure.Run {
	if r.Session {
		return nil
	}
	var out []*measure.Run
	have := map[string]bool{r.Key(): true}
	for _, h := range group {
		if !have[h.Key()] && h.Start <= r.Start && h.Values.Finite() {
			have[h.Key()] = true
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(x, y *measure.Run) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.ID, y.ID)) })
	return out[max(0, len(out)-most):]
}

// Findings returns all findings, in the order in which they are shown.
func (n *Night) Findings() []Finding {
	var out []Finding
	for _, j := range n.Runs {
		out = append(out, j.Findings...)
	}
	return out
}

// Update adds the runs of the night to the baseline, with their findings.
func (n *Night) Update(b *baseline.Baseline, cfg *Config) {
	judged, groups := map[string]Judgement{}, map[string]Judgement{}
	for i, r := range n.judged {
		judged[r.Key()], groups[r.Group] = n.Runs[i], n.Runs[i]
	}
	b.Open = slices.DeleteFunc(b.Open, func(x baseline.Open) bool {
		j, ok := groups[x.Group]
		return ok && !j.seen[x.ID]
	})
	known := make(map[string]bool, len(b.Runs))
	for i := range b.Runs {
		known[b.Runs[i].Key()] = true
	}
	var add []measure.Run
	watch := watched(b.Runs, n.all)
	for _, r := range n.all {
		r.Healthy = slices.DeleteFunc(slices.Clone(r.Healthy), func(name string) bool { return !watch[r.Group][name] })
		if j, ok := judged[r.Key()]; ok {
			r.Flagged, r.Machines = nil, maps.Clone(r.Machines)
			for i := range j.Findings {
				f := &j.Findings[i]
				if f.Status == Fixed || f.Status == Learning {
					continue
				}
				r.Flagged = append(r.Flagged, f.ID)
				name := f.Machine
				switch {
				case f.Rule == "recurring_machine": // which is about other runs, too
					name = ""
				case f.Rack != "" || f.Shared:
					name = f.where()
				}
				if _, ok := r.Machines[name]; name != "" && !ok && r.Machines != nil {
					r.Machines[name] = measure.Machine{Verdict: string(schema.Slow), Factor: deref(f.Value), Low: deref(f.Value),
						High: deref(f.Value), Q: deref(f.Q)}
				}
				b.Reopen(baseline.Open{ID: f.ID, Group: f.Group, Rule: f.Rule,
					Subject: baseline.OneLine(f.Rule + " " + f.Subject()), First: f.First, Last: r.Start})
			}
			slices.Sort(r.Flagged)
		} else if known[r.Key()] {
			continue // it keeps what was found in it
		}
		add = append(add, r)
	}
	b.Add(cfg.History, add...)
}

func deref(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// ErrNoFinding is returned when there is no finding with the id to accept.
var ErrNoFinding = errors.New("no such finding")
