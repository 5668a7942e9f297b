package detect

import (
	"cmp"
	"math"
	"slices"

	"straggler/schema"
)

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

// outliers finds the attempts that a rule of outliers.sql calls slow, in the order of attempt and rule.
func (f *figurer) outliers(a *attempts, t *thresholds) []slowAttempt {
	from := len(f.slow)
	f.suspects = f.suspects[:0]
	longS := math.Inf(1)
	if t.basis != "" {
		longS = min(schema.OutlierRatio*t.medianS.V, t.p75S.V)
	}
	for i, flags := range a.flags {
		d := a.duration[i]
		if flags&(recompute|running) == 0 && !(d > longS) && (t.basis == "" || !t.isStraggler(a, i)) {
			continue // most attempts are not slow by any measure
		}
		f.suspects = append(f.suspects, int32(i))
	}
	f.sortByID(a.id)
	for _, i := range f.suspects {
		f.judge(a, int(i), t)
	}
	out := f.slow[from:len(f.slow):len(f.slow)]
	if !slices.IsSortedFunc(out, bySlowAttempt) { // a corrupt store may have an attempt twice
		slices.SortFunc(out, bySlowAttempt)
	}
	return out
}

// sortByID orders the suspects by the ids of attempts. Those of a phase mostly lie close together, so that an id and its row are
// one number.
func (f *figurer) sortByID(ids []int64) {
	least, most, sorted := int64(math.MaxInt64), int64(math.MinInt64), true
	last := int64(math.MinInt64)
	for _, i := range f.suspects {
		id := ids[i]
		least, most, sorted, last = min(least, id), max(most, id), sorted && id >= last, id
	}
	switch {
	case sorted:
	case uint64(most)-uint64(least) < 1<<32:
		f.keys = f.keys[:0]
		for _, i := range f.suspects {
			f.keys = append(f.keys, (uint64(ids[i])-uint64(least))<<32|uint64(uint32(i)))
		}
		slices.Sort(f.keys)
		for k, key := range f.keys {
			f.suspects[k] = int32(key)
		}
	default:
		slices.SortStableFunc(f.suspects, func(i, j int32) int { return cmp.Compare(ids[i], ids[j]) })
	}
}

func bySlowAttempt(a, b slowAttempt) int {
	if a.id != b.id {
		return cmp.Compare(a.id, b.id)
	}
	return cmp.Compare(a.rule, b.rule)
}

// judge appends the rows of the rules that an attempt meets.
func (f *figurer) judge(a *attempts, i int, t *thresholds) {
	flags, d, start := a.flags[i], a.duration[i], a.start[i]
	if !schema.IsDuration(d) {
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
	if judged && d > schema.OutlierRatio*medianS {
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
