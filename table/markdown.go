package table

import (
	"bufio"
	"io"
	"strings"
)

// writeMarkdown writes a table in GitHub's form.
func writeMarkdown(w io.Writer, rows Rows, _ Options) (int64, error) {
	out := bufio.NewWriter(w)
	columns := rows.Columns()
	for _, c := range columns {
		out.WriteString("| " + Markdown(c.Name) + " ")
	}
	out.WriteString("|\n")
	for _, c := range columns {
		if numeric(c.Type) {
			out.WriteString("|---:")
		} else {
			out.WriteString("|---")
		}
	}
	out.WriteString("|\n")
	n := int64(0)
	for ; rows.Next(); n++ {
		for i := range columns {
			text := ""
			if v := rows.Value(i); v != nil {
				text = Markdown(forPeople(v))
			}
			out.WriteString("| " + text + " ")
		}
		if _, err := out.WriteString("|\n"); err != nil {
			return n, err
		}
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, rows.Err()
}

// Markdown escapes a text so that Markdown shows it literally, also in a cell of a table.
func Markdown(s string) string { return markdown.Replace(Printable(s)) }

var markdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~", `\~`, "$", `\$`, "@", `&#64;`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "!", `\!`, "://", ":&#47;&#47;", "www.", "www&#46;")
