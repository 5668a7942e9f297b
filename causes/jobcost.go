package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"straggler/schema"
)

// What a cause cost a phase: its seconds are taken off the tasks that it slowed, and the phase is packed again onto as
// many slots as it held at once, in the order in which its tasks started; the difference to the same packing of the
// observed durations is the saving. The lower bound packs nothing: every task starts when it did. Phases that ran beside one
// another are packed each by itself, because they come here one by one: a slot that one frees helps no other, and the note
// of the result says so.

// saving is what a phase would have saved without a cause.
type saving struct {
	phase  schema.Key
	cause  schema.Cause
	sum    float64 // seconds of all its outliers
	sd     float64 // standard deviation of sum
	packed float64 // seconds the phase would have been shorter
	fixed  float64 // the same, with every task starting when it did
}

// savings weighs the causes of one phase against its end. lost holds, by cause, the seconds to take off each task.
type savings struct {
	lost  map[schema.Cause][]float64
	sd2   map[schema.Cause]float64
	order []int32 // tasks by start
	slots []float64
	kinds []schema.Cause
}

// all stands for every cause at once.
const all schema.Cause = ""

// negligible is the share of a phase's length under which a cause's seconds, summed over all tasks, can not matter.
const negligible = 0.001

// begin forgets the phase before.
func (v *savings) begin() {
	if v.lost == nil {
		v.lost, v.sd2 = map[schema.Cause][]float64{}, map[schema.Cause]float64{}
	}
	v.kinds = v.kinds[:0]
	clear(v.sd2)
}

// add takes seconds of a cause off task i of n.
func (v *savings) add(i, n int, l *line) {
	v.take(all, i, n, l)
	if l.seconds > 0 {
		v.take(l.cause, i, n, l)
	}
}

func (v *savings) take(c schema.Cause, i, n int, l *line) {
	off := v.lost[c]
	if !slices.Contains(v.kinds, c) {
		v.kinds = append(v.kinds, c)
		off = grow(off, n)
		clear(off)
		v.lost[c] = off
	}
	off[i] += l.seconds
	v.sd2[c] += l.sd * l.sd
}

// weigh appends what the phase would have saved without each of its causes.
func (v *savings) weigh(p *Phase, out []saving) []saving {
	if len(v.kinds) == 0 {
		return out
	}
	slices.Sort(v.kinds)
	width, end := v.arrange(p.Tasks)
	var observed float64
	if width > 0 {
		observed = v.pack(p.Tasks, nil, width)
	}
	for _, c := range v.kinds {
		off := v.lost[c]
		s := saving{phase: p.ID, cause: c, sd: math.Sqrt(v.sd2[c]), packed: nan, fixed: nan}
		for _, x := range off {
			s.sum += x
		}
		switch {
		case width > 0 && s.sum < negligible*end:
			s.packed, s.fixed = 0, 0
		case width > 0:
			s.packed = max(0, observed-v.pack(p.Tasks, off, width))
			s.fixed = max(0, end-v.latest(p.Tasks, off))
		}
		out = append(out, s)
	}
	return out
}

// arrange sorts the tasks by start; it gives the most that ran at once and the last end, in seconds from the first
// start. The width is 0 where starts are unknown.
func (v *savings) arrange(tasks []Task) (width int, end float64) {
	v.order = growInts(v.order, len(tasks))
	sorted := true
	for i := range tasks {
		v.order[i] = int32(i)
		if !tasks[i].Start.OK || math.IsNaN(tasks[i].Duration) {
			return 0, 0
		}
		sorted = sorted && (i == 0 || tasks[i-1].Start.V <= tasks[i].Start.V)
	}
	if !sorted {
		slices.SortFunc(v.order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(tasks[a].Start.V, tasks[b].Start.V), cmp.Compare(a, b))
		})
	}
	zero := tasks[v.order[0]].Start.V
	v.slots = v.slots[:0]
	for _, i := range v.order { // the ends of what runs, as a heap
		start := tasks[i].Start.V.Sub(zero)
		for len(v.slots) > 0 && v.slots[0] <= start {
			v.pop()
		}
		e := start + tasks[i].Duration
		v.push(e)
		end = max(end, e)
		width = max(width, len(v.slots))
	}
	return width, end
}

