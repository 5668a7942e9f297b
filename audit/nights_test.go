package audit

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"straggler/audit/audittest"
	"straggler/audit/measure"
)

// A regression of one day is new on that day, ongoing while it lasts, however long, and fixed on the day after. The days
// before and after have no finding, the last run of a day with two is judged, and the runs are not modified.
func TestNights(t *testing.T) {
	runs := audittest.Runs(21)
	for i := range runs {
		runs[i].Start = time.Date(2026, 1, 1+i, 6, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
		if i >= 8 && i < 17 {
			runs[i].Values["failed"] = 100
		}
	}
	runs[20].Start = "2026-01-20T18:00:00.000Z"
	was := make([]measure.Run, len(runs))
	for i, r := range runs {
		r.Stages = slices.Clone(r.Stages)
		was[i] = r
	}
	cfg := DefaultConfig()
	nights, err := Nights(t.Context(), runs, nil, cfg, 15)
	if err != nil || len(nights) != 15 || nights[0].Date != "2026-01-06" || nights[14].Date != "2026-01-20" {
		t.Fatalf("%d nights, %v", len(nights), err)
	}
	for i, n := range nights {
		want := map[Status]int{}
		switch day := i + 5; {
		case day == 8:
			want[New] = 1
		case day > 8 && day < 17:
			want[Ongoing] = 1
		case day == 17:
			want[Fixed] = 1
		}
		if !reflect.DeepEqual(n.Summary, want) || len(n.Runs) != 1 || n.Runs[0].Start[:10] != n.Date {
			t.Errorf("%s: %v, not %v", n.Date, n.Summary, want)
		}
		if i == 14 && n.Runs[0].Run != runs[20].ID {
			t.Errorf("of two runs %s was judged", n.Runs[0].Run)
		}
		for _, f := range n.Findings() {
			if f.Rule != "failed_attempts" || f.First[:10] != "2026-01-09" {
				t.Errorf("%s: %s since %s", n.Date, f.Rule, f.First)
			}
		}
	}
	if !reflect.DeepEqual(runs, was) {
		t.Error("the runs were changed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Nights(ctx, runs, nil, cfg, 15); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	runs[0].Start, runs[1].Start = "", "10000-01-01T00:00:00.000Z"
	if nights, err := Nights(t.Context(), runs[:2], nil, cfg, 15); err != nil || len(nights) != 0 {
		t.Errorf("runs without a start: %d nights, %v", len(nights), err)
	}
}
