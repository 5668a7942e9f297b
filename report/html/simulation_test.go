package html

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/report"
	"straggler/report/reporttest"
	"straggler/schema"
)

// hostileName is a name that a workload's author might choose.
const hostileName = `<img src=http://example.invalid/x onerror="document.title='hacked'"> & "q"`

// simulation returns a simulation of three schedulers with two policies and three kinds of jobs with hostile names.
func simulation() *report.Simulation {
	d := &report.Simulation{Workload: hostileName, Jobs: 30, Tasks: 900, Seeds: 2}
	run := int64(0)
	for _, scheduler := range []string{"fifo", "fair", "quincy fair=true"} {
		for _, policy := range []string{"none", "late", hostileName} {
			run++
			a := report.Arm{Scheduler: scheduler, Policy: policy, Runs: 2, MeanS: 200, P95S: 500, MakespanS: 1200, CrossRackBytes: 4e9,
				NodeLocal: schema.Some(0.5), RackLocal: schema.Some(0.75), Wasted: schema.Some(0.01)}
			if run > 1 {
				a.Gain, a.GainLow, a.GainHigh = schema.Some(1.2), schema.Some(1.1), schema.Some(1.3)
			}
			d.Arms = append(d.Arms, a)
			d.Names = append(d.Names, report.SimulatedName{Scheduler: scheduler, Policy: policy, Name: hostileName, Jobs: 10, MeanS: 100})
			for n := range 20 {
				d.Times = append(d.Times, report.TimeShare{Scheduler: scheduler, Policy: policy, TookS: 20 + 30*float64(n), Share: float64(n+1) / 20})
			}
			for _, what := range []string{"downlinks", "map_slots", "uplinks", "waiting"} {
				for n := range 20 {
					s := report.Sampled{RunID: run, Scheduler: scheduler, Policy: policy, TimeS: 10 * float64(n), What: what,
						Queue: hostileName, Value: 10 + float64(n)}
					if strings.HasSuffix(what, "links") {
						s.Queue, s.Value = "", 0.5
					}
					d.Samples = append(d.Samples, s)
				}
			}
		}
	}
	return d
}

// The page of a simulation in a real browser, wide and narrow, light and dark: every chart has a line for each scheduler and
// policy, names stay text, and there are no requests and no errors.
func TestSimulationInBrowser(t *testing.T) {
	ctx, w := openBrowser(t)
	file := filepath.Join(t.TempDir(), "simulation.html")
	var b bytes.Buffer
	reporttest.Check(t, WriteSimulation(&b, simulation()))
	reporttest.Check(t, os.WriteFile(file, b.Bytes(), 0o600))
	for _, width := range []int64{1440, 390} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprint(width, " ", scheme), func(t *testing.T) {
				visit(t, ctx, file, width, 900, scheme)
				if w := evaluate[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
					t.Errorf("the page is %d pixels too wide", w)
				}
				// Nine lines each, six in a chart: completion times, slots, tasks that wait, links.
				for title, charts := range map[string]int{"Completion time": 2, "Map slots in use": 2, "Tasks that wait": 2, "Load of the racks’ links": 2} {
					of := fmt.Sprintf(`Array.from(document.querySelectorAll("figure")).filter(f => f.querySelector("figcaption").textContent === %q)`, title)
					if n := evaluate[int](t, ctx, of+`.length`); n != charts {
						t.Errorf("%s has %d charts, want %d", title, n, charts)
					}
					if n := evaluate[int](t, ctx, of+`.reduce((n, f) => n + f.querySelectorAll(".legend li").length, 0)`); n != 9 {
						t.Errorf("%s has %d lines, want 9", title, n)
					}
					if high := evaluate[float64](t, ctx, `Math.min(...`+of+`.map(f => f.querySelector("svg.paper").getBoundingClientRect().width))`); high < 100 {
						t.Errorf("a chart of %s is %v pixels wide", title, high)
					}
				}
				if n := evaluate[int](t, ctx, `document.querySelectorAll("svg.local").length`); n != 9 {
					t.Errorf("%d bars of locality, want 9", n)
				}
				if n := evaluate[int](t, ctx, `document.querySelectorAll("img, iframe, object, link, script[src]").length`); n != 0 {
					t.Errorf("%d elements came out of names", n)
				}
				if title := evaluate[string](t, ctx, `document.title`); !strings.HasPrefix(title, "<img src=") {
					t.Errorf("the title is %q", title)
				}
				column := `Array.from(document.querySelectorAll("#t-arms tbody tr")).map(r => r.cells[0].textContent)`
				evaluate[any](t, ctx, `document.querySelector("#t-arms thead th button").click()`)
				if c := evaluate[[]string](t, ctx, column); len(c) != 9 || !slices.IsSorted(c) {
					t.Errorf("sorted by scheduler: %v", c)
				}
				background := `getComputedStyle(document.body).backgroundColor`
				was := evaluate[string](t, ctx, background)
				evaluate[any](t, ctx, `document.getElementById("theme").click()`)
				if evaluate[string](t, ctx, background) == was {
					t.Error("the theme button changed nothing")
				}
				evaluate[any](t, ctx, `document.getElementById("theme").click(), localStorage.clear()`)
				if h := evaluate[string](t, ctx, `document.querySelector("h1").textContent`); h != hostileName {
					t.Errorf("the heading is %q", h)
				}
			})
		}
	}
	w.quiet(t, file)
}

// If several queues share a cluster, each scheduler has its own charts, with a line for each queue.
func TestSimulationOfQueues(t *testing.T) {
	d := simulation()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Queue != "" && i%2 == 0 {
			s.Queue = "other"
		}
	}
	views := overTime(d)
	if want := 3 * len(d.Arms); len(views) != want { // slots, tasks that wait, links
		t.Fatalf("%d charts, want %d", len(views), want)
	}
	for _, v := range views {
		want := 2
		if strings.HasSuffix(v.Title, "links") {
			want = 1
		}
		if len(v.Lines) != want {
			t.Errorf("%s has %d lines, want %d", v.Title, len(v.Lines), want)
		}
	}
}
