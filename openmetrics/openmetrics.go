// Package openmetrics takes the findings of an audit and the runs that it judged, and returns metrics in the text format of
// Prometheus and its node exporter's textfile collector. grafana.json is a dashboard for them.
//
//  1. openmetrics.go makes metric families, with bounded numbers of label values.
//  2. write.go writes families.
//
// Start with Of.
package openmetrics

import (
	"cmp"
	_ "embed" // the dashboard
	"maps"
	"slices"
	"time"

	"straggler/audit"
	"straggler/audit/measure"
)

// Dashboard is a Grafana dashboard for the metrics, to be imported.
//
//go:embed grafana.json
var Dashboard []byte

// Every combination of labels is a time series, which Prometheus keeps until its retention ends. Beyond these numbers, the
// applications that lost least and the least slow machines are left out; lost seconds are summed under the label 'other'.
const (
	maxApplications = 200
	maxMachines     = 500
	maxFindings     = 500
	otherLabel      = "other"
)

// Of returns the metrics of the latest run of each application and of a night's findings.
func Of(runs []measure.Run, night *audit.Night) []Family {
	latest := latestRuns(runs, night)
	lost := Family{Name: "straggler_lost_seconds", Help: "Seconds by which slow tasks of the latest run took longer than the median of their stage, by cause."}
	began := Family{Name: "straggler_run_start_timestamp_seconds", Help: "When the latest run began, in seconds since 1970."}
	others := map[string]float64{}
	for i, r := range latest {
		for _, cause := range slices.Sorted(maps.Keys(r.Causes)) {
			if i < maxApplications {
				lost.add(r.Causes[cause], "application", r.Group, "cause", cause)
			} else {
				others[cause] += r.Causes[cause]
			}
		}
		if t, err := time.Parse(time.RFC3339Nano, r.Start); err == nil && i < maxApplications {
			began.add(float64(t.UnixMilli())/1e3, "application", r.Group)
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(others)) {
		lost.add(others[cause], "application", otherLabel, "cause", cause)
	}
	return []Family{lost, began, machines(latest), findings(night), counts(night)}
}

// latestRuns returns the runs that a night judged, those that lost most first.
func latestRuns(runs []measure.Run, night *audit.Night) []*measure.Run {
	var out []*measure.Run
	for _, j := range night.Runs {
		for i := range runs {
			if r := &runs[i]; r.Group == j.Group && r.ID == j.Run && r.Start == j.Start {
				out = append(out, r)
				break
			}
		}
	}
	total := func(r *measure.Run) (sum float64) {
		for _, cause := range slices.Sorted(maps.Keys(r.Causes)) {
			sum += r.Causes[cause]
		}
		return sum
	}
	slices.SortStableFunc(out, func(a, b *measure.Run) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), cmp.Compare(a.Group, b.Group))
	})
	return out
}

// machines returns the machines that differed from the others in a latest run, those with the largest factors first.
func machines(latest []*measure.Run) Family {
	f := Family{Name: "straggler_machine_factor",
		Help: "Time that a machine took relative to prediction in a latest run, 1 = like the others; only machines that were not."}
	largest := map[string]float64{}
	verdict := map[string]string{}
	for _, r := range latest {
		for name, m := range r.Machines {
			if m.Factor > largest[name] || m.Factor == largest[name] && m.Verdict < verdict[name] {
				largest[name], verdict[name] = m.Factor, m.Verdict
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(largest), func(a, b string) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), maxMachines)] {
		f.add(largest[name], "machine", name, "verdict", verdict[name])
	}
	return f
}

// findings returns the findings of a night that are not fixed.
func findings(night *audit.Night) Family {
	f := Family{Name: "straggler_finding", Help: "1 for every finding of the latest audit."}
	for _, j := range night.Runs {
		for i := range j.Findings {
			x := &j.Findings[i]
			if x.Status == audit.Fixed || len(f.Samples) == maxFindings {
				continue
			}
			f.add(1, "application", x.Group, "rule", x.Rule, "severity", string(x.Severity), "status", string(x.Status), "id", x.ID)
		}
	}
	return f
}

// counts returns the number of findings of each status, also where it is 0.
func counts(night *audit.Night) Family {
	f := Family{Name: "straggler_findings", Help: "Findings of the latest audit, by status."}
	for _, s := range []audit.Status{audit.New, audit.Ongoing, audit.Fixed, audit.Accepted, audit.Suppressed, audit.Learning} {
		f.add(float64(night.Summary[s]), "status", string(s))
	}
	return f
}
