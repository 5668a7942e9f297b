package verify

import (
	"cmp"
	"slices"

	"straggler/schema"
	"straggler/schema/laws"
)

// collector counts violations and keeps the first of each law.
type collector struct {
	max    int
	broken map[brokenLaw]*Broken
}

type brokenLaw struct {
	table, column string
	law           laws.Law
}

func (c *collector) add(v laws.Violation) {
	at := brokenLaw{v.Table, v.Column, v.Law}
	b := c.broken[at]
	if b == nil {
		b = &Broken{Table: v.Table, Column: v.Column, Law: v.Law}
		c.broken[at] = b
	}
	b.Rows++
	if b.First = append(b.First, v); len(b.First) >= 2*c.max {
		b.cut(c.max)
	}
}

// cut keeps the first violations.
func (b *Broken) cut(max int) {
	slices.SortFunc(b.First, func(v, w laws.Violation) int {
		// 9 before 10
		return cmp.Or(cmp.Compare(len(v.Key), len(w.Key)), cmp.Compare(v.Key, w.Key), cmp.Compare(v.Value, w.Value))
	})
	b.First = b.First[:min(len(b.First), max)]
}

func (c *collector) result() Result {
	var r Result
	tables, order := map[string]int{}, map[laws.Law]int{}
	for i, t := range schema.Tables() {
		tables[t.Name] = i
	}
	for i, e := range laws.All() {
		order[laws.Law(e.Word)] = i
	}
	for _, b := range c.broken {
		b.cut(c.max)
		r.Rows += b.Rows
		r.Broken = append(r.Broken, *b)
	}
	slices.SortFunc(r.Broken, func(a, b Broken) int {
		return cmp.Or(cmp.Compare(tables[a.Table], tables[b.Table]), cmp.Compare(order[a.Law], order[b.Law]), cmp.Compare(a.Column, b.Column))
	})
	return r
}
