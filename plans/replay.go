package plans

import (
	"container/heap"
	"math"
	"slices"

	"straggler/schema"
)

// maxReplayed bounds the tasks of a phase that is replayed; of a larger one nothing is said.
const maxReplayed = 1_000_000

// taskTime is how long an attempt took.
type taskTime struct {
	attempt schema.Key
	seconds float64
}

// splitSaves returns how much earlier a phase would have ended with its skewed partitions split, and into how many parts the
// worst.
//
//	t_i  duration of task i, in the order of the starts; m their median; n slots
//	d_i  what its data took a skewed task longer than the median; r_i > 2 its data over the median's
//	it becomes k = ⌈r_i / 2⌉ parts, each of m + d_i · (r_i / k − 1) / (r_i − 1) + max(t_i − m − d_i, 0) / k: time is linear in data
//	saving = makespan(t) − makespan(t split), tasks dealt to the slot that is free first
//
// Spark's OptimizeSkewedJoin aims at parts of the size of the partitions that are not skewed; two is between that and the
// factor of 5 from which it splits. A part reads its share of the other side whole, which costs what it does the other tasks,
// in m.
func (p *phase) splitSaves() (saves schema.Null[float64], into schema.Null[int64]) {
	if len(p.tasks) == 0 || len(p.tasks) >= maxReplayed || p.slots < 1 {
		return saves, into
	}
	skewed := map[schema.Key]*skewedRow{}
	for i := range p.skewed {
		if ratio, _, ok := p.skewed[i].ratio(); ok && ratio > leastRatio {
			skewed[p.skewed[i].AttemptID] = &p.skewed[i]
		}
	}
	if len(skewed) == 0 {
		return saves, into
	}
	var whole, split []float64
	for _, t := range p.tasks {
		whole = append(whole, t.seconds)
	}
	sorted := slices.Sorted(slices.Values(whole))
	median := sorted[len(sorted)/2]
	for _, t := range p.tasks {
		s := skewed[t.attempt]
		if s == nil {
			split = append(split, t.seconds)
			continue
		}
		ratio, _, _ := s.ratio()
		k := min(math.Ceil(ratio/2), maxParts)
		into = schema.Some(max(into.V, int64(k)))
		part := median + s.Seconds*max(ratio/k-1, 0)/(ratio-1) + max(t.seconds-median-s.Seconds, 0)/k
		for range int(k) {
			split = append(split, min(t.seconds, part))
		}
	}
	return schema.Some(max(0, makespan(whole, int(p.slots))-makespan(split, int(p.slots)))), into
}

// maxParts bounds the parts of one partition.
const maxParts = 1000

// ratio returns how many times the median's data a task has: in rows, or in bytes where the log has no rows or they are alike and
// long.
func (s *skewedRow) ratio() (ratio float64, byRows, known bool) {
	if s.InputRecords.OK && s.MedianRecords.V > 0 {
		ratio, byRows, known = float64(s.InputRecords.V)/s.MedianRecords.V, true, true
	}
	if s.InputBytes.OK && s.MedianBytes.V > 0 && !(ratio >= leastRatio) {
		if bytes := float64(s.InputBytes.V) / s.MedianBytes.V; !known || bytes >= leastRatio {
			ratio, byRows, known = bytes, false, true
		}
	}
	return ratio, byRows, known
}

// makespan returns how long tasks take when each goes to the slot that is free first.
func makespan(tasks []float64, slots int) float64 {
	free := make(slotHeap, min(slots, len(tasks)))
	end := 0.0
	for _, t := range tasks {
		free[0] += t
		end = max(end, free[0])
		heap.Fix(&free, 0)
	}
	return end
}

// slotHeap has the times at which slots are free, the first on top.
type slotHeap []float64

func (h slotHeap) Len() int           { return len(h) }
func (h slotHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h slotHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *slotHeap) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *slotHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
