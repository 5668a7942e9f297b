package spark

import (
	"slices"
	"strconv"

	"straggler/ingest/read/pull"
)

// stageValues are the final values of operators' metrics in a `Stage Info`.
type stageValues []accumValue

// accumulables reads the `Accumulables` of a `Stage Info`: the values of operators' metrics.
func (d *decoder) accumulables() stageValues {
	b := d.pull.Value()
	values, next := scanAccumulables(b, `,"Value":`, d.values[:0])
	if d.values = values; next < 0 {
		return eachAccumulable(&d.pull, "Value", nil)
	}
	d.pull.Take(next)
	return slices.Clone(values)
}

// taskUpdates reads the `Accumulables` of a `Task Info`: what the attempt added to operators' metrics. It is called for few
// attempts, when their stage ends. The values are valid until scratch is used again.
func taskUpdates(raw []byte, scratch stageValues) stageValues {
	if values, next := scanAccumulables(raw, `,"Update":`, scratch[:0]); next == len(raw) {
		return values
	}
	return pullUpdates(raw, scratch[:0])
}

func pullUpdates(raw []byte, values stageValues) stageValues {
	var p pull.Puller
	p.Reset(raw)
	return eachAccumulable(&p, "Update", values)
}

// scanAccumulables does the same as eachAccumulable for the list at the beginning of b if the keys are in Spark's order, and
// returns its end; −1 otherwise. The member is given as text with the punctuation around it.
func scanAccumulables(b []byte, member string, values stageValues) (_ stageValues, next int) {
	i := expect(b, 0, "[")
	if next, ok := try(b, i, "]"); ok {
		return values, next
	}
	for more := true; more; i, more = try(b, i, ",") {
		var v accumValue
		v.id, i = digits(b, expect(b, i, `{"ID":`))
		i = skipText(b, i, `,"Name":"`)
		known := false
		for _, key := range [...]string{`,"Update":`, `,"Value":`} {
			next, ok := try(b, i, key)
			if !ok {
				continue
			}
			quoted := next < len(b) && b[next] == '"'
			switch {
			case key != member && quoted:
				_, i = word(b, next+1)
			case quoted:
				v.value, i = digits(b, next+1)
				i, known = expect(b, i, `"`), true
			default:
				value, end := digits(b, next)
				if i = end; key == member {
					v.value, known = value, true
				}
			}
		}
		if next, ok := try(b, i, `,"Internal":true,"Count Failed Values":true`); ok {
			i = next
		} else {
			i = skipFlag(b, i, `,"Internal":`)
			i = skipFlag(b, i, `,"Count Failed Values":`)
		}
		next, of := try(b, i, `,"Metadata":"sql"`)
		i = next
		if of && known && len(values) < maxAccumValues {
			values = append(values, v)
		}
		i = expect(b, i, "}")
	}
	if next, ok := try(b, i, "]"); ok {
		return values, next
	}
	return values, -1
}

// eachAccumulable appends the named member of each element that belongs to an operator's metric.
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

// accumNumber reads a number, which Spark writes as a string for metrics of operators.
func accumNumber(p *pull.Puller) (int64, bool) {
	if p.Peek() != '"' {
		return p.Number()
	}
	b, _ := p.Str()
	v, err := strconv.ParseInt(string(b), 10, 64)
	return v, err == nil
}
