package causes

import (
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/schema"
)

// instructions are what a copy must know for step attribute.
type instructions struct {
	model       *model.Model
	losses      *losses
	collections *collections
	signatures  map[schema.Key]uint64     // of the phases
	inputs      map[schema.Key]schema.Key // of the phases; none where rows have none
}

// Fields lists the fields of a message.
func (k *instructions) Fields(c *wire.Codec) {
	k.model.Fields(c)
	k.losses.Fields(c)
	k.collections.Fields(c)
	wire.Map(c, &k.signatures, c.Int64, c.Uint64)
	wire.Map(c, &k.inputs, c.Int64, c.Int64)
}

// Fields lists the fields of a message.
func (l *losses) Fields(c *wire.Codec) {
	wire.Map(c, &l.outputs, c.Int64, func(o *lostOutput) {
		c.Int64(&o.task)
		c.String(&o.machine)
		c.Int64((*int64)(&o.time))
		c.Int64(&o.detectedBy)
		c.Int64((*int64)(&o.restored))
	})
	wire.Map(c, &l.gaps, c.Int64, func(gaps *[]gap) {
		wire.Slice(c, gaps, func(g *gap) {
			c.Int64((*int64)(&g.from))
			c.Int64((*int64)(&g.to))
		})
	})
}

// Fields lists the fields of a message; what settle finds is found again by the reader.
func (m *collections) Fields(c *wire.Codec) {
	wire.Map(c, &m.application, c.Int64, c.Int64)
	wire.Map(c, &m.of, c.Int64, func(l *collectionList) {
		wire.Slice(c, &l.byStart, func(x *collection) {
			c.Int64(&x.Application)
			c.Int64(&x.Phase)
			c.Int64(&x.Attempt)
			c.Int64(&x.Machine)
			c.Int64((*int64)(&x.Start))
			c.Float(&x.Duration)
			c.Float(&x.Seconds)
		})
	})
	if c.Reading() {
		m.settle()
	}
}

// Fields lists the fields of a message.
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

// Fields lists the fields of a message.
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
