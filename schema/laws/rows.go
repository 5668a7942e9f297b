package laws

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"straggler/schema"
)

// Rows checks single rows.
func Rows(b schema.Batch, report Report) {
	columns(b, report)
	each(b, func(a *schema.Application) {
		report.ordered("applications", a.ApplicationID, []string{"start_time", "finish_time"}, a.StartTime, a.FinishTime)
	})
	each(b, func(j *schema.Job) {
		report.ordered("jobs", j.JobID, spanColumns, j.SubmitTime, j.StartTime, j.FinishTime)
		report.stillRuns("jobs", j.JobID, j.Status == schema.RunRunning, j.FinishTime)
	})
	each(b, func(p *schema.Phase) {
		report.ordered("phases", p.PhaseID, spanColumns, p.SubmitTime, p.StartTime, p.FinishTime)
	})
	each(b, report.attempt)
	each(b, func(m *schema.Machine) {
		report.ordered("machines", keyText(m.ApplicationID), []string{"added_time", "removed_time"}, m.AddedTime, m.RemovedTime)
	})
	each(b, func(q *schema.Query) {
		report.ordered("queries", q.QueryID, []string{"start_time", "finish_time"}, q.StartTime, q.FinishTime)
		report.stillRuns("queries", q.QueryID, q.Status == schema.RunRunning, q.FinishTime)
	})
	each(b, func(r *schema.Reject) {
		if r.SourceFile == "" || r.Reason == "" || r.Line.OK && r.Line.V < 1 {
			report.add("rejects", r.SourceFile, "line", RejectSays, "line %d, reason %q", r.Line.V, r.Reason)
		}
	})
	each(b, func(n *schema.Ingest) {
		if n.RowsIn != n.RowsOut+n.Rejects {
			report.add("ingests", n.IngestID, "rows_in", AllRecords, "%d read, %d decoded, %d rejects", n.RowsIn, n.RowsOut, n.Rejects)
		}
	})
}

func each[R any](b schema.Batch, check func(*R)) {
	rows, _ := schema.RowsOf[R](b)
	for i := range rows {
		check(&rows[i])
	}
}

var spanColumns = []string{"submit_time", "start_time", "finish_time"}

// ordered reports instants that are known and out of order; names[i] is the column of at[i].
func (r Report) ordered(table string, key any, names []string, at ...schema.Null[schema.Time]) {
	for i, late := range at {
		for j, early := range at[:i] {
			if late.OK && early.OK && early.V > late.V {
				r.add(table, key, names[i], Order, "%d is before %s %d", late.V, names[j], early.V)
			}
		}
	}
}

func (r Report) stillRuns(table string, key schema.Key, running bool, finish schema.Null[schema.Time]) {
	if running && finish.OK {
		r.add(table, key, "finish_time", StillRunning, "status is running and it finished at %d", finish.V)
	}
}

func (r Report) attempt(a *schema.Attempt) {
	r.ordered("attempts", a.AttemptID, []string{"queued_time", "start_time", "finish_time"}, a.QueuedTime, a.StartTime, a.FinishTime)
	r.stillRuns("attempts", a.AttemptID, a.Status == schema.Running, a.FinishTime)
	r.duration(a)
	r.part(a, "gc_s", a.GCS)
	r.part(a, "fetch_wait_s", a.FetchWaitS)
	r.part(a, "scheduler_delay_s", a.SchedulerDelayS)
	r.part(a, "deserialize_s", a.DeserializeS)
	r.part(a, "result_s", a.ResultS)
	if a.InputBytes.OK && a.LocalBytes.Or(0)+a.RemoteBytes.Or(0) > a.InputBytes.V {
		r.add("attempts", a.AttemptID, "input_bytes", Bytes, "local %d + remote %d > input %d", a.LocalBytes.Or(0), a.RemoteBytes.Or(0), a.InputBytes.V)
	}
	if a.RemoteBytes.OK && a.CrossRackBytes.Or(0) > a.RemoteBytes.V {
		r.add("attempts", a.AttemptID, "cross_rack_bytes", Bytes, "cross-rack %d > remote %d", a.CrossRackBytes.V, a.RemoteBytes.V)
	}
}

