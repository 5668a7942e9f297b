package detect

import (
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// An attempt of which nothing says whether it recomputes a lost output, as in files without the column, is not compared with
// other attempts, as in candidates.sql, nor taken for a recomputation, as in outliers.sql.
func TestRecomputeUnknown(t *testing.T) {
	var a attempts
	a.resize(3)
	copy(a.flags, []uint8{succeeded, succeeded | recomputeUnknown, succeeded | recompute})
	copy(a.duration, []float64{1, 1, 1})
	var compared taskRows
	compared = compared.ofAttempts(&a)
	for i, want := range []struct{ compared, recompute bool }{{true, false}, {false, false}, {false, true}} {
		if is := compared.mark[i]&timeRecompute == 0; is != want.compared {
			t.Errorf("row %d is compared: %v", i, is)
		}
		if is := a.flags[i]&recompute != 0; is != want.recompute {
			t.Errorf("row %d recomputes: %v", i, is)
		}
	}
}

// readRow is an attempt as it is read; NaN is NULL.
type readRow struct {
	phase, id, application, task, start, finish schema.Key
	number                                      int32
	duration, bytes, remote, records, cpu, wait float64
	flags                                       uint8
}

// The attempts in the files of a part are those of its table in SQL: with unknown values and odd ones, hidden inputs, and
// chosen inputs.
func TestAttemptsAsInSQL(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 67))
	n := newNight(t)
	logs := make(map[schema.Key]*schema.Trace)
	for input := range schema.Key(5) {
		logs[input+1] = owned(input+1, edgesOf(r)[0])
	}
	n.ingest(t, logs)
	n.ingest(t, map[schema.Key]*schema.Trace{2: logs[2]}) // hides what the first commit has of it
	eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for _, inputs := range [][]store.InputRecord{nil, n.inputs(t)[1:3]} {
		p := part{whole: inputs == nil}
		if err := p.choose(t.Context(), eng, inputs); err != nil {
			t.Fatal(err)
		}
		want, got := attemptsInSQL(t, eng, p.from("attempts")), attemptsInFiles(t, eng, &p)
		if len(want) < 1000 {
			t.Fatalf("%d attempts are too few", len(want))
		}
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(readRow{}), sameBits); diff != "" {
			t.Errorf("%d inputs (- SQL, + files):\n%.3000s", len(inputs), diff)
		}
	}
}

func attemptsInFiles(t *testing.T, eng engine.Engine, p *part) (out []readRow) {
	t.Helper()
	files, err := p.attemptFiles(t.Context(), eng)
	if err != nil {
		t.Fatal(err)
	}
	reader := newAttemptReader()
	err = files.groups(t.Context(), span{all: true}, func(g *attemptGroup) bool {
		defer g.close()
		err := reader.read(t.Context(), g, 100, func(a *attempts) error {
			for i := range a.len() {
				if len(a.input) > 0 && !g.has(a.input[i]) {
					continue
				}
				out = append(out, readRow{a.phase[i], a.id[i], a.application[i], a.task[i], a.start[i], a.finish[i],
					a.number[i], a.duration[i], a.bytes[i], a.remote[i], a.records[i], a.cpu[i], a.wait[i], a.flags[i]})
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func attemptsInSQL(t *testing.T, eng engine.Engine, table string) (out []readRow) {
	t.Helper()
	for _, a := range enginetest.ReadAll[schema.Attempt](t, eng, "SELECT * FROM "+table) {
		row := readRow{a.PhaseID, a.AttemptID, a.ApplicationID, a.Task, orNoTime(a.StartTime), orNoTime(a.FinishTime), a.Number, orNaN(a.DurationS),
			asDouble(a.InputBytes), asDouble(a.RemoteBytes), asDouble(a.InputRecords), orNaN(a.CPUS), orNaN(a.FetchWaitS), 0}
		for _, f := range []struct {
			is   bool
			flag uint8
		}{{a.Status == schema.Success, succeeded}, {a.Status == schema.Killed, killed}, {a.Status == schema.Running, running}, {a.Recompute, recompute},
			{a.CPUS.OK, cpuKnown}, {a.FetchWaitS.OK, waitKnown}, {a.Quality&schema.TaskUnknown != 0, noPartition}} {
			if f.is {
				row.flags |= f.flag
			}
		}
		out = append(out, row)
	}
	return out
}

func orNoTime(t schema.Null[schema.Time]) int64 {
	if !t.OK {
		return noTime
	}
	return int64(t.V)
}

func asDouble(v schema.Null[int64]) float64 {
	if !v.OK {
		return math.NaN()
	}
	return float64(v.V)
}
