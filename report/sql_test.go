package report

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"straggler/report/reporttest"
)

// The queries keep to the dialect that both engines read alike, and avoid what DuckDB and Spark SQL read differently.
func TestPortableSQL(t *testing.T) {
	names, err := fs.Glob(files, "sql/*.sql")
	reporttest.Check(t, err)
	if len(names) < 20 {
		t.Fatalf("only %d queries", len(names))
	}
	forbidden := regexp.MustCompile(`(?i)\b(QUALIFY|ASOF|RECURSIVE|EXCLUDE|EXCEPT|ILIKE|VARCHAR|median|quantile_cont|approx_quantile|arg_max|arg_min|string_agg|list|any_value|first|epoch_us|strpos|starts_with|log|trunc|GROUP BY ALL)\s*\(|\bQUALIFY\b|\bASOF\b|\bILIKE\b|\bVARCHAR\b|GROUP BY ALL|::|//|"|\x60|\*\*`)
	division, text := regexp.MustCompile(`/ *(\S+)`), regexp.MustCompile(`'[^']*'`)
	for _, file := range names {
		data, err := files.ReadFile(file)
		reporttest.Check(t, err)
		sql := regexp.MustCompile(`--[^\n]*`).ReplaceAllString(string(data), "")
		if m := forbidden.FindString(sql); m != "" {
			t.Errorf("%s: %q is read differently by engines", file, m)
		}
		if strings.Contains(sql, ";") {
			t.Errorf("%s is more than one statement", file)
		}
		for _, by := range orderings(sql) {
			for _, key := range splitTop(by) {
				if !strings.Contains(key, "NULLS LAST") {
					t.Errorf("%s: ORDER BY %s leaves the place of NULL to the engine", file, strings.TrimSpace(key))
				}
			}
		}
		for _, m := range division.FindAllStringSubmatch(text.ReplaceAllString(sql, "''"), -1) {
			if !strings.HasPrefix(m[1], "nullif(") && !regexp.MustCompile(`^(1e6|place|80)\b`).MatchString(m[1]) {
				t.Errorf("%s: / %s may divide by 0", file, m[1])
			}
		}
	}
}

// Phases determine what belongs to which job and application. Queries that need no more about outliers do not join them with
// attempts, of which there are a hundred times as many.
func TestOutliersWithoutAttempts(t *testing.T) {
	for _, file := range []string{"excess", "slowest", "scoped_slowest"} {
		sql, err := sqlOf(file)
		reporttest.Check(t, err)
		if regexp.MustCompile(`(?i)\b(FROM|JOIN) attempts\b`).MatchString(sql) {
			t.Errorf("%s.sql reads attempts", file)
		}
	}
}

// orderings returns the lists that follow ORDER BY, outside of WITHIN GROUP, whose values are never NULL here.
func orderings(sql string) []string {
	var out []string
	for rest := sql; ; {
		i := strings.Index(rest, "ORDER BY ")
		if i < 0 {
			return out
		}
		within := strings.HasSuffix(strings.TrimRight(rest[:i], " ("), "WITHIN GROUP")
		rest = rest[i+len("ORDER BY "):]
		if within {
			continue
		}
		depth, end := 0, len(rest)
	scan:
		for j, r := range rest {
			switch {
			case r == '(':
				depth++
			case r == ')' && depth == 0:
				end = j
				break scan
			case r == ')':
				depth--
			}
		}
		list := rest[:end]
		for _, word := range []string{"\nLIMIT", " ROWS BETWEEN"} {
			list, _, _ = strings.Cut(list, word)
		}
		out = append(out, list)
	}
}

// splitTop splits at commas outside of parentheses.
func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}
