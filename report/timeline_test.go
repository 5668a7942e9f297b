package report

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"straggler/report/reporttest"
	"straggler/schema"
)

// On any schedule, no two attempts of a slot overlap, no attempt is lost or drawn twice, and there are no more slots than
// attempts ever ran at once.
func TestDrawing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		line := Timeline{StartTime: reporttest.Origin, LengthS: 1000}
		d := drawing{t: &line, pixel: line.LengthS / timelinePixels, drawn: map[schema.Key]markRow{}}
		total, most := int64(0), 0
		for m := range 1 + rng.IntN(4) {
			type span struct{ from, to float64 }
			var spans []span
			start := 0.0
			for range 200 {
				start += rng.ExpFloat64() * 3
				took := rng.ExpFloat64() * 6
				total++
				if rng.IntN(4) == 0 {
					d.drawn[total] = markRow{Status: schema.Success}
				}
				spans = append(spans, span{start, start + took})
				r := attemptRow{AttemptID: total, Machine: fmt.Sprint("m", m), StartTime: reporttest.Origin.Add(start),
					FinishTime: schema.Some(reporttest.Origin.Add(start + took))}
				d.add(&r)
			}
			for _, s := range spans {
				n := 0
				for _, o := range spans {
					if o.from <= s.from && s.from < o.to {
						n++
					}
				}
				most = max(most, n)
			}
		}
		d.finish()
		seen := d.left
		for _, l := range line.Lanes {
			if l.Slot > most {
				t.Fatalf("slot %d of %s, and at most %d attempts ran at once", l.Slot, l.Machine, most)
			}
			last := -1.0
			for _, b := range l.Busy {
				seen += b.N
				if b.FromS < last-1e-6 || b.ToS < b.FromS {
					t.Fatalf("bars overlap on %s.%d", l.Machine, l.Slot)
				}
				last = b.ToS
			}
			seen += int64(len(l.Marks))
		}
		if seen != total {
			t.Fatalf("%d attempts came out of %d", seen, total)
		}
	}
}

// However many attempts there are, a timeline has few bars, and says what it left out.
func TestDrawingIsBounded(t *testing.T) {
	line := Timeline{StartTime: reporttest.Origin, LengthS: 1e6}
	d := drawing{t: &line, pixel: line.LengthS / timelinePixels, drawn: map[schema.Key]markRow{}}
	n := int64(0)
	for m := range 40 {
		for i := range 5000 {
			n++
			r := attemptRow{AttemptID: n, Machine: fmt.Sprint("m", m), StartTime: reporttest.Origin.Add(float64(i / 8 * 1600)),
				FinishTime: schema.Some(reporttest.Origin.Add(float64(i/8*1600) + 900))}
			d.add(&r)
		}
	}
	d.finish()
	if bars := countBars(line.Lanes); bars > timelineBars || len(line.Lanes) > timelineLanes {
		t.Errorf("%d bars on %d slots", bars, len(line.Lanes))
	}
	if line.MoreMachines == 0 || line.Note == "" {
		t.Errorf("28 machines are left out, and it says %d, %q", line.MoreMachines, line.Note)
	}
}
