package render

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"straggler/audit"
)

// SARIF 2.1.0 (OASIS, 2020): the parts that describe a finding.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string       `json:"id"`
		Short         sarifMessage `json:"shortDescription"`
		Help          sarifMessage `json:"help"`
		Configuration struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID        string             `json:"ruleId"`
		RuleIndex     int                `json:"ruleIndex"`
		Level         string             `json:"level"`
		Message       sarifMessage       `json:"message"`
		Locations     []sarifLocation    `json:"locations"`
		Fingerprints  map[string]string  `json:"partialFingerprints"`
		BaselineState string             `json:"baselineState"`
		Suppressions  []sarifSuppression `json:"suppressions,omitempty"`
		Properties    map[string]any     `json:"properties,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	}
	sarifLogical struct {
		FullName string `json:"fullyQualifiedName"`
		Kind     string `json:"kind"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes the night for code scanners. A finding is located at the call site of its stage or, since a result needs a file,
// in the baseline if there is no call site. Fixed findings are left out: code scanners close findings that are missing.
func SARIF(w io.Writer, n *audit.Night) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "straggler", Version: n.Tool}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i, r := range audit.Rules() {
		index[r.Name] = i
		rule := sarifRule{ID: r.Name, Short: sarifMessage{r.Doc}, Help: sarifMessage{r.Why}}
		rule.Configuration.Level = string(r.Severity)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, f := range n.Findings() {
		if f.Status == audit.Fixed || f.Status == audit.Accepted {
			continue
		}
		r := sarifResult{RuleID: f.Rule, RuleIndex: index[f.Rule], Level: string(f.Severity), Message: sarifMessage{safe(title(&f))}, BaselineState: "new",
			Locations: []sarifLocation{newLocation(&f, n.Baseline)}, Fingerprints: map[string]string{"straggler/v1": f.ID}}
		if f.Status == audit.Ongoing {
			r.BaselineState = "unchanged"
		}
		if f.Status == audit.Learning {
			r.Level = "note"
		}
		if f.Status == audit.Suppressed {
			r.Suppressions = []sarifSuppression{{"external", safe(f.Reason)}}
		}
		var evidence []string
		for _, e := range evidenceOf(&f) {
			evidence = append(evidence, safe(e))
		}
		r.Properties = map[string]any{"evidence": evidence, "sql": f.SQL, "firstSeen": f.First, "status": f.Status}
		run.Results = append(run.Results, r)
	}
	return encode(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func newLocation(f *audit.Finding, baseline string) sarifLocation {
	var l sarifLocation
	l.Physical.Artifact.URI, l.Physical.Region.StartLine = relativeURI(baseline), 1
	if f.Stage != nil {
		if p, ok := place(f.Stage.Stage); ok {
			l.Physical.Artifact.URI, l.Physical.Region.StartLine = relativeURI(p.File), p.Line
		}
	}
	l.Logical = []sarifLogical{{safe(f.Subject()), "module"}}
	return l
}

// relativeURI returns a file name as a URI relative to the repository; for a file elsewhere, its base name.
func relativeURI(name string) string {
	if name == "" {
		return "baseline"
	}
	name = filepath.ToSlash(filepath.Clean(name))
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") || filepath.VolumeName(name) != "" {
		name = filepath.Base(name)
	}
	u := url.URL{Path: name}
	return strings.TrimPrefix(u.String(), "./")
}
