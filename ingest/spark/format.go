package spark

import (
	"bytes"
	"regexp"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/pull"
)

// Format returns the format of the event logs of Apache Spark.
func Format() ingest.Format {
	return ingest.Format{
		Name:        "spark",
		Doc:         "Spark event logs of every version: files, rolling directories, Spark 1.0 directories, Databricks",
		Detail:      detail,
		Claim:       claim,
		Sniff:       sniff,
		Instead:     instead,
		Application: application,
		Read:        readLog,
	}
}

const detail = `A log has one application, or several that were concatenated. Files are plain or compressed in any way that Spark or an archiver
does; the log of a running application is read as far as it goes. Events may also be indented, in a list or all on one line, as
other programs write them.

From the log: applications, settings (a fixed list of scheduling properties; nothing that looks like a secret), jobs, phases
(every attempt of a stage, and stages that were planned but skipped), edges, attempts, machines (a row per executor), losses, and
queries with their settings, jobs and plans.

NULL, because logs do not say: rack, cross_rack_bytes; progress, and the time at which a copy was requested; cpu_s before
Spark 2.1; peak_memory_bytes before 3.0; speculative before 1.1; how an application ended before Spark 4; time that failed or
killed attempts spent outside their run. Zeros in the metrics of such attempts are NULL too, since Spark writes 0 for values that
were never reported.

  scheduler_delay_s  max(0, duration − run − deserialize − serialize − getting result), as in Spark's own UI; NULL, like
                     result_s and deserialize_s, if one of them is longer than the attempt, whose times are then wrong
  result_s           time serializing the result and fetching it
  spill_bytes        Disk Bytes Spilled; in memory the same data takes several times as much
  input_bytes        Input Bytes Read + shuffle bytes read, remote and local
  remote_bytes       shuffle bytes read from other machines, and the input of rack-local and 'any' attempts (estimated)
  local_bytes        shuffle bytes read from its own machine, and the input of node-local attempts (estimated); NULL if
                     the location of the input is unknown
  input_records      Input Records Read + shuffle records read
  queued_time        first attempt: submission of its stage; retry: end of the previous attempt; copy: NULL
  task               Partition ID since Spark 3.3. Earlier logs have the position in the task set. For a stage that ran only in
                     part, the partition is derived from it if the number of missing outputs agrees; otherwise quality says
                     that the task is a position
  recompute          the attempt's task had succeeded before its stage was resubmitted, or its output was resubmitted
  losses             outputs that a Resubmitted or FetchFailed event names, or that were recomputed
  plan_nodes         the final plan in the log and, if adaptive execution changed it, the initial one. Expression ids are left
                     out of texts, and so are literals unless --keep-literals is given
  node_metrics       the sums over tasks that Spark writes at the end of each stage. RAPIDS, Photon, Gluten and Comet report
                     zeros for what they do not measure; these are left out
  node_phases        by the metrics of an operator that have values in a stage; for operators without any, by the exchanges
                     around them: basis says which
  node_attempts      the four attempts of a phase that read most rows, and the four that ran longest
  jobs before 1.3    logs have no times of jobs: a job is submitted with its first stage and finished with its last

Tested on logs of 1.2 to 4.0 and of Databricks; for Spark 1.0 directories and compacted logs, only on synthetic ones.`

// sniff recognises a log by the name of its first event.
func sniff(h ingest.Head) ingest.Match {
	switch name := eventName(h.Bytes[nextObject(h.Bytes, 0):]); {
	case ofSpark(name):
		return ingest.Match{Confidence: ingest.Certain, Why: "its first event is " + ingest.Sample(name)}
	case bytes.Contains(h.Bytes, []byte(`"Event":"SparkListener`)):
		return ingest.Match{Confidence: 2, Why: "it has events of Spark's listeners"}
	}
	return ingest.Match{}
}

func instead(h ingest.Head) string {
	if !read.ProcessLog(h.Bytes, "org.apache.spark", "SparkContext:", "scheduler.DAGScheduler", "executor.Executor", "SecurityManager:") {
		return ""
	}
	return "the text log of a Spark driver or executor; give the application's event log, which Spark writes into spark.eventLog.dir if spark.eventLog.enabled is true"
}

// application returns an application's id and the millisecond of its start: of the event of its start, or of the settings before
// that where they fill what is seen of the log. Both differ between the attempts of an application.
func application(h ingest.Head) string {
	id, start := valueOf(h.Bytes, `"spark.app.id"`), valueOf(h.Bytes, `"spark.app.startTime"`)
	if at := bytes.Index(h.Bytes, []byte(`"SparkListenerApplicationStart"`)); at >= 0 {
		event, _, _ := bytes.Cut(h.Bytes[at:], []byte("\n"))
		id, start = valueOf(event, `"App ID"`), valueOf(event, `"Timestamp"`)
	}
	if id == "" || start == "" {
		return ""
	}
	return id + " " + start
}

// scalar is a number, or a string without escapes.
var scalar = regexp.MustCompile(`^\s*:\s*"?([^"\\,}\s]+)`)

// valueOf returns the value after the first occurrence of a key, or "" if there is none.
func valueOf(text []byte, key string) string {
	_, after, _ := bytes.Cut(text, []byte(key))
	if m := scalar.FindSubmatch(after); m != nil {
		return string(m[1])
	}
	return ""
}

// ofSpark reports whether Spark or a vendor of it has events of that name: vendors move classes and keep their last names.
func ofSpark(event []byte) bool {
	return bytes.Contains(event, []byte("SparkListener")) || bytes.HasPrefix(event, []byte("DBCEventLogging")) ||
		bytes.HasPrefix(event, []byte("org.apache.spark."))
}

// eventName returns the value of the key Event in the first 64 KiB of a record, or nil if there is none.
func eventName(record []byte) []byte {
	var p pull.Puller
	p.Reset(record)
	for ok := p.Object(); ok && p.Key(); {
		if string(p.Name) == "Event" {
			name, _ := p.Str()
			return name
		}
		p.Skip()
	}
	return nil
}
