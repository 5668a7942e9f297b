package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// P-values counted by hand: the first is C(7, 5)·C(21, 0)·… of 7 runs of 28, all five slow ones among them; the last is one less
// what is left to none and one of four slow runs, (C(10, 7) + 4·C(10, 6)) / C(14, 7).
func TestFisherExact(t *testing.T) {
	for _, c := range []struct{ k, n, bad, others, want float64 }{
		{5, 7, 0, 21, 21.0 / 98280}, {3, 3, 0, 3, 1.0 / 20}, {1, 7, 0, 693, 0.01}, {0, 7, 3, 100, 1}, {2, 7, 2, 7, 1 - 960.0/3432},
	} {
		if got := fisherExact(c.k, c.n, c.bad, c.others); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", c, got, c.want)
		}
	}
}

// nightsOf returns runs of a program on ten machines m0 to m9, in which those listed are slow.
func nightsOf(slow ...string) []measure.Run {
	runs := audittest.Runs(len(slow))
	for i := range runs {
		r := &runs[i]
		r.JudgedMachines, r.Machines, r.Healthy = 10, map[string]measure.Machine{}, nil
		for m := range 10 {
			name := fmt.Sprint("m", m)
			if slices.Contains(strings.Fields(slow[i]), name) {
				r.Machines[name] = measure.Machine{Verdict: "slow", Factor: 1.5 + float64(i)/10, Low: 1.3, High: 2, Q: 0.001}
			} else if !slices.Contains(strings.Fields(slow[i]), "no-"+name) {
				r.Healthy = append(r.Healthy, name)
			}
		}
	}
	return runs
}

// recurring audits runs night by night, and returns the findings of the last one about machines that are slow again and again.
func recurring(t *testing.T, runs []measure.Run, b *baseline.Baseline, cfg *Config, o Options) []Finding {
	t.Helper()
	o.Now = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	var out []Finding
	for i := range runs {
		last := o
		if i < len(runs)-1 {
			last.Accept = nil
		}
		n, err := Judge(runs[i:i+1], b, cfg, last)
		if err != nil {
			t.Fatal(err)
		}
		n.Update(b, cfg)
		// what a file keeps, and no more
		data, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if b2, err := baseline.Parse("b", data); err != nil {
			t.Fatal(err)
		} else {
			b.Runs = b2.Runs
		}
		out = nil
		for _, f := range n.Findings() {
			if f.Rule == "recurring_machine" && f.Status != Fixed {
				out = append(out, f)
			}
		}
	}
	return out
}

// A machine that was slow in five of the last seven runs is a finding, also in a run in which it is not, with what is known of each
// run. A machine that was slow once is none, however slow; nor is one that was slow as often as all others, nor one that is gone.
func TestRecurringMachine(t *testing.T) {
	cfg := DefaultConfig()
	for _, c := range []struct {
		name string
		slow []string
		want string
	}{
		{"five of seven", []string{"m7", "", "m7", "m7", "m7", "no-m7", "m7"}, "slow in 5 of the last 7 runs, with 1.50× the time of the others to 2.10×; like the others in 1, not known in 1; other machines were slow in 0 of 63"},
		{"not tonight", []string{"m7", "m7", "", "m7", "m7", "m7", ""}, "slow in 5 of the last 7 runs"},
		{"one night", []string{"", "", "", "", "", "", "m7"}, ""},
		{"two nights", []string{"", "", "", "m7", "", "", "m7"}, ""},
		{"gone", []string{"", "m7", "m7", "m7", "m7", "m7", "no-m7"}, ""},
		{"long ago", []string{"m7", "m7", "m7", "", "", "", "", "", "", "m7"}, ""},
		{"as all others", []string{"m1 m2 m3 m4 m7", "m5 m6 m7 m8 m9", "m0 m1 m2 m3", "m4 m5 m6 m7", "m8 m9 m0 m1", "m2 m3 m4 m5", "m6 m8 m9 m0"}, ""},
	} {
		b := &baseline.Baseline{}
		got := recurring(t, nightsOf(c.slow...), b, cfg, Options{})
		switch {
		case c.want == "" && len(got) == 0:
		case c.want == "" || len(got) != 1 || got[0].Machine != "m7" || !strings.HasPrefix(got[0].Detail, c.want):
			t.Errorf("%s: %+v", c.name, got)
		default:
			f := got[0]
			verdicts := ""
			for _, r := range f.MachineRuns {
				switch {
				case r.Verdict == nil:
					verdicts += "?"
				default:
					verdicts += (*r.Verdict)[:1]
				}
			}
			if len(verdicts) != 7 || *f.Value != 5 || f.Q == nil || *f.Q > cfg.FDR {
				t.Errorf("%s: %s, %+v", c.name, verdicts, f)
			}
		}
	}
}

