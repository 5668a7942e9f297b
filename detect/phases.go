package detect

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

// On an engine in this process phase_stats.sql, outliers.sql and usage.sql are worked out here, phase by phase, from attempts
// that are read once; the formulas and the reasons for them are there. Figures are the same to the last bit: quantiles are of
// the same two ranks, and the sums of the model of integers.

// phaseFigures is what the attempts of a phase say.
type phaseFigures struct {
	stats schema.PhaseStats // without what follows from the row of the phase, which is part of Note
	note  [2]string         // of the statistics, and of the model
	usage taskUsage
	slow  []slowAttempt
}

// taskUsage is what executions.sql needs of phase_stats and what usage.sql gives.
type taskUsage struct {
	PhaseID      schema.Key           `col:"phase_id"`
	Succeeded    int64                `col:"succeeded"`
	MedianS      schema.Null[float64] `col:"median_s"`
	P95S         schema.Null[float64] `col:"p95_s"`
	InputBytes   schema.Null[float64] `col:"input_bytes"`
	InputRecords schema.Null[float64] `col:"input_records"`
	CPUS         schema.Null[float64] `col:"cpu_s"`
	WaitS        schema.Null[float64] `col:"wait_s"`
	TickS        schema.Null[float64] `col:"tick_s"` // NULL: there is no such attempt
}

// slowAttempt is a row of outliers.sql; NaN is NULL.
type slowAttempt struct {
	id            schema.Key
	ratio, excess float64
	rule          uint8 // of slowRules
}

// slowRules are the rules of outliers.sql in the order of their names, and then that of slower_than_usual.sql.
var slowRules = [...]schema.Rule{schema.HighRuntime, schema.LateSlowTask, schema.RecomputeRule, schema.StragglerRule, slowerThanUsual: schema.SlowerThanUsual}

// slowerThanUsual is the rule of slower_than_usual.sql.
const slowerThanUsual = 4

// figurer works out the figures of one phase after the other, in memory that it uses again.
type figurer struct {
	lastSeen map[schema.Key]int64 // of applications whose logs are incomplete: the last time in them

	repeated []int32 // rows of tasks that were tried again
	again    map[int64]bool
	beaten   []bool
	values   [4][]float64
	slow     []slowAttempt
	rows     taskRows
	kept     []byte // for the file
}

// inRange says that a duration is known.
func inRange(d float64) bool { return d >= 0 && d <= 1e15 }

// exceeds is SQL's a > b, where NaN is greater than all numbers.
func exceeds(a, b float64) bool { return a > b || math.IsNaN(a) && !math.IsNaN(b) }

// bounds are the least and the greatest of some values.
type bounds struct{ low, high float64 }

var noBounds = bounds{math.Inf(1), math.Inf(-1)}

func (b *bounds) extend(v float64) { b.low, b.high = min(b.low, v), max(b.high, v) }

// unitScale shifts and scales what lies between the bounds to [-1, 1]; a range of 0 makes it 0.
func (b bounds) unitScale() (mid, scale float64) {
	if b.high != b.low {
		scale = 2 / (b.high - b.low)
	}
	return (b.low + b.high) / 2, scale
}

// thresholds are what the attempts of a phase are compared with.
type thresholds struct {
	medianS, p75S, medianRate schema.Null[float64]
	basis                     schema.Basis // "" where there is no verdict
	lastStart                 int64        // of first attempts
}

