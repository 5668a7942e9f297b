package report

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"straggler/schema"
	"straggler/store"
)

// hostile is what a log may carry wherever it carries text.
const hostile = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&amp;`id`$(id)\x1b[2J\x1b]0;title\x07\u202Edlrow\u2066\u200b\u0000|**b** [a](https://evil.example/) ```\n# h\r\n' OR 1=1 -- \\ \xff\xfe"

// hostileTrace has it in every text of every table, and tasks slow enough to be shown.
func hostileTrace() *schema.Trace {
	m := newMade()
	job := m.job(0, 100)
	slow := make([]float64, 40)
	for i := range slow {
		slow[i] = 1 + float64(i%7)/10
	}
	slow[17], slow[33] = 60, 90
	first := m.phase(job, 0, slow...)
	second := m.phase(job, 90, slow[:16]...)
	null := func(s string) schema.Null[string] { return schema.Some(s) }
	a := &m.Applications[0]
	a.NativeID, a.Name, a.User, a.Framework, a.FrameworkVersion, a.SourceFile = hostile, null(hostile), null(hostile), hostile, null(hostile), hostile
	m.Jobs[0].NativeID, m.Jobs[0].Name = hostile, null(hostile)
	for i := range m.Phases {
		m.Phases[i].NativeID, m.Phases[i].Name, m.Phases[i].Kind = hostile, null(hostile), hostile
	}
	for i := range m.Attempts {
		t := &m.Attempts[i]
		t.Machine, t.Executor, t.Reason, t.NativeID = null(t.Machine.V+hostile), null(hostile), null(hostile), hostile+t.NativeID
	}
	m.Edges = []schema.Edge{{JobID: job, FromPhase: first, ToPhase: second, Pattern: schema.AllToAll}}
	m.Settings = []schema.Setting{{ApplicationID: 1, Name: "spark.executor.memory", Value: hostile}, {ApplicationID: 1, Name: hostile, Value: hostile}, {ApplicationID: 1, Name: "spark.sql.shuffle.partitions", Value: hostile}}
	m.Caveats = []schema.Caveat{{ApplicationID: 1, Code: hostile, Detail: hostile}}
	m.Rejects = []schema.Reject{{SourceFile: hostile, ByteOffset: 1, Reason: hostile, Sample: hostile}}
	return &m.Trace
}

func TestHostileNames(t *testing.T) {
	// Parquet texts are UTF-8; what is not is replaced by then.
	tr := hostileTrace()
	eng := stored(t, valid(tr))
	d, err := Build(context.Background(), eng, Options{Store: "/tmp/" + hostile})
	check(t, err)
	if len(d.Outliers.Rows) == 0 || len(d.Timelines) == 0 || len(d.Trust.Rejects.Rows) == 0 || len(d.Trust.Caveats.Rows) == 0 {
		t.Fatal("the hostile names are not in the report at all")
	}
	t.Run("html", func(t *testing.T) {
		page := rendered(t, d)
		wellFormed(t, page)
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>", "\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\x07"} {
			if strings.Contains(page, bad) {
				t.Errorf("%q reached the page", bad)
			}
		}
		if !strings.Contains(page, "&lt;script&gt;") {
			t.Error("the name is not shown at all")
		}
	})
	t.Run("markdown", func(t *testing.T) {
		var b strings.Builder
		check(t, Markdown(&b, d))
		noControls(t, b.String())
		text := regexp.MustCompile("(?s)(````*)(.*?)\n````*\n").ReplaceAllString(b.String(), "")
		for _, bad := range []string{"<script", "<img", "**b**", "[a](", "https://"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q is markup: %s", bad, around(text, bad))
			}
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "| ") && strings.Count(unescapedPipes(line), "|") < 3 {
				t.Errorf("a broken row: %s", line)
			}
		}
	})
	t.Run("text", func(t *testing.T) {
		for _, w := range []int{40, 80, 200} {
			var b strings.Builder
			check(t, Text(&b, d, TextOptions{Width: w}))
			noControls(t, b.String())
			for line := range strings.SplitSeq(b.String(), "\n") {
				if width(line) > w && !strings.Contains(line, "SELECT") {
					t.Errorf("%d columns of %d: %s", width(line), w, line)
				}
			}
		}
	})
	t.Run("json", func(t *testing.T) {
		var b bytes.Buffer
		check(t, JSON(&b, d))
		noControls(t, b.String())
		var back map[string]any
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		apps := back["trust"].(map[string]any)["applications"].(map[string]any)["rows"].([]any)
		if got := apps[0].(map[string]any)["native_id"]; got != tr.Applications[0].NativeID {
			t.Errorf("native_id came back as %q", got)
		}
	})
	t.Run("perfetto", func(t *testing.T) {
		var b bytes.Buffer
		check(t, Perfetto(context.Background(), &b, eng, Options{}))
		noControls(t, b.String())
		if !json.Valid(b.Bytes()) {
			t.Error("not JSON")
		}
	})
}