// The threshold, the window and the rule itself can be changed, and an accepted machine is no finding.
func TestRecurringMachineSettings(t *testing.T) {
	slow := []string{"m7", "", "m7", "m7", "m7", "", "m7"}
	found := recurring(t, nightsOf(slow...), &baseline.Baseline{}, DefaultConfig(), Options{})
	if len(found) != 1 {
		t.Fatal(found)
	}
	six, zero := 6.0, *DefaultConfig()
	zero.Rules = []RuleChange{{Rule: "recurring_machine", MinAbsolute: &six}}
	off := *DefaultConfig()
	off.Rules = []RuleChange{{Rule: "recurring_machine", Severity: Off}}
	short := *DefaultConfig()
	short.MachineRuns = 2
	for name, cfg := range map[string]*Config{"min_absolute": &zero, "off": &off, "machine_runs": &short} {
		if got := recurring(t, nightsOf(slow...), &baseline.Baseline{}, cfg, Options{}); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := recurring(t, nightsOf(slow...), &baseline.Baseline{}, DefaultConfig(), Options{Accept: []string{found[0].ID}, Reason: "known"}); len(got) != 0 {
		t.Errorf("accepted: %+v", got)
	}
}

// Runs of a baseline without the machines that were like the others, as earlier versions wrote, are judged; what is not known
// counts as not slow. The baseline keeps the healthy runs of machines that were slow in another run only.
func TestRecurringMachineInBaselines(t *testing.T) {
	runs := nightsOf("m7", "", "m7", "m7", "m7", "", "m7")
	old := &baseline.Baseline{}
	for _, r := range runs[:6] {
		r.Healthy = nil
		old.Add(30, r)
	}
	if got := recurring(t, runs[6:], old, DefaultConfig(), Options{}); len(got) != 1 || !strings.Contains(got[0].Detail, "like the others in 0, not known in 2") {
		t.Errorf("%+v", got)
	}
	b := &baseline.Baseline{}
	recurring(t, runs, b, DefaultConfig(), Options{})
	for i := range b.Runs {
		if got, _ := json.Marshal(b.Runs[i].Healthy); string(got) != map[bool]string{true: `["m7"]`, false: "null"}[i == 1 || i == 5] {
			t.Errorf("run %d keeps %s", i, got)
		}
	}
}

// aboutM7 audits runs night by night, accepting the findings of a machine on some nights, and returns for each night the findings
// about it: rule and status, and + where the finding lists the last runs.
func aboutM7(t *testing.T, cfg *Config, runs []measure.Run, accept map[int]string) []string {
	t.Helper()
	b := &baseline.Baseline{}
	var out []string
	for i := range runs {
		for name, m := range runs[i].Machines {
			m.Q = 1e-6 // significant among all comparisons of the night
			runs[i].Machines[name] = m
		}
		o := Options{Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
		if rule := accept[i]; rule != "" {
			o.Accept = []string{machineID(runs[i].Group, rule, "m7")}
		}
		n, err := Judge(runs[i:i+1], b, cfg, o)
		if err != nil {
			t.Fatalf("night %d: %v", i, err)
		}
		n.Update(b, cfg)
		said := ""
		for _, f := range n.Findings() {
			if strings.HasSuffix(f.Rule, "_machine") {
				said = strings.TrimSpace(said + " " + f.Rule[:3] + " " + string(f.Status))
				if len(f.MachineRuns) > 0 {
					said += "+"
				}
			}
		}
		out = append(out, said)
	}
	return out
}

// A machine has one finding. While it is slow that is bad_machine, with its runs once there are several; after it has been repaired
// there is none; when it comes and goes, recurring_machine says so on the nights on which it is not slow, and is not fixed on the
// others.
func TestOneFindingPerMachine(t *testing.T) {
	slow := []string{"", "", "", "", "", "m7", "m7", "m7", "m7", "", "", "m7", "", "m7", "", ""}
	want := []string{"", "", "", "", "", "bad new", "bad ongoing", "bad ongoing+", "bad ongoing+", "bad fixed", "", "bad new+",
		"rec new+ bad fixed", "bad new+", "rec ongoing+ bad fixed", "rec fixed"}
	if got := aboutM7(t, DefaultConfig(), nightsOf(slow...), nil); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// An accepted machine is normal as long as the history has a run from then on that shows what was accepted.
func TestAcceptedMachine(t *testing.T) {
	cfg := DefaultConfig()
	cfg.History = 10
	healthy := slices.Repeat([]string{""}, 17)
	again := slices.Concat([]string{"m7", "", "m7", "m7", "m7", "", "m7", "", "m7", "m7", "m7"}, healthy, []string{"m7", "", "m7", "", "m7"})
	got := aboutM7(t, cfg, nightsOf(again...), map[int]string{6: "recurring_machine"})
	if !slices.Equal(got[6:28], slices.Repeat([]string{""}, 22)) || got[32] != "bad new+" {
		t.Errorf("recurring: %q", got)
	}
	bad := slices.Concat([]string{"", "", "", "", "", "m7", "m7", "m7", "m7", "", "m7", ""}, healthy, []string{"m7"})
	for night, first := range map[int]string{5: "", 6: "bad new"} {
		got = aboutM7(t, cfg, nightsOf(bad...), map[int]string{night: "bad_machine"})
		if got[5] != first || !slices.Equal(got[6:29], slices.Repeat([]string{""}, 23)) || got[29] != "bad new" {
			t.Errorf("bad, accepted on night %d: %q", night, got)
		}
	}
}
