package ingest_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"straggler/ingest"
	"straggler/schema"
)

// The format gets the store's error and cannot continue: nothing more is written.
func TestSinkEnds(t *testing.T) {
	full := errors.New("disk full")
	writes := 0
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { writes++; return full })
	for range 3 {
		if err := ingest.Emit(out, []schema.Machine{{Machine: "a"}}); !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
	}
	out.Reject(schema.Reject{})
	if writes != 1 || !errors.Is(out.Err(), full) {
		t.Errorf("%d writes, error %v", writes, out.Err())
	}
}

// Law 1: every record decoded or rejected is counted once, from any number of goroutines.
func TestSinkCounts(t *testing.T) {
	var written atomic.Int64
	out := ingest.NewSink(ingest.Limits{Rejects: 100}, func(b schema.Batch) error { written.Add(int64(b.Len())); return nil })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				out.Decoded(3)
				out.Reject(schema.Reject{Reason: "no"})
				ingest.Emit(out, make([]schema.Attempt, 7))
			}
		})
	}
	wg.Wait()
	c := out.Counts()
	if c.Decoded != 1200 || c.Rejects != 400 || c.Rows["attempts"] != 2800 || c.Rows["rejects"] != 100 || written.Load() != 2900 {
		t.Errorf("%+v, %d written", c, written.Load())
	}
}

// There is a caveat if attempts end long after the last application of their log, unless an application has no known end.
func TestSinkEndsLate(t *testing.T) {
	app := func(hours float64) schema.Application {
		return schema.Application{ApplicationID: 7, FinishTime: schema.Null[schema.Time]{V: schema.Time(hours * 3600e6), OK: hours > 0}}
	}
	attempt := func(hours float64) schema.Attempt {
		return schema.Attempt{Status: schema.Success, DurationS: schema.Some(1.0), FinishTime: schema.Some(schema.Time(hours * 3600e6))}
	}
	for _, x := range []struct {
		apps     []schema.Application
		attempts []schema.Attempt
		want     string
	}{
		{[]schema.Application{app(1), app(2)}, []schema.Attempt{attempt(0.5), attempt(2.4)}, ""},
		{[]schema.Application{app(1), app(2)}, []schema.Attempt{attempt(26), attempt(2)}, "up to 24 hours after"},
		{[]schema.Application{app(1), app(0)}, []schema.Attempt{attempt(26)}, ""},
		{nil, []schema.Attempt{attempt(26)}, ""},
	} {
		var said string
		out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
			rows, _ := schema.RowsOf[schema.Caveat](b)
			for _, c := range rows {
				said += c.Code + ": " + c.Detail
			}
			return nil
		})
		if err := errors.Join(ingest.Emit(out, x.attempts), ingest.Emit(out, x.apps), out.Finish(nil)); err != nil {
			t.Fatal(err)
		}
		if x.want == "" && said != "" || !strings.Contains(said, x.want) {
			t.Errorf("%+v: %q", x, said)
		}
	}
}

// Every application gets a caveat if half of its successful attempts or more have no duration and cannot be compared.
func TestSinkNoDurations(t *testing.T) {
	timed := schema.Attempt{Status: schema.Success, DurationS: schema.Some(1.0)}
	untimed, running := schema.Attempt{Status: schema.Success}, schema.Attempt{Status: schema.Running}
	for want, attempts := range map[int64][]schema.Attempt{0: {timed, timed, untimed, running, running}, 2: {timed, untimed, untimed, running}, 1: {untimed}} {
		var caveats []schema.Caveat
		out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
			rows, _ := schema.RowsOf[schema.Caveat](b)
			caveats = append(caveats, rows...)
			return nil
		})
		err := errors.Join(ingest.Emit(out, []schema.Application{{ApplicationID: 7}}), ingest.Emit(out, attempts), out.Finish(nil))
		if err != nil {
			t.Fatal(err)
		}
		if want == 0 && len(caveats) == 0 {
			continue
		}
		if len(caveats) != 1 || caveats[0].Code != "no_durations" || caveats[0].Count.V != want || caveats[0].ApplicationID != 7 {
			t.Errorf("%d without a duration: %+v", want, caveats)
		}
	}
}
