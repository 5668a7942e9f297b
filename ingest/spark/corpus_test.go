package spark

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// manifestLine is the entry of a log in MANIFEST.tsv. It counts events, not rows.
type manifestLine struct {
	file     string
	jobs     int64 // JobStart
	stages   int64 // StageSubmitted
	starts   int64 // TaskStart
	ends     int64 // TaskEnd
	machines int   // hosts that ran tasks
	badLines int64
	ended    bool // ApplicationEnd
}

func manifest(t *testing.T) []manifestLine {
	t.Helper()
	data, err := os.ReadFile(ingesttest.Corpus(t, "MANIFEST.tsv")[0])
	if err != nil {
		t.Fatal(err)
	}
	badLines := regexp.MustCompile(`badlines (\d+)`)
	var lines []manifestLine
	for _, line := range strings.Split(string(data), "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 15 || !strings.HasPrefix(f[2], "spark-eventlog") || f[1] == "0" {
			continue
		}
		n := func(s string) int64 {
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", f[0], err)
			}
			return v
		}
		lines = append(lines, manifestLine{file: f[0], jobs: n(f[9]), stages: n(f[10]), starts: n(f[11]), ends: n(f[12]),
			machines: int(n(f[13])), badLines: n(badLines.FindStringSubmatch(f[14])[1]), ended: strings.Contains(f[14], "ApplicationEnd yes")})
	}
	if len(lines) < 30 {
		t.Fatalf("MANIFEST.tsv names %d event logs", len(lines))
	}
	return lines
}

// The rows of every real log agree with counts made by other means, by rules that hold for any log: a job row for each
// JobStart and for each job known only by its end; a submitted phase for each StageSubmitted; an attempt row for each Task
// ID; an end for each TaskEnd that is not a Resubmitted.
func TestCorpusCounts(t *testing.T) {
	for _, m := range manifest(t) {
		t.Run(m.file, func(t *testing.T) {
			path := ingesttest.Corpus(t, m.file)[0]
			r := readFile(t, path)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			valid(t, &r.Trace)
			equal := func(what string, got, want int64) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %d, want %d", what, got, want)
				}
			}
			equal("jobs with a start", int64(len(r.Jobs))-caveat(&r.Trace, "jobs_without_start"), m.jobs)
			equal("phases submitted", submitted(r.Phases), m.stages)
			running, machines := int64(0), map[string]bool{}
			for _, a := range r.Attempts {
				machines[a.Machine.V] = true
				if a.Status == schema.Running {
					running++
				}
			}
			equal("attempts with a start", int64(len(r.Attempts))-caveat(&r.Trace, "ends_without_start"), m.starts)
			equal("attempts with an end", int64(len(r.Attempts))-running, m.ends-resubmitted(content(t, path)))
			equal("machines that ran tasks", int64(len(machines)), int64(m.machines))
			equal("rejects", r.Counts.Rejects, m.badLines)
			equal("records", r.Decoded+r.Counts.Rejects, int64(nonEmpty(content(t, path))))
			if len(r.Applications) != 1 || r.Applications[0].FinishTime.OK != m.ended {
				t.Errorf("applications %+v; ended %v", r.Applications, m.ended)
			}
		})
	}
}

func submitted(phases []schema.Phase) (n int64) {
	for _, p := range phases {
		if p.SubmitTime.OK || p.StartTime.OK {
			n++
		}
	}
	return n
}

func resubmitted(log []byte) int64 {
	return int64(bytes.Count(log, []byte(`"Task End Reason":{"Reason":"Resubmitted"}`)))
}

