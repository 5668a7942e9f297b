package canonical

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"straggler/ingest"
	"straggler/schema"
)

// Format reads files whose columns are those of a table.
func Format() ingest.Format {
	return ingest.Format{
		Name: "canonical",
		Doc:  "straggler's own tables as CSV, JSON lines or Parquet, by column name",
		Detail: `A file is the table that its name starts with (attempts.csv, phases.jsonl, jobs.parquet), or the one that its columns fit.
Any subset of a table's columns will do, in any order; what is absent is NULL. 'straggler schema' lists the columns.
Files of one directory belong together. Keys may be numbers or text, and are unique only within the input: the store
gives them keys of its own. Attempts need task and start_time with finish_time or duration_s; without attempt_id each row
is one; without phase_id, job_id or application_id all belong to one. Phases, jobs and applications that rows name and
no file describes are added; they run while their attempts do. Times are text (2026-01-02 03:04:05.678+00, or RFC 3339; UTC where no zone is written) or
microseconds since 1970. CSV may be separated by commas, semicolons, tabs or bars. Booleans are true and false. An empty
text is NULL; in CSV so is the word NULL, and blanks around a value are dropped. Unknown columns are skipped and said. straggler export writes such files.`,
		Claim: claim,
		Sniff: sniff,
		Read:  readLog,
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

// textColumns are the header of a CSV file or the keys of a JSON line.
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
	return errors.Join(append(errs, r.complete(), r.flush(true))...)
}
