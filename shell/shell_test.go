package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/chzyer/readline"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// typist types lines, as readline would pass them on.
type typist struct {
	lines   []string
	at      int
	prompts []string
	history []string
}

func (p *typist) SetPrompt(s string)         { p.prompts = append(p.prompts, s) }
func (p *typist) SaveHistory(s string) error { p.history = append(p.history, s); return nil }

func (p *typist) Readline() (string, error) {
	if p.at == len(p.lines) {
		return "", io.EOF
	}
	p.at++
	if line := p.lines[p.at-1]; line != "^C" {
		return line, nil
	}
	return "", readline.ErrInterrupt
}

// converse types lines into a shell over an empty store.
func converse(t *testing.T, p *typist, o Options) (out, errs string) {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 1, MemoryBytes: 1 << 28, Locked: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	var b, e bytes.Buffer
	o.Out, o.Err = &b, &e
	s := newSession(eng, schema.Tables(), o)
	if err := s.loop(ctx, p, &completer{tables: schema.Tables()}); err != nil {
		t.Fatal(err)
	}
	return b.String(), e.String()
}

func TestShell(t *testing.T) {
	p := &typist{lines: []string{
		"SELECT 1 AS one;",
		"SELECT", "2 AS two", ";",
		"SELECT 3 AS three; SELECT 'four' AS four;",
		"SELEC nonsense;",
		"SELECT 'forgotten", "^C",
		`\timing`, "SELECT 5 AS five;",
		`\d edges`, `\d nothing`, `\nothing`, `\?`, `\d;`,
		"SELECT 'a\x1b[2Jb' AS evil;",
		`\q`, "SELECT 6 AS never;",
	}}
	out, errs := converse(t, p, Options{})
	for _, want := range []string{"one\n", "two\n", "three\n", "four\n", "(1 row)", "timing is on", "from_phase", "what begins with", `a\x1b[2Jb`} {
		if want == "what begins with" {
			want = `\timing     show`
		}
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	for _, want := range []string{"syntax error", "no table nothing", `no command \nothing`} {
		if !strings.Contains(errs, want) {
			t.Errorf("the errors lack %q: %s", want, errs)
		}
	}
	if strings.Contains(out, "never") || strings.Contains(out+errs, "forgotten") {
		t.Error(`what follows \q, or Ctrl-C took back, was run`)
	}
	if !slices.Contains(p.history, "SELECT 2 AS two;") {
		t.Errorf("a statement of several lines is not one line of history: %q", p.history)
	}
	if p.prompts[2] != promptMore || p.prompts[0] != prompt {
		t.Errorf("prompts %q", p.prompts[:4])
	}
}

// Commands as in the shells of SQLite and DuckDB act at the end of their line.
func TestDotCommands(t *testing.T) {
	out, errs := converse(t, &typist{lines: []string{".help", ".tables", ".schema edges", ".timer", ".timer on", ".timer OFF", ".timer off",
		".timer maybe", ".nothing", ".quit", "SELECT 'never' AS s;"}}, Options{})
	for _, want := range []string{`\timing     show`, ".schema TABLE", "attempts ", "from_phase", "timing is on\ntiming is on\ntiming is off\ntiming is off\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if !strings.Contains(errs, "no command .nothing") || !strings.Contains(errs, "maybe is neither on nor off") || strings.Contains(out, "never") {
		t.Errorf("%s%s", out, errs)
	}
}

// What other prompts for SQL understand, at the beginning of a statement only.
func TestShellLeavesOnAWord(t *testing.T) {
	for _, word := range []string{"exit", "quit;", " EXIT ; "} {
		out, errs := converse(t, &typist{lines: []string{"help", "SELECT", "'in' AS", "exit", ";", word, "SELECT 'never' AS s;"}}, Options{})
		if !strings.Contains(out, `\timing     show`) || !strings.Contains(out, "exit\n") || strings.Contains(out, "never") || errs != "" {
			t.Errorf("%s: %s%s", word, out, errs)
		}
	}
}

// A statement comes back from the history as it was typed: white space in quotes is part of it.
func TestHistoryKeepsQuotes(t *testing.T) {
	p := &typist{lines: []string{"SELECT 'a  b' AS \"c  d\",  -- two", "  2 AS e;", "SELECT 'a", "b' AS broken;"}}
	converse(t, p, Options{})
	if want := []string{`SELECT 'a  b' AS "c  d", 2 AS e;`}; !slices.Equal(p.history, want) {
		t.Errorf("the history is %q, want %q", p.history, want)
	}
}

// A text in quotes may go over several lines, and keeps its white space.
func TestTextOverLines(t *testing.T) {
	out, errs := converse(t, &typist{lines: []string{"SELECT length('a  ", "", "b') AS n;"}}, Options{})
	if !strings.Contains(out, "6") || errs != "" {
		t.Errorf("%s%s", out, errs)
	}
}

// Ctrl-C while a statement runs ends the statement at once, and nothing else.
func TestInterruptStopsTheStatement(t *testing.T) {
	handler := func() {}
	p := &typist{lines: []string{"SELECT count(*) FROM range(1000000000000) a, range(1000000) b;", "SELECT 'still here' AS s;"}}
	set := 0
	out, errs := converse(t, p, Options{OnInterrupt: func(do func()) {
		if do != nil && set == 0 {
			set++
			handler = do
			go handler() // the key is pressed as soon as it has an effect
		}
	}})
	if !strings.Contains(errs, "stopped") || !strings.Contains(out, "still here") {
		t.Errorf("out %q, errors %q", out, errs)
	}
}

func TestShellEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := newSession(nil, schema.Tables(), Options{Out: io.Discard, Err: io.Discard})
	if err := s.loop(ctx, &typist{lines: []string{"SELECT 1;"}}, &completer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		before, line string
		want         []string // some of what is proposed
		not          string
	}{
		{"", "SELECT * FROM att", []string{"attempts", "attributions"}, "attempt_id"},
		{"", "select mach", []string{"machine", "machine_health", "machines"}, ""},
		{"", "SELECT a.dur", nil, "duration_s"},
		{"", "SELECT * FROM attempts a WHERE a.dur", []string{"a.duration_s"}, ""},
		{"SELECT * FROM attempts AS a\n", "WHERE a.dur", []string{"a.duration_s"}, ""},
		{"", "SELECT * FROM attempts WHERE spe", []string{"speculative"}, "spec"},
		{"", "sel", []string{"select"}, "SELECT"},
		{"", `\d`, []string{}, ""},
		{"", `\t`, []string{`\timing`}, ""},
		{"", `\d att`, []string{`attempts`}, ""},
		{"", "SELECT percentile", []string{"percentile_cont("}, ""},
	} {
		comp := &completer{tables: schema.Tables(), before: c.before}
		endings, length := comp.Do([]rune(c.line), len(c.line))
		var got []string
		for _, e := range endings {
			start := len(c.line) - length
			if i := strings.LastIndexAny(c.line, " "); i >= 0 && i+1 < start {
				start = i + 1
			}
			got = append(got, c.line[start:]+strings.TrimSpace(string(e)))
		}
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q is not proposed, but %q", c.line, w, got)
			}
		}
		if slices.Contains(got, c.not) {
			t.Errorf("%q: %q is proposed", c.line, c.not)
		}
	}
}
