package shell

import (
	"fmt"
	"strings"

	"straggler/schema"
	"straggler/table"
)

const help = `\d          the tables
\d TABLE    the columns of a table
\timing     show, or stop showing, how long statements take; or \timing on, \timing off
\q          quit; so do exit, quit and Ctrl-D
.tables, .schema TABLE, .timer, .quit and .help do the same, as in the shells of SQLite and DuckDB.
A statement ends with a semicolon and may take several lines. Tab completes tables and columns. Ctrl-C stops a
running statement, or discards one that is being typed. Nothing here can change the store.
`

// dotCommands are the same commands in the shells of SQLite and DuckDB.
var dotCommands = map[string]string{".tables": `\d`, ".schema": `\d`, ".timer": `\timing`, ".quit": `\q`, ".exit": `\q`, ".help": `\?`}

// isCommand reports whether a line is a command: no statement begins with a backslash or a dot.
func isCommand(line string) bool { return strings.HasPrefix(line, `\`) || strings.HasPrefix(line, ".") }

// command runs a line for which isCommand holds; quit ends the shell.
func (s *session) command(line string) (quit bool, err error) {
	fields := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), ";"))
	if known, ok := dotCommands[strings.ToLower(fields[0])]; ok {
		fields[0] = known
	}
	switch name, args := fields[0], fields[1:]; {
	case name == `\q`:
		return true, nil
	case name == `\?` || name == `\h`:
		fmt.Fprint(s.o.Out, help)
	case name == `\timing` && len(args) > 0 && !strings.EqualFold(args[0], "on") && !strings.EqualFold(args[0], "off"):
		return false, fmt.Errorf(`%s is neither on nor off`, table.Printable(args[0]))
	case name == `\timing`:
		s.timing = len(args) == 0 && !s.timing || len(args) > 0 && strings.EqualFold(args[0], "on")
		fmt.Fprintln(s.o.Out, "timing is", map[bool]string{true: "on", false: "off"}[s.timing])
	case name == `\d` && len(args) == 0:
		return false, s.show(tables(s.tables))
	case name == `\d`:
		for _, t := range s.tables {
			if strings.EqualFold(t.Name, args[0]) {
				return false, s.show(columns(t))
			}
		}
		return false, fmt.Errorf(`no table %s; \d lists them`, table.Printable(args[0]))
	default:
		return false, fmt.Errorf(`no command %s; \? lists them`, table.Printable(name))
	}
	return false, nil
}

func (s *session) show(rows table.Rows) error {
	text, _ := table.Named("table")
	_, err := text.Write(s.o.Out, rows, s.options())
	return err
}

func tables(all []*schema.Table) table.Rows {
	f := table.NewFixed("table", "holds")
	for _, t := range all {
		f.Add(t.Name, t.Doc)
	}
	return f
}

func columns(t *schema.Table) table.Rows {
	f := table.NewFixed("column", "type", "unit", "meaning")
	for _, c := range t.Columns {
		doc := c.Doc
		if len(c.Values) > 0 {
			doc += ": " + strings.Join(c.Values, ", ")
		}
		f.Add(c.Name, string(c.Type), c.Unit, doc)
	}
	return f
}