// pack is the end of the phase when its tasks, shorter by off, run on width slots one after the other.
func (v *savings) pack(tasks []Task, off []float64, width int) (end float64) {
	v.slots = v.slots[:0]
	for _, i := range v.order {
		d := tasks[i].Duration
		if off != nil {
			d = max(0, d-off[i])
		}
		if len(v.slots) < width {
			v.push(d)
			end = max(end, d)
			continue
		}
		d += v.slots[0]
		v.replace(d)
		end = max(end, d)
	}
	return end
}

// latest is the end of the phase when its tasks, shorter by off, start when they did.
func (v *savings) latest(tasks []Task, off []float64) (end float64) {
	zero := tasks[v.order[0]].Start.V
	for i := range tasks {
		end = max(end, tasks[i].Start.V.Sub(zero)+max(0, tasks[i].Duration-off[i]))
	}
	return end
}

func (v *savings) push(x float64) {
	v.slots = append(v.slots, x)
	for i := len(v.slots) - 1; i > 0; {
		up := (i - 1) / 2
		if v.slots[up] <= v.slots[i] {
			break
		}
		v.slots[up], v.slots[i] = v.slots[i], v.slots[up]
		i = up
	}
}

func (v *savings) pop() {
	last := len(v.slots) - 1
	x := v.slots[last]
	v.slots = v.slots[:last]
	if last > 0 {
		v.replace(x)
	}
}

// replace puts x into the heap in place of its top.
func (v *savings) replace(x float64) {
	h := v.slots
	i := 0
	for down := 1; down < len(h); down = 2*i + 1 {
		if down+1 < len(h) {
			right := 0 // set, not branched on: nobody can guess which is less
			if h[down+1] < h[down] {
				right = 1
			}
			down += right
		}
		if x <= h[down] {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = x
}

// span is a phase of a job as its graph sees it.
type span struct {
	id         schema.Key
	start, end float64 // seconds from the job's first start
	parents    []int   // spans of the same job that it waited for
}

// costs are the rows of one job: for each cause, the job's end with the savings of its phases, all phases keeping the
// gap that they had after the last of their parents.
func costs(job schema.Key, spans []span, saved []saving) []schema.JobCost {
	by := map[schema.Cause][]saving{}
	for _, s := range saved {
		by[s.cause] = append(by[s.cause], s)
	}
	var out []schema.JobCost
	together := schema.Null[float64]{}
	note := assumed(spans)
	for _, c := range slices.Sorted(maps.Keys(by)) { // all at once comes first
		row := schema.JobCost{JobID: job, Cause: c}
		var v float64
		whole := len(spans) > 0
		for _, s := range by[c] {
			row.SumS += s.sum
			v += s.sd * s.sd
			whole = whole && !math.IsNaN(s.packed)
		}
		if c == all {
			if whole {
				together = schema.Some(replay(spans, by[c], func(s *saving) float64 { return s.packed }))
			}
			continue
		}
		row.Together = together
		if !whole {
			row.Note = schema.Some("the log lacks start times, so the job can not be replayed")
			out = append(out, row)
			continue
		}
		packed := replay(spans, by[c], func(s *saving) float64 { return s.packed })
		fixed := replay(spans, by[c], func(s *saving) float64 { return s.fixed })
		err := 0.0
		if row.SumS > 0 {
			err = min(1, 1.96*math.Sqrt(v)/row.SumS)
		}
		row.CostS = schema.Some(packed)
		row.CostLow = schema.Some(min(packed, fixed) * (1 - err))
		row.CostHigh = schema.Some(max(packed, fixed) * (1 + err))
		row.Note = schema.Some(note)
		out = append(out, row)
	}
	return out
}

// assumed says what the costs of a job assume.
func assumed(spans []span) string {
	var w words
	w.say("tasks packed onto as many slots as the phase held at once; low: every task starts when it did; phases keep the gaps after their parents; the errors of the seconds are in the interval")
	if n := besides(spans); n > 0 {
		w.say("; ").int(int64(n)).say(" of its ").int(int64(len(spans))).say(" phases ran beside others, and slots that one frees are not lent to another")
	}
	return string(w)
}

// besides counts the spans that overlap another in time. Spans are in order of their start.
func besides(spans []span) (n int) {
	const same = 1e-6 // logs tell time in microseconds at best
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

// replay is how much earlier the job ends when its phases are shorter. Spans are in order of their start.
func replay(spans []span, saved []saving, by func(*saving) float64) float64 {
	off := map[schema.Key]float64{}
	for i := range saved {
		off[saved[i].phase] += by(&saved[i])
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
