package spark

import (
	"bytes"
	"strconv"

	"straggler/ingest/read/pull"
)

// stageValues are the values of operators' metrics that a `Stage Info` ends with.
type stageValues []accumValue

// accumulables reads the `Accumulables` of a `Stage Info`: of those of operators, the values.
func (d *decoder) accumulables() stageValues {
	return eachAccumulable(&d.pull, "Value", nil)
}

// taskUpdates reads the `Accumulables` of a `Task Info`: of those of operators, what the attempt added. It is read for few
// attempts, when their stage ends.
func taskUpdates(raw []byte) stageValues {
	values := make(stageValues, 0, bytes.Count(raw, []byte(`"Metadata":"sql"`)))
	if values, ok := scanUpdates(raw, values); ok {
		return values
	}
	return pullUpdates(raw, values[:0])
}

func pullUpdates(raw []byte, values stageValues) stageValues {
	var p pull.Puller
	p.Reset(raw)
	return eachAccumulable(&p, "Update", values)
}

// scanUpdates reads what pullUpdates does where the keys are in Spark's order, and reports false where they are not.
func scanUpdates(b []byte, values stageValues) (stageValues, bool) {
	i := expect(b, 0, "[")
	for more := len(b) > 2; more; {
		var v accumValue
		v.id, i = digits(b, expect(b, i, `{"ID":`))
		if next, ok := try(b, i, `,"Name":"`); ok {
			_, i = word(b, next)
		}
		known := false
		if next, ok := try(b, i, `,"Update":"`); ok {
			v.value, i = digits(b, next)
			i = expect(b, i, `"`)
			known = true
		} else if next, ok := try(b, i, `,"Update":`); ok {
			v.value, i = digits(b, next)
			known = true
		}
		if next, ok := try(b, i, `,"Value":"`); ok {
			_, i = word(b, next)
		} else if next, ok := try(b, i, `,"Value":`); ok {
			_, i = digits(b, next)
		}
		if next, ok := try(b, i, `,"Internal":`); ok {
			_, i = boolean(b, next)
		}
		if next, ok := try(b, i, `,"Count Failed Values":`); ok {
			_, i = boolean(b, next)
		}
		next, of := try(b, i, `,"Metadata":"sql"`)
		if of {
			i = next
		}
		if of && known && len(values) < maxAccumValues {
			values = append(values, v)
		}
		i = expect(b, i, "}")
		if i, more = try(b, i, ","); !more {
			break
		}
	}
	return values, i == len(b)-1 && b[i] == ']'
}

// eachAccumulable appends the member of the given name of each element that is of an operator's metric.
func eachAccumulable(p *pull.Puller, member string, values stageValues) stageValues {
	for ok := p.Array(); ok && p.Elem(); {
		v, of, known := accumValue{id: none}, false, false
		for ok := p.Object(); ok && p.Key(); {
			switch string(p.Name) {
			case "ID":
				if id, ok := p.Number(); ok && id >= 0 {
					v.id = id
				}
			case member:
				v.value, known = accumNumber(p)
			case "Metadata":
				b, _ := p.Str()
				of = string(b) == "sql"
			default:
				p.Skip()
			}
		}
		if of && known && v.id >= 0 && len(values) < maxAccumValues {
			values = append(values, v)
		}
	}
	return values
}

// accumNumber reads a number, which Spark writes as a text for metrics of operators.
func accumNumber(p *pull.Puller) (int64, bool) {
	if p.Peek() != '"' {
		return p.Number()
	}
	b, _ := p.Str()
	v, err := strconv.ParseInt(string(b), 10, 64)
	return v, err == nil
}
