package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report/perfetto"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/selection"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
)

// opened returns a catalog of a labelled log, and an engine on the same store.
func opened(t *testing.T, log string) (*catalog.Catalog, engine.Engine) {
	t.Helper()
	st := catalogtest.Store(t, false, catalogtest.Labelled(t, filepath.Join("..", ".."), log)...)
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	reporttest.Check(t, err)
	t.Cleanup(func() { eng.Close() })
	return catalogtest.Open(t, st), eng
}

type attempt struct {
	AttemptID schema.Key          `col:"attempt_id"`
	Machine   string              `col:"machine"`
	Start     int64               `col:"start_us"`
	Finish    int64               `col:"finish_us"`
	Cause     schema.Null[string] `col:"cause"`
	Number    int32               `col:"number"`
	Status    string              `col:"status"`
	Copy      bool                `col:"speculative"`
	PhaseID   schema.Key          `col:"phase_id"`
	Recompute bool                `col:"recompute"`
}

func attempts(t *testing.T, eng engine.Engine) []attempt {
	t.Helper()
	var all []attempt
	for a, err := range engine.Read[attempt](t.Context(), eng, `SELECT a.attempt_id, coalesce(a.machine, '') AS machine, unix_micros(a.start_time) AS start_us,
		unix_micros(coalesce(a.finish_time, a.start_time)) AS finish_us, c.cause, a.number, a.status, coalesce(a.speculative, false) AS speculative, a.phase_id, a.recompute
		FROM attempts a LEFT JOIN (SELECT attempt_id, cause FROM attributions WHERE rank = 1) c ON c.attempt_id = a.attempt_id
		WHERE a.start_time IS NOT NULL ORDER BY a.start_time, a.attempt_id`) {
		reporttest.Check(t, err)
		all = append(all, *a)
	}
	return all
}

// For windows of all widths: bins contain the time that attempts ran, counted here one by one; every attempt counts once;
// every outlier, copy, retry and failure is drawn or counted by a neighbour of its kind; and each attempt is drawn on the
// slot that the export for trace viewers gives it.
func TestLook(t *testing.T) {
	c, eng := opened(t, "mixed")
	apps, _ := c.Applications()
	app := apps[0].ApplicationID
	all := attempts(t, eng)
	slots := exported(t, eng)
	whole, err := Look(t.Context(), c, Window{Application: app})
	reporttest.Check(t, err)
	if whole.LengthS <= 0 || int64(len(whole.Machines)) != whole.Total || whole.Attempts != int64(len(all)) {
		t.Fatalf("%d machines of %d, %d attempts of %d, %v s", len(whole.Machines), whole.Total, whole.Attempts, len(all), whole.LengthS)
	}
	binned, drawn := false, false
	for _, share := range [][2]float64{{0, 1}, {0.1, 0.9}, {0.3, 0.5}, {0.5, 0.52}, {0.9, 1}, {0.42, 0.4201}} {
		w := Window{Application: app, From: share[0] * whole.LengthS, To: share[1] * whole.LengthS}
		for _, bars := range []int64{mostBars, 20} {
			v, err := look(t.Context(), c, w, bars)
			reporttest.Check(t, err)
			from, to := int64(v.Start)+int64(math.Round(v.From*1e6)), int64(v.Start)+int64(math.Round(v.To*1e6))
			busy, special, n := map[string]float64{}, map[string]int64{}, int64(0)
			for _, a := range all {
				if a.Start >= to || a.Finish <= from && a.Start < from {
					continue
				}
				n++
				busy[a.Machine] += float64(max(0, min(a.Finish, to)-max(a.Start, from))) / 1e6
				if a.Cause.OK || a.Status != "success" || a.Copy || a.Number > 0 || a.Recompute {
					special[a.Machine]++
				}
			}
			if v.Attempts != n {
				t.Errorf("%v: %d attempts, not %d", share, v.Attempts, n)
			}
			for _, m := range v.Machines {
				counted, sum := int64(0), 0.0
				for _, x := range m.Marks {
					if !x.Ordinary {
						counted += x.N
					}
					if v.BinS == 0 {
						drawn = true
						if x.Slot != slots[x.AttemptID] {
							t.Errorf("%v: attempt %d is on slot %d, and the export has it on %d", share, x.AttemptID, x.Slot, slots[x.AttemptID])
						}
					}
				}
				if counted != special[m.Name] {
					t.Errorf("%v: %s has %d marks for %d", share, m.Name, counted, special[m.Name])
				}
				for _, b := range m.Busy {
					binned = true
					sum += b * v.BinS
				}
				if v.BinS > 0 && math.Abs(sum-busy[m.Name]) > 1e-6*(1+busy[m.Name]) {
					t.Errorf("%v: %s is busy for %v s, not %v", share, m.Name, sum, busy[m.Name])
				}
			}
		}
	}
	if !binned || !drawn {
		t.Errorf("in bins: %t; each drawn: %t", binned, drawn)
	}
	of, err := Look(t.Context(), c, Window{Application: app, Of: all[len(all)/2].PhaseID})
	if err != nil || of.To-of.From >= whole.LengthS || int64(of.To*1e6) < all[len(all)/2].Start-int64(of.Start) {
		t.Errorf("around a phase: %v: from %v to %v of %v s", err, of.From, of.To, of.LengthS)
	}
	if v, err := Look(t.Context(), c, Window{Application: app, Skip: 1}); err != nil || int64(len(v.Machines)) != whole.Total-1 ||
		v.Machines[0].Name != whole.Machines[1].Name {
		t.Errorf("without its first machine: %v", err)
	}
	for _, w := range []Window{{From: 2, To: 1}, {From: -1, To: 1}, {From: math.NaN()}, {To: math.Inf(1)}, {Skip: -1}} {
		if _, err := Look(t.Context(), c, w); !errors.Is(err, ErrWindow) {
			t.Errorf("%+v: error %v", w, err)
		}
	}
	if v, err := Look(t.Context(), c, Window{Application: 7}); err != nil || len(v.Machines) != 0 {
		t.Errorf("an application that is not there: %v", err)
	}
}

// exported returns the slots of attempts in the export for trace viewers.
func exported(t *testing.T, eng engine.Engine) map[schema.Key]int {
	t.Helper()
	var b bytes.Buffer
	reporttest.Check(t, perfetto.Write(t.Context(), &b, eng, selection.Applications{}))
	var trace struct {
		TraceEvents []struct {
			Tid  int
			Args struct {
				AttemptID string `json:"attempt_id"`
			}
		}
	}
	reporttest.Check(t, json.Unmarshal(b.Bytes(), &trace))
	at := map[schema.Key]int{}
	for _, e := range trace.TraceEvents {
		if k, err := strconv.ParseInt(e.Args.AttemptID, 10, 64); err == nil {
			at[k] = e.Tid
		}
	}
	return at
}
