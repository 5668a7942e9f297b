package hadoop

import "straggler/schema"

// mapLocality assigns a map's input to the locality it was scheduled with: a split is read from one location.
func (c *counters) mapLocality(row *schema.Attempt) {
	if !row.InputBytes.OK || !row.Locality.OK {
		return
	}
	zero := schema.Some(int64(0))
	switch row.Locality.V {
	case schema.NodeLocal:
		row.LocalBytes, row.RemoteBytes, row.CrossRackBytes = row.InputBytes, zero, zero
	case schema.RackLocal:
		row.LocalBytes, row.RemoteBytes, row.CrossRackBytes = zero, row.InputBytes, zero
	case schema.AnyLocality:
		row.LocalBytes, row.RemoteBytes = zero, row.InputBytes
		if row.Rack.OK {
			row.CrossRackBytes = row.InputBytes
		}
	default:
		return
	}
	row.Quality |= schema.BytesEstimated
}

// remoteShare estimates, for each machine that ran a reduce, the share of the maps' output on other machines: the log records
// where each map ran and how much it wrote, but not who fetched it.
func (b *jobRows) remoteShare() map[string]float64 {
	total := 0.0
	on := map[string]float64{}
	for _, t := range b.job.tasks[mapTask] {
		for _, a := range t.attempts {
			n := a.counters.mapOutput()
			if a.status == schema.Success && a.location.host != "" && n.OK {
				on[a.location.host] += float64(n.V)
				total += float64(n.V)
				break
			}
		}
	}
	if total == 0 {
		return nil
	}
	share := map[string]float64{}
	for _, t := range b.job.tasks[reduceTask] {
		for _, a := range t.attempts {
			share[a.location.host] = 1 - on[a.location.host]/total
		}
	}
	return share
}

// locality returns the locality of a task at a location, derived from the hosts of its split: for logs that do not record it.
func (t *task) locality(p location) schema.Null[schema.Locality] {
	if p.host == "" || len(t.hosts) == 0 {
		return schema.Null[schema.Locality]{}
	}
	l := schema.AnyLocality
	for _, h := range t.hosts {
		if h.host == p.host {
			return schema.Some(schema.NodeLocal)
		}
		if h.rack != "" && h.rack == p.rack {
			l = schema.RackLocal
		}
	}
	return schema.Some(l)
}
