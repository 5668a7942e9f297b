package sqltext

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// grammar is a lexer made of the rules of Spark's SqlBaseLexer.g4, without anything of this package: of all rules that match,
// the one with the longest match is taken. Letters are ASCII, as in 3.5.
var grammar = func() (rules []grammarRule) {
	for _, r := range [][2]string{
		{"string", `'(?:[^'\\]|\\(?s:.))*'`}, {"string", `[Rr]'[^']*'`}, {"string", `[Rr]"[^"]*"`},
		{"name", `"(?:[^"\\]|\\(?s:.))*"`}, {"name", "`(?:[^`]|``)*`"},
		{"word", `[A-Za-z0-9_]+`},
		{"number", `[0-9]+\.[0-9]*|\.[0-9]+`}, {"number", `(?:[0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)[Ee][+-]?[0-9]+`},
		{"number", `(?:[0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?(?:[Ff]|[Dd]|[Bb][Dd])`},
		{"comment", `--(?:\\\n|[^\r\n])*\r?\n?`},
		{"space", `[ \r\n\t]+`}, {"sign", `/\*\+|\*/`},
	} {
		re := regexp.MustCompile(`^(?:` + r[1] + `)`)
		re.Longest()
		rules = append(rules, grammarRule{r[0], re})
	}
	return rules
}()

type grammarRule struct {
	kind string
	re   *regexp.Regexp
}

// bracketed returns the length of a comment by the rule '/*' {not a hint}? ( comment | . )*? '*/'; 0 if there is none.
func bracketed(s string) int {
	if !strings.HasPrefix(s, "/*") || strings.HasPrefix(s, "/*+") {
		return 0
	}
	for i := 2; i < len(s); {
		if strings.HasPrefix(s[i:], "*/") {
			return i + 2
		}
		if n := bracketed(s[i:]); n > 0 {
			i += n
		} else {
			i++
		}
	}
	return 0
}

type span struct {
	kind string
	text string
}

// grammarSpans returns the strings, names, comments and words of a text.
func grammarSpans(s string) (out []span) {
	for s != "" {
		kind, n := "sign", 1
		if m := bracketed(s); m > 0 {
			kind, n = "comment", m
		}
		for _, r := range grammar {
			if m := len(r.re.FindString(s)); m > n || m == n && kind == "sign" && m > 0 {
				if r.kind == "number" && m < len(s) && regexp.MustCompile(`[A-Za-z0-9_]`).MatchString(s[m:m+1]) && strings.Contains(s[:m], ".") {
					continue // isValidDecimal
				}
				kind, n = r.kind, m
			}
		}
		if kind != "sign" && kind != "space" && kind != "number" {
			out = append(out, span{kind, s[:n]})
		}
		s = s[n:]
	}
	return out
}

var sparkKinds = map[Kind]string{Comment: "comment", Word: "word", Name: "name", String: "string"}

// partOfNumber matches words into which numbers are split here but not by the grammar: 1.5, 0.d
var partOfNumber = regexp.MustCompile(`^(?i:[0-9].*|d|f|bd)$`)

// FuzzSparkTokens compares strings, quoted names, comments and words with those of the grammar. If something is not
// terminated, the grammar gives up, and nothing is compared.
func FuzzSparkTokens(f *testing.F) {
	for _, s := range []string{"SELECT r'\\', reflect('a')", "a--\\\nb\r c", "/* /* */ */ /*+ a */ /* /*+ */ b */", "r\"'\" '\\'' `a``'` \"\\\"'\"", "xr'\\' 1r'\\' _R'\\'",
		"1.r'\\'", "1e-5--x\n", "1e+0using", "1e-1bdr'\\'", "1.5e+0dr'\\'", "/*/ */ */", "/**/*/", "--\r\n'", "a'b''c'd", "using\tR'x'", "'a\\\nb'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range s {
			if r >= utf8.RuneSelf || r < ' ' && !strings.ContainsRune("\t\r\n", r) {
				t.Skip()
			}
		}
		var got []span
		for token := range Spark.Tokens(s) {
			if token.Open {
				t.Skip()
			}
			if kind := sparkKinds[token.Kind]; kind != "" && !(kind == "word" && partOfNumber.MatchString(token.Text)) {
				got = append(got, span{kind, token.Text})
			}
		}
		var want []span
		for _, w := range grammarSpans(s) {
			if w.kind != "word" || !partOfNumber.MatchString(w.text) {
				want = append(want, w)
			}
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("%q has the tokens\n%q, and by the grammar\n%q", s, got, want)
			}
		}
	})
}
