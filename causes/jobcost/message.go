package jobcost

import "straggler/causes/wire"

// Fields implements wire.Message.
func (s *Saving) Fields(c *wire.Codec) {
	c.Int64(&s.Phase)
	c.String((*string)(&s.Cause))
	for _, x := range [...]*float64{&s.Sum, &s.SD, &s.Factor, &s.Packed, &s.Fixed} {
		c.Float(x)
	}
}
