package parquet

// cluster returns the order that makes rows with equal values adjacent, with groups in the order of their first rows and rows
// of a group in their original order. It is nil if the rows are in this order already. It uses the memory of *order.
func cluster(values []int64, order *[]int32) []int32 {
	groupOf := make(map[int64]int32)
	var counts []int32
	groups := make([]int32, len(values))
	together := true
	last := int32(-1)
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			counts[last]++
			groups[i] = last
			continue
		}
		g, ok := groupOf[v]
		if !ok {
			g = int32(len(counts))
			groupOf[v] = g
			counts = append(counts, 0)
		}
		together = together && !ok
		counts[g]++
		groups[i] = g
		last = g
	}
	if together {
		return nil
	}
	next, at := counts, int32(0) // where the next row of each group goes
	for g, n := range counts {
		next[g] = at
		at += n
	}
	*order = resized(*order, len(values))
	for i, g := range groups {
		(*order)[next[g]] = int32(i)
		next[g]++
	}
	return *order
}
