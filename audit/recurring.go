package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/schema"
)

// MachineRun is the health of a machine in one run.
type MachineRun struct {
	Run     string   `json:"run"`
	Start   string   `json:"start"`
	Verdict *string  `json:"verdict"` // slow, flaky or healthy; null where the machine ran too little to tell, or nothing
	Factor  *float64 `json:"factor"`  // time of its tasks relative to the other machines; null unless it was slow
}

// window is the last runs of an application whose machines were judged, tonight's last.
type window struct {
	all    []*measure.Run // of the history
	most   int            // runs in a window
	runs   []*measure.Run
	slow   []map[string]measure.Machine // by run of the window
	judged float64                      // pairs of a machine and a run in which it was judged
	bad    float64                      // of these, in which it was slow
}

// recurringMachines adds findings about the machines that were slow in several of the last runs, and more often than the others.
// A machine has at most one finding: if it is a bad_machine tonight it keeps that finding, to which its health in each run is
// added; if it was one until it recovered, it gets none. The false discovery rate is controlled over these findings alone,
// because most of their data are from earlier nights.
func (j *Judgement) recurringMachines(r *measure.Run, history []*measure.Run, cfg *Config, decisions map[string]baseline.Decision) {
	rule, _ := RuleNamed("recurring_machine")
	settings := cfg.settings(rule, r.Group, measure.Signature{})
	if settings.Severity == Off || len(history) == 0 || r.JudgedMachines == 0 && len(r.Machines) == 0 {
		return
	}
	w := newWindow(r, history, cfg.MachineRuns, j.Findings)
	p := make([]float64, 0, r.JudgedMachines)
	var found []Finding
	for _, name := range w.tonight() {
		f := Finding{ID: machineID(r.Group, rule.Name, name), Rule: rule.Name, Severity: settings.Severity,
			Group: r.Group, Run: r.ID, Machine: name, Unit: rule.Unit, Runs: len(history), Likely: "bad_machine"}
		p = append(p, w.judge(&f))
		found = append(found, f)
	}
	for len(p) < r.JudgedMachines { // those that were slow in none
		p = append(p, 1)
	}
	for i, q := range discoveries(p)[:len(found)] {
		f := &found[i]
		if f.Q = number(q); q > cfg.FDR || deref(f.Value) < settings.MinAbs {
			continue
		}
		bad := machineID(r.Group, "bad_machine", f.Machine)
		switch k := slices.IndexFunc(j.Findings, func(g Finding) bool { return g.ID == bad }); {
		case w.accepted(f, settings.MinAbs, decisions[bad].From, decisions[f.ID].From):
		case k >= 0:
			j.Findings[k].Detail += fmt.Sprintf("; slow in %.0f of the last %d runs", *f.Value, len(w.runs))
			j.Findings[k].MachineRuns = f.MachineRuns
			j.seen[f.ID] = true // if it is open, it is not fixed
		case !w.wasOne(f.Machine, bad):
			j.Findings = append(j.Findings, *f)
		}
	}
}

func machineID(group, rule, name string) string {
	return findingID(group, rule, measure.Signature{}, name)
}

// newWindow returns the window of the last runs, of which there are at most most. Machines that are findings of tonight count as
// slow tonight.
func newWindow(r *measure.Run, history []*measure.Run, most int, tonight []Finding) *window {
	w := &window{}
	for _, h := range append(slices.Clone(history), r) {
		if h.JudgedMachines > 0 || len(h.Machines) > 0 {
			w.all = append(w.all, h)
		}
	}
	w.most = most
	w.runs = w.all[max(0, len(w.all)-most):]
	for _, h := range w.runs {
		slow := map[string]measure.Machine{}
		for name, m := range h.Machines {
			if isMachine(name) {
				slow[name] = m
			}
		}
		if h == r {
			for i := range tonight {
				f := &tonight[i]
				if _, ok := slow[f.Machine]; f.Rule == "bad_machine" && f.Machine != "" && !ok {
					slow[f.Machine] = measure.Machine{Verdict: string(schema.Slow), Factor: deref(f.Value)}
				}
			}
		}
		w.slow = append(w.slow, slow)
		w.judged += float64(max(h.JudgedMachines, len(slow)))
		w.bad += float64(len(slow))
	}
	return w
}

// isMachine reports whether a name among the slow machines of a run is the name of a single machine; see Finding.where.
func isMachine(name string) bool {
	return !strings.HasPrefix(name, "rack ") && name != (&Finding{Shared: true}).where()
}

// tonight lists the machines that were slow in some run of the window and judged in the last one, which leaves out machines that
// are not in use any more.
func (w *window) tonight() []string {
	last := len(w.runs) - 1
	names := map[string]bool{}
	for _, slow := range w.slow {
		for name := range slow {
			if _, ok := w.slow[last][name]; ok || slices.Contains(w.runs[last].Healthy, name) {
				names[name] = true
			}
		}
	}
	return sortedKeys(names)
}