// durationTolerance returns half a microsecond, half the unit of instants, and for durations of centuries the possible difference
// between two doubles, each of which is the nearest to its own sum, which need not be exact.
func durationTolerance(seconds float64) float64 {
	return 0.5e-6 + 2*(math.Nextafter(math.Abs(seconds), math.Inf(1))-math.Abs(seconds))
}

func (r Report) duration(a *schema.Attempt) {
	ended := a.StartTime.OK && a.FinishTime.OK
	switch {
	case ended && !a.DurationS.OK:
		r.add("attempts", a.AttemptID, "duration_s", Duration, "NULL, though start and finish are known")
	case !ended && a.DurationS.OK && a.Quality&schema.PartialRow == 0: // archives have durations without instants
		r.add("attempts", a.AttemptID, "duration_s", Duration, "%v, though start or finish is NULL and the row is not marked partial", a.DurationS.V)
	case ended && !(math.Abs(a.FinishTime.V.Sub(a.StartTime.V)-a.DurationS.V) < durationTolerance(a.DurationS.V)):
		r.add("attempts", a.AttemptID, "duration_s", Duration, "%v, and finish − start is %v", a.DurationS.V, a.FinishTime.V.Sub(a.StartTime.V))
	}
}

func (r Report) part(a *schema.Attempt, column string, s schema.Null[float64]) {
	if s.OK && a.DurationS.OK && s.V > a.DurationS.V+schema.PartTolerance {
		r.add("attempts", a.AttemptID, column, Part, "%v s of an attempt of %v s", s.V, a.DurationS.V)
	}
}

// columns checks the requirements in the declaration of each column.
func columns(b schema.Batch, report Report) {
	t := b.Table()
	for i := range b.Len() {
		row := b.Row(i)
		for c := range t.Columns {
			col := &t.Columns[c]
			v, ok := known(row.Field(c), col)
			if !ok {
				continue
			}
			if law, found := checkValue(col, v); law != "" {
				key := ""
				if first, ok := known(row.Field(0), &t.Columns[0]); ok {
					key = text(first)
				}
				report(Violation{t.Name, key, col.Name, law, found})
			}
		}
	}
}

// qualityBits are all declared ones.
const qualityBits = schema.GangMember<<1 - 1

func checkValue(col *schema.Column, v reflect.Value) (law Law, found string) {
	switch {
	case col.Key != "" && v.CanInt():
		if v.Int() <= 0 {
			return PositiveKey, fmt.Sprint(v.Int())
		}
	case col.Values != nil:
		if !slices.Contains(col.Values, v.String()) {
			return ListedValue, fmt.Sprintf("%q is not one of %q", v.String(), col.Values)
		}
	case col.Unit == "bit mask":
		if v.Int()&^int64(qualityBits) != 0 {
			return Mask, fmt.Sprintf("%d has undeclared bits", v.Int())
		}
	case col.Type == schema.String:
		if !utf8.ValidString(v.String()) {
			return Text, fmt.Sprintf("%q is not UTF-8", v.String())
		}
	case col.Type == schema.Timestamp: // instants before 1970 are odd but allowed
	case v.CanInt():
		if v.Int() < 0 {
			return NonNegative, fmt.Sprint(v.Int())
		}
	case v.CanFloat():
		f := v.Float()
		if !(f >= 0) || math.IsInf(f, 1) {
			return NonNegative, fmt.Sprint(f)
		}
		if col.Unit == "fraction" && f > 1 {
			return Fraction, fmt.Sprint(f)
		}
	}
	return "", ""
}

// known returns the value of a field, or false if it is NULL.
func known(field reflect.Value, c *schema.Column) (reflect.Value, bool) {
	if c.Nullable {
		return field.Field(0), field.Field(1).Bool()
	}
	return field, true
}

// text formats a value of a key as SQL casts it to text.
func text(v reflect.Value) string {
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10)
	}
	return v.String()
}

func keyText(k schema.Null[schema.Key]) string {
	if !k.OK {
		return ""
	}
	return strconv.FormatInt(k.V, 10)
}
