package causes

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"straggler/causes/machines"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/copies/copiestest"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// Seconds sum to the excess, none is negative, shares and ranks agree with them, and times k times as long give seconds k
// times as large.
func TestHistorySplitSums(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 16))
	seen := map[schema.HistoryCause]int{}
	for range 2000 {
		usual := math.Exp(6 * r.Float64())
		a := usualAttempt{Attempt: 1, Phase: 2, Machine: fmt.Sprint(r.IntN(3)), DurationS: usual * math.Exp(0.4+2*r.Float64())}
		a.ExcessS = a.DurationS - usual
		if r.IntN(2) == 0 {
			a.WorkRatio = schema.Some(math.Exp(r.NormFloat64()))
		}
		j := &machines.RunJudgement{Shared: map[schema.Key]float64{2: max(0, r.NormFloat64())},
			Machines: map[string]float64{"1": 0.7, "2": 0.5}, Nodes: map[string]string{"2": "n"}}
		if r.IntN(4) == 0 {
			j = nil
		}
		var h historySplitter
		rows := h.append(nil, &a, j)
		sum := 0.0
		for i, x := range rows {
			sum += x.Seconds
			seen[x.Cause]++
			if !(x.Seconds >= -1e-9) || math.Abs(x.Share-x.Seconds/a.ExcessS) > 1e-12 || x.Rank != int32(i+1) ||
				i > 0 && x.Seconds > rows[i-1].Seconds+1e-9 || !json.Valid([]byte(x.Evidence)) {
				t.Fatalf("%+v of %+v", x, a)
			}
		}
		if math.Abs(sum-a.ExcessS) > 1e-12*a.DurationS || len(rows) == 0 {
			t.Fatalf("%v s of %v s: %+v", sum, a.ExcessS, rows)
		}
		b := a
		b.DurationS, b.ExcessS = 8*a.DurationS, 8*a.ExcessS
		for i, x := range h.append(nil, &b, j) {
			if math.Abs(x.Seconds-8*rows[i].Seconds) > 1e-9*x.Seconds || x.Cause != rows[i].Cause || x.Place != rows[i].Place {
				t.Fatalf("eight times as long: %+v, was %+v", x, rows[i])
			}
		}
	}
	for _, c := range schema.HistoryCause("").Values() {
		if seen[schema.HistoryCause(c)] == 0 {
			t.Errorf("%s never came up", c)
		}
	}
}

// Five usual nights and an unusual one, from log tables to causes.
func TestHistoryCauses(t *testing.T) {
	for _, c := range []struct {
		name  string
		night func(a *schema.Attempt, machine int) // what is different in the last
		want  schema.HistoryCause
		place string
		slow  int // attempts
		says  string
	}{
		{"every read waits", func(a *schema.Attempt, _ int) { longer(a, 30); a.FetchWaitS = schema.Some(31.0) }, schema.SharedSlowness,
			"", 24, "waited for input for 31.0 s, usually 1.00 s"},
		{"a machine is slow", func(a *schema.Attempt, m int) {
			if m == 3 {
				longer(a, 20)
			}
		}, schema.SlowMachine, "machine m3", 3, "tasks on machine m3 take"},
		{"input grew, and time more than it", func(a *schema.Attempt, _ int) { longer(a, 50); a.InputBytes = schema.Some(int64(3e9)) },
			schema.MoreWork, "", 24, "3 times their usual input"},
		{"one task alone", func(a *schema.Attempt, _ int) {
			if a.Task == 5 {
				longer(a, 40)
			}
		}, schema.Alone, "", 1, "as long as what it shares"},
	} {
		st := enginetest.Store(t)
		enginetest.IngestTrace(t, st, nights(6, c.night))
		eng, err := engines.Open(t.Context(), st, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), st, eng, Options{}); err != nil {
			t.Fatal(err)
		}
		rows := enginetest.ReadAll[schema.HistoryAttribution](t, eng, "SELECT * FROM history_attributions WHERE rank = 1")
		if len(rows) != c.slow {
			t.Errorf("%s: %d attempts are slower than usual, want %d", c.name, len(rows), c.slow)
		}
		for _, x := range rows {
			if x.Cause != c.want || x.Place.V != c.place || !strings.Contains(x.Evidence, c.says) {
				t.Errorf("%s: %+v, want %s %q and %q", c.name, x, c.want, c.place, c.says)
				break
			}
		}
		apart := enginetest.ReadAll[struct {
			N int64 `col:"n"`
		}](t, eng, `SELECT count(*) AS n FROM (SELECT attempt_id, excess_s FROM outliers WHERE rule = 'slower_than_usual') o
  LEFT JOIN (SELECT attempt_id, sum(seconds) AS s FROM history_attributions GROUP BY attempt_id) h ON h.attempt_id = o.attempt_id
WHERE h.s IS NULL OR abs(h.s - o.excess_s) > 1e-9`)
		if apart[0].N != 0 {
			t.Errorf("%s: of %d outliers the causes do not sum to the excess", c.name, apart[0].N)
		}
	}
}

