package schema

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText prints the tables as text: each with its doc and one line per column.
func WriteText(w io.Writer, tables []*Table) error {
	for i, t := range tables {
		gap := ""
		if i > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s\n", gap, t.Name, t.Doc); err != nil {
			return err
		}
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, c := range t.Columns {
			null := "not null"
			if c.Nullable {
				null = ""
			}
			fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\n", c.Name, c.Type, null, columnText(&c))
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func columnText(c *Column) string {
	text := c.Doc
	switch c.Key {
	case "":
	case "primary":
		text += "; primary key"
	default:
		text += "; references " + c.Key
	}
	if len(c.Values) > 0 {
		text += "; one of " + strings.Join(c.Values, ", ")
	}
	if c.Unit != "" {
		text += " [" + c.Unit + "]"
	}
	return text
}
