package catalog_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/report/reporttest"
	"straggler/serve/catalog"
	"straggler/store"
	"straggler/whatif"
	"straggler/whatif/policy"
)

// A replay started by a reader gives what straggler whatif gives and writes nothing, since the store is read-only. A second
// replay waits its turn; a cancelled one ends, and so does one that is running when the catalog is closed.
func TestReplays(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "lake"), store.Options{})
	reporttest.Check(t, err)
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "labelled", "mixed", "*app-*"))
	reporttest.Check(t, err)
	_, err = run.Run(t.Context(), st, formats.All(), paths, run.Options{})
	reporttest.Check(t, err)
	before, err := st.List(t.Context())
	reporttest.Check(t, err)
	shown, err := store.Open(t.Context(), st.Where(), store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: shown, Shown: shown, Fixed: true, Formats: formats.All()})
	reporttest.Check(t, err)
	defer c.Close()
	for _, o := range []catalog.ReplayOptions{{}, {Seeds: 51}, {Policies: []string{"nonsense"}, Seeds: 1}, {Settings: []string{"late.nonsense=1"}, Seeds: 1}} {
		if _, err := c.StartReplay(o); !errors.Is(err, catalog.ErrReplay) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	ended := func(id int) catalog.Replay {
		t.Helper()
		var r catalog.Replay
		until(t, "the replay ends", func() bool { r = c.Replays()[0]; return r.ID == id && !r.Ended.IsZero() })
		return r
	}
	id, err := c.StartReplay(catalog.ReplayOptions{Policies: []string{"late", "spark"}, Settings: []string{"late.cap=0.2"}, Seeds: 3})
	reporttest.Check(t, err)
	got := ended(id)
	if got.Error != nil || got.Share != 1 || got.Summary == nil || got.Cancelled {
		t.Fatalf("%+v", got)
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	reporttest.Check(t, err)
	defer eng.Close()
	again, err := c.StartReplay(catalog.ReplayOptions{Seeds: 50})
	reporttest.Check(t, err)
	if _, err := c.StartReplay(catalog.ReplayOptions{Seeds: 1}); !errors.Is(err, catalog.ErrReplaying) {
		t.Errorf("a second one at once: %v", err)
	}
	if !c.CancelReplay(again) || c.CancelReplay(id) {
		t.Error("one that runs cannot be cancelled, or one that has ended can")
	}
	if r := ended(again); !r.Cancelled || !errors.Is(r.Error, context.Canceled) || r.Summary != nil {
		t.Errorf("cancelled: %+v", r)
	}
	after, err := st.List(t.Context())
	reporttest.Check(t, err)
	if len(after) != len(before) {
		t.Errorf("%d commits, not %d: a replay wrote", len(after), len(before))
	}
	_, err = c.StartReplay(catalog.ReplayOptions{Seeds: 50})
	reporttest.Check(t, err)
	began := time.Now()
	c.Close()
	if r := c.Replays()[0]; r.Ended.IsZero() || time.Since(began) > 20*time.Second {
		t.Errorf("closed after %v with %+v", time.Since(began), r)
	}
	chosen, err := policy.Choose([]string{"late", "spark"}, []string{"late.cap=0.2"}, nil, nil)
	reporttest.Check(t, err)
	want, err := whatif.Run(t.Context(), st, eng, whatif.Options{Policies: chosen, Seeds: 3})
	reporttest.Check(t, err)
	if len(want.Results) != len(got.Summary.Results) || len(want.Results) == 0 {
		t.Fatalf("%d results, not %d", len(got.Summary.Results), len(want.Results))
	}
	for i := range want.Results {
		if want.Results[i].All.Saving != got.Summary.Results[i].All.Saving {
			t.Errorf("%s saves %+v, not %+v", want.Results[i].Name, got.Summary.Results[i].All.Saving, want.Results[i].All.Saving)
		}
	}
}
