package sqltext

import "strings"

// QuoteName writes any text as a name.
func (d Dialect) QuoteName(s string) string {
	if d == Spark {
		return "`" + strings.ReplaceAll(s, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteText writes any text as a string.
func (d Dialect) QuoteText(s string) string {
	if d == Spark {
		return "'" + sparkEscapes.Replace(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

var sparkEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)
