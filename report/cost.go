package report

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"straggler/schema"
)

// phaseNode is a phase of a job. Times are seconds from any origin.
type phaseNode struct {
	phase         schema.Key
	start, finish float64
	lost          float64
	queued        float64 // the part of it that tasks lost by waiting for slots
}

// loss is what a job lost and how its phases share it.
type loss struct {
	lostS    float64
	costs    []float64 // by node, sum to lostS
	critical []bool    // by node
}

// jobLoss computes a job's loss from its phases and the edges between them, given as indices of nodes. Edges that lead
// back in time are ignored: logs are not trusted. A phase without edges waits for the last phase of the job that ended
// before it started. Phases that compete for slots do not make room for each other.
func jobLoss(nodes []phaseNode, edges [][2]int) loss {
	out := loss{costs: make([]float64, len(nodes)), critical: make([]bool, len(nodes))}
	if len(nodes) == 0 {
		return out
	}
	order, before := predecessors(nodes, edges)
	finish := make([]float64, len(nodes)) // had the phases lost nothing
	waited := make([]int, len(nodes))     // the predecessor that ended last, -1 for none
	last := order[0]
	end, newEnd := math.Inf(-1), math.Inf(-1)
	for _, i := range order {
		n := &nodes[i]
		start := n.start
		waited[i] = -1
		if len(before[i]) > 0 {
			was, is := math.Inf(-1), math.Inf(-1)
			for _, p := range before[i] {
				if nodes[p].finish > was {
					was, waited[i] = nodes[p].finish, p
				}
				is = max(is, finish[p])
			}
			start += is - was
		}
		finish[i] = start + max(n.finish-n.start-n.lost, 0)
		newEnd = max(newEnd, finish[i])
		if n.finish > end {
			end, last = n.finish, i
		}
	}
	out.lostS = max(end-newEnd, 0)
	onPath := 0.0
	for i := last; i >= 0; i = waited[i] {
		out.critical[i] = true
		onPath += nodes[i].lost
	}
	for i := range nodes {
		if out.critical[i] && onPath > 0 {
			out.costs[i] = out.lostS * (nodes[i].lost / onPath)
		}
	}
	return out
}

// atMost bounds the loss of a job by its duration, since after a clock change or with wrong times in the log tasks may end long
// after their job.
func (l *loss) atMost(took float64) {
	if !(l.lostS > took) {
		return
	}
	for i := range l.costs {
		l.costs[i] *= took / l.lostS
	}
	l.lostS = took
}

// predecessors returns the nodes in order of time and, for each, those it waited for.
func predecessors(nodes []phaseNode, edges [][2]int) (order []int, before [][]int) {
	order = make([]int, len(nodes))
	rank := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(nodes[a].start, nodes[b].start), cmp.Compare(nodes[a].finish, nodes[b].finish), cmp.Compare(nodes[a].phase, nodes[b].phase))
	})
	for p, i := range order {
		rank[i] = p
	}
	before = make([][]int, len(nodes))
	for _, e := range edges {
		if rank[e[0]] < rank[e[1]] {
			before[e[1]] = append(before[e[1]], e[0])
		}
	}
	ended := -1 // the phase that ended last among those looked at; only right for those that ended before
	byEnd := slices.Clone(order)
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(nodes[a].finish, nodes[b].finish) })
	next := 0
	for _, i := range order {
		for next < len(byEnd) && nodes[byEnd[next]].finish <= nodes[i].start {
			ended = byEnd[next]
			next++
		}
		if len(before[i]) == 0 && ended >= 0 && rank[ended] < rank[i] {
			before[i] = append(before[i], ended)
		}
	}
	return order, before
}

// timedTask is a task as queueLoss sees it, in seconds from any origin.
type timedTask struct{ start, duration, excess float64 }

// queueLoss returns how much earlier a phase ends without the excess of its outliers, if its tasks are scheduled in the order of
// their starts on as many slots as it held at once, compared with the same schedule of the observed durations. Tasks are sorted
// by start. It is never negative: with independent tasks in a fixed order, shorter tasks never make a list schedule longer.
func queueLoss(tasks []timedTask) float64 {
	width := mostAtOnce(tasks)
	if width == 0 || width >= len(tasks) {
		return 0 // one wave: no task waited
	}
	was := packed(tasks, width, func(t *timedTask) float64 { return t.duration })
	return max(0, was-packed(tasks, width, func(t *timedTask) float64 { return t.duration - t.excess }))
}

// packed returns the end of the last task if tasks are started in order as slots become free.
func packed(tasks []timedTask, width int, took func(*timedTask) float64) (end float64) {
	slots := make(floatHeap, width)
	for i := range tasks {
		slots[0] += took(&tasks[i])
		end = max(end, slots[0])
		heap.Fix(&slots, 0)
	}
	return end
}

func mostAtOnce(tasks []timedTask) int {
	var ends floatHeap
	most := 0
	for i := range tasks {
		for len(ends) > 0 && ends[0] <= tasks[i].start {
			heap.Pop(&ends)
		}
		heap.Push(&ends, tasks[i].start+tasks[i].duration)
		most = max(most, len(ends))
	}
	return most
}

type floatHeap []float64

func (h floatHeap) Len() int { return len(h) }

func (h floatHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h floatHeap) Less(i, j int) bool { return h[i] < h[j] }

func (h *floatHeap) Push(x any) { *h = append(*h, x.(float64)) }

func (h *floatHeap) Pop() any { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }
