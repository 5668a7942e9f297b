package machines

import "straggler/causes/wire"

// Fields encodes the factors; the reader calls Settle again.
func (m *Factors) Fields(c *wire.Codec) {
	c.Float(&m.WindowS)
	wire.Slice(c, &m.Names, c.String)
	wire.Slice(c, &m.Racks, c.String)
	wire.Slice(c, &m.Machines, func(t *SufficientStats) { t.Fields(c) })
	wire.MapInOrder(c, &m.Windows, SortedWindows(m.Windows), func(w *Window) { w.Fields(c) }, func(t **SufficientStats) {
		if c.Reading() {
			*t = new(SufficientStats)
		}
		(*t).Fields(c)
	})
	if c.Reading() {
		m.Settle()
	}
}

// Fields implements wire.Message.
func (w *Window) Fields(c *wire.Codec) {
	c.Int64(&w.Machine)
	c.Int64(&w.Number)
}

// Fields implements wire.Message.
func (t *SufficientStats) Fields(c *wire.Codec) {
	c.Float(&t.W)
	c.Float(&t.WZ)
	c.Float(&t.WZZ)
	c.Int64(&t.Phases)
	c.Int64(&t.Attempts)
	for k := range t.Over {
		c.Int64(&t.Over[k])
	}
	for k := range t.Top {
		c.Float(&t.Top[k].Z)
		c.Float(&t.Top[k].W)
	}
}
