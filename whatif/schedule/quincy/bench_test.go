package quincy

import (
	"fmt"
	"testing"

	"straggler/whatif/schedule/steptest"
)

// Every event is followed by a Schedule: a running task ends, or a task arrives. The benchmark reports the mean, the 99th
// percentile and the worst time of an event with its Schedule, which is everything the scheduler does.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct{ machines, slots, jobs, tasks int }{{250, 1, 10, 2000}, {250, 8, 10, 2000}, {2500, 1, 100, 20000}, {2500, 8, 100, 20000}} {
		for _, mode := range []Options{{}, {Preempt: true}, {Fair: true}, {Fair: true, Preempt: true}} {
			b.Run(fmt.Sprintf("machines=%d/slots=%d/tasks=%d/fair=%v/preempt=%v", size.machines, size.slots, size.tasks,
				mode.Fair, mode.Preempt), func(b *testing.B) {
				w := newWorld(1, size.machines, size.slots, size.jobs, mode)
				for k := range size.tasks {
					w.add(w.jobs[k%size.jobs])
				}
				schedule := func() {
					if _, err := w.s.Schedule(); err != nil {
						b.Fatal(err)
					}
				}
				w.pass(60) // before a task has waited that long, leaving it unscheduled is cheaper than moving its data
				schedule()
				// Tasks take a minute, so all running ones are replaced within a minute.
				pause := 60 / float64(min(size.machines*size.slots, size.tasks))
				for range 100 {
					w.pass(pause)
					j, _ := w.finish()
					schedule()
					w.add(j)
					schedule()
				}
				w.s.network.Work.Searches = 0
				var took steptest.Watch
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					w.pass(pause)
					took.Start()
					j, ok := w.finish()
					schedule()
					took.Stop()
					b.StopTimer()
					w.add(j) // its input is drawn here
					b.StartTimer()
					took.Start()
					schedule()
					took.Stop()
					if !ok {
						b.Fatal("nothing runs")
					}
				}
				took.Report(b)
				b.ReportMetric(float64(w.s.network.Work.Searches)/float64(2*b.N), "searches/event")
			})
		}
	}
}
