package spark

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// Each archive of testdata/rules is a readable log, a description of what it shows, and the rows that follow from it.
func TestRules(t *testing.T) {
	archives, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(archives) < 8 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			log, want := rule(t, path)
			r := ingesttest.Bytes(t, Format(), "log", log)
			if r.Err != nil || r.Counts.Rejects > 0 {
				t.Fatalf("%v; rejects %+v", r.Err, r.Trace.Rejects)
			}
			valid(t, &r.Trace)
			got := tables(&r.Trace)
			for name, table := range want {
				if diff := cmp.Diff(table, got[name]); diff != "" {
					t.Errorf("%s:\n%s\nall of it:\n%s", name, diff, strings.Join(got[name], "\n"))
				}
			}
		})
	}
}

// rule reads an archive in the txtar format: a comment, and files after lines such as "-- log --". Files other than the log
// are tables, with columns separated by any number of blanks.
func rule(t *testing.T, path string) (log []byte, want map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want = map[string][]string{}
	name := ""
	for _, line := range strings.Split(string(text), "\n") {
		if inner, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(inner, " --")
			continue
		}
		switch {
		case name == "log":
			log = append(append(log, line...), '\n')
		case name != "" && line != "":
			want[name] = append(want[name], strings.Join(strings.Fields(line), " "))
		}
	}
	if len(log) == 0 || len(want) == 0 {
		t.Fatalf("%s has no log or no tables", path)
	}
	return log, want
}

// tables writes the rows that rules are about, with native ids instead of keys and times in milliseconds.
func tables(tr *schema.Trace) map[string][]string {
	out := map[string][]string{
		"jobs":     {"job status submit start finish name"},
		"phases":   {"phase job kind tasks status submit start finish recompute"},
		"edges":    {"job from to"},
		"attempts": {"id phase task number status machine queued start finish recompute quality"},
		"losses":   {"phase task made_by machine time detected_by recomputed_by"},
		"machines": {"machine executor slots cores added removed"},
		"caveats":  {"code count"},
	}
	jobs, phases, ids := map[schema.Key]string{}, map[schema.Key]string{}, map[schema.Key]string{0: "-"}
	add := func(table string, columns ...any) {
		out[table] = append(out[table], strings.Join(strings.Fields(fmt.Sprintln(columns...)), " "))
	}
	for _, j := range tr.Jobs {
		jobs[j.JobID] = j.NativeID
		add("jobs", j.NativeID, j.Status, at(j.SubmitTime), at(j.StartTime), at(j.FinishTime), j.Name.Or("-"))
	}
	for _, p := range tr.Phases {
		phases[p.PhaseID] = p.NativeID + "." + strconv.Itoa(int(p.Attempt))
		add("phases", phases[p.PhaseID], jobs[p.JobID], p.Kind, p.TaskCount.Or(-1), p.Status, at(p.SubmitTime), at(p.StartTime), at(p.FinishTime), p.Recompute)
	}
	for _, e := range tr.Edges {
		add("edges", jobs[e.JobID], phases[e.FromPhase], phases[e.ToPhase])
	}
	for _, a := range tr.Attempts {
		ids[a.AttemptID] = a.NativeID
		add("attempts", a.NativeID, phases[a.PhaseID], a.Task, a.Number, a.Status, a.Machine.Or("-"), at(a.QueuedTime), at(a.StartTime), at(a.FinishTime),
			a.Recompute, qualities(a.Quality))
	}
	for _, l := range tr.Losses {
		add("losses", phases[l.PhaseID], l.Task, ids[l.AttemptID.V], l.Machine.Or("-"), at(l.Time), ids[l.DetectedBy.V], ids[l.RecomputedBy.V])
	}
	for _, m := range tr.Machines {
		add("machines", m.Machine, m.Executor.Or("-"), m.Slots.Or(-1), m.Cores.Or(-1), at(m.AddedTime), at(m.RemovedTime))
	}
	for _, c := range tr.Caveats {
		if c.Code != "no_rack" && c.Code != "metrics_missing" {
			add("caveats", c.Code, c.Count.Or(0))
		}
	}
	return out
}

func at(t schema.Null[schema.Time]) string {
	if !t.OK {
		return "-"
	}
	return strconv.FormatInt(int64(t.V)/1000, 10)
}

// qualities names the bits of a quality, except those that all attempts of these logs have.
func qualities(q schema.Quality) string {
	var names []string
	for _, bit := range []struct {
		q    schema.Quality
		name string
	}{{schema.PartialRow, "partial"}, {schema.TaskUnknown, "task_unknown"}, {schema.TimeRepaired, "time_repaired"}, {schema.GangMember, "gang"}} {
		if q&bit.q != 0 {
			names = append(names, bit.name)
		}
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, ",")
}