// Runs whose two phases are far apart are judged by both, however few phases are read at once.
func TestHistoryInSpans(t *testing.T) {
	slow := func(a *schema.Attempt, m int) {
		if m == 3 {
			longer(a, 20)
		}
	}
	tr, more := nights(6, slow), nights(6, slow)
	for i := range more.Phases {
		p := &more.Phases[i]
		p.PhaseID, p.Name = p.PhaseID+1000, schema.Some("sum")
	}
	for i := range more.Attempts {
		a := &more.Attempts[i]
		a.AttemptID, a.PhaseID = a.AttemptID+100_000, a.PhaseID+1000
	}
	tr.Phases, tr.Attempts = append(tr.Phases, more.Phases...), append(tr.Attempts, more.Attempts...)
	st, eng := detectedTrace(t, tr)
	var health []schema.MachineHealth
	var rows []schema.HistoryAttribution
	for _, attempts := range []int64{0, 1, 60} {
		if _, err := Run(t.Context(), st, eng, Options{ChunkAttempts: attempts, Again: true}); err != nil {
			t.Fatal(err)
		}
		h := enginetest.ReadAll[schema.MachineHealth](t, eng, "SELECT * FROM machine_health WHERE application_id IS NOT NULL ORDER BY ALL NULLS LAST")
		r := enginetest.ReadAll[schema.HistoryAttribution](t, eng, "SELECT * FROM history_attributions ORDER BY ALL NULLS LAST")
		if attempts == 0 {
			health, rows = h, r
			if len(h) == 0 || h[0].Attempts != 6 || len(r) < 6 { // three of each phase
				t.Fatalf("%+v, %d attributions", h, len(r))
			}
		}
		if !slices.Equal(h, health) || !slices.Equal(r, rows) {
			t.Errorf("by %d attempts: %+v, want %+v; %d attributions, want %d", attempts, h, health, len(r), len(rows))
		}
	}
}

