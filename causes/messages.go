package causes

import (
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/wire"
)

// Fields implements wire.Message.
func (x *attributed) Fields(c *wire.Codec) {
	wire.Slice(c, &x.outliers, func(w *machines.Window) { w.Fields(c) })
	wire.Slice(c, &x.skewed, func(e *skewEvent) {
		c.Int64(&e.phase)
		c.Int64(&e.attempt)
		c.Int64(&e.task)
		c.Float(&e.seconds)
		c.Float(&e.ratio)
	})
	wire.Slice(c, &x.saved, func(s *jobcost.Saving) { s.Fields(c) })
	wire.Slice(c, &x.totals, func(t *causeTotal) {
		c.String((*string)(&t.cause))
		c.Int64(&t.verdicts)
		c.Float(&t.micros)
	})
	x.times.Fields(c)
}

// Fields implements wire.Message.
func (t *runTimes) Fields(c *wire.Codec) {
	wire.Slice(c, &t.parts, func(m *machinePart) {
		c.Int64(&m.machine)
		c.Int64(&m.tasks)
		c.Int64(&m.slow)
		c.Float(&m.duration)
		c.Float(&m.processor)
		c.Float(&m.wait)
		c.Float(&m.bytes)
		c.Float(&m.records)
		c.Int64((*int64)(&m.start))
		c.Int64((*int64)(&m.finish))
		c.Float(&m.tick)
	})
	wire.Slice(c, &t.late, func(l *lateAttempt) {
		c.Int64(&l.attempt)
		c.Int64(&l.machine)
		c.Float(&l.duration)
		c.Float(&l.excess)
		c.Float(&l.processor)
		c.Float(&l.wait)
	})
}
