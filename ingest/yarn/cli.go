package yarn

import (
	"bytes"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// The output of 'yarn application': -list prints a table with padded, tab-separated columns under a line with their count;
// -status prints a report of 'Key : value' lines. Hadoop 2.0 has no type and no progress in its table, and later versions may
// add columns, so columns are identified by name.

// fromCLI maps columns of the table and keys of the report to the names used in summaries.
var fromCLI = map[string]string{
	"Application-Id": "appId", "Application-Name": "name", "Application-Type": "applicationType", "User": "user", "Queue": "queue",
	"State": "state", "Final-State": "finalStatus", "Start-Time": "startTime", "Launch-Time": "launchTime",
	"Finish-Time": "finishTime", "AM Host": "appMasterHost",
}

// cli is the state of reading the output of 'yarn application'.
type cli struct {
	columns []string          // of the table
	report  map[string]string // the report being read
}

// cliLine reads a line of the table or of a report, and reports whether it is one.
func (r *reader) cliLine(p ingest.Part, line read.Line) bool {
	c := &r.cli
	switch text := bytes.TrimSpace(line.Data); {
	case tableHeader(line.Data):
		c.columns = nil
		for _, f := range strings.Split(string(text), "\t") {
			c.columns = append(c.columns, fromCLI[strings.TrimSpace(f)])
		}
	case reportHeader(text):
		r.endReport(p)
		c.report = map[string]string{}
	case c.columns != nil && bytes.HasPrefix(text, []byte("application_")):
		fields := strings.Split(string(text), "\t")
		if len(fields) != len(c.columns) {
			read.RejectLine(r.out, p, line, "the row does not have the columns of the table's header")
			return true
		}
		m := map[string]string{}
		for i, f := range fields {
			m[c.columns[i]] = strings.TrimSpace(f)
		}
		if !r.application(m) {
			read.RejectLine(r.out, p, line, twice)
			return true
		}
		r.timeless++
	case c.report != nil:
		key, value, ok := strings.Cut(string(text), " : ")
		if !ok {
			return false
		}
		if name := fromCLI[strings.TrimSpace(key)]; name != "" {
			c.report[name] = strings.TrimSpace(value)
		}
		if key == "Aggregate Resource Allocation" { // 4266786 MB-seconds, 4162 vcore-seconds
			memory, cores, _ := strings.Cut(value, ", ")
			c.report["memorySeconds"], _, _ = strings.Cut(memory, " MB-seconds")
			c.report["vcoreSeconds"], _, _ = strings.Cut(cores, " vcore-seconds")
		}
	default:
		return false
	}
	r.out.Decoded(1)
	return true
}

func reportHeader(line []byte) bool { return bytes.HasPrefix(line, []byte("Application Report")) }

func tableHeader(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("Application-Id")) && bytes.IndexByte(line, '\t') > 0
}

func (r *reader) endReport(p ingest.Part) {
	if m := r.cli.report; m["appId"] != "" && !r.application(m) {
		r.out.Reject(schema.Reject{SourceFile: p.Name, Reason: twice, Sample: m["appId"]})
	}
	r.cli.report = nil
}

// noTimes adds a caveat if applications came from a table, which has no times.
func (r *reader) noTimes() {
	if r.timeless > 0 {
		r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: r.apps.Nth(0), Code: "no_times", Count: schema.Some(r.timeless),
			Detail: "the table that 'yarn application -list' prints has no times; -status has, and so do the summaries in the ResourceManager's log"})
	}
}
