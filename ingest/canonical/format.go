package canonical

import (
	"bytes"
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"straggler/ingest"
	"straggler/schema"
)

// Format returns the format of files whose columns are those of a table.
func Format() ingest.Format {
	return ingest.Format{
		Name: "canonical",
		Doc:  "straggler's own tables as CSV, JSON lines or Parquet, by column name",
		Detail: `A file belongs to the table that its name starts with (attempts.csv, phases.jsonl, jobs.parquet), or else to the one that its
columns fit. Any subset of the table's columns will do, in any order; missing ones are NULL. 'straggler schema' lists the columns,
and straggler export writes such files. The files of one directory belong together. Keys may be numbers or text and need be unique
only within the input, since the store assigns its own.
Attempts need task and start_time, and finish_time or duration_s. Without attempt_id each row is an attempt; without number, those of a
task are numbered in the order of their rows; without phase_id, job_id or application_id all rows belong to one phase, job or
application. Phases, jobs and applications that are referenced but not described are added, and last as long as their attempts.
Times are text (2026-01-02 03:04:05.678+00, or RFC 3339; UTC unless a zone is given) or microseconds since 1970. CSV may be
separated by commas, semicolons, tabs or bars. Booleans are true and false. An empty text is NULL; in CSV the word NULL is too, and
blanks around values are dropped. Unknown columns are skipped and named.`,
		Claim:   claim,
		Sniff:   sniff,
		Instead: instead,
		Read:    readLog,
	}
}

var endings = []string{".csv", ".jsonl", ".ndjson", ".parquet"}

// claim groups the tables of a directory; there must be attempts at least.
func claim(dir ingest.Dir) []ingest.Group {
	var g ingest.Group
	attempts := false
	for _, name := range dir.Names {
		if t := tableNamed(name); t != nil {
			g.Names = append(g.Names, name)
			attempts = attempts || t.Name == "attempts"
		}
	}
	if !attempts || len(g.Names) < 2 {
		return nil
	}
	return []ingest.Group{g}
}

func sniff(h ingest.Head) ingest.Match {
	columns, how := h.Columns, "Parquet"
	if columns == nil {
		columns, how = textColumns(h.Bytes)
	}
	t := tableNamed(h.Name)
	if t == nil {
		t = tableFitting(columns)
	}
	if t == nil || known(t, columns) < 2 {
		return ingest.Match{}
	}
	// Requiring that every other column is known distinguishes a table from one that shares a name or two with it.
	if n := known(t, columns); 2*n < len(columns) {
		return ingest.Match{}
	}
	return ingest.Match{Confidence: 2, Why: how + " with columns of the table " + t.Name}
}

// word matches the name of a column.
var word = regexp.MustCompile(`^"?[A-Za-z_%][A-Za-z0-9_ .:%()/-]{0,60}"?$`)

// instead recognises a table that has other columns, such as what sacct prints: two lines of as many fields, the first of which
// has only words.
func instead(h ingest.Head) string {
	lines := bytes.SplitN(bytes.TrimPrefix(h.Bytes, byteOrderMark), []byte("\n"), 3)
	if len(lines) < 2 {
		return ""
	}
	const fewest = 4
	for _, d := range []byte(delimiters) {
		names := bytes.Split(bytes.TrimSpace(lines[0]), []byte{d})
		other := func(name []byte) bool { return !word.Match(bytes.TrimSpace(name)) }
		if len(names) >= fewest && bytes.Count(lines[1], []byte{d}) == len(names)-1 && !slices.ContainsFunc(names, other) {
			return "a table, but its columns are those of no log; give tasks with columns named as in the table attempts (task, start_time, finish_time, machine and so on): straggler formats canonical"
		}
	}
	return ""
}

// tableNamed returns the log table that a file is named after, or nil. Result tables are made by straggler.
func tableNamed(name string) *schema.Table {
	base := path.Base(name)
	stem, _, _ := strings.Cut(base, ".")
	for _, e := range endings {
		if strings.Contains(base, e) {
			if t := schema.ByName(strings.TrimRight(stem, "-0123456789")); t != nil && !t.Result && t.Name != "ingests" {
				return t
			}
		}
	}
	return nil
}

// textColumns returns the header of a CSV file or the keys of a JSON line.
func textColumns(b []byte) ([]string, string) {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, byteOrderMark), " \r\n\t")
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if len(line) > 0 && line[0] == '{' {
		return jsonKeys(line), "JSON lines"
	}
	columns, _, _ := header(b)
	return columns, "CSV"
}

// tableFitting returns the log table that has most of the columns; the columns of its keys count as one that names it.
func tableFitting(columns []string) *schema.Table {
	var best *schema.Table
	most := 2
	for _, t := range schema.Tables() {
		if t.Result || t.Name == "ingests" || t.Name == "rejects" {
			continue
		}
		n := known(t, columns)
		if t.Name == "attempts" && slices.Contains(columns, "task") && (slices.Contains(columns, "duration_s") || slices.Contains(columns, "start_time")) {
			n += 2
		}
		if n > most {
			best, most = t, n
		}
	}
	return best
}

func known(t *schema.Table, columns []string) int {
	n := 0
	for _, c := range columns {
		if t.Column(c) != nil {
			n++
		}
	}
	return n
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := newReader(in, out)
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, r.part(ctx, p))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	r.complete()
	return errors.Join(append(errs, r.flush(true))...)
}
