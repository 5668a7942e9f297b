package spark

import (
	"reflect"
	"slices"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// newEvent returns the struct for an event of a kind other than a task's.
func newEvent(k kind) any {
	switch k {
	case kindLogStart, kindRollover:
		return new(logStart)
	case kindApplicationStart:
		return new(applicationStart)
	case kindApplicationEnd:
		return new(applicationEnd)
	case kindEnvironment:
		return new(environmentUpdate)
	case kindJobStart:
		return new(jobStart)
	case kindJobEnd:
		return new(jobEnd)
	case kindStageSubmitted, kindStageCompleted:
		return new(stageEvent)
	case kindExecutorAdded:
		return new(executorAdded)
	case kindExecutorRemoved:
		return new(executorRemoved)
	case kindBlockManagerAdded, kindBlockManagerRemoved:
		return new(blockManager)
	case kindResourceProfile:
		return new(resourceProfile)
	case kindQueryEnd:
		return new(queryEnd)
	case kindDriverUpdates:
		return new(driverUpdates)
	}
	return new(struct{}) // the kind says all
}

// missing names what an event lacks to be usable; "" if nothing.
func missing(event any) string {
	switch e := event.(type) {
	case *jobStart:
		return lacks(e.ID < 0, "Job ID")
	case *jobEnd:
		return lacks(e.ID < 0, "Job ID")
	case *stageEvent:
		if e.Info.Attempt < 0 {
			return "its Stage Attempt ID is not a count"
		}
		return lacks(e.Info.ID < 0, "Stage ID")
	case *executorAdded:
		return lacks(e.ID == "", "Executor ID")
	case *executorRemoved:
		return lacks(e.ID == "", "Executor ID")
	case *blockManager:
		return lacks(e.ID.Executor == "", "Executor ID")
	case *queryEnd:
		return lacks(e.Execution < 0, "executionId")
	case *driverUpdates:
		return lacks(e.Execution < 0, "executionId")
	}
	return ""
}

func lacks(it bool, member string) string {
	if !it {
		return ""
	}
	return "it has no " + member
}

// layout maps the members of objects to the fields of a struct.
type layout struct {
	empty   reflect.Value // its value for an object of no members: integers are none
	members []string      // by field; "" for none
}

func (d *decoder) layoutOf(t reflect.Type) *layout {
	l := d.layouts[t]
	if l != nil {
		return l
	}
	l = &layout{empty: reflect.New(t).Elem()}
	for i := range t.NumField() {
		switch f := l.empty.Field(i); f.Kind() {
		case reflect.Int64:
			f.SetInt(none)
		case reflect.Struct:
			f.Set(d.layoutOf(f.Type()).empty)
		}
		l.members = append(l.members, t.Field(i).Tag.Get("json"))
	}
	if d.layouts == nil {
		d.layouts = map[reflect.Type]*layout{}
	}
	d.layouts[t] = l
	return l
}

// field returns the index of the field for a member, or -1 if there is none.
func (l *layout) field(member []byte) int {
	for i, name := range l.members { // quicker than a map: most lengths differ
		if name == string(member) && name != "" {
			return i
		}
	}
	return -1
}

// object decodes an object into a struct.
func (d *decoder) object(v reflect.Value) {
	l, p := d.layoutOf(v.Type()), &d.pull
	v.Set(l.empty)
	for ok := p.Object(); ok && p.Key(); {
		if i := l.field(p.Name); i >= 0 {
			d.value(v.Field(i))
		} else {
			p.Skip()
		}
	}
}

// value decodes a value into a field. A value of another kind is skipped, and the field remains unset.
func (d *decoder) value(field reflect.Value) {
	p := &d.pull
	switch v := field.Addr().Interface().(type) {
	case *int64:
		*v = d.integer()
	case *int32:
		*v = d.small()
	case *float64:
		*v, _ = p.Float()
	case *bool:
		*v, _ = p.Flag()
	case *string:
		*v = d.text()
	case *oneLine:
		b, _ := p.Str()
		*v = d.oneLine(b)
	case *firstLine:
		*v = d.firstLine()
	case *schema.Null[string]:
		b, ok := p.Str()
		*v = schema.Null[string]{V: d.intern.Text(b), OK: ok}
	case *schema.Null[int64]:
		v.V, v.OK = p.Number()
	case *[]int64:
		*v = []int64{}
		for ok := p.Array(); ok && p.Elem(); {
			*v = append(*v, d.integer())
		}
	case *[]stageInfo:
		for ok := p.Array(); ok && p.Elem(); {
			*v = append(*v, stageInfo{})
			d.value(reflect.ValueOf(&(*v)[len(*v)-1]).Elem())
		}
	case *properties:
		d.properties(v)
	case *stageValues:
		*v = d.accumulables()
	case *accumValues:
		*v = d.accumPairs()
	case *rdds:
		d.rdds(v)
	case *stageInfo:
		if next := d.scanStageInfo(p.Value(), v); next >= 0 {
			p.Take(next)
		} else {
			d.object(field)
		}
		v.order()
	default:
		d.object(field)
	}
}

// order sorts the parents. If the log names them, the parents of RDDs are not needed.
func (s *stageInfo) order() {
	slices.Sort(s.Parents)
	s.Parents = slices.Compact(s.Parents)
	if s.Parents != nil {
		s.RDDs.All, s.RDDs.Parents = nil, nil
	}
}

func (d *decoder) properties(v *properties) {
	p := &d.pull
	for ok := p.Object(); ok && p.Key(); {
		name := string(p.Name)
		value, ok := p.Str()
		if ok && keepProperty(name, value) && len(*v) < maxProperties {
			*v = append(*v, property{read.Text(name), read.Text(string(value))})
		}
	}
}

// rdds decodes an `RDD Info`: a list, or in Spark 1.0 a single one.
func (d *decoder) rdds(v *rdds) {
	before := *v
	if next := v.scan(d.pull.Value()); next >= 0 {
		d.pull.Take(next)
		return
	}
	*v = before
	d.pullRDDs(v)
}

func (d *decoder) pullRDDs(v *rdds) {
	if d.pull.Peek() == '{' {
		d.rdd(v)
		return
	}
	for ok := d.pull.Array(); ok && d.pull.Elem(); {
		d.rdd(v)
	}
}

func (d *decoder) rdd(v *rdds) {
	var rdd rddInfo
	d.object(reflect.ValueOf(&rdd).Elem())
	v.add(&rdd)
	v.Parents = append(v.Parents, rdd.Parents...)
}

func (v *rdds) add(rdd *rddInfo) {
	if len(v.All) == 0 {
		v.Own, v.Partitions = rdd.ID, rdd.Partitions
	}
	v.All, v.Barrier = append(v.All, rdd.ID), v.Barrier || rdd.Barrier
}

// oneLine converts a text to a name: white space and invalid characters become single spaces.
type oneLine string

// maxName bounds the name of a job or stage: a description may be the text of a query.
const maxName = 500

func (d *decoder) oneLine(b []byte) oneLine {
	cut := len(b) > maxName
	b = b[:min(len(b), maxName)]
	if plainLine(b) {
		return oneLine(d.intern.Text(b))
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), " ")), " ")
	if cut {
		s += "…"
	}
	return oneLine(read.Text(s))
}

// plainLine reports whether a text needs no conversion to be a name.
func plainLine(b []byte) bool {
	for i, c := range b {
		if c < ' ' || c >= 0x7f || c == ' ' && (i == 0 || i == len(b)-1 || b[i-1] == ' ') {
			return false
		}
	}
	return len(b) < maxName
}
