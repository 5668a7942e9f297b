package sqlplan

import (
	"strings"
)

// The texts of a plan, `SortMergeJoin [customer_id#12L], [id#40L], Inner, (price#3 > 100)`, are made for people. What is
// taken from them are the names of columns, functions and tables. Ids of expressions differ from run to run; literals may
// hold what should not be in a store.

// CleanSQL returns the text of a statement without its literals; a call site, `count at Orders.java:12`, is kept.
func CleanSQL(s string, keepLiterals bool) string {
	if name, ok := streamName(s); ok {
		return name
	}
	if keepLiterals || isCallSite(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'' || c == '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				b.WriteByte('?')
				return b.String() // the text was cut within it
			}
			b.WriteByte('?')
			i += end + 2
		case isWord(c):
			end := i
			for end < len(s) && isWord(s[end]) {
				end++
			}
			if isDigit(c) {
				b.WriteByte('?')
			} else {
				b.WriteString(s[i:end])
			}
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// streamName returns what the queries of a stream are called: Spark describes each micro-batch by the name of the stream, its id,
// which it keeps when it starts again, and those of the run and the batch, which differ; between them is a line break of HTML.
func streamName(s string) (name string, ok bool) {
	name, rest, ok := strings.Cut(s, "id = ")
	id, rest, _ := strings.Cut(rest, "runId = ")
	if !ok || !strings.Contains(rest, "batch = ") {
		return "", false
	}
	bare := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "<br/>", " ")) }
	if name = bare(name); name == "" {
		name = bare(id)
	}
	return "micro-batch of stream " + name, true
}

// isCallSite reports whether a description is the place in a program that Spark names a query by.
func isCallSite(s string) bool {
	at := strings.LastIndex(s, " at ")
	if at < 0 || strings.ContainsAny(s[:at], " '\"=") {
		return false
	}
	place := s[at+4:]
	colon := strings.LastIndexByte(place, ':')
	return colon > 0 && !strings.ContainsAny(place, "'\"=")
}

// cleanFilters returns a list of filters of a data source, in which columns have no ids: `[IsNotNull(year), EqualTo(year,2000)]`.
// The first argument of a filter is the column, what follows it a literal.
func cleanFilters(s string, keepLiterals bool) string {
	if keepLiterals {
		return cleanText(s, true)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case isWord(c):
			end := i
			for end < len(s) && isWord(s[end]) {
				end++
			}
			function := end < len(s) && s[end] == '(' && sourceFilters[s[i:end]]
			first := i > 0 && s[i-1] == '(' && sourceFilters[wordBefore(s, i-1)]
			if function || first && !isDigit(c) {
				b.WriteString(s[i:end])
			} else {
				writeHidden(&b)
			}
			i = end
		case strings.IndexByte("()[], ", c) >= 0:
			b.WriteByte(c)
			i++
		default:
			writeHidden(&b)
			i++
		}
	}
	return b.String()
}

// writeHidden writes the placeholder of a literal, once for successive ones.
func writeHidden(b *strings.Builder) {
	t := strings.TrimRight(b.String(), " ")
	if strings.HasSuffix(t, "?") {
		return
	}
	b.WriteByte('?')
}

// wordBefore returns the word that ends at a position.
func wordBefore(s string, end int) string {
	start := end
	for start > 0 && isWord(s[start-1]) {
		start--
	}
	return s[start:end]
}

// sourceFilters are those of org.apache.spark.sql.sources.
var sourceFilters = map[string]bool{"EqualTo": true, "EqualNullSafe": true, "GreaterThan": true, "GreaterThanOrEqual": true,
	"LessThan": true, "LessThanOrEqual": true, "In": true, "IsNull": true, "IsNotNull": true, "And": true, "Or": true, "Not": true,
	"StringStartsWith": true, "StringEndsWith": true, "StringContains": true, "AlwaysTrue": true, "AlwaysFalse": true}

