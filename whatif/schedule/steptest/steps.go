// Package steptest takes the beginnings and ends of the steps of a benchmark and returns their mean, 99th percentile and worst.
// It is for tests.
package steptest

import (
	"slices"
	"testing"
	"time"

	"straggler/cputime"
)

// Watch measures by the wall clock and by processor time, whose difference shows how busy the machine is with other processes.
type Watch struct {
	Wall, Processor []float64 // ms
	began           time.Time
	used            time.Duration
}

// Start begins a step.
func (w *Watch) Start() { w.began, w.used = time.Now(), cputime.Used() }

// Stop ends it.
func (w *Watch) Stop() {
	w.Processor = append(w.Processor, (cputime.Used()-w.used).Seconds()*1e3)
	w.Wall = append(w.Wall, time.Since(w.began).Seconds()*1e3)
}

// Report adds what was measured to the figures of a benchmark.
func (w *Watch) Report(b *testing.B) {
	for name, took := range map[string][]float64{"": w.Wall, "cpu-": w.Processor} {
		sum := 0.0
		for _, t := range took {
			sum += t
		}
		sorted := slices.Sorted(slices.Values(took))
		b.ReportMetric(sum/float64(len(took)), name+"mean-ms")
		b.ReportMetric(sorted[len(took)*99/100], name+"p99-ms")
		b.ReportMetric(sorted[len(took)-1], name+"worst-ms")
	}
}
