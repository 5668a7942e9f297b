package html

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/report"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/store"
)

// manyAttempts returns a store of one application with phases of a given number of tasks on 2000 machines, every hundredth of
// them slow, and every name as long as a name on the page can be.
func manyAttempts(t testing.TB, phases, tasks, perJob int) engine.Engine {
	t.Helper()
	return reporttest.Filled(t, func(tx *store.Tx) { putMany(t, tx, phases, tasks, perJob) })
}

func putMany(t testing.TB, tx *store.Tx, phases, tasks, perJob int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	long := func(s string) string { return s + strings.Repeat("\"", 300) } // the character that grows most when escaped
	m := reporttest.NewTrace()
	m.Applications[0].Name = schema.Some(long("app"))
	reporttest.Put(t, tx, m.Applications)
	attempt := schema.Key(0)
	machines := make([]string, 2000)
	for i := range machines {
		machines[i] = long(fmt.Sprint("m", i))
	}
	for p := range phases {
		key, start := schema.Key(p+1), float64(p)*3
		job := schema.Job{JobID: schema.Key(p/perJob + 1), ApplicationID: 1, NativeID: long(fmt.Sprint(p / perJob)),
			Name: schema.Some(long("job")), Status: schema.RunSucceeded,
			SubmitTime: schema.Some(reporttest.Origin.Add(start)), FinishTime: schema.Some(reporttest.Origin.Add(start + 20))}
		if p%perJob == 0 {
			reporttest.Put(t, tx, []schema.Job{job})
		}
		reporttest.Put(t, tx, []schema.Phase{{PhaseID: key, JobID: job.JobID, NativeID: long(fmt.Sprint(p)),
			Name: schema.Some(long("phase")), Kind: "map", Status: schema.RunSucceeded,
			StartTime: schema.Some(reporttest.Origin.Add(start)), FinishTime: schema.Some(reporttest.Origin.Add(start + 15))}})
		rows := make([]schema.Attempt, tasks)
		for i := range rows {
			attempt++
			took := 1 + rng.Float64()/4
			id := fmt.Sprint(attempt)
			if rng.IntN(100) == 0 {
				took *= 10
				id = long(id)
			}
			machine := rng.IntN(2000)
			if machine == 7 {
				took *= 3
			}
			rows[i] = schema.Attempt{AttemptID: attempt, PhaseID: key, JobID: job.JobID, ApplicationID: 1, Task: int64(i), NativeID: id,
				Machine: schema.Some(machines[machine]), StartTime: schema.Some(reporttest.Origin.Add(start)),
				FinishTime: schema.Some(reporttest.Origin.Add(start + took)),
				DurationS:  schema.Some(took), Status: schema.Success, InputBytes: schema.Some(int64(1 << 20))}
		}
		reporttest.Put(t, tx, rows)
	}
}

// A page stays below 3 MB for any input.
func TestSize(t *testing.T) {
	for _, tc := range []struct{ phases, tasks, perJob int }{{20_000, 6, 4}, {60, 2000, 10}} {
		t.Run(fmt.Sprintf("%d phases of %d", tc.phases, tc.tasks), func(t *testing.T) {
			eng := manyAttempts(t, tc.phases, tc.tasks, tc.perJob)
			d, err := report.Build(context.Background(), eng, report.Options{Top: 1000})
			reporttest.Check(t, err)
			if c := d.Trust.Counts; c.Attempts != int64(tc.phases*tc.tasks) || c.Phases != int64(tc.phases) {
				t.Fatalf("%d attempts in %d phases", c.Attempts, c.Phases)
			}
			var page bytes.Buffer
			reporttest.Check(t, Write(&page, d))
			if page.Len() >= 3_000_000 {
				t.Errorf("the page has %d bytes", page.Len())
			}
			t.Logf("a page of %d bytes", page.Len())
			wellFormed(t, page.String())
			for what, more := range map[string]int64{"phases": d.Phases.More(), "outliers": d.Outliers.More(), "machines": d.Machines.List.More()} {
				if more <= 0 {
					t.Errorf("%d more %s", more, what)
				}
			}
		})
	}
}

// A single phase of many tasks is bounded too, and drawn as bars.
func TestSizeOfOnePhase(t *testing.T) {
	d := built(t, manyAttempts(t, 1, 100_000, 1))
	var page bytes.Buffer
	reporttest.Check(t, Write(&page, d))
	if page.Len() >= 3_000_000 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	s := d.Phases.Rows[0].Spread
	total := int64(0)
	for _, n := range s.Bins {
		total += n
	}
	if total != 100_000 || s.N != 100_000 {
		t.Errorf("%d tasks in bars, %d in all", total, s.N)
	}
}

func BenchmarkBuild(b *testing.B) {
	eng := manyAttempts(b, 2000, 50, 4)
	b.ReportAllocs()
	for b.Loop() {
		built(b, eng)
	}
}

func BenchmarkHTML(b *testing.B) {
	d := built(b, reporttest.Labelled(b, "mixed"))
	b.ReportAllocs()
	for b.Loop() {
		var page bytes.Buffer
		reporttest.Check(b, Write(&page, d))
		b.SetBytes(int64(page.Len()))
	}
}