// figures works out those of a phase from all of its attempts.
func (f *figurer) figures(phase schema.Key, a *attempts) (out phaseFigures) {
	repeats := f.findBeaten(a)
	s := &out.stats
	s.PhaseID, s.Attempts, s.Tasks = phase, int64(a.len()), int64(a.len())-repeats
	durations, rates := f.values[0][:0], f.values[1][:0]
	y, x, z := noBounds, noBounds, noBounds
	byteRates, recordRates, n, remotes, longest := 0, 0, 0, 0, math.Inf(-1)
	for i, flags := range a.flags {
		if flags&succeeded == 0 || f.beaten != nil && f.beaten[i] {
			continue
		}
		s.Succeeded++
		d := a.duration[i]
		if !inRange(d) {
			continue
		}
		durations = append(durations, d)
		longest = max(longest, d)
		bytes := a.bytes[i]
		if bytes > 0 && d > 0 {
			byteRates++
			rates = append(rates, bytes/d)
		}
		if a.records[i] > 0 && d > 0 {
			recordRates++
		}
		if bytes == bytes { // is known
			n++
			y.extend(d)
			x.extend(bytes)
			if r := a.remote[i]; r == r {
				remotes++
				z.extend(r)
			}
		}
	}
	f.values[0], f.values[1] = durations, rates
	timed := len(durations)
	if timed > 0 {
		var q [3]schema.Null[float64]
		quantiles(durations, []float64{0.5, 0.75, 0.95}, q[:])
		s.MedianS, s.P75S, s.P95S, s.MaxS = q[0], q[1], q[2], schema.Some(longest)
	}
	t := thresholds{medianS: s.MedianS, p75S: s.P75S, lastStart: noTime}
	for i, number := range a.number {
		if number == 0 {
			t.lastStart = max(t.lastStart, a.start[i])
		}
	}
	switch {
	case timed < 3 || s.MedianS.V == 0:
	case 100*byteRates >= 95*timed:
		t.basis = schema.BasisBytes
	case 100*recordRates >= 95*timed:
		t.basis = schema.BasisRecords
		rates = rates[:0]
		for i, flags := range a.flags {
			if flags&succeeded != 0 && (f.beaten == nil || !f.beaten[i]) && inRange(a.duration[i]) && a.duration[i] > 0 && a.records[i] > 0 {
				rates = append(rates, a.records[i]/a.duration[i])
			}
		}
		f.values[1] = rates
	default:
		t.basis = schema.BasisDuration
	}
	if t.basis == schema.BasisBytes || t.basis == schema.BasisRecords {
		s.SlowestRate = schema.Some(slices.Min(rates))
		s.MedianRate = median(rates)
		t.medianRate = s.MedianRate
	}
	if t.basis != "" {
		s.SlowdownBasis = schema.Some(t.basis)
		s.SlowdownRatio = schema.Some(s.MedianRate.V / s.SlowestRate.V)
		if t.basis == schema.BasisDuration {
			s.SlowdownRatio = schema.Some(longest / s.MedianS.V)
		}
		f.countSlow(a, &t, s)
	}
	hasX, hasZ := x.high > x.low, remotes == n && z.high > z.low
	if n >= 10 && y.high > y.low && (hasX || hasZ) {
		r2 := f.model(a, n, y, x, z, hasX, hasZ, remotes == n)
		if exceeds(r2, 1) {
			r2 = 1
		}
		s.ModelR2, s.ModelN = schema.Some(r2), schema.Some(int64(n))
	}
	switch {
	case s.Succeeded == 0:
		out.note[0] = "no successful attempt"
	case timed == 0:
		out.note[0] = "no successful attempt with a duration"
	case timed == 1 && s.Tasks == 1:
		out.note[0] = "single task"
	case timed < 3:
		out.note[0] = "fewer than 3 tasks with a duration"
	case longest == 0:
		out.note[0] = "all durations zero"
	case s.MedianS.V == 0:
		out.note[0] = "median duration zero"
	case t.basis == schema.BasisDuration:
		out.note[0] = "no rates: too few tasks with a known input"
	}
	switch {
	case t.basis == "" || s.ModelR2.OK:
	case n < 10:
		out.note[1] = "no model: fewer than 10 tasks with a known input"
	case y.high == y.low:
		out.note[1] = "no model: durations do not vary"
	default:
		out.note[1] = "no model: inputs do not vary"
	}
	out.usage = f.usage(phase, a, s)
	out.slow = f.outliers(a, &t)
	return out
}

// findBeaten finds the attempts that succeeded after another of their task had, and counts those of repeated tasks beside the
// winner.
func (f *figurer) findBeaten(a *attempts) (repeats int64) {
	f.beaten = nil
	if !slices.ContainsFunc(a.number, func(n int32) bool { return n > 0 }) {
		return 0
	}
	if f.again == nil {
		f.again = make(map[int64]bool)
	}
	clear(f.again)
	for i, n := range a.number {
		if n > 0 {
			f.again[a.task[i]] = true
		}
	}
	f.repeated = f.repeated[:0]
	for i, t := range a.task {
		if f.again[t] {
			f.repeated = append(f.repeated, int32(i))
		}
	}
	slices.SortFunc(f.repeated, func(i, j int32) int {
		return cmp.Or(cmp.Compare(a.task[i], a.task[j]),
			cmp.Compare(a.flags[j]&succeeded, a.flags[i]&succeeded),
			cmp.Compare(uint64(a.finish[i])-1<<63-1, uint64(a.finish[j])-1<<63-1), // noTime is the last
			cmp.Compare(a.number[i], a.number[j]), cmp.Compare(a.id[i], a.id[j]))
	})
	f.beaten = make([]bool, a.len())
	for k, i := range f.repeated {
		if k > 0 && a.task[f.repeated[k-1]] == a.task[i] {
			repeats++
			f.beaten[i] = a.flags[i]&succeeded != 0
		}
	}
	return repeats
}

