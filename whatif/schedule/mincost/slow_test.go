package mincost

import "math"

// slowArc is an arc of the other solver.
type slowArc struct {
	from, to       int
	capacity, cost int64
}

// slowly finds the least cost by successive shortest paths with Bellman-Ford (Ahuja, Magnanti, Orlin, Network Flows, §9.7),
// after filling all arcs of negative cost, so that no cycle of negative cost is left. ok is false if no flow is feasible. It
// shares nothing with the solver under test.
func slowly(supply []int64, arcs []slowArc) (total int64, ok bool) {
	type half struct {
		to        int
		left, fee int64
	}
	excess := append([]int64(nil), supply...)
	var halves []half // 2k: forward, 2k+1: back
	out := make([][]int, len(supply))
	for _, a := range arcs {
		out[a.from] = append(out[a.from], len(halves))
		out[a.to] = append(out[a.to], len(halves)+1)
		forward, back := half{a.to, a.capacity, a.cost}, half{a.from, 0, -a.cost}
		if a.cost < 0 {
			forward.left, back.left = 0, a.capacity
			total += a.cost * a.capacity
			excess[a.from] -= a.capacity
			excess[a.to] += a.capacity
		}
		halves = append(halves, forward, back)
	}
	const far = math.MaxInt64 / 4
	for source := range excess {
		for excess[source] > 0 {
			distance, by := make([]int64, len(excess)), make([]int, len(excess))
			for u := range distance {
				distance[u], by[u] = far, -1
			}
			distance[source] = 0
			for changed := true; changed; {
				changed = false
				for u := range out {
					if distance[u] == far {
						continue
					}
					for _, h := range out[u] {
						if x := halves[h]; x.left > 0 && distance[u]+x.fee < distance[x.to] {
							distance[x.to], by[x.to], changed = distance[u]+x.fee, h, true
						}
					}
				}
			}
			sink := -1
			for u := range excess {
				if excess[u] < 0 && distance[u] < far && (sink < 0 || distance[u] < distance[sink]) {
					sink = u
				}
			}
			if sink < 0 {
				return 0, false
			}
			d := min(excess[source], -excess[sink])
			for u := sink; u != source; u = halves[by[u]^1].to {
				d = min(d, halves[by[u]].left)
			}
			for u := sink; u != source; u = halves[by[u]^1].to {
				halves[by[u]].left -= d
				halves[by[u]^1].left += d
				total += d * halves[by[u]].fee
			}
			excess[source] -= d
			excess[sink] += d
		}
	}
	for _, x := range excess {
		if x != 0 {
			return 0, false
		}
	}
	return total, true
}
