package philly

import (
	"bytes"

	"straggler/ingest"
	"straggler/ingest/read"
)

// Format returns the format of the job log of a Philly trace with its side tables.
func Format() ingest.Format {
	return ingest.Format{
		Name: "philly",
		Doc:  "Microsoft Philly traces: cluster_job_log and its side tables",
		Detail: `A job is an application with one phase. Each of its attempts is a gang: one row per machine, with equal times, in a phase marked
as a gang, so that no machine of it is called slower than another. Queue is the virtual cluster. Times are local times without a
zone (time_origin epoch); they are taken as UTC, with a caveat, and so are those of side tables, which are by the same clock. Side
tables fill machines and machine_usage, with cpu and memory as fractions; GPU use has no column and is skipped. Bytes, records and
racks are not in the trace.`,
		Experimental: "no real file was available; the layout follows the documentation",
		Claim:        claim,
		Sniff:        sniff,
		Read:         readLog,
	}
}

// The side tables, by the beginning of their names.
var sideTables = []string{"cluster_cpu_util", "cluster_gpu_util", "cluster_machine_list", "cluster_mem_util"}

// claim groups the job log with its side tables.
func claim(dir ingest.Dir) []ingest.Group {
	var log string
	var side []string
	for _, name := range dir.Names {
		if hasPrefix(name, "cluster_job_log") {
			log = name
		}
		for _, s := range sideTables {
			if hasPrefix(name, s) {
				side = append(side, name)
			}
		}
	}
	if log == "" {
		return nil
	}
	return []ingest.Group{{Base: log, Names: append([]string{log}, side...)}}
}

func hasPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && name[:len(prefix)] == prefix && name[len(name)-1] != '/'
}

func sniff(h ingest.Head) ingest.Match {
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) > 0 && b[0] == '[' && read.HasKeys(b, "jobid", "vc", "attempts") {
		return ingest.Match{Confidence: ingest.Certain, Why: "a list of objects with vc, jobid and attempts"}
	}
	if line, _, _ := bytes.Cut(b, []byte("\n")); sideTable(line) != noTable {
		return ingest.Match{Confidence: 2, Why: "the header of a Philly side table"}
	}
	return ingest.Match{}
}
