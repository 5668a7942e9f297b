package audit

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"straggler/audit/measure"
)

// Status is the status of a finding given earlier nights.
type Status string

const (
	New        Status = "new"
	Ongoing    Status = "ongoing"
	Fixed      Status = "fixed"
	Accepted   Status = "accepted"   // accepted as normal from now on
	Suppressed Status = "suppressed" // by the configuration
	Learning   Status = "learning"   // compared with fewer runs than a judgement needs
)

// Finding is something that got worse.
type Finding struct {
	ID       string             `json:"id"` // the same every night
	Rule     string             `json:"rule"`
	Severity Severity           `json:"severity"`
	Status   Status             `json:"status"`
	First    string             `json:"first_seen"` // start of the run that showed it first
	Group    string             `json:"application"`
	Run      string             `json:"run"`
	Stage    *measure.Signature `json:"stage,omitempty"`
	Cause    string             `json:"cause,omitempty"`   // of a finding about one cause
	Machine  string             `json:"machine,omitempty"` // of a finding about a machine
	Rack     string             `json:"rack,omitempty"`    // of a finding about all machines of a rack
	Shared   bool               `json:"shared,omitempty"`  // it is about nearly all machines
	Unit     string             `json:"unit,omitempty"`
	Value    *float64           `json:"value"` // tonight
	Normal   *float64           `json:"normal"`
	Low      *float64           `json:"low"` // 95 % prediction interval for a run like those before
	High     *float64           `json:"high"`
	Change   *float64           `json:"change"` // fraction of normal
	Runs     int                `json:"runs"`   // of history that it is compared with
	P        *float64           `json:"p_value"`
	Q        *float64           `json:"q_value"` // false discovery rate over all comparisons of the night
	Detail   string             `json:"detail,omitempty"`
	Likely   string             `json:"likely_cause,omitempty"`
	LikelyBy *float64           `json:"likely_cause_s,omitempty"` // seconds that the cause grew by
	// what the additional time was spent on: processor, disk, network or shared
	Kind string `json:"kind,omitempty"`
	// of a machine that is slow again and again: the last runs, oldest first
	MachineRuns []MachineRun `json:"machine_runs,omitempty"`

	SQL       string `json:"sql,omitempty"`
	Reason    string `json:"reason,omitempty"` // of a suppression or decision
	Expires   string `json:"expires,omitempty"`
	signature measure.Signature
	rank      float64 // of findings about machines: the slowest first
}

// Subject describes in one line what the finding is about; it is as untrusted as the log it comes from.
func (f *Finding) Subject() string {
	s := f.Group
	if f.Stage != nil {
		s += ": " + f.Stage.String()
	}
	switch {
	case f.Cause != "":
		s += ": " + f.Cause
	case f.OnMachines():
		s += ": " + f.where()
	}
	return s
}

// OnMachines reports whether the finding is about a machine, a rack, or nearly all machines.
func (f *Finding) OnMachines() bool { return f.Machine != "" || f.Rack != "" || f.Shared }

// where names the machines that a finding is about.
func (f *Finding) where() string {
	switch {
	case f.Shared:
		return "nearly all machines"
	case f.Rack != "":
		return "rack " + f.Rack
	}
	return "machine " + f.Machine
}

// scope orders findings: about the application, about machines, about stages.
func (f *Finding) scope() int {
	switch {
	case f.Stage != nil:
		return 2
	case f.OnMachines():
		return 1
	}
	return 0
}

// findingID returns an id that is short enough to type and the same in every run.
func findingID(group, rule string, s measure.Signature, what string) string {
	h := xxhash.New()
	parts := []string{group, rule, s.Job, s.Stage, s.Kind, fmt.Sprint(s.Depth, s.Nth), what}
	if o := s.Operator; o.Name != "" {
		parts = []string{group, rule, o.Query, o.Shape, o.Name, fmt.Sprint(o.Nth), what}
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("F%010x", h.Sum64()>>24)
}
