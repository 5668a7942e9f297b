package detect

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

// On an engine in this process phase_stats.sql, usage.sql and, in slowattempts.go, outliers.sql are computed phase by phase,
// from attempts that are read once; the SQL has the formulas and the reasons for them. Figures are equal to the last bit:
// quantiles use the same two ranks, and the sums of the model are of integers.

// phaseFigures are the figures computed from the attempts of a phase.
type phaseFigures struct {
	stats schema.PhaseStats // without what depends on the row of the phase, which includes part of Note
	note  [2]string         // of the statistics, and of the model
	usage taskUsage
	slow  []slowAttempt
}

// taskUsage is what executions.sql needs of phase_stats, and the result of usage.sql.
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

// figurer computes the figures of one phase after another, reusing its memory.
type figurer struct {
	lastSeen map[schema.Key]int64 // last time in the logs of applications that are incomplete

	repeated  []int32 // rows of tasks with several attempts
	again     []int64 // these tasks, in order
	suspects  []int32 // rows that may be slow
	keys      []uint64
	beaten    []bool // of the rows; nil: none
	wasBeaten []bool // memory for that
	values    [4][]float64
	slow      []slowAttempt
	rows      taskRows
	finder    phaseFinder
	kept      []byte // for the file
	keptOf    []int  // the phases that it is of
}

// exceeds returns a > b as in SQL, where NaN is greater than all numbers.
func exceeds(a, b float64) bool { return a > b || math.IsNaN(a) && !math.IsNaN(b) }

// bounds are the least and the greatest of some values.
type bounds struct{ low, high float64 }

var noBounds = bounds{math.Inf(1), math.Inf(-1)}

func (b *bounds) extend(v float64) { b.low, b.high = min(b.low, v), max(b.high, v) }

func (b *bounds) vary() bool { return b.high > b.low }

// unitScale shifts and scales the range between the bounds to [-1, 1]; a range of 0 becomes 0.
func (b bounds) unitScale() (mid, scale float64) {
	if b.high != b.low {
		scale = 2 / (b.high - b.low)
	}
	return (b.low + b.high) / 2, scale
}

// thresholds are the values that the attempts of a phase are compared with.
type thresholds struct {
	medianS, p75S, medianRate schema.Null[float64]
	basis                     schema.Basis // "" if there is no verdict
	lastStart                 int64        // of first attempts
}

// winners are the attempts of a phase that succeeded, were not beaten by another of their task and have a duration.
type winners struct {
	n                      int
	longest                float64
	byteRates, recordRates int // how many have a rate
	model                  modelled
}

// modelled are the winners whose input is known, from which the model explains durations.
type modelled struct {
	n, remotes             int
	seconds, bytes, remote bounds
}

// figures computes the figures of a phase from all of its attempts.
func (f *figurer) figures(phase schema.Key, a *attempts) (out phaseFigures) {
	repeats := f.findBeaten(a)
	s := &out.stats
	s.PhaseID, s.Attempts, s.Tasks = phase, int64(a.len()), int64(a.len())-repeats
	var w winners
	w, s.Succeeded = f.winners(a)
	if w.n > 0 {
		var q [3]schema.Null[float64]
		quantiles(f.values[0], []float64{0.5, 0.75, 0.95}, q[:])
		s.MedianS, s.P75S, s.P95S, s.MaxS = q[0], q[1], q[2], schema.Some(w.longest)
	}
	t := thresholds{medianS: s.MedianS, p75S: s.P75S, basis: w.basis(s.MedianS.V), lastStart: noTime}
	for i, number := range a.number {
		if number == 0 {
			t.lastStart = max(t.lastStart, a.start[i])
		}
	}
	if t.basis != "" {
		s.SlowdownBasis = schema.Some(t.basis)
		if t.basis == schema.BasisDuration {
			s.SlowdownRatio = schema.Some(w.longest / s.MedianS.V)
		} else {
			rates := f.rates(a, t.basis)
			s.SlowestRate = schema.Some(slices.Min(rates))
			s.MedianRate = median(rates)
			s.SlowdownRatio = schema.Some(s.MedianRate.V / s.SlowestRate.V)
			t.medianRate = s.MedianRate
		}
		f.countSlow(a, &t, s)
	}
	if w.model.varies() {
		s.ModelR2, s.ModelN = schema.Some(f.explained(a, &w.model)), schema.Some(int64(w.model.n))
	}
	out.note[0] = w.whyNoVerdict(s)
	if t.basis != "" && !s.ModelR2.OK {
		out.note[1] = w.model.whyNone()
	}
	out.usage = f.usage(phase, a, s)
	out.slow = f.outliers(a, &t)
	return out
}