func nonEmpty(log []byte) (n int) {
	for _, line := range bytes.Split(log, []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

// A rolling log is one application: attempts that are running at the end of its first file end in the second.
func TestRollingDirectory(t *testing.T) {
	dir := ingesttest.Corpus(t, "spark/rapids-tools/eventlog_v2_local-1623876083964")[0]
	r := ingesttest.Read(t, Format(), dirInput(t, dir), ingest.Limits{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	valid(t, &r.Trace)
	// MANIFEST.tsv: 2685 + 116 starts, 2672 + 129 ends.
	if len(r.Attempts) != 2801 || len(r.Applications) != 1 || !r.Applications[0].Complete || caveat(&r.Trace, "ends_without_start") != 0 {
		t.Errorf("%d attempts of %+v with %+v", len(r.Attempts), r.Applications, r.Caveats)
	}
	for _, a := range r.Attempts {
		if a.Status != schema.Success {
			t.Fatalf("%+v", a)
		}
	}
}

// truth is what the makers of a labelled log know about it.
type truth struct {
	AppID  string `json:"app_id"`
	Slots  int64  `json:"slots"`
	Events []struct {
		Event string `json:"event"`
		Host  string `json:"host"`
	} `json:"events"`
	Jobs []struct {
		ID     int64 `json:"job_id"`
		Stages []struct {
			ID    int64 `json:"stage_id"`
			Tasks int64 `json:"tasks"`
		} `json:"stages"`
	} `json:"jobs"`
	Labels []struct {
		Stage     int64 `json:"stage_id"`
		Attempt   int32 `json:"stage_attempt"`
		Partition int64 `json:"partition"`
		Number    int32 `json:"attempt"`
	} `json:"labels"`
}

// Every job, stage and labelled attempt of the labelled logs has its row, and every killed executor has an end.
func TestLabelledLogs(t *testing.T) {
	truths, err := filepath.Glob(filepath.Join(labelled, "*/truth.json"))
	if err != nil || len(truths) < 30 {
		t.Fatalf("%d truths, %v", len(truths), err)
	}
	for _, path := range truths {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			var want truth
			data, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(data, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			r := readLabelled(t, name)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			valid(t, &r.Trace)
			want.check(t, &r.Trace)
		})
	}
}

func readLabelled(t *testing.T, name string) ingesttest.Result {
	t.Helper()
	if dirs, _ := filepath.Glob(filepath.Join(labelled, name, "eventlog_v2_*")); len(dirs) == 1 {
		return ingesttest.Read(t, Format(), dirInput(t, dirs[0]), ingest.Limits{})
	}
	files, _ := filepath.Glob(filepath.Join(labelled, name, "app-*"))
	if len(files) != 1 {
		t.Fatalf("%d logs of %s", len(files), name)
	}
	return readFile(t, files[0])
}

func (want *truth) check(t *testing.T, tr *schema.Trace) {
	if tr.Applications[0].NativeID != want.AppID {
		t.Errorf("application %s, want %s", tr.Applications[0].NativeID, want.AppID)
	}
	phases := map[string]schema.Phase{}
	for _, p := range tr.Phases {
		phases[p.NativeID+"."+strconv.Itoa(int(p.Attempt))] = p
	}
	for _, j := range want.Jobs {
		for _, s := range j.Stages {
			if p, ok := phases[strconv.FormatInt(s.ID, 10)+".0"]; !ok || p.TaskCount.V != s.Tasks {
				t.Errorf("stage %d: %+v, want %d tasks", s.ID, p, s.Tasks)
			}
		}
	}
	type id struct {
		phase  schema.Key
		task   int64
		number int32
	}
	attempts := map[id]bool{}
	for _, a := range tr.Attempts {
		attempts[id{a.PhaseID, a.Task, a.Number}] = true
	}
	for _, l := range want.Labels {
		// Labels are drawn before the run, also for copies and retries, which need not happen.
		if l.Attempt > 0 || l.Number > 0 {
			continue
		}
		p := phases[strconv.FormatInt(l.Stage, 10)+"."+strconv.Itoa(int(l.Attempt))]
		if !attempts[id{p.PhaseID, l.Partition, l.Number}] {
			t.Errorf("no attempt %+v", l)
		}
	}
	want.checkMachines(t, tr)
}

func (want *truth) checkMachines(t *testing.T, tr *schema.Trace) {
	removed := map[string]int{}
	slots := int64(0)
	for _, m := range tr.Machines {
		if m.RemovedTime.OK {
			removed[m.Machine]++
		} else {
			slots += m.Slots.V
		}
	}
	for _, e := range want.Events {
		if e.Event == "executor_killed" {
			if removed[e.Host] == 0 {
				t.Errorf("the executor killed on %s has no end", e.Host)
			}
			removed[e.Host]--
		}
	}
	if caveat(tr, "log_incomplete") == 0 && len(want.Events) == 0 && slots > want.Slots {
		t.Errorf("%d slots, want at most %d", slots, want.Slots)
	}
}