// cleanText returns a text of a plan without the ids of expressions and, unless they are to be kept, without literals: a word is
// kept if it has the id of a column, if it is a function, or if it is one of Spark's own words.
func cleanText(s string, keepLiterals bool) string {
	var b strings.Builder
	b.Grow(len(s))
	hidden := false // what was written last stands for literals
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '#' && i+1 < len(s) && isDigit(s[i+1]):
			i = pastID(s, i)
			hidden = false
		case c == '"' || c == '\'' || c == '`':
			end := i + 1 // of a quote that nothing closes
			if n := strings.IndexByte(s[i+1:], c); n >= 0 {
				end = i + n + 2
			}
			switch {
			case keepLiterals || c == '`':
				b.WriteString(s[i:end])
				hidden = false
			case !hidden:
				b.WriteByte('?')
				hidden = true
			}
			i = end
		case isWord(c):
			end := i
			for end < len(s) && isWord(s[end]) {
				end++
			}
			word := s[i:end]
			switch {
			case keepLiterals || keepsWord(s, word, end):
				b.WriteString(generatedName(word))
				hidden = false
			case !hidden:
				b.WriteByte('?')
				hidden = true
			}
			i = end
		default:
			if hidden && (c == ' ' || c == '-' || c == ':' || c == '/') && continuesLiteral(s, i) {
				i++ // a literal of several words is one
				continue
			}
			if c >= ' ' && c < 0x7f {
				b.WriteByte(c)
			} else if !hidden {
				b.WriteByte('?')
				hidden = true
				i++
				continue
			}
			hidden = hidden && c != ',' && c != '(' && c != ')' && c != '[' && c != ']'
			i++
		}
	}
	return b.String()
}

// continuesLiteral reports whether a word that is not a name follows.
func continuesLiteral(s string, i int) bool {
	for i < len(s) && !isWord(s[i]) {
		if c := s[i]; c != ' ' && c != '-' && c != ':' && c != '/' {
			return false
		}
		i++
	}
	end := i
	for end < len(s) && isWord(s[end]) {
		end++
	}
	return end > i && !keepsWord(s, s[i:end], end)
}

// pastID returns the position behind an id, `#12` or `#12L`.
func pastID(s string, i int) int {
	for i++; i < len(s) && isDigit(s[i]); i++ {
	}
	if i < len(s) && s[i] == 'L' {
		i++
	}
	return i
}

// keepsWord reports whether the word ending at a position is a name: of a column, which has an id, of a field of one, of a
// function, or one of Spark's own words.
func keepsWord(s, word string, end int) bool {
	if isDigit(word[0]) {
		return false
	}
	if end < len(s) && (s[end] == '(' || s[end] == '#' && end+1 < len(s) && isDigit(s[end+1])) {
		return true
	}
	return planWords[strings.ToLower(word)]
}

// planWords are the words that plans are written with and that no literal has to itself.
var planWords = words(`and or not in like rlike is null isnull isnotnull case when then else end as asc desc nulls first last
distinct inner cross leftouter rightouter fullouter leftsemi leftanti existencejoin buildleft buildright gpubuildleft
gpubuildright singlepartition keys functions filters limit orderby output true false partial final complete partialmerge
bigint int smallint tinyint double float string boolean date timestamp decimal binary array map struct
ensure_requirements repartition_by_col repartition_by_num rebalance_partitions_by_col rebalance_partitions_by_none
required_by_statefuloperator hashpartitioning rangepartitioning roundrobinpartitioning specifiedwindowframe rowframe
rangeframe unboundedpreceding unboundedfollowing currentrow unbounded preceding following current row rows range coalesced
skewed local input`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// generatedName returns a name without the number that Spark gave it: _gen_alias_17, _common_expr_0.
func generatedName(word string) string {
	if !strings.HasPrefix(word, "_") {
		return word
	}
	end := len(word)
	for end > 0 && isDigit(word[end-1]) {
		end--
	}
	if end < len(word) && end > 1 && word[end-1] == '_' {
		return word[:end]
	}
	return word
}

// isWord reports whether a byte is part of a name or a number, as all bytes of letters beyond ASCII are.
func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' || c == '$' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// brackets returns the content of the brackets that open at a position, and where they end; "" and -1 if they do not.
func brackets(s string, open int) (inside string, end int) {
	if open < 0 || open >= len(s) {
		return "", -1
	}
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return s[open+1 : i], i
			}
		}
	}
	return "", -1
}

// arguments splits a list at its commas, except those within brackets.
func arguments(s string) []string {
	var list []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	if rest := strings.TrimSpace(s[start:]); rest != "" || len(list) > 0 {
		list = append(list, rest)
	}
	return list
}
