package render

import (
	"encoding/xml"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"straggler/audit"
)

// A JUnit report as CI systems read it: a suite per run, and a case per rule and per finding.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Skipped   *junitSkipped `xml:"skipped"`
		Failure   *junitFailure `xml:"failure"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the night as JUnit XML. A rule without findings is a case that passed; findings that do not fail the
// build are cases that were skipped.
func JUnit(w io.Writer, n *audit.Night, cfg *audit.Config) error {
	all := junitSuites{Name: "straggler audit"}
	for i := range n.Runs {
		s := newSuite(&n.Runs[i], cfg)
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func newSuite(j *audit.Judgement, cfg *audit.Config) junitSuite {
	s := junitSuite{Name: xmlSafe(j.Group)}
	if start, _, ok := strings.Cut(j.Start, "."); ok {
		s.Timestamp = start
	}
	found := map[string]bool{}
	for i := range j.Findings {
		f := &j.Findings[i]
		found[f.Rule] = found[f.Rule] || f.Status != audit.Fixed
		c := junitCase{Name: xmlSafe(f.Rule + ": " + f.Subject() + " (" + f.ID + ")"), ClassName: xmlSafe(j.Group)}
		switch {
		case f.Fails(cfg):
			lines := append(evidenceOf(f), "first seen "+f.First)
			if f.SQL != "" {
				lines = append(lines, f.SQL)
			}
			c.Failure = &junitFailure{Message: xmlSafe(title(f)), Type: f.Rule, Text: xmlSafe(strings.Join(lines, "\n"))}
			s.Failures++
		case f.Status != audit.Fixed:
			c.Skipped = &junitSkipped{Message: xmlSafe(string(f.Status) + ": " + title(f))}
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	for _, r := range audit.Rules() {
		if !found[r.Name] {
			c := junitCase{Name: r.Name, ClassName: xmlSafe(j.Group)}
			if j.Learning {
				c.Skipped = &junitSkipped{Message: "learning: too few runs to compare with"}
				s.Skipped++
			}
			s.Cases = append(s.Cases, c)
		}
	}
	s.Tests = len(s.Cases)
	return s
}

// xmlSafe removes the characters that XML 1.0 forbids and those that reorder or hide text; encoding/xml escapes the rest.
func xmlSafe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == utf8.RuneError, r < ' ', r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff,
			unicode.In(r, unicode.Cf, unicode.Cs, unicode.Co, unicode.Zl, unicode.Zp):
			return '\uFFFD'
		}
		return r
	}, s)
}
