package google

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
)

// Format returns the format of a trace of either year.
func Format() ingest.Format {
	return ingest.Format{
		Name: "google",
		Doc:  "Google ClusterData 2011 (CSV shards) and 2019 (JSON lines, Parquet, flattened CSV)",
		Detail: `A job (2019: collection) is an application with one job and one phase. An attempt lasts from a SCHEDULE of its task to the next
EVICT, FAIL, FINISH, KILL or LOST; attempts are numbered in that order. Shards may come in any order: events are sorted on disk.
Times count in microseconds from the start of the trace (time_origin trace); 0 (before the trace) and 2^63-1 (after it) become
NULL. Resources are fractions of the largest machine: so is cores, and memory and cpu_s stay NULL. machine_usage adds up the usage
of tasks over 300 s as a fraction of the machine's capacity. There are no bytes, records or localities.
2019: alloc sets are skipped, except that their usage stands for that of the tasks in them; rack is switch_id, and the collections
that a job waits for (start_after_collection_ids) are a setting.`,
		Experimental: "no real file was available; the layouts follow the documentation",
		Claim:        claim,
		Sniff:        sniff,
		Read:         readLog,
	}
}

// table is one table of a trace.
type table struct {
	name    string
	columns int // of 2011; 0 if there were none
	csv     func(*decoder, [][]byte) bool
	of2019  func(*decoder, *record2019) bool
}

var tables = []table{
	{"job_events", 8, (*decoder).job2011, nil},
	{"task_events", 13, (*decoder).task2011, nil},
	{"machine_events", 6, (*decoder).machine2011, (*decoder).machine2019},
	{"task_usage", 20, (*decoder).usage2011, nil},
	{"collection_events", 0, nil, (*decoder).collection2019},
	{"instance_events", 0, nil, (*decoder).instance2019},
	{"instance_usage", 0, nil, (*decoder).usage2019},
}

// skipped have no data for the tables.
var skipped = []string{"machine_attributes", "task_constraints", "schema.csv"}

// claim groups all shards of all tables below a directory.
func claim(dir ingest.Dir) []ingest.Group {
	var g ingest.Group
	events := false
	take := func(name string) {
		t := tableOf(name)
		if t == nil && tableOf(path.Join(dir.Path, name)) != nil { // the directory is a table
			t = tableOf(path.Join(dir.Path, name))
		}
		switch {
		case t != nil:
			g.Names = append(g.Names, name)
			events = events || strings.HasSuffix(t.name, "_events")
		case isSkipped(name):
			g.Drop = append(g.Drop, name)
		}
	}
	for _, name := range dir.Names {
		sub, isDir := strings.CutSuffix(name, "/")
		if !isDir {
			take(name)
			continue
		}
		if dir.List == nil || tableNamed(sub) == nil && !isSkipped(sub) {
			continue
		}
		for _, shard := range dir.List(sub) {
			take(path.Join(sub, shard))
		}
	}
	if !events {
		return nil
	}
	return []ingest.Group{g}
}

// tableOf finds the table of a path: shards are task_events/part-00000-of-00500.csv.gz, or
// instance_events-000000000000.json.gz.
func tableOf(name string) *table {
	base, dir := path.Base(name), path.Base(path.Dir(name))
	for i := range tables {
		t := &tables[i]
		if strings.HasPrefix(base, t.name) || dir == t.name && strings.HasPrefix(base, "part-") {
			return t
		}
	}
	return nil
}

func tableNamed(name string) *table {
	for i := range tables {
		if tables[i].name == name {
			return &tables[i]
		}
	}
	return nil
}

func isSkipped(name string) bool {
	for _, s := range skipped {
		if strings.HasPrefix(path.Base(name), s) || path.Base(path.Dir(name)) == s {
			return true
		}
	}
	return false
}

func sniff(h ingest.Head) ingest.Match {
	if h.Columns != nil {
		if ofColumns(h.Columns) {
			return ingest.Match{Confidence: ingest.Certain, Why: "Parquet with the columns of a table of 2019"}
		}
		return ingest.Match{}
	}
	line, _, whole := bytes.Cut(h.Bytes, []byte("\n"))
	if !whole && !h.Whole {
		return ingest.Match{}
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) > 0 && line[0] == '{' {
		for _, key := range []string{"collection_id", "instance_index", "switch_id", "machine_id"} {
			if bytes.Contains(line, []byte(`"`+key+`"`)) && bytes.Contains(line, []byte(`"time"`)) || bytes.Contains(line, []byte(`"cpu_usage_distribution"`)) {
				return ingest.Match{Confidence: ingest.Certain, Why: "JSON lines with " + key + ", as of 2019"}
			}
		}
		return ingest.Match{}
	}
	if header2019(line) != nil {
		return ingest.Match{Confidence: ingest.Certain, Why: "CSV with the columns of a table of 2019"}
	}
	m := ingest.Match{Confidence: 2}
	f := read.Fields(line, ',', nil)
	if _, rest, _ := bytes.Cut(h.Bytes, []byte("\n")); header2011(f) {
		m.Confidence = 1 // a format that knows the columns is likelier
		line, _, _ = bytes.Cut(rest, []byte("\n"))
		f = read.Fields(bytes.TrimSuffix(line, []byte("\r")), ',', nil)
	}
	t := shapeOf(f)
	if t == nil {
		return ingest.Match{}
	}
	m.Why = fmt.Sprintf("rows of the shape of %s of 2011", t.name)
	return m
}

// header2011 reports whether a row is the names of columns, which some copies of the trace have, each in words of its own: every
// table has the id of a job or of a machine.
func header2011(f [][]byte) bool {
	return slices.ContainsFunc(f, func(name []byte) bool {
		id := strings.NewReplacer(" ", "", "_", "", `"`, "").Replace(string(name))
		return strings.EqualFold(id, "jobID") || strings.EqualFold(id, "machineID")
	})
}

// shapeOf recognises a row of 2011 by its columns.
func shapeOf(f [][]byte) *table {
	whole := func(i int) bool { _, ok := integer(f[i]); return ok && len(f[i]) > 0 }
	for i := range tables {
		t := &tables[i]
		if t.csv == nil || len(f) != t.columns && !(t.name == "task_usage" && len(f) == 19) {
			continue
		}
		switch t.name {
		case "job_events":
			if n, ok := integer(f[3]); whole(0) && whole(2) && ok && n <= 8 && len(f[3]) == 1 && whole(5) {
				return t
			}
		case "task_events":
			if n, ok := integer(f[5]); whole(0) && whole(2) && whole(3) && ok && n <= 8 && len(f[5]) == 1 && whole(7) && whole(8) {
				return t
			}
		case "machine_events":
			if n, ok := integer(f[2]); whole(0) && whole(1) && ok && n <= 2 && len(f[2]) == 1 && fraction(f[4]) && fraction(f[5]) {
				return t
			}
		case "task_usage":
			if whole(0) && whole(1) && whole(2) && whole(3) && whole(4) {
				return t
			}
		}
	}
	return nil
}