// winners finds the winners of a phase, with their durations and their rates of bytes at the start of f.values, and counts all
// attempts that succeeded and were not beaten.
func (f *figurer) winners(a *attempts) (w winners, all int64) {
	durations, rates := f.values[0][:0], f.values[1][:0]
	y, x, z := noBounds, noBounds, noBounds
	recordRates, n, remotes, longest := 0, 0, 0, math.Inf(-1)
	for i, flags := range a.flags {
		if flags&succeeded == 0 || f.beaten != nil && f.beaten[i] {
			continue
		}
		all++
		d := a.duration[i]
		if !schema.IsDuration(d) {
			continue
		}
		durations = append(durations, d)
		longest = max(longest, d)
		bytes := a.bytes[i]
		if bytes > 0 && d > 0 {
			rates = append(rates, bytes/d)
		}
		if a.records[i] > 0 && d > 0 {
			recordRates++
		}
		if bytes == bytes { // it is known
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
	return winners{len(durations), longest, len(rates), recordRates, modelled{n, remotes, y, x, z}}, all
}

// basis returns what a slowdown is measured by; "" if there is no verdict.
func (w *winners) basis(medianS float64) schema.Basis {
	switch {
	case w.n < 3 || medianS == 0:
		return ""
	case 100*w.byteRates >= 95*w.n:
		return schema.BasisBytes
	case 100*w.recordRates >= 95*w.n:
		return schema.BasisRecords
	}
	return schema.BasisDuration
}

// rates returns the rates of bytes, which winners has found, or of records.
func (f *figurer) rates(a *attempts, basis schema.Basis) []float64 {
	if basis == schema.BasisBytes {
		return f.values[1]
	}
	rates := f.values[1][:0]
	for i, flags := range a.flags {
		if d := a.duration[i]; flags&succeeded != 0 && (f.beaten == nil || !f.beaten[i]) && schema.IsDuration(d) && d > 0 && a.records[i] > 0 {
			rates = append(rates, a.records[i]/d)
		}
	}
	f.values[1] = rates
	return rates
}

// varies reports that there is something to explain and something that may explain it.
func (m *modelled) varies() bool {
	return m.n >= 10 && m.seconds.vary() && (m.bytes.vary() || m.remoteVaries())
}

func (m *modelled) allRemote() bool    { return m.remotes == m.n }
func (m *modelled) remoteVaries() bool { return m.allRemote() && m.remote.vary() }

// whyNoVerdict returns the note of a phase without a verdict, or without rates.
func (w *winners) whyNoVerdict(s *schema.PhaseStats) string {
	switch {
	case s.Succeeded == 0:
		return "no successful attempt"
	case w.n == 0:
		return "no successful attempt with a duration"
	case w.n == 1 && s.Tasks == 1:
		return "single task"
	case w.n < 3:
		return "fewer than 3 tasks with a duration"
	case w.longest == 0:
		return "all durations zero"
	case s.MedianS.V == 0:
		return "median duration zero"
	case s.SlowdownBasis.V == schema.BasisDuration:
		return "no rates: too few tasks with a known input"
	}
	return ""
}

// whyNone returns the note of a phase without a model.
func (m *modelled) whyNone() string {
	switch {
	case m.n < 10:
		return "no model: fewer than 10 tasks with a known input"
	case !m.seconds.vary():
		return "no model: durations do not vary"
	}
	return "no model: inputs do not vary"
}

// findBeaten finds the attempts that succeeded after another of their task had, and counts the attempts of repeated tasks other
// than the winner.
func (f *figurer) findBeaten(a *attempts) (repeats int64) {
	f.beaten = nil
	if !slices.ContainsFunc(a.number, func(n int32) bool { return n > 0 }) {
		return 0
	}
	f.again = f.again[:0]
	for i, n := range a.number {
		if n > 0 {
			f.again = append(f.again, a.task[i])
		}
	}
	slices.Sort(f.again)
	first, last := f.again[0], f.again[len(f.again)-1]
	f.repeated = f.repeated[:0]
	for i, t := range a.task {
		if t < first || t > last {
			continue
		}
		if _, found := slices.BinarySearch(f.again, t); found {
			f.repeated = append(f.repeated, int32(i))
		}
	}
	slices.SortFunc(f.repeated, func(i, j int32) int {
		return cmp.Or(cmp.Compare(a.task[i], a.task[j]),
			cmp.Compare(a.flags[j]&succeeded, a.flags[i]&succeeded),
			cmp.Compare(uint64(a.finish[i])-1<<63-1, uint64(a.finish[j])-1<<63-1), // noTime is the last
			cmp.Compare(a.number[i], a.number[j]), cmp.Compare(a.id[i], a.id[j]))
	})
	f.wasBeaten = slices.Grow(f.wasBeaten[:0], a.len())[:a.len()]
	clear(f.wasBeaten)
	f.beaten = f.wasBeaten
	for k, i := range f.repeated {
		if k > 0 && a.task[f.repeated[k-1]] == a.task[i] {
			repeats++
			f.beaten[i] = a.flags[i]&succeeded != 0
		}
	}
	return repeats
}

// countSlow counts outliers and stragglers and computes what they cost the phase.
func (f *figurer) countSlow(a *attempts, t *thresholds, s *schema.PhaseStats) {
	medianS := t.medianS.V
	outliers, stragglers := int64(0), int64(0)
	last, cut, lastLong := int64(noTime), int64(noTime), int64(noTime)
	for i, flags := range a.flags {
		d := a.duration[i]
		won := f.beaten == nil || !f.beaten[i]
		if flags&succeeded == 0 || !schema.IsDuration(d) || !won && flags&recompute == 0 {
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
		if d > schema.OutlierRatio*medianS {
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

// explained returns the share of the variance of durations that inputs explain. Sums are of integers, in units of n/4e15, and
// stay under 2^53.
func (f *figurer) explained(a *attempts, m *modelled) float64 {
	unit := 4e15 / float64(m.n)
	yMid, yScale := m.seconds.unitScale()
	xMid, xScale := m.bytes.unitScale()
	zMid, zScale := m.remote.unitScale()
	allRemote := m.allRemote()
	var sx, sy, sz, sxx, sxy, sxz, syy, syz, szz float64
	for i, flags := range a.flags {
		if flags&succeeded == 0 || !schema.IsDuration(a.duration[i]) || a.bytes[i] != a.bytes[i] || f.beaten != nil && f.beaten[i] {
			continue
		}
		x, y := (a.bytes[i]-xMid)*xScale, (a.duration[i]-yMid)*yScale
		ux, uy := float64(unit*x), float64(unit*y) // rounded after each step, also on machines that could fuse a multiplication and an addition
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
	k := float64(m.n)
	sx, sy, sz = sx/unit, sy/unit, sz/unit
	about := func(sum, u, v float64) float64 { return sum/unit - u*v/k }
	xx, yy, zz := about(sxx, sx, sx), about(syy, sy, sy), about(szz, sz, sz)
	xy, xz, yz := about(sxy, sx, sy), about(sxz, sx, sz), about(syz, sy, sz)
	var r2 float64
	switch both := float64(xx*zz) - float64(xz*xz); {
	case m.bytes.vary() && m.remoteVaries() && exceeds(both, 1e-9*xx*zz):
		r2 = (float64(xy*xy*zz) - float64(2*xy*yz*xz) + float64(yz*yz*xx)) / (both * yy)
	case m.bytes.vary():
		r2 = xy * xy / (xx * yy)
	default:
		r2 = yz * yz / (zz * yy)
	}
	if exceeds(r2, 1) {
		return 1
	}
	return r2
}

// usage returns a task's work and what it spent its time on: medians of the successful attempts.
func (f *figurer) usage(phase schema.Key, a *attempts, s *schema.PhaseStats) taskUsage {
	out := taskUsage{PhaseID: phase, Succeeded: s.Succeeded, MedianS: s.MedianS, P95S: s.P95S}
	v := &f.values
	for i := range v {
		v[i] = v[i][:0]
	}
	any, whole := false, true
	for i, flags := range a.flags {
		if flags&succeeded == 0 || !schema.IsDuration(a.duration[i]) {
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
