package alibaba

import (
	"bytes"
	"strings"

	"straggler/ingest"
)

// Format returns the format of a trace of any of the three years.
func Format() ingest.Format {
	return ingest.Format{
		Name: "alibaba",
		Doc:  "Alibaba cluster traces 2017, 2018 and GPU 2020: tasks, instances, machines, their use",
		Detail: `An instance is an attempt, a task is a phase. Times count from the start of the trace (time_origin trace). There are no bytes,
records or localities; processor use is an average, from which cpu_s is computed. Containers and sensors are skipped.
2018: the DAG is taken from task names; edges to missing tasks, to the task itself, or that would close a cycle are left out
and counted. A task starts with its first instance, since its own start time is its registration. Racks are failure domains.
seq_no is undocumented and only orders the attempts of an instance.
2017: each row is a try of an instance without a name, so task is the position in the file (quality: task is not the
partition). seq_no is the number of the attempt, as documented.
GPU 2020: tasks with several instances are gangs. An 'Interrupted' instance counts as killed.`,
		Experimental: "the only real file available was a table of tasks of 2017; the other layouts follow the documentation",
		Claim:        claim,
		Sniff:        sniff,
		Read:         readLog,
	}
}

// claim groups the tables of a directory; tasks come before instances, which does not affect the result.
func claim(dir ingest.Dir) []ingest.Group {
	var g ingest.Group
	found := false
	for _, name := range dir.Names {
		switch {
		case strings.HasSuffix(name, "/"):
		case strings.HasSuffix(name, ".header") && (named(name) || startsAny(name, skipped)), startsAny(name, skipped):
			g.Drop = append(g.Drop, name)
		case named(name):
			g.Names = append(g.Names, name)
			found = found || !strings.HasPrefix(name, "machine_")
		}
	}
	if !found {
		return nil
	}
	return []ingest.Group{g}
}

func named(name string) bool {
	for i := range tables {
		if strings.HasPrefix(name, tables[i].name) {
			return true
		}
	}
	return false
}

func startsAny(name string, with []string) bool {
	for _, s := range with {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	return false
}

func sniff(h ingest.Head) ingest.Match {
	lines := bytes.SplitN(h.Bytes, []byte("\n"), 4)
	if len(lines) > 1 && !h.Whole {
		lines = lines[:len(lines)-1]
	}
	byName := ""
	for i := range tables {
		if strings.HasPrefix(h.Name, tables[i].name) {
			byName = tables[i].name
		}
	}
	for i, line := range lines {
		f := split(line, nil)
		if i == 0 && documentedHeader(f) && tableLike(byName, f) != nil {
			return ingest.Match{Confidence: ingest.Certain, Why: "named " + byName + ", with the names of its columns"}
		}
		if t := tableOf(byName, f); t != nil {
			if byName != "" {
				return ingest.Match{Confidence: ingest.Certain, Why: "named " + byName + ", with rows of its shape"}
			}
			// After a line of another shape, which may name columns, a format that knows those is likelier.
			return ingest.Match{Confidence: 2 - min(i, 1), Why: "rows of the shape of " + t.name}
		}
		if i > 1 {
			break
		}
	}
	return ingest.Match{}
}
