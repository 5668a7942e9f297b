package report

import (
	"cmp"
	"slices"

	"straggler/schema"
)

// sums holds the totals over all selected jobs, listed or not.
type sums struct {
	scope      Scope
	all        total
	apps       map[schema.Key]*total
	jobs       map[schema.Key]*total
	byCause    []CauseCost // in the order of causeTable, then unknown ones
	phaseCount int64
	phases     *best                  // the worst phases
	queued     map[schema.Key]float64 // loss of phases because tasks waited for slots
	onPath     map[schema.Key]pathPhase
	phaseParts map[schema.Key]*parts // of the worst phases
	attempts   *best                 // the attempts that cost most
	machines   map[string]float64    // job time lost to each machine being slow
}

// total is what one job, one application, or all of them lost.
type total struct {
	app        schema.Key
	completion float64
	timed      bool // completion is known, of at least one job
	compared   bool // some phase has enough tasks of known duration
	measured   bool // and what it lost, its job may have lost
	lost       float64
	excess     float64
	outliers   int64
	parts      *parts
}

func (t *total) loss() Loss {
	l := Loss{ExcessS: t.excess, Outliers: t.outliers}
	if t.timed {
		l.CompletionS = schema.Some(t.completion)
	} else {
		l.Note = "the log does not say when it was submitted and when it ended"
	}
	switch {
	case t.measured:
	case t.compared:
		l.Note = phasesUndated
		return l
	default:
		l.Note = "no phase has a lost time: too few tasks, or straggler detect was not run"
		return l
	}
	l.LostS = schema.Some(t.lost)
	if t.timed && t.completion > 0 {
		l.LostShare = schema.Some(t.lost / t.completion)
	}
	if t.parts != nil {
		l.Parts = t.parts.list()
	}
	return l
}

// pathPhase is a phase on its job's critical path.
type pathPhase struct {
	job    schema.Key
	cost   float64 // its part of what its job lost
	queued float64 // what it lost because tasks waited
	shared bool    // among its tasks
}

// causes returns the totals of the causes that occur.
func (s *sums) causes() []CauseCost {
	var out []CauseCost
	for i, c := range s.byCause {
		if s.all.measured && s.all.parts != nil {
			c.LostS = schema.Some(s.all.parts.seconds[i])
		}
		if c.Outliers != 0 || c.SumS != 0 || c.LostS.V > 0 || c.CostS.V > 0 {
			out = append(out, c)
		}
	}
	last := func(c CauseCost) int {
		if c.Cause == NotOutlier {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b CauseCost) int {
		return cmp.Or(last(a)-last(b), -cmp.Compare(a.LostS.V, b.LostS.V), -cmp.Compare(a.SumS, b.SumS))
	})
	return out
}

// worst lists the keys that lost most; ties by excess, then by completion time, then by key.
func (s *sums) worst(of map[schema.Key]*total, n int) []schema.Key {
	b := newBest(n)
	for k, t := range of {
		b.offer(ranked{key: k, cost: t.lost, next: t.excess, last: t.completion})
	}
	var keys []schema.Key
	for _, r := range b.sorted() {
		keys = append(keys, r.key)
	}
	return keys
}

// best keeps the n highest-ranked items offered to it, in any order.
type best struct {
	n     int
	kept  []ranked
	total int64
}

func newBest(n int) *best { return &best{n: n} }

func (b *best) offer(r ranked) {
	b.total++
	b.kept = append(b.kept, r)
	if len(b.kept) >= 4*b.n+64 {
		b.cut()
	}
}

func (b *best) sorted() []ranked {
	b.cut()
	return b.kept
}

func (b *best) cut() {
	slices.SortFunc(b.kept, compareRanked)
	b.kept = b.kept[:min(len(b.kept), b.n)]
}

// ranked is the key of a row with what it is ranked by.
type ranked struct {
	key        schema.Key
	cost       float64
	next, last float64 // break ties
	critical   bool
	alone      float64
}

func compareRanked(a, b ranked) int {
	return cmp.Or(-cmp.Compare(a.cost, b.cost), -cmp.Compare(a.next, b.next), -cmp.Compare(a.last, b.last), cmp.Compare(a.key, b.key))
}

// parts adds up lost time by cause, in the order of the table of causes.
type parts struct {
	seconds [len(causeTable)]float64
}

func (p *parts) add(c schema.Cause, s float64) { p.seconds[causeOrder(c)] += s }

func (p *parts) merge(q *parts) {
	for i := range p.seconds {
		p.seconds[i] += q.seconds[i]
	}
}

// list returns the causes with lost time.
func (p *parts) list() []LostPart {
	var out []LostPart
	for i, s := range p.seconds {
		if s > 0 {
			out = append(out, LostPart{Cause: causeTable[i].Cause, LostS: s})
		}
	}
	return out
}