// countSlow counts outliers and stragglers and works out what they cost the phase.
func (f *figurer) countSlow(a *attempts, t *thresholds, s *schema.PhaseStats) {
	medianS := t.medianS.V
	outliers, stragglers := int64(0), int64(0)
	last, cut, lastLong := int64(noTime), int64(noTime), int64(noTime)
	for i, flags := range a.flags {
		d := a.duration[i]
		won := f.beaten == nil || !f.beaten[i]
		if flags&succeeded == 0 || !inRange(d) || !won && flags&recompute == 0 {
			continue
		}
		last = max(last, a.finish[i])
		if d <= medianS {
			cut = max(cut, a.finish[i])
		} else {
			lastLong = max(lastLong, a.start[i])
		}
		if !won {
			continue
		}
		if d > 1.5*medianS {
			outliers++
		}
		if t.isStraggler(a, i) {
			stragglers++
		}
	}
	s.Outliers, s.Stragglers = schema.Some(outliers), schema.Some(stragglers)
	if lastLong != noTime {
		cut = max(cut, lastLong+int64(math.Round(min(medianS, 9e12)*1e6)))
	}
	switch {
	case last == noTime || cut == noTime:
	case last > cut:
		s.LostS = schema.Some(float64(last-cut) / 1e6)
	default:
		s.LostS = schema.Some(0.0)
	}
}

// isStraggler judges a successful attempt of known duration.
func (t *thresholds) isStraggler(a *attempts, i int) bool {
	d := a.duration[i]
	switch t.basis {
	case schema.BasisBytes:
		return d > 0 && a.bytes[i] > 0 && a.bytes[i]/d < 0.5*t.medianRate.V
	case schema.BasisRecords:
		return d > 0 && a.records[i] > 0 && a.records[i]/d < 0.5*t.medianRate.V
	}
	return d > 2*t.medianS.V
}

// model gives the share of the variance of durations that inputs explain. Sums are of integers, in units of n/4e15, and stay
// under 2^53.
func (f *figurer) model(a *attempts, n int, ys, xs, zs bounds, hasX, hasZ, allRemote bool) float64 {
	unit := 4e15 / float64(n)
	yMid, yScale := ys.unitScale()
	xMid, xScale := xs.unitScale()
	zMid, zScale := zs.unitScale()
	var sx, sy, sz, sxx, sxy, sxz, syy, syz, szz float64
	for i, flags := range a.flags {
		if flags&succeeded == 0 || !inRange(a.duration[i]) || a.bytes[i] != a.bytes[i] || f.beaten != nil && f.beaten[i] {
			continue
		}
		x, y := (a.bytes[i]-xMid)*xScale, (a.duration[i]-yMid)*yScale
		ux, uy := float64(unit*x), float64(unit*y) // rounded after each step, as on machines that do not fuse a multiplication and an addition
		sx += math.Floor(ux + 0.5)
		sy += math.Floor(uy + 0.5)
		sxx += math.Floor(float64(ux*x) + 0.5)
		sxy += math.Floor(float64(ux*y) + 0.5)
		syy += math.Floor(float64(uy*y) + 0.5)
		if allRemote {
			z := (a.remote[i] - zMid) * zScale
			sz += math.Floor(float64(unit*z) + 0.5)
			sxz += math.Floor(float64(ux*z) + 0.5)
			syz += math.Floor(float64(uy*z) + 0.5)
			szz += math.Floor(float64(unit*z*z) + 0.5)
		}
	}
	k := float64(n)
	sx, sy, sz = sx/unit, sy/unit, sz/unit
	about := func(sum, u, v float64) float64 { return sum/unit - u*v/k }
	xx, yy, zz := about(sxx, sx, sx), about(syy, sy, sy), about(szz, sz, sz)
	xy, xz, yz := about(sxy, sx, sy), about(sxz, sx, sz), about(syz, sy, sz)
	if both := float64(xx*zz) - float64(xz*xz); hasX && hasZ && exceeds(both, 1e-9*xx*zz) {
		return (float64(xy*xy*zz) - float64(2*xy*yz*xz) + float64(yz*yz*xx)) / (both * yy)
	}
	if hasX {
		return xy * xy / (xx * yy)
	}
	return yz * yz / (zz * yy)
}

