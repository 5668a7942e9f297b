package serve

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"

	"straggler/audit"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/api"
)

// mostChoices bounds the applications offered by the form; the address of the page can name any two.
const mostChoices = 500

// compareForm picks two applications.
type compareForm struct {
	Sides []compareSide
}

type compareSide struct {
	Name, Title string
	Choices     []compareChoice
}

type compareChoice struct {
	Key, Text string
	Now       bool
}

// comparePage shows what changed between two applications, like straggler compare.
func (s *Server) comparePage(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, page{Title: "Compare two applications", Crumbs: []link{{"Applications", "/"}}}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, "Compare two applications")
		apps, _ := s.c.Applications()
		var form compareForm
		for _, side := range []struct{ name, title string }{{"a", "Before"}, {"b", "After"}} {
			c := compareSide{Name: side.name, Title: side.title}
			for _, a := range apps[:min(len(apps), mostChoices)] {
				key := strconv.FormatInt(a.ApplicationID, 10)
				text := prose.Name(a.NativeID)
				if n := prose.MaybeName(a.Name); n != "" {
					text = n + " (" + text + ")"
				}
				c.Choices = append(c.Choices, compareChoice{key, text, key == r.FormValue(side.name)})
			}
			form.Sides = append(form.Sides, c)
		}
		if err := templates.ExecuteTemplate(w, "compare", form); err != nil || r.FormValue("a") == "" || r.FormValue("b") == "" {
			return err
		}
		p, err := s.pair(ctx, r)
		if err != nil {
			return err
		}
		return writePair(w, p)
	})
}

// pair compares the two applications that a request names by their keys.
func (s *Server) pair(ctx context.Context, r *http.Request) (*audit.Pair, error) {
	var keys [2]schema.Key
	for i, name := range [...]string{"a", "b"} {
		var err error
		if keys[i], err = strconv.ParseInt(r.FormValue(name), 10, 64); err != nil {
			return nil, api.ErrAddress
		}
	}
	return s.c.Compare(ctx, keys[0], keys[1])
}

func writePair(w io.Writer, p *audit.Pair) error {
	l := &listing{ID: "differences", Caption: "Differences, the best supported first", Empty: "Nothing differs.",
		Columns: []column{{Title: "What"}, {Title: "Where"}, {Title: "Before", Number: true}, {Title: "After", Number: true},
			{Title: "Change", Doc: "fraction of the first", Number: true},
			{Title: "p", Doc: "two-sided, by the variance between tasks", Number: true},
			{Title: "q", Doc: "false discovery rate over the tests", Number: true}}}
	for _, d := range p.Differences[:min(len(p.Differences), mostChoices)] {
		where := d.Cause
		if d.Stage != nil {
			where = prose.Clean(d.Stage.String(), prose.NameRunes)
		}
		value := func(v *float64) cell {
			return figure(nullOf(v), func(x float64) string { return prose.Measured(x, d.Unit) }, "the log does not say")
		}
		probability := func(v *float64) cell {
			return figure(nullOf(v), func(x float64) string { return fmt.Sprintf("%.2g", x) },
				"there is no test: two runs do not show how much runs differ anyway")
		}
		l.Rows = append(l.Rows, []cell{{Text: d.Rule}, {Text: where}, value(d.A), value(d.B),
			figure(nullOf(d.Change), prose.Percent, "it was 0, or is not known"), probability(d.P), probability(d.Q)})
	}
	l.label()
	if err := writeSection(w, "differences", "What changed", l); err != nil {
		return err
	}
	if n := len(p.OnlyA) + len(p.OnlyB); n > 0 {
		fmt.Fprintf(w, "<p>%s in one of the two only, so the programs differ.</p>", prose.Plural(int64(n), "stage is", "stages are"))
	}
	for _, change := range p.Plans {
		fmt.Fprintf(w, "<p>The plan changed: %s.</p>", template.HTMLEscapeString(prose.Clean(change, prose.TextRunes)))
	}
	return writeLead(w, "Method: "+p.Method+".")
}

func nullOf(v *float64) schema.Null[float64] {
	if v == nil {
		return schema.Null[float64]{}
	}
	return schema.Some(*v)
}
