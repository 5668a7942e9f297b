package audit

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"straggler/audit/measure"
	"straggler/spelling"
	"straggler/strictyaml"
)

// ErrConfig is returned for an invalid configuration.
var ErrConfig = errors.New("configuration")

//go:embed straggler.schema.json
var configSchema []byte

// ConfigSchema returns the JSON schema of straggler.yaml, for editors.
func ConfigSchema() []byte { return slices.Clone(configSchema) }

// Config is the content of straggler.yaml; DefaultConfig holds without one.
type Config struct {
	Version           int           `yaml:"version" min:"1" max:"1"`
	History           int           `yaml:"history" min:"1" max:"1000"`
	MinRuns           int           `yaml:"min_runs" min:"2" max:"1000"`
	MachineRuns       int           `yaml:"machine_runs" min:"2" max:"1000"`
	FDR               float64       `yaml:"fdr" min:"0" max:"0.5"`
	GroupBy           Pattern       `yaml:"group_by"`
	FailWhileLearning bool          `yaml:"fail_while_learning"`
	Rules             []RuleChange  `yaml:"rules"`
	Suppress          []Suppression `yaml:"suppress"`
}

// RuleChange changes a rule for some applications and stages. If several match, the last one counts.
type RuleChange struct {
	Rule        RuleName `yaml:"rule"`
	Application Glob     `yaml:"application"`
	Stage       Glob     `yaml:"stage"`
	Severity    Severity `yaml:"severity"`
	MinChange   *float64 `yaml:"min_change" min:"0" max:"1e6"`
	MinAbsolute *float64 `yaml:"min_absolute" min:"0" max:"1e12"`
	MinShare    *float64 `yaml:"min_share" min:"0" max:"1"`
}

// Suppression prevents findings from failing a build until a day.
type Suppression struct {
	Rule        RuleName `yaml:"rule"`
	Application Glob     `yaml:"application"`
	Stage       Glob     `yaml:"stage"`
	Finding     string   `yaml:"finding"`
	Reason      string   `yaml:"reason" required:"true"`
	Until       Day      `yaml:"until" required:"true"`
}

type (
	// RuleName is the name of a rule, or * for all.
	RuleName string
	// Glob is a pattern in which * stands for any text and ? for one character.
	Glob string
	// Pattern is a regular expression.
	Pattern string
	// Day is a date, as in 2026-12-31. Until a day includes that day.
	Day string
)

func (r RuleName) Check() error {
	if _, ok := RuleNamed(string(r)); ok || r == "*" {
		return nil
	}
	var names []string
	for _, x := range Rules() {
		names = append(names, x.Name)
	}
	return fmt.Errorf("there is no rule %q; %s, and * for all", string(r), spelling.Choices(string(r), names))
}

func (p Pattern) Check() error { _, err := regexp.Compile(string(p)); return err }

func (d Day) Check() error {
	if _, err := time.Parse(time.DateOnly, string(d)); err != nil {
		return fmt.Errorf("%q is not a date; write 2026-12-31", string(d))
	}
	return nil
}

// ReadConfig reads straggler.yaml.
func ReadConfig(name string) (*Config, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > 1<<20 {
		return nil, fmt.Errorf("%w: %s is larger than 1 MB", ErrConfig, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return parseConfig(name, data)
}

// parseConfig reads a configuration; errors name file, line and column.
func parseConfig(name string, data []byte) (*Config, error) {
	c := DefaultConfig()
	if err := strictyaml.Decode(name, data, c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.History < c.MinRuns {
		return nil, fmt.Errorf("%w: %s: history keeps %d runs and min_runs asks for %d, so the audit would never stop learning; raise history or lower min_runs",
			ErrConfig, name, c.History, c.MinRuns)
	}
	return c, nil
}

// Settings is a rule as configured for an application and stage.
type Settings struct {
	Severity          Severity
	MinChange, MinAbs float64
	MinShare          float64
}

// change returns the least change that a rule allows, as a logarithm.
func (s Settings) change() float64 { return math.Log1p(s.MinChange) }

func (c *Config) settings(r Rule, group string, sig measure.Signature) Settings {
	s := Settings{r.Severity, r.MinChange, r.MinAbs, r.MinShare}
	for _, o := range c.Rules {
		if !(target{o.Rule, o.Application, o.Stage}).covers(r, group, sig) {
			continue
		}
		if o.Severity != "" {
			s.Severity = o.Severity
		}
		if o.MinChange != nil {
			s.MinChange = *o.MinChange
		}
		if o.MinAbsolute != nil {
			s.MinAbs = *o.MinAbsolute
		}
		if o.MinShare != nil {
			s.MinShare = *o.MinShare
		}
	}
	return s
}

// suppression finds the suppression of a finding on a day.
func (c *Config) suppression(f *Finding, today string) (Suppression, bool) {
	rule, _ := RuleNamed(f.Rule)
	for _, s := range c.Suppress {
		if string(s.Until) >= today && (s.Finding == "" || s.Finding == f.ID) &&
			(target{s.Rule, s.Application, s.Stage}).covers(rule, f.Group, f.signature) {
			return s, true
		}
	}
	return Suppression{}, false
}

// Expired lists the suppressions that have expired.
func (c *Config) Expired(today string) []Suppression {
	var out []Suppression
	for _, s := range c.Suppress {
		if string(s.Until) < today {
			out = append(out, s)
		}
	}
	return out
}

// DefaultConfig keeps 30 runs, judges from five on, and holds the false discovery rate at 2 %.
func DefaultConfig() *Config {
	return &Config{Version: 1, History: 30, MinRuns: 5, MachineRuns: 7, FDR: 0.02}
}

// target is what an entry of the configuration is about.
type target struct {
	rule       RuleName
	app, stage Glob
}

// covers reports whether a rule, application and stage are in the target. A stage pattern covers no finding about a whole
// application.
func (s target) covers(r Rule, group string, sig measure.Signature) bool {
	if s.rule != "" && s.rule != "*" && string(s.rule) != r.Name || !s.app.matches(group) {
		return false
	}
	if r.Stage {
		return s.stage.matches(sig.String()) || s.stage.matches(sig.Named())
	}
	return s.stage == "" || s.stage == "*"
}

func (g Glob) matches(s string) bool {
	if g == "" || g == "*" {
		return true
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for _, r := range string(g) {
		switch r {
		case '*':
			re.WriteString(`.*`)
		case '?':
			re.WriteString(`.`)
		default:
			re.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(re.String() + `\z`).MatchString(s)
}
