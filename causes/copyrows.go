package causes

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/engine"
	"straggler/schema"
)

//go:embed copies_attributed.sql
var copiesAttributedSQL string

//go:embed copies_facts.sql
var copiesFactsSQL string

// A copy reads everything about its phases as rows, which the cluster moves between its machines: the data of all phases would
// be too much for the committing process, and for each of thousands of copies. Only the model is sent as a file.

// What the rows are about.
const (
	aboutAttempt    = iota
	aboutOutlier    // the attempt of the row before, which saves a join of all attempts
	aboutStage      // the phase: its stage and its input
	aboutOutput     // a lost output that the attempt recomputed
	aboutGap        // a time in which an output that the phase reads was missing
	aboutCollection // a collection of the share's application, with its first phase
)

// copyColumns are the columns of the rows, in the order in which copyRow.read reads them.
var copyColumns = []string{"share", "phase_id", "about", "attempt_id", "other", "text", "end_us", "task", "machine", "start_us",
	"duration_s", "cold", "succeeded", "cut",
	"slow", "recompute", "excess_s", "timed", "beyond_s", "input_bytes", "remote_bytes", "input_records", "written_bytes",
	"spill_bytes", "cpu_s", "away", "fetch_wait_s",
	"gc_s", "scheduler_delay_s", "convert_s"}

// copyOrder puts the row of an outlier after that of its attempt, and collections right after the first phase of their share.
const copyOrder = "phase_id, attempt_id NULLS LAST, about, start_us NULLS LAST"

// shareAttempts is about the number of attempts of a share. Shares are assigned to copies by a hash, eight to each, which
// balances the load; the collections of an application, at most mostCollections, are sent once per share.
const shareAttempts = partAttempts / 8