// The machines of runs, and the extra time of attempts, are the same whether they are computed as the attempts are read, here
// or by copies, or by run_machines.sql and history_attempts.sql, for logs that lack some of everything.
func TestRunsByQuery(t *testing.T) {
	tr := nights(7, func(a *schema.Attempt, m int) {
		if m == 3 || a.Task == 12 {
			longer(a, 20+float64(a.Task))
		}
	})
	unknown := schema.Null[float64]{}
	for i := range tr.Attempts {
		a := &tr.Attempts[i]
		switch i % 29 {
		case 1:
			a.CPUS = unknown
		case 2:
			a.FetchWaitS = unknown
		case 5:
			a.InputBytes = schema.Null[int64]{}
		case 7:
			a.Machine = schema.Null[string]{}
		case 11:
			a.Status = schema.Failed
		case 13:
			a.Recompute = true
		case 17:
			a.FinishTime = schema.Null[schema.Time]{}
		case 19, 20: // a clock of whole seconds
			a.DurationS = schema.Some(math.Round(a.DurationS.V))
			a.FinishTime = schema.Some(a.StartTime.V.Add(a.DurationS.V))
		case 23:
			a.CPUS, a.FetchWaitS = schema.Some(0.1*float64(i)), schema.Some(0.01*float64(i))
		}
		if a.PhaseID == 7 {
			a.InputRecords = schema.Some(int64(1000 + i))
		}
	}
	st, eng := detectedTrace(t, tr)
	found := func(work engine.Engine) (health []schema.MachineHealth, rows []schema.HistoryAttribution) {
		if _, err := Run(t.Context(), st, work, Options{Again: true}); err != nil {
			t.Fatal(err)
		}
		return enginetest.ReadAll[schema.MachineHealth](t, eng, "SELECT * FROM machine_health WHERE application_id IS NOT NULL ORDER BY ALL NULLS LAST"),
			enginetest.ReadAll[schema.HistoryAttribution](t, eng, "SELECT * FROM history_attributions ORDER BY ALL NULLS LAST")
	}
	wantHealth, wantRows := found(&copiestest.Cluster{Engine: eng, T: t, ReadOnly: true})
	if len(wantHealth) < 16 || len(wantRows) < 4 {
		t.Fatalf("only %d rows of health and %d of history", len(wantHealth), len(wantRows))
	}
	for where, work := range map[string]engine.Engine{"here": eng, "by copies": &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}} {
		health, rows := found(work)
		if !slices.Equal(health, wantHealth) {
			t.Errorf("as read %s %+v\nby query %+v", where, health, wantHealth)
		}
		if !slices.Equal(rows, wantRows) {
			t.Errorf("as read %s %+v\nby query %+v", where, rows, wantRows)
		}
	}
}

func longer(a *schema.Attempt, s float64) {
	a.DurationS.V += s
	a.FinishTime = schema.Some(a.FinishTime.V.Add(s))
}

// nights returns runs of one stage with 24 tasks on eight machines; the last run is different.
func nights(n int, different func(a *schema.Attempt, machine int)) *schema.Trace {
	tr := &schema.Trace{}
	r := rand.New(rand.NewPCG(5, 16))
	for night := range schema.Key(n) {
		key := night + 1
		start := schema.FromMillis(1700000000000 + int64(night)*86400000)
		tr.Applications = append(tr.Applications, schema.Application{ApplicationID: key, Framework: "spark", NativeID: fmt.Sprint("night-", night),
			Name: schema.Some("nightly"), StartTime: schema.Some(start), Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"})
		tr.Jobs = append(tr.Jobs, schema.Job{JobID: key, ApplicationID: key, NativeID: "0", Status: schema.RunSucceeded})
		tr.Phases = append(tr.Phases, schema.Phase{PhaseID: key, JobID: key, NativeID: "0", Status: schema.RunSucceeded, Name: schema.Some("count"), Kind: "map",
			StartTime: schema.Some(start)})
		for i := range int64(24) {
			m := int(i) % 8
			a := schema.Attempt{AttemptID: 100*key + schema.Key(i), PhaseID: key, JobID: key, ApplicationID: key, Task: i, NativeID: fmt.Sprint(i),
				Machine: schema.Some(fmt.Sprint("m", m)), StartTime: schema.Some(start), FinishTime: schema.Some(start), DurationS: schema.Some(0.0), Status: schema.Success,
				InputBytes: schema.Some(int64(1e9)), FetchWaitS: schema.Some(1.0), CPUS: schema.Some(9.0)}
			longer(&a, math.Round(1e6*10*math.Exp(0.05*r.NormFloat64()))/1e6)
			if night == schema.Key(n)-1 {
				different(&a, m)
			}
			tr.Attempts = append(tr.Attempts, a)
		}
	}
	return tr
}

// detectedTrace returns a store of a trace and of the outliers in it.
func detectedTrace(t *testing.T, tr *schema.Trace) (*store.Store, engine.Engine) {
	st := enginetest.Store(t)
	enginetest.IngestTrace(t, st, tr)
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	return st, eng
}
