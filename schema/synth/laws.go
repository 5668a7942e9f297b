package synth

import (
	"reflect"

	"straggler/schema"
)

// Transformations of traces under which findings must not change, or change in a known way. Each gives a new trace and
// leaves the one it was given alone.

// Scale makes everything take k times as long, counted from the start of the first application. Seconds of findings
// scale by k; ratios, ranks and causes stay. Rates, which are per second, fall to 1/k of what they were.
func Scale(t *schema.Trace, k int64) *schema.Trace {
	origin := schema.Time(0)
	for i, a := range t.Applications {
		if a.StartTime.OK && (i == 0 || a.StartTime.V < origin) {
			origin = a.StartTime.V
		}
	}
	out := clone(t)
	eachColumn(out, func(_ *schema.Table, c *schema.Column, v reflect.Value) {
		switch {
		case c.Type == schema.Timestamp:
			v.SetInt(int64(origin) + k*(v.Int()-int64(origin)))
		case c.Unit == "s":
			v.SetFloat(float64(k) * v.Float())
		}
	})
	return out
}

// PermuteMachines gives the machines each other's names: what is found about a machine is found about its new name.
func PermuteMachines(t *schema.Trace, seed uint64) (out *schema.Trace, renamed map[string]string) {
	var names []string
	seen := map[string]bool{}
	note := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	eachColumn(t, func(_ *schema.Table, c *schema.Column, v reflect.Value) {
		if isMachine(c) {
			note(v.String())
		}
	})
	renamed = make(map[string]string, len(names))
	for i, at := range permutation(len(names), seed) {
		renamed[names[i]] = names[at]
	}
	out = clone(t)
	eachColumn(out, func(_ *schema.Table, c *schema.Column, v reflect.Value) {
		if isMachine(c) {
			v.SetString(renamed[v.String()])
		}
	})
	return out, renamed
}

func isMachine(c *schema.Column) bool { return c.Name == "machine" || c.Name == "source_machine" }

// PermuteTasks gives the tasks of each stage each other's indexes, in all submissions of it alike.
func PermuteTasks(t *schema.Trace, seed uint64) *schema.Trace {
	type stage struct {
		job    schema.Key
		native string
	}
	tasks, of := map[stage]int64{}, map[schema.Key]stage{}
	for _, p := range t.Phases {
		s := stage{p.JobID, p.NativeID}
		of[p.PhaseID] = s
		tasks[s] = max(tasks[s], p.TaskCount.V)
	}
	for i := range t.Attempts {
		s := of[t.Attempts[i].PhaseID]
		tasks[s] = max(tasks[s], t.Attempts[i].Task+1)
	}
	orders := map[stage][]int{}
	moved := func(phase schema.Key, task int64) int64 {
		s := of[phase]
		if orders[s] == nil {
			orders[s] = permutation(int(tasks[s]), seed^uint64(s.job)^hash(s.native))
		}
		return int64(orders[s][task])
	}
	out := clone(t)
	for i := range out.Attempts {
		a := &out.Attempts[i]
		a.Task = moved(a.PhaseID, a.Task)
	}
	for i := range out.Losses {
		l := &out.Losses[i]
		l.Task = moved(l.PhaseID, l.Task)
	}
	for i := range out.Transfers {
		x := &out.Transfers[i]
		x.Task = moved(x.PhaseID, x.Task)
	}
	return out
}

func hash(s string) uint64 {
	h := uint64(len(s))
	for i := range len(s) {
		h = mix(h ^ uint64(s[i]))
	}
	return h
}

// Rekey gives all rows other keys, in no order, and says which by table: keys mean nothing but who is who.
func Rekey(t *schema.Trace, seed uint64) (out *schema.Trace, keys map[string]map[schema.Key]schema.Key) {
	keys = map[string]map[schema.Key]schema.Key{}
	used := map[schema.Key]bool{}
	eachColumn(t, func(table *schema.Table, c *schema.Column, v reflect.Value) {
		if c.Key != "primary" || !v.CanInt() {
			return
		}
		if keys[table.Name] == nil {
			keys[table.Name] = map[schema.Key]schema.Key{}
		}
		d := dice(mix(seed ^ hash(table.Name))).of(int(v.Int()))
		key := schema.Key(d.bits(forRank)>>1) | 1
		for used[key] {
			key += 2
		}
		used[key] = true
		keys[table.Name][v.Int()] = key
	})
	out = clone(t)
	eachColumn(out, func(table *schema.Table, c *schema.Column, v reflect.Value) {
		if c.Key == "" || !v.CanInt() {
			return
		}
		name := c.Key
		if name == "primary" {
			name = table.Name
		}
		if key, ok := keys[name][v.Int()]; ok {
			v.SetInt(key)
		}
	})
	return out, keys
}

// Shuffle puts the rows of every table into another order.
func Shuffle(t *schema.Trace, seed uint64) *schema.Trace {
	out := clone(t)
	tables, from := reflect.ValueOf(out).Elem(), reflect.ValueOf(t).Elem()
	for f := range tables.NumField() {
		for i, at := range permutation(tables.Field(f).Len(), seed+uint64(f)) {
			tables.Field(f).Index(i).Set(from.Field(f).Index(at))
		}
	}
	return out
}

// permutation is a permutation of 0 to n−1, by Fisher and Yates.
func permutation(n int, seed uint64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	d := dice(mix(seed))
	for i := n - 1; i > 0; i-- {
		j := d.of(i).intn(forRank, i+1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

func clone(t *schema.Trace) *schema.Trace {
	out := &schema.Trace{}
	out.Append(t)
	return out
}

// eachColumn visits every known value of a trace.
func eachColumn(t *schema.Trace, visit func(*schema.Table, *schema.Column, reflect.Value)) {
	tables := reflect.ValueOf(t).Elem()
	byRow := map[reflect.Type]*schema.Table{}
	for _, table := range schema.Tables() {
		byRow[table.Row] = table
	}
	for f := range tables.NumField() {
		rows := tables.Field(f)
		table := byRow[rows.Type().Elem()]
		for i := range rows.Len() {
			row := rows.Index(i)
			for c := range table.Columns {
				v := row.Field(c)
				if table.Columns[c].Nullable {
					if !v.Field(1).Bool() {
						continue
					}
					v = v.Field(0)
				}
				visit(table, &table.Columns[c], v)
			}
		}
	}
}
