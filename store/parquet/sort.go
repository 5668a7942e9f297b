package parquet

import "sort"

// Sort passes the rows of several buffers of one table to each in the ascending order of a BigInt column without NULLs, stably, in
// the same number of buffers, which are reused. The ranges of values of row groups then do not overlap, so that reading the rows
// with one value takes a single group.
func Sort(groups []*Buffer, by int, out *Buffer, each func(*Buffer) error) error {
	type place struct {
		value      int64
		group, row int32
	}
	var order []place
	for g, b := range groups {
		for r, v := range b.columns[by].i64[:b.rows] {
			order = append(order, place{v, int32(g), int32(r)})
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].value < order[j].value })
	for n := range groups {
		part := order[len(order)*n/len(groups) : len(order)*(n+1)/len(groups)]
		if len(part) == 0 {
			continue
		}
		out.Reset()
		for i := range out.columns {
			to := &out.columns[i]
			for there, p := range part {
				to.copyFrom(&groups[p.group].columns[i], int(p.row), there)
			}
		}
		out.rows = len(part)
		if err := each(out); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom appends a row of another column of the same type.
func (c *column) copyFrom(from *column, row, there int) {
	null := from.values == 0 || len(from.valid) > 0 && !from.valid[row]
	switch {
	case null && c.values == 0:
		return
	case c.values == 0:
		c.appendNulls(there)
	}
	if null || c.values < there {
		for len(c.valid) < there {
			c.valid = append(c.valid, c.values > 0)
		}
		c.valid = append(c.valid, !null)
	}
	if null {
		c.appendNulls(1)
		return
	}
	c.values++
	switch {
	case len(from.i64) > 0:
		c.i64 = append(c.i64, from.i64[row])
	case len(from.i32) > 0:
		c.i32 = append(c.i32, from.i32[row])
	case len(from.f64) > 0:
		c.f64 = append(c.f64, from.f64[row])
	case len(from.bools) > 0:
		c.bools = append(c.bools, from.bools[row])
	default:
		c.strings.rows = append(c.strings.rows, c.strings.entryOf(from.strings.entry(from.strings.rows[row])))
	}
}