// prepareRows creates the tables that copies read to attribute.
func (r *run) prepareRows(ctx context.Context) error {
	input := "p.input_key"
	if r.part.whole {
		input = "CAST(NULL AS BIGINT)"
	}
	attributed := strings.NewReplacer("{input}", input, "{attempts}", strconv.FormatInt(r.o.shareAttempts, 10)).Replace(copiesAttributedSQL)
	facts := strings.NewReplacer("{stage}", strconv.Itoa(aboutStage), "{output}", strconv.Itoa(aboutOutput), "{gap}",
		strconv.Itoa(aboutGap)).Replace(copiesFactsSQL)
	for _, t := range []struct{ name, sql string }{
		{"causes_attributed", attributed}, {"causes_facts", facts}, {"causes_collections", collectionsQuery()},
	} {
		if err := engine.MaterializeParts(ctx, r.eng, t.name, t.sql, r.seenPhases()...); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

func (r *run) dropRows(ctx context.Context) error {
	for _, name := range []string{"causes_collections", "causes_facts", "causes_attributed"} {
		if err := r.eng.Drop(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// observedSQL selects the attempts of a chunk.
func (r *run) observedSQL(c *chunk) string {
	tasks := taskRange{attempts: r.attempts(), low: c.low(), high: c.high()}
	return rowsOf(aboutAttempt, taskExpressions("t.phase_id"), "("+tasks.sql()+") AS t")
}

// attributedSQL selects the attempts of a chunk that are to be attributed, with all that attribution needs.
func (r *run) attributedSQL(c *chunk) string {
	tasks := taskRange{attempts: r.attempts(), low: c.low(), high: c.high(), unended: true, timed: r.history}
	of := taskExpressions("p.share")
	of["timed"] = "t.timed AND p.timed = 1"
	within := fmt.Sprintf("phase_id BETWEEN %d AND %d", c.low(), c.high())
	return strings.Join([]string{
		rowsOf(aboutAttempt, of, "("+tasks.sql()+") AS t JOIN causes_attributed p ON p.phase_id = t.phase_id"),
		rowsOf(aboutOutlier, outlierExpressions, "causes_outliers o JOIN causes_attributed p ON p.phase_id = o.phase_id WHERE o."+within),
		rowsOf(-1, factExpressions, "causes_facts f WHERE f."+within),
		rowsOf(aboutCollection, collectionExpressions, "(SELECT share, application_id, min(phase_id) AS phase_id FROM causes_attributed WHERE "+within+
			" GROUP BY share, application_id) AS s JOIN causes_collections c ON c.application_id = s.application_id"),
	}, " UNION ALL ")
}

// rowsOf returns the query of rows of copyColumns, those without an expression NULL.
func rowsOf(about int, expressions map[string]string, from string) string {
	list := make([]string, len(copyColumns))
	for i, name := range copyColumns {
		e := cmp.Or(expressions[name], "NULL")
		if name == "about" && about >= 0 {
			e = strconv.Itoa(about)
		}
		list[i] = e + " AS " + name
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + from
}

// taskExpressions returns the columns of a row of tasks.sql; the query of these comes first and has the types.
func taskExpressions(share string) map[string]string {
	of := map[string]string{}
	for _, name := range copyColumns {
		of[name] = "t." + name
	}
	of["share"], of["start_us"] = share, "unix_micros(t.start_time)"
	of["other"], of["text"], of["end_us"] = "CAST(NULL AS BIGINT)", "CAST(NULL AS STRING)", "CAST(NULL AS BIGINT)"
	return of
}

// The columns of the other rows. The duration of an outlier is how long the attempt lasted at least.
var (
	outlierExpressions = map[string]string{"share": "p.share", "phase_id": "o.phase_id", "attempt_id": "o.attempt_id", "duration_s": "o.lasted_s",
		"slow": "coalesce(o.again, 1) = 0", "recompute": "coalesce(o.again, 0) = 1", "excess_s": "o.excess_s", "beyond_s": "o.beyond_s"}
	factExpressions = map[string]string{"share": "f.share", "phase_id": "f.phase_id", "attempt_id": "f.attempt_id", "about": "f.about", "other": "f.other",
		"text": engine.RemoteText("f.text"), "task": "f.task", "start_us": "f.start_us", "end_us": "f.end_us"}
	collectionExpressions = map[string]string{"share": "s.share", "phase_id": "s.phase_id", "attempt_id": "c.attempt_id",
		"other": "c.phase_id", "machine": "c.machine",
		"start_us": "unix_micros(c.start_time)", "duration_s": "c.duration_s", "gc_s": "c.gc_s"}
)

// copyRow is a row of copyColumns.
type copyRow struct {
	fit.Task
	share schema.Key
	about int64
	other schema.Key // the input, the attempt that noticed a loss, or the phase that collected; 0: none
	text  schema.Null[string]
	end   schema.Time // 0: unknown
}

// read reads a row.
func (r *copyRow) read(fields []engine.RemoteField) error {
	f := fieldReader{left: fields}
	t := &r.Task
	r.share, t.Phase, r.about = f.integer(), f.integer(), f.integer()
	f.required = r.about == aboutAttempt
	if f.required {
		t.Attempt = f.integer()
		f.left = f.left[3:]
		t.Index, t.Machine = f.integer(), f.integer()
	} else {
		t.Attempt, r.other, r.text = f.maybe().V, f.maybe().V, f.text()
		r.end, t.Index, t.Machine = schema.Time(f.maybe().V), f.maybe().V, f.maybe().V
	}
	start := f.maybe()
	t.Start = schema.Null[schema.Time]{V: schema.Time(start.V), OK: start.OK}
	t.Duration, t.Cold, t.Succeeded, t.Cut, t.Slow, t.Recompute = f.float(), f.truth(), f.truth(), f.truth(), f.truth(), f.truth()
	t.Excess, t.Timed, t.Beyond = f.float(), f.truth(), f.float()
	t.Bytes, t.Remote, t.Records, t.Written, t.Spill, t.CPU, t.Away = f.float(), f.float(), f.float(), f.float(), f.float(), f.float(), f.float()
	t.Wait, t.GC, t.Delay, t.Convert = f.float(), f.float(), f.float(), f.float()
	return f.err
}

// fieldReader reads the fields of a row one after another; err is the first error.
type fieldReader struct {
	left     []engine.RemoteField
	required bool // whether truth may not be NULL
	err      error
}

func (f *fieldReader) next() engine.RemoteField {
	x := f.left[0]
	f.left = f.left[1:]
	return x
}

func (f *fieldReader) integer() int64 {
	n, err := f.next().Int()
	f.err = cmp.Or(f.err, err)
	return n
}

func (f *fieldReader) maybe() schema.Null[int64] {
	if !f.left[0].OK {
		f.next()
		return schema.Null[int64]{}
	}
	return schema.Some(f.integer())
}

func (f *fieldReader) text() schema.Null[string] {
	x := f.next()
	if !x.OK {
		return schema.Null[string]{}
	}
	s, err := x.TextOf()
	f.err = cmp.Or(f.err, err)
	return schema.Some(s)
}

// float returns NaN for NULL.
func (f *fieldReader) float() float64 {
	x := f.next()
	if !x.OK {
		return math.NaN()
	}
	v, err := x.Float()
	f.err = cmp.Or(f.err, err)
	return v
}

// truth returns false for NULL.
func (f *fieldReader) truth() bool {
	x := f.next()
	if !x.OK && !f.required {
		return false
	}
	b, err := x.Bool()
	f.err = cmp.Or(f.err, err)
	return b
}
