package selection_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/selection"
)

const noon = schema.Time(1_700_000_000_000_000) // 2023-11-14 22:13:20

func TestKeys(t *testing.T) {
	st := enginetest.Store(t)
	tr := &schema.Trace{
		Applications: []schema.Application{
			{ApplicationID: 1, NativeID: "app-1", Name: schema.Some("etl"), StartTime: schema.Some(noon), Framework: "spark",
				Status: schema.RunSucceeded, TimeOrigin: "epoch"},
			{ApplicationID: 2, NativeID: "app-2", Name: schema.Some("etl"), StartTime: schema.Some(noon.Add(86400)),
				Framework: "spark", Status: schema.RunSucceeded, TimeOrigin: "epoch"},
			// began with its job
			{ApplicationID: 3, NativeID: "etl'; --", Framework: "hadoop", Status: schema.RunSucceeded, TimeOrigin: "epoch"},
			// nobody knows when
			{ApplicationID: 4, NativeID: "app-4", Framework: "hadoop", Status: schema.RunSucceeded, TimeOrigin: "epoch"},
		},
		Jobs: []schema.Job{
			{JobID: 1, ApplicationID: 3, NativeID: "0", StartTime: schema.Some(noon.Add(3600)), Status: schema.RunSucceeded},
			{JobID: 2, ApplicationID: 3, NativeID: "1", SubmitTime: schema.Some(noon.Add(1800)),
				StartTime: schema.Some(noon.Add(7200)), Status: schema.RunSucceeded},
		},
	}
	enginetest.IngestTrace(t, st, tr)
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for _, c := range []struct {
		named, since string
		want         []schema.Key
	}{
		{"", "", []schema.Key{1, 2, 3, 4}},
		{"app-1", "", []schema.Key{1}},
		{"etl", "", []schema.Key{1, 2}},
		{"etl'; --", "", []schema.Key{3}},
		{"", "2023-11-14T22:13:20Z", []schema.Key{1, 2, 3}},
		{"", "2023-11-14 22:43:20", []schema.Key{2, 3}},
		{"", "2023-11-14T22:43:21", []schema.Key{2}},
		{"", "2023-11-15", []schema.Key{2}},
		{"", "2023-11-15T00:00:00+02:00", []schema.Key{1, 2, 3}}, // 22:00 in UTC
		{"etl", "2023-11-15", []schema.Key{2}},
		{"app-1", "2023-11-15", nil},
		{"nobody", "", nil},
		{"", "2030-01-01", nil},
	} {
		a := selection.Applications{Named: c.named}
		if c.since != "" {
			if a.Since, err = selection.ParseSince(c.since); err != nil {
				t.Fatal(err)
			}
		}
		got, err := a.Keys(t.Context(), eng)
		if !slices.Equal(got, c.want) || errors.Is(err, selection.ErrNone) != (c.want == nil) {
			t.Errorf("%q since %q: %v, %v; want %v", c.named, c.since, got, err, c.want)
		}
	}
	for k, want := range map[schema.Key][]schema.Key{2: {2}, 5: nil} {
		a := selection.Applications{Key: k}
		if got, err := a.Keys(t.Context(), eng); !slices.Equal(got, want) || a.All() || errors.Is(err, selection.ErrNone) != (want == nil) {
			t.Errorf("key %d: %v, %v", k, got, err)
		}
	}
}

func TestParseSince(t *testing.T) {
	for _, wrong := range []string{"", "yesterday", "2023-13-01", "14.11.2023", "1700000000", "2023-11-14\x1b[31m"} {
		if got, err := selection.ParseSince(wrong); err == nil || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q is taken for %v, %v", wrong, got, err)
		}
	}
}
