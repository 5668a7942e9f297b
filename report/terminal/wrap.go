package terminal

import (
	"strings"

	"github.com/rivo/uniseg"

	"straggler/report/prose"
)

// Wrap breaks a text at spaces into lines of at most n columns; a word that is longer is broken.
func Wrap(s string, n int) []string {
	n = max(n, 1)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, prose.NBSP, "\x00")) {
		word = strings.ReplaceAll(word, "\x00", " ")
		if line != "" && width(line)+1+width(word) <= n {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > n {
			cut := cutAt(word, n)
			lines = append(lines, word[:cut])
			word = word[cut:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// longestWord returns the number of columns below which Wrap breaks a word of a text.
func longestWord(s string) (columns int) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, prose.NBSP, "_")) {
		columns = max(columns, width(word))
	}
	return columns
}

// cutAt returns the number of bytes of s that fill at most n columns, at least one character.
func cutAt(s string, n int) int {
	used, at := 0, 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used+g.Width() > n && at > 0 {
			break
		}
		used += g.Width()
		_, at = g.Positions()
	}
	return at
}

func pad(s string, n int, right bool) string {
	gap := strings.Repeat(" ", max(0, n-width(s)))
	if right {
		return gap + s
	}
	return s + gap
}

// width returns the number of terminal columns of a text.
func width(s string) int { return uniseg.StringWidth(s) }
