package audit

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// ErrConfig is the kind of errors about a configuration that makes no sense.
var ErrConfig = errors.New("configuration")

//go:embed straggler.schema.json
var configSchema []byte

// ConfigSchema is the JSON schema of straggler.yaml, for editors.
func ConfigSchema() []byte { return slices.Clone(configSchema) }

// Config is what straggler.yaml says. DefaultConfig is what holds without one.
type Config struct {
	Version           int           `yaml:"version" min:"1" max:"1"`
	History           int           `yaml:"history" min:"1" max:"1000"`
	MinRuns           int           `yaml:"min_runs" min:"2" max:"1000"`
	FDR               float64       `yaml:"fdr" min:"0" max:"0.5"`
	GroupBy           Pattern       `yaml:"group_by"`
	FailWhileLearning bool          `yaml:"fail_while_learning"`
	Rules             []RuleChange  `yaml:"rules"`
	Suppress          []Suppression `yaml:"suppress"`
}

// RuleChange changes a rule for some applications and stages. Of several that fit, the last counts.
type RuleChange struct {
	Rule        RuleName `yaml:"rule"`
	Application Glob     `yaml:"application"`
	Stage       Glob     `yaml:"stage"`
	Severity    Severity `yaml:"severity"`
	MinChange   *float64 `yaml:"min_change" min:"0" max:"1e6"`
	MinAbsolute *float64 `yaml:"min_absolute" min:"0" max:"1e12"`
}

// Suppression keeps findings from failing a build until a day.
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
	// Day is a date, as in 2026-12-31. What holds until a day holds on it.
	Day string
)

func (r RuleName) check() error {
	if _, ok := RuleNamed(string(r)); ok || r == "*" {
		return nil
	}
	var names []string
	for _, x := range Rules() {
		names = append(names, x.Name)
	}
	return fmt.Errorf("there is no rule %q; there is %s, and * for all", string(r), strings.Join(names, ", "))
}

func (s Severity) check() error {
	if slices.Contains(Severities(), s) {
		return nil
	}
	return fmt.Errorf("severity %q: it is error, warning, note or off", string(s))
}

func (p Pattern) check() error { _, err := regexp.Compile(string(p)); return err }

func (d Day) check() error {
	if _, err := time.Parse(time.DateOnly, string(d)); err != nil {
		return fmt.Errorf("%q is no date; write 2026-12-31", string(d))
	}
	return nil
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

// DefaultConfig keeps 30 runs, judges from five on, and holds the false discovery rate at 2 %.
func DefaultConfig() *Config { return &Config{Version: 1, History: 30, MinRuns: 5, FDR: 0.02} }

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
	return ParseConfig(name, data)
}

// ParseConfig reads a configuration; errors name file, line and column.
func ParseConfig(name string, data []byte) (*Config, error) {
	c := DefaultConfig()
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, name, err)
	}
	if len(doc.Content) == 0 { // empty, or nothing but comments
		return c, nil
	}
	if err := decode(doc.Content[0], reflect.ValueOf(c).Elem(), nil); err != nil {
		var at *placed
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%w: %s:%d:%d: %s", ErrConfig, name, at.line, at.column, at.what)
		}
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, name, err)
	}
	return c, nil
}

// placed is what is wrong at a place of a file.
type placed struct {
	line, column int
	what         string
}

func (p *placed) Error() string { return p.what }

func at(n *yaml.Node, format string, args ...any) error {
	return &placed{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// decode puts a node into a value of Config. tag has the bounds.
func decode(n *yaml.Node, v reflect.Value, field *reflect.StructField) error {
	if n.Kind == yaml.AliasNode {
		return at(n, "aliases are not read here; write it out")
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, v)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return at(n, "here is a list, each entry after a dash")
		}
		for _, e := range n.Content {
			x := reflect.New(v.Type().Elem()).Elem()
			if err := decode(e, x, nil); err != nil {
				return err
			}
			v.Set(reflect.Append(v, x))
		}
		return nil
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(n, v.Elem(), field)
	}
	if n.Kind != yaml.ScalarNode {
		return at(n, "here is one value and not a %s", map[yaml.Kind]string{yaml.MappingNode: "mapping", yaml.SequenceNode: "list"}[n.Kind])
	}
	return decodeScalar(n, v, field)
}

func decodeScalar(n *yaml.Node, v reflect.Value, field *reflect.StructField) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		if c, ok := v.Interface().(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return at(n, "%s", err)
			}
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Value)
		if err != nil {
			return at(n, "%q is not true or false", n.Value)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || v.Kind() == reflect.Int && x != float64(int64(x)) {
			return at(n, "%q is no number that fits here", n.Value)
		}
		low, _ := strconv.ParseFloat(field.Tag.Get("min"), 64)
		high, _ := strconv.ParseFloat(field.Tag.Get("max"), 64)
		if !(x >= low && x <= high) {
			return at(n, "%s is not between %g and %g", n.Value, low, high)
		}
		if v.Kind() == reflect.Int {
			v.SetInt(int64(x))
		} else {
			v.SetFloat(x)
		}
	}
	return nil
}

func decodeStruct(n *yaml.Node, v reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return at(n, "here are names with values, as in 'rule: run_time'")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := fieldOf(v.Type(), key.Value)
		switch {
		case !ok:
			return at(key, "there is no %q here; there is %s", key.Value, strings.Join(names(v.Type()), ", "))
		case seen[key.Value]:
			return at(key, "%q stands here twice", key.Value)
		}
		seen[key.Value] = true
		if err := decode(n.Content[i+1], v.FieldByIndex(field.Index), &field); err != nil {
			return err
		}
	}
	for f := range v.Type().Fields() {
		if f.Tag.Get("required") != "" && strings.TrimSpace(v.FieldByIndex(f.Index).String()) == "" {
			return at(n, "%s is missing", f.Tag.Get("yaml"))
		}
	}
	return nil
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("yaml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func names(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		out = append(out, f.Tag.Get("yaml"))
	}
	return out
}

// Settings is a rule as it holds for an application and stage.
type Settings struct {
	Severity          Severity
	MinChange, MinAbs float64
}

func (c *Config) settings(r Rule, group string, sig Signature) Settings {
	s := Settings{r.Severity, r.MinChange, r.MinAbs}
	for _, o := range c.Rules {
		if !fits(o.Rule, o.Application, o.Stage, r, group, sig) {
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
	}
	return s
}

// fits says that a row of the configuration is about a rule, application and stage. A stage pattern fits no finding
// about a whole application.
func fits(name RuleName, app, stage Glob, r Rule, group string, sig Signature) bool {
	if name != "" && name != "*" && string(name) != r.Name || !app.matches(group) {
		return false
	}
	if r.stage {
		return stage.matches(sig.String())
	}
	return stage == "" || stage == "*"
}

// suppression finds what suppresses a finding on a day.
func (c *Config) suppression(f *Finding, today string) (Suppression, bool) {
	rule, _ := RuleNamed(f.Rule)
	for _, s := range c.Suppress {
		if string(s.Until) >= today && (s.Finding == "" || s.Finding == f.ID) && fits(s.Rule, s.Application, s.Stage, rule, f.Group, f.signature) {
			return s, true
		}
	}
	return Suppression{}, false
}

// Expired lists the suppressions that no longer hold.
func (c *Config) Expired(today string) []Suppression {
	var out []Suppression
	for _, s := range c.Suppress {
		if string(s.Until) < today {
			out = append(out, s)
		}
	}
	return out
}
