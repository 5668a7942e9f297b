package shell

import (
	"regexp"
	"slices"
	"strings"

	"straggler/schema"
)

// completer proposes words for the Tab key.
type completer struct {
	tables []*schema.Table
	before string // lines of the statement that were typed already
}

var keywords = strings.Fields(`SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT RIGHT FULL INNER CROSS ON USING AS AND OR NOT
	IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION ALL EXCEPT INTERSECT WITH VALUES EXISTS ASC DESC NULLS FIRST LAST
	OVER PARTITION FILTER WITHIN DESCRIBE SUMMARIZE EXPLAIN SHOW TABLES
	count( sum( avg( min( max( percentile_cont( max_by( min_by( coalesce( round( abs( date_trunc( row_number( CAST(`)

var commands = []string{`\d`, `\timing`, `\q`, `\?`}

// Do returns the completions of the word before the cursor, and the length of that word. It implements readline's
// AutoCompleter.
func (c *completer) Do(line []rune, pos int) ([][]rune, int) {
	text := string(line[:pos])
	start := strings.LastIndexFunc(text, func(r rune) bool { return !wordRune(r) }) + 1
	word := text[start:]
	if i := strings.LastIndexByte(word, '.'); i >= 0 {
		return endings(c.columnsOf(word[:i], c.before+text), word[i+1:])
	}
	return endings(c.words(text[:start], word), word)
}

// endings completes a word to each of the candidates, ignoring case.
func endings(candidates []string, word string) ([][]rune, int) {
	var out [][]rune
	for _, s := range candidates {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			rest := s[len(word):]
			if s == strings.ToUpper(s) && word != "" && word == strings.ToLower(word) {
				rest = strings.ToLower(rest)
			}
			if !strings.HasSuffix(rest, "(") {
				rest += " "
			}
			out = append(out, []rune(rest))
		}
	}
	return out, len([]rune(word))
}

var afterTable = regexp.MustCompile(`(?i)(\b(from|join|describe|summarize|table)|\\d)\s+$`)

// words returns the candidates at a position: tables after FROM and its like; elsewhere the columns of the tables that the
// statement names, or of all, then tables and keywords.
func (c *completer) words(left, word string) []string {
	if strings.HasPrefix(word, `\`) && strings.TrimSpace(c.before+left) == "" {
		return commands
	}
	var tables, columns []string
	for _, t := range c.tables {
		tables = append(tables, t.Name)
	}
	if afterTable.MatchString(left) {
		return tables
	}
	named := c.named(c.before + left)
	if len(named) == 0 && word == "" {
		return slices.Concat(tables, keywords)
	}
	if len(named) == 0 {
		named = c.tables
	}
	for _, t := range named {
		for _, col := range t.Columns {
			columns = append(columns, col.Name)
		}
	}
	slices.Sort(columns)
	return slices.Concat(slices.Compact(columns), tables, keywords)
}

// named returns the tables that a text names.
func (c *completer) named(text string) []*schema.Table {
	var out []*schema.Table
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !wordRune(r) || r == '.' })
	for _, t := range c.tables {
		if slices.Contains(words, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// columnsOf returns the columns of a table, by its name or by its alias in the statement.
func (c *completer) columnsOf(name, text string) []string {
	for _, t := range c.tables {
		alias := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(t.Name) + `\s+(as\s+)?` + regexp.QuoteMeta(name) + `\b`)
		if strings.EqualFold(t.Name, name) || alias.MatchString(text) {
			var out []string
			for _, col := range t.Columns {
				out = append(out, col.Name)
			}
			return out
		}
	}
	return nil
}

func wordRune(r rune) bool {
	return r == '_' || r == '.' || r == '\\' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
