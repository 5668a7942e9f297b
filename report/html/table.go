package html

import (
	"straggler/report/prose"
	"straggler/report/view"
)

// tableView is a table with its cells, the data of its template.
type tableView struct {
	ID, Caption, Empty, After, SQL string
	Columns                        []view.Column
	Rows                           []rowView
	More                           string
}

type rowView struct {
	ID, App, Machine, Causes string
	Has                      struct{ App, Machine, Causes bool }
	Cells                    []cellView
}

type cellView struct {
	Text, Sub, Note, Label, Class, Sort string
	Href                                string
	HasSort                             bool
	Extra                               bool // left out on a phone
	Key                                 *keyView
	Stack                               *stackView
	Detail                              *view.Detail
	Saving                              *savingView
}

func newTable(t view.Table) *tableView {
	v := &tableView{ID: t.ID, Caption: t.Caption, Columns: t.Columns, SQL: t.SQL, Empty: t.Empty, After: t.After}
	if t.More > 0 {
		v.More = prose.Count(t.More)
	}
	scale := newSavingScale(&t)
	for _, r := range t.Rows {
		rv := rowView{ID: r.ID, App: r.App, Machine: r.Machine, Causes: classes(r.Causes)}
		rv.Has.App, rv.Has.Machine, rv.Has.Causes = r.App != "", r.Machine != "", len(r.Causes) > 0
		for i, c := range r.Cells {
			rv.Cells = append(rv.Cells, newCell(c, t.Columns[i], scale))
		}
		v.Rows = append(v.Rows, rv)
	}
	return v
}

func newCell(c view.Cell, col view.Column, scale *savingScale) cellView {
	v := cellView{Text: c.Text, Sub: c.Sub, Note: c.Note, Label: col.Title, Href: c.Href, Extra: !col.Essential, Sort: c.Sort,
		Detail: c.Detail, HasSort: c.Sort != "" || c.Text == prose.Dash}
	if col.Number {
		v.Class = "n"
	}
	switch {
	case c.Parts != nil && c.Whole > 0:
		v.Stack = newStack(c.Parts, c.Whole, 14, "")
	case c.Keyed:
		k := keyOf(c.Cause)
		v.Key = &k
	}
	if c.Saving != nil && scale != nil {
		v.Saving = scale.saving(c.Saving)
	}
	if c.Detail != nil {
		v.Class = "why"
	}
	if col.Title == "Verdict" {
		v.Class = "v-" + c.Text
	}
	return v
}