// wasOne reports whether all slow runs of a machine were one period, without a healthy run in between, in which it was a finding.
// Such a machine is not recurring, and its slowness has been reported.
func (w *window) wasOne(name, finding string) bool {
	begun, healthy, flagged := false, false, false
	for i, h := range w.runs {
		if _, ok := w.slow[i][name]; !ok {
			healthy = healthy || begun && slices.Contains(h.Healthy, name)
			continue
		}
		if healthy {
			return false
		}
		begun, flagged = true, flagged || slices.Contains(h.Flagged, finding)
	}
	return flagged
}

// accepted reports whether a decision makes it normal that a machine is slow. bad and again are the runs with which decisions
// about its two possible findings begin, or "". As for other findings, the runs of the history from the decision on define what
// is normal: being slow, or being slow in at least a number of runs of a window. Without such a run it is a finding again.
func (w *window) accepted(f *Finding, least float64, bad, again string) bool {
	var slow []float64 // runs before
	k := 0.0
	for i, h := range w.all {
		slow = append(slow, k)
		_, is := h.Machines[f.Machine]
		tonight := i == len(w.all)-1
		if tonight { // a finding of tonight counts
			_, is = w.slow[len(w.slow)-1][f.Machine]
		}
		if is {
			k++
		}
		if bad != "" && is && h.Start >= bad && (!tonight || h.Start == bad) {
			return true
		}
		if again != "" && h.Start >= again && (tonight && h.Start == again || !tonight && k-slow[max(0, i-w.most+1)] >= least) {
			return true
		}
	}
	return false
}

// judge fills in the runs of a machine, and returns the p-value of the hypothesis that it is slow as often as the others.
func (w *window) judge(f *Finding) float64 {
	k, healthy, least, most := 0, 0, math.Inf(1), 0.0
	for i, h := range w.runs {
		row := MachineRun{Run: h.ID, Start: h.Start}
		if m, ok := w.slow[i][f.Machine]; ok {
			k, least, most = k+1, min(least, m.Factor), max(most, m.Factor)
			row.Verdict, row.Factor = &m.Verdict, number(m.Factor)
		} else if slices.Contains(h.Healthy, f.Machine) {
			verdict := string(schema.Healthy)
			row.Verdict, healthy = &verdict, healthy+1
		}
		f.MachineRuns = append(f.MachineRuns, row)
	}
	n := len(w.runs)
	others, bad := w.judged-float64(n), w.bad-float64(k)
	p := fisherExact(float64(k), float64(n), bad, others)
	f.Value, f.Normal, f.P, f.rank = number(float64(k)), nil, number(p), float64(k)
	if others > 0 {
		f.Normal = number(float64(n) * bad / others)
	}
	f.Detail = fmt.Sprintf("slow in %d of the last %d runs, with %.2f× the time of the others", k, n, least)
	if most > least {
		f.Detail += fmt.Sprintf(" to %.2f×", most)
	}
	f.Detail += fmt.Sprintf("; like the others in %d, not known in %d; other machines were slow in %.0f of %.0f",
		healthy, n-k-healthy, bad, others)
	f.SQL = "SELECT * FROM machine_health WHERE verdict IN ('slow', 'flaky') ORDER BY machine NULLS LAST, window_start NULLS LAST"
	return p
}

// fisherExact returns the p-value of Fisher's exact test (1935), one-sided: the probability that of n runs of one machine k or
// more are slow, given that of its runs and those of the others, n + others, k + bad are, and any of them as likely as any other.
//
//	p = Σ_{x ≥ k} C(K, x)·C(N − K, n − x) / C(N, n),  K = k + bad,  N = n + others
//
// All are counts. Runs in which a machine was not judged count as runs in which it was not slow, which makes p larger. A machine
// that was slow once has p ≥ n/N, so that a single run is never enough among few machines; the test supposes that what slows
// one machine by chance does so in other runs independently.
func fisherExact(k, n, bad, others float64) float64 {
	others = max(others, bad)
	all, slow := n+others, k+bad
	sum := 0.0
	for x := k; x <= min(n, slow); x++ {
		sum += math.Exp(logChoose(slow, x) + logChoose(all-slow, n-x) - logChoose(all, n))
	}
	return min(1, sum)
}

// logChoose returns the logarithm of the binomial coefficient; −∞ if that is 0.
func logChoose(n, k float64) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	logOf := func(n float64) float64 { x, _ := math.Lgamma(n + 1); return x }
	return logOf(n) - logOf(k) - logOf(n-k)
}

// watched returns the machines of each group that were slow in some run. A baseline keeps the healthy runs of these machines
// only, which bounds its size.
func watched(lists ...[]measure.Run) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, runs := range lists {
		for i := range runs {
			for name := range runs[i].Machines {
				if out[runs[i].Group] == nil {
					out[runs[i].Group] = map[string]bool{}
				}
				out[runs[i].Group][name] = true
			}
		}
	}
	return out
}
