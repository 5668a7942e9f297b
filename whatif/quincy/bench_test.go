package quincy

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// Every event is followed by a Schedule: a running task ends, a task comes. Reported are the mean, the 99th percentile and the worst time of an event with
// its Schedule, all that the scheduler does.
func BenchmarkEvent(b *testing.B) {
	for _, size := range []struct{ machines, slots, jobs, tasks int }{{250, 1, 10, 2000}, {250, 8, 10, 2000}, {2500, 1, 100, 20000}, {2500, 8, 100, 20000}} {
		for _, mode := range []Options{{}, {Preempt: true}, {Fair: true}, {Fair: true, Preempt: true}} {
			b.Run(fmt.Sprintf("machines=%d/slots=%d/tasks=%d/fair=%v/preempt=%v", size.machines, size.slots, size.tasks, mode.Fair, mode.Preempt), func(b *testing.B) {
				w := newWorld(1, size.machines, size.slots, size.jobs, mode)
				for k := range size.tasks {
					w.add(w.jobs[k%size.jobs])
				}
				schedule := func() {
					if _, err := w.s.Schedule(); err != nil {
						b.Fatal(err)
					}
				}
				w.pass(60) // until a task waits that long, staying unscheduled is cheaper than moving its data
				schedule()
				// Tasks take a minute, so that in a minute all running ones are replaced.
				pause := 60 / float64(min(size.machines*size.slots, size.tasks))
				for range 100 {
					w.pass(pause)
					j, _ := w.finish()
					schedule()
					w.add(j)
					schedule()
				}
				w.s.network.Work.Searches = 0
				var took clock
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					w.pass(pause)
					took.start()
					j, ok := w.finish()
					schedule()
					took.stop()
					b.StopTimer()
					w.add(j) // its input is drawn here
					b.StartTimer()
					took.start()
					schedule()
					took.stop()
					if !ok {
						b.Fatal("nothing runs")
					}
				}
				took.report(b)
				b.ReportMetric(float64(w.s.network.Work.Searches)/float64(2*b.N), "searches/event")
			})
		}
	}
}

// clock measures by the wall and by the processor, which tell how busy the machine is with other things.
type clock struct {
	wall, processor []float64 // ms
	began           time.Time
	used            time.Duration
}

func (c *clock) start() { c.began, c.used = time.Now(), used() }

func (c *clock) stop() {
	c.processor = append(c.processor, (used()-c.used).Seconds()*1e3)
	c.wall = append(c.wall, time.Since(c.began).Seconds()*1e3)
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// report gives mean, 99th percentile and worst, by the wall and by the processor.
func (c *clock) report(b *testing.B) {
	for name, took := range map[string][]float64{"": c.wall, "cpu-": c.processor} {
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
