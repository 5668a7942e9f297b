package table

import (
	"bufio"
	"io"
	"strings"
)

// writeCSV writes RFC 4180 with line feeds. NULL is nothing at all and an empty text is "", as most databases read it.
func writeCSV(w io.Writer, rows Rows, o Options) (int64, error) {
	out := bufio.NewWriter(w)
	columns := rows.Columns()
	for i, c := range columns {
		csvField(out, i, c.Name, o.Terminal)
	}
	out.WriteByte('\n')
	n := int64(0)
	for ; rows.Next(); n++ {
		for i := range columns {
			v := rows.Value(i)
			if v == nil {
				if i > 0 {
					out.WriteByte(',')
				}
				continue
			}
			csvField(out, i, plain(v), o.Terminal)
		}
		if err := out.WriteByte('\n'); err != nil {
			return n, err
		}
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, rows.Err()
}

func csvField(out *bufio.Writer, column int, s string, terminal bool) {
	if column > 0 {
		out.WriteByte(',')
	}
	if terminal {
		s = Printable(s)
	}
	if s != "" && !strings.ContainsAny(s, ",\"\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		out.WriteString(s)
		return
	}
	out.WriteByte('"')
	out.WriteString(strings.ReplaceAll(s, `"`, `""`))
	out.WriteByte('"')
}