// usage is what a task had to do and spent its time on: medians of the successful attempts.
func (f *figurer) usage(phase schema.Key, a *attempts, s *schema.PhaseStats) taskUsage {
	out := taskUsage{PhaseID: phase, Succeeded: s.Succeeded, MedianS: s.MedianS, P95S: s.P95S}
	v := &f.values
	for i := range v {
		v[i] = v[i][:0]
	}
	any, whole := false, true
	for i, flags := range a.flags {
		if flags&succeeded == 0 || !inRange(a.duration[i]) {
			continue
		}
		any = true
		whole = whole && a.start[i] != noTime && a.finish[i] != noTime && a.start[i]%1e6 == 0 && a.finish[i]%1e6 == 0
		if b := a.bytes[i]; b == b {
			v[0] = append(v[0], b)
		}
		if r := a.records[i]; r == r {
			v[1] = append(v[1], r)
		}
		if flags&cpuKnown != 0 {
			v[2] = append(v[2], a.cpu[i])
		}
		if flags&waitKnown != 0 {
			v[3] = append(v[3], a.wait[i])
		}
	}
	if !any {
		return out
	}
	out.InputBytes, out.InputRecords, out.CPUS, out.WaitS = median(v[0]), median(v[1]), median(v[2]), median(v[3])
	out.TickS = schema.Some(0.0)
	if whole {
		out.TickS.V = 1
	}
	return out
}

// outliers finds the attempts that a rule of outliers.sql calls slow, in the order of attempt and rule.
func (f *figurer) outliers(a *attempts, t *thresholds) []slowAttempt {
	from := len(f.slow)
	longS := math.Inf(1)
	if t.basis != "" {
		longS = min(1.5*t.medianS.V, t.p75S.V)
	}
	for i, flags := range a.flags {
		d := a.duration[i]
		if flags&(recompute|running) == 0 && !(d > longS) && (t.basis == "" || !t.isStraggler(a, i)) {
			continue // most attempts are not slow by any measure
		}
		f.judge(a, i, t)
	}
	out := f.slow[from:len(f.slow):len(f.slow)]
	if !slices.IsSortedFunc(out, bySlowAttempt) {
		slices.SortFunc(out, bySlowAttempt)
	}
	return out
}

func bySlowAttempt(a, b slowAttempt) int {
	if a.id != b.id {
		return cmp.Compare(a.id, b.id)
	}
	return cmp.Compare(a.rule, b.rule)
}

// judge appends what the rules say of an attempt.
func (f *figurer) judge(a *attempts, i int, t *thresholds) {
	flags, d, start := a.flags[i], a.duration[i], a.start[i]
	if !inRange(d) {
		d = math.NaN()
		if seen, ok := f.lastSeen[a.application[i]]; ok && flags&running != 0 && start != noTime && start <= seen {
			d = float64(seen-start) / 1e6
		}
	}
	medianS := math.NaN()
	if t.medianS.OK && t.medianS.V != 0 {
		medianS = t.medianS.V
	}
	add := func(rule uint8, ratio, excess float64) {
		f.slow = append(f.slow, slowAttempt{a.id[i], ratio, excess, rule})
	}
	judged := t.basis != "" && flags&(succeeded|killed|running) != 0
	if judged && d > 1.5*medianS {
		add(0, d/medianS, d-medianS)
	}
	if judged && d > t.p75S.V && start != noTime && t.lastStart != noTime && float64(start-t.lastStart)/1e6+d > 2*medianS {
		add(1, d/t.p75S.V, d-medianS)
	}
	if flags&recompute != 0 {
		add(2, d/medianS, d)
	}
	if judged && flags&succeeded != 0 && d == d && t.isStraggler(a, i) {
		ratio := d / medianS
		switch t.basis {
		case schema.BasisBytes:
			ratio = t.medianRate.V / (a.bytes[i] / d)
		case schema.BasisRecords:
			ratio = t.medianRate.V / (a.records[i] / d)
		}
		add(3, ratio, d-medianS)
	}
}
