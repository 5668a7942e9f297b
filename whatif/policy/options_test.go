package policy_test

import (
	"strings"
	"testing"

	"straggler/whatif/policy"
)

// A number outside the domain of an option is refused, with the option, its domain and its unit.
func TestOptionDomains(t *testing.T) {
	for _, c := range []struct{ policy, option, value, want string }{
		{"late", "cap", "2", `policy late: option cap: "2" is not a number from 0 to 1`},
		{"late", "cap", "log", `policy late: option cap: "log" is not a number from 0 to 1`},
		{"late", "age", "-1", `policy late: option age: "-1" is not a number from 0 up, in s`},
		{"late", "age", "NaN", `policy late: option age: "NaN" is not a number from 0 up, in s`},
		{"late", "age", "Inf", `policy late: option age: "Inf" is not a number from 0 up, in s`},
		{"late", "heartbeat", "0", `policy late: option heartbeat: "0" is not a number from 1e-6 up, in s`},
		{"late", "phases", "0", `policy late: option phases: "0" is not a whole number from 1 to 1000`},
		{"hadoop", "gap", "1.5", `policy hadoop: option gap: "1.5" is not a number from 0 to 1`},
		{"hadoop", "heartbeat", "0", `policy hadoop: option heartbeat: "0" is not a number from 1e-6 up, in s`},
		{"mapreduce", "share", "1.01", `policy mapreduce: option share: "1.01" is not a number from 0 to 1`},
		{"dryad", "percentile", "75", `policy dryad: option percentile: "75" is not a number from 0 to 1`},
		{"mantri", "alpha", "0", `policy mantri: option alpha: "0" is not a whole number from 1 up: the last attempt of a task is never killed`},
		{"mantri", "gamma", "-1", `policy mantri: option gamma: "-1" is not a whole number from 0 up`},
		{"mantri", "gamma", "2.5", `policy mantri: option gamma: "2.5" is not a whole number from 0 up`},
		{"mantri", "delta", "25", `policy mantri: option delta: "25" is not a number from 0 to 1`},
		{"mantri", "report", "0", `policy mantri: option report: "0" is not a number from 1e-6 up, in s`},
		{"mantri-protect", "share", "10", `policy mantri-protect: option share: "10" is not a number from 0 to 1`},
		{"protect", "early", "1.1", `policy protect: option early: "1.1" is not a number from 0 to 1`},
		{"protect", "bandwidth", "-125e6", `policy protect: option bandwidth: "-125e6" is not a number from 0 up, in bytes/s`},
		{"dolly", "transfer", "30", `policy dolly: option transfer: "30" is not a number from 0 to 1`},
		{"dolly", "period", "0", `policy dolly: option period: "0" is not a number from 1e-6 up, in s`},
		{"dolly", "wait", "soon", `policy dolly: option wait: "soon" is not a number from 0 up, in s, or log (what the job's own tasks make best)`},
		{"mrv2", "cap_total", "5", `policy mrv2: option cap_total: "5" is not a number from 0 to 1`},
		{"mrv2", "cap_running", "5", `policy mrv2: option cap_running: "5" is not a number from 0 to 1`},
		{"mrv2", "again", "0", `policy mrv2: option again: "0" is not a number from 1e-6 up, in s`},
		{"mrv2", "after_copy", "0", `policy mrv2: option after_copy: "0" is not a number from 1e-6 up, in s`},
		{"mrv2", "report", "0", `policy mrv2: option report: "0" is not a number from 1e-6 up, in s`},
		{"spark", "efficiency", "0.5", `policy spark: option efficiency: "0.5" is not 0 or 1, or log (the log's own setting)`},
		// as Spark itself checks (core/src/main/scala/org/apache/spark/internal/config/package.scala)
		{"spark4", "process_rate_multiplier", "1.5", `policy spark4: option process_rate_multiplier: "1.5" is not a number from 0 to 1, or log (the log's own setting)`},
		{"spark4", "task_duration_factor", "0.5", `policy spark4: option task_duration_factor: "0.5" is not a number from 1 up, or log (the log's own setting)`},
		{"blacklist", "window", "0", `policy blacklist: option window: "0" is not a number from 1e-6 up, in s`},
	} {
		p, err := policy.ByName(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.With(c.option, c.value); err == nil || err.Error() != c.want {
			t.Errorf("%s.%s=%s: %v, want %s", c.policy, c.option, c.value, err, c.want)
		}
	}
}

// Every number of every policy has a domain without negative, infinite or undefined values, its default lies in it, and log is
// taken only where the doc or the default speaks of the log.
func TestEveryOptionHasADomain(t *testing.T) {
	refused := 0
	for _, spec := range policy.Specs() {
		p, err := policy.ByName(spec.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range spec.Options() {
			if _, err := p.With(o.Name, o.Default); err != nil {
				t.Errorf("the default: %v", err)
			}
			for _, value := range []string{"-1", "-1e-9", "-Inf", "Inf", "NaN", "1e999", ""} {
				if _, err := p.With(o.Name, value); err == nil {
					t.Errorf("%s.%s=%s is accepted", spec.Name, o.Name, value)
				}
				refused++
			}
			ofLog := o.Default == "log" || strings.HasPrefix(spec.Name, "spark") || strings.Contains(o.Doc, "log:")
			if _, err := p.With(o.Name, "log"); err == nil && !ofLog {
				t.Errorf("%s.%s=log is accepted", spec.Name, o.Name)
			}
		}
	}
	if refused == 0 {
		t.Error("no policy has options")
	}
}