// valid makes the texts of a trace UTF-8, as ingest does.
func valid(tr *schema.Trace) *schema.Trace {
	fix := func(s *string) { *s = strings.ToValidUTF8(*s, "\uFFFD") }
	a := &tr.Applications[0]
	for _, s := range []*string{&a.NativeID, &a.Name.V, &a.User.V, &a.Framework, &a.FrameworkVersion.V, &a.SourceFile, &tr.Jobs[0].NativeID, &tr.Jobs[0].Name.V,
		&tr.Caveats[0].Code, &tr.Caveats[0].Detail, &tr.Rejects[0].SourceFile, &tr.Rejects[0].Reason, &tr.Rejects[0].Sample} {
		fix(s)
	}
	for i := range tr.Phases {
		fix(&tr.Phases[i].NativeID)
		fix(&tr.Phases[i].Name.V)
		fix(&tr.Phases[i].Kind)
	}
	for i := range tr.Attempts {
		t := &tr.Attempts[i]
		for _, s := range []*string{&t.Machine.V, &t.Executor.V, &t.Reason.V, &t.NativeID} {
			fix(s)
		}
	}
	for i := range tr.Settings {
		fix(&tr.Settings[i].Name)
		fix(&tr.Settings[i].Value)
	}
	return tr
}

func noControls(t *testing.T, s string) {
	t.Helper()
	for i, r := range s {
		if r != '\n' && (unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069) {
			t.Fatalf("a control character %U: %q", r, s[max(0, i-40):i+4])
		}
	}
}

func around(s, sub string) string {
	i := strings.Index(s, sub)
	return s[max(0, i-30):min(len(s), i+50)]
}

func unescapedPipes(s string) string { return strings.ReplaceAll(s, `\|`, "") }

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"a\nb\tc":                     "a b c",
		"a\x1b[31mb":                  "a\uFFFD[31mb",
		"\u202Eabc":                   "\uFFFDabc",
		"zero\u200bwidth":             "zero\uFFFDwidth",
		"h\u00e9, \u65e5\u672c\u8a9e": "h\u00e9, \u65e5\u672c\u8a9e",
		"bad\xff":                     "bad\uFFFD",
	} {
		if got := clean(in, 40); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := clean("0123456789", 4); got != "0123…" {
		t.Errorf("cut: %q", got)
	}
}

// Whatever comes in, one short line of valid visible text comes out, and cleaning it again changes nothing.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "app-20261121033031-0011", hostile, "count at Lab.java:362", "\u0301\u0301", "\U000E0001", strings.Repeat("日", 500)} {
		f.Add(s, 80)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n&0x7fffffff)%300
		out := clean(s, n)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		if utf8.RuneCountInString(out) > n+1 {
			t.Fatalf("%q has more than %d characters", out, n)
		}
		for _, r := range out {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%U in %q", r, out)
			}
		}
		if again := clean(out, n+1); again != out {
			t.Fatalf("cleaned twice: %q, then %q", out, again)
		}
	})
}

// What is written for a text is that text for the engine, and nothing between quotes is read in two ways.
func FuzzQuoteSQL(f *testing.F) {
	for _, s := range []string{"m01", "o'brien", `back\slash`, `\'`, hostile, "", "'", "{}", "?"} {
		f.Add(s)
	}
	st, err := store.Temp(f.Context())
	check(f, err)
	f.Cleanup(func() { st.Close() })
	eng, err := st.Engine(f.Context(), store.EngineOptions{Threads: 1})
	check(f, err)
	f.Cleanup(func() { eng.Close() })
	f.Fuzz(func(t *testing.T, s string) {
		sql, ok := quoteSQL(s)
		if !ok {
			return
		}
		if !plainLiterals.MatchString(sql) {
			t.Fatalf("%s is not read alike everywhere", sql)
		}
		for r, err := range store.Read[struct {
			Text string `col:"t"`
		}](t.Context(), eng, "SELECT "+sql+" AS t") {
			check(t, err)
			if r.Text != s {
				t.Fatalf("%s is %q for the engine, not %q", sql, r.Text, s)
			}
		}
	})
}

// plainLiterals are texts between quotes with neither quotes nor backslashes in them, and numbered signs.
var plainLiterals = regexp.MustCompile(`^('[^'\\]*'|concat\('[^'\\]*'(, chr\(\d+\)|, '[^'\\]*')*\))$`)

// Lines are never wider than asked, and nothing but spaces is lost.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"", "one two three", strings.Repeat("x", 100), "日本語 日本語", "a\u00a0b c"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 4 + (n&0x7fffffff)%100
		s = clean(s, 200)
		squeeze := func(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "") }
		lines := wrap(s, n)
		for _, l := range lines {
			if width(l) > n {
				t.Fatalf("%q is wider than %d", l, n)
			}
		}
		if got := squeeze(strings.Join(lines, "")); got != squeeze(s) {
			t.Fatalf("%q became %q", s, lines)
		}
	})
}

func TestNaturalOrder(t *testing.T) {
	got := []string{"m10", "m2", "m1", "rack2-m1", "rack10-m1", "m02", "", "m"}
	slices.SortFunc(got, compareNatural)
	want := []string{"", "m", "m1", "m02", "m2", "m10", "rack2-m1", "rack10-m1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
