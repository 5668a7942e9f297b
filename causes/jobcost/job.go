package jobcost

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"straggler/schema"
)

// Span is a phase in the graph of a job.
type Span struct {
	id         schema.Key
	start, end float64 // seconds from the job's first start
	parents    []int   // spans of the same job that it waited for
}

// Costs returns the rows of one job: for each cause, the job's end with the savings of its phases, where every phase keeps its
// gap after the last of its parents. No cost exceeds the duration of the job, since after a clock change or with wrong times in
// the log tasks may end long after their job.
func Costs(job schema.Key, took float64, spans []Span, saved []Saving) []schema.JobCost {
	by := map[schema.Cause][]Saving{}
	for _, s := range saved {
		by[s.Cause] = append(by[s.Cause], s)
	}
	var out []schema.JobCost
	together := schema.Null[float64]{}
	note := assumed(spans)
	for _, c := range slices.Sorted(maps.Keys(by)) { // the sum of all causes comes first
		row := schema.JobCost{JobID: job, Cause: c}
		var v, factors float64 // errors of factors add linearly over the phases, which share machines
		whole := len(spans) > 0
		for _, s := range by[c] {
			row.SumS += s.Sum
			v += s.SD * s.SD
			factors += s.Factor
			whole = whole && !math.IsNaN(s.Packed)
		}
		if c == all {
			if whole {
				together = schema.Some(min(took, replay(spans, by[c], func(s *Saving) float64 { return s.Packed })))
			}
			continue
		}
		row.Together = together
		if !whole {
			row.Note = schema.Some("the log lacks start times, so the job cannot be replayed")
			out = append(out, row)
			continue
		}
		packed := min(took, replay(spans, by[c], func(s *Saving) float64 { return s.Packed }))
		fixed := min(took, replay(spans, by[c], func(s *Saving) float64 { return s.Fixed }))
		err := 0.0
		if row.SumS > 0 {
			err = min(1, 1.96*math.Hypot(math.Sqrt(v), factors)/row.SumS)
		}
		row.CostS = schema.Some(packed)
		row.CostLow = schema.Some(min(packed, fixed) * (1 - err))
		row.CostHigh = schema.Some(min(took, max(packed, fixed)*(1+err)))
		row.Note = schema.Some(note)
		out = append(out, row)
	}
	return out
}

// assumed states the assumptions behind the costs of a job.
func assumed(spans []Span) string {
	note := "tasks packed onto as many slots as the phase held at once; low: every task starts when it did; phases keep the gaps after their parents; the errors of the seconds are in the interval"
	if n := overlapping(spans); n > 0 {
		note += fmt.Sprintf("; %d of its %d phases ran beside others, and slots that one frees are not lent to another", n, len(spans))
	}
	return note
}

// overlapping counts the spans that overlap another one in time. Spans are sorted by start.
func overlapping(spans []Span) (n int) {
	const same = 1e-6 // logs have microseconds at best
	for from := 0; from < len(spans); {
		to, end := from+1, spans[from].end
		for to < len(spans) && spans[to].start < end-same {
			end = max(end, spans[to].end)
			to++
		}
		if to-from > 1 {
			n += to - from
		}
		from = to
	}
	return n
}

// replay returns how much earlier the job ends with shorter phases. Spans are sorted by start.
func replay(spans []Span, saved []Saving, by func(*Saving) float64) float64 {
	off := map[schema.Key]float64{}
	for i := range saved {
		off[saved[i].Phase] += by(&saved[i])
	}
	ends := make([]float64, len(spans))
	var was, is float64
	for i, s := range spans {
		ready, readyNow := 0.0, 0.0
		for _, p := range s.parents {
			ready = max(ready, spans[p].end)
			readyNow = max(readyNow, ends[p])
		}
		length := max(0, s.end-s.start-off[s.id])
		ends[i] = readyNow + (s.start - ready) + length
		was, is = max(was, s.end), max(is, ends[i])
	}
	return max(0, was-is)
}

// Phase is a phase of a job, with its times.
type Phase struct {
	ID            schema.Key
	Start, Finish schema.Null[schema.Time]
	Attempts      int64 // 0: it never ran, like a stage whose outputs already existed
}

// Edge is a dependency between phases of a job.
type Edge struct{ From, To schema.Key }

// Spans builds the graph of a job: its phases by start, each with the phases that it waited for. If the log has no edge into a
// phase, the phase is assumed to have waited for the last one that had ended when it started. Phases that never ran are
// omitted. The result is empty if a phase that ran has no times.
func Spans(phases []Phase, edges []Edge) []Span {
	phases = slices.DeleteFunc(slices.Clone(phases), func(p Phase) bool { return p.Attempts == 0 && !p.Start.OK })
	for i := range phases {
		if !phases[i].Start.OK || !phases[i].Finish.OK {
			return nil
		}
	}
	slices.SortStableFunc(phases, func(a, b Phase) int { return cmp.Compare(a.Start.V, b.Start.V) })
	at := make(map[schema.Key]int, len(phases))
	out := make([]Span, len(phases))
	for i := range phases {
		at[phases[i].ID] = i
		out[i] = Span{id: phases[i].ID, start: phases[i].Start.V.Sub(phases[0].Start.V), end: phases[i].Finish.V.Sub(phases[0].Start.V)}
	}
	for _, e := range edges {
		from, ok := at[e.From]
		to, ok2 := at[e.To]
		if ok && ok2 && from < to {
			out[to].parents = append(out[to].parents, from)
		}
	}
	byEnd := make([]int, len(out))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(out[a].end, out[b].end) })
	ended := 0 // phases of byEnd that had ended when the next one started
	for i := range out {
		for ended < len(out) && out[byEnd[ended]].end <= out[i].start {
			ended++
		}
		if len(out[i].parents) == 0 && ended > 0 && byEnd[ended-1] < i {
			out[i].parents = append(out[i].parents, byEnd[ended-1])
		}
	}
	return out
}
