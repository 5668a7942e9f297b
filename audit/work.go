package audit

import "math"

// normalise subtracts from the values of a comparison what the work of their nights explains: y = a + β·x, where x is the
// logarithm of the work, the input of the stage or run, relative to the mean night. The uncertainty of β is part of the error
// of prediction, multiplied by x².
//
// β is the elasticity of the time: 1 for work that fills its slots, 0 for fixed costs per run. It cannot be estimated from
// nights of equal size; it is then 0.5 ± 0.5. The posterior of β for a normal prior and normal errors (Gelman et al., Bayesian
// Data Analysis, §14.2):
//
//	1/V = 1/0.25 + Σx²/s²,  β = V·(0.5/0.25 + Σxy/s²)
func (c *comparison) normalise() {
	const prior, variance = 0.5, 0.25
	if !c.rule.Work || !(c.series.tonight.work > 0) {
		return
	}
	n, mx, my := float64(len(c.series.history)), 0.0, 0.0
	for _, p := range c.series.history {
		if !(p.work > 0) {
			return
		}
		mx += math.Log(p.work) / n
		my += p.y / n
	}
	xx, xy := 0.0, 0.0
	for _, p := range c.series.history {
		x := math.Log(p.work) - mx
		xx += x * x
		xy += x * (p.y - my)
	}
	b := 0.0
	if xx > 0 {
		b = xy / xx
	}
	s2 := 0.0
	for _, p := range c.series.history {
		e := p.y - my - b*(math.Log(p.work)-mx)
		s2 += e * e / max(1, n-2)
	}
	s2 = max(s2, leastSD*leastSD)
	v := 1 / (1/variance + xx/s2)
	b = min(max(v*(prior/variance+xy/s2), 0), 1.5)
	apply := func(p *point) {
		x := math.Log(p.work) - mx
		p.y -= b * x
		p.sizing = x * x * v
	}
	for i := range c.series.history {
		apply(&c.series.history[i])
	}
	apply(&c.series.tonight)
	c.more = b * (math.Log(c.series.tonight.work) - mx)
}
