package plans

import (
	"strconv"
	"strings"
)

// Defaults of Spark's CoalesceShufflePartitions (SQLConf, Spark 3.2 to 4.0).
const (
	defaultAdvisory = 64 << 20 // spark.sql.adaptive.advisoryPartitionSizeInBytes
	defaultLeast    = 1 << 20  // spark.sql.adaptive.coalescePartitions.minPartitionSize
)

// sizeTolerance is the largest ratio of a partition's real size to the one with which Spark plans: it stores the sizes of
// large outputs as powers of 1.1 (MapStatus.compressSize).
const sizeTolerance = 1.1

// coalescedTo returns the size up to which adaptive execution coalesces partitions: a task with more has a single partition.
//
//	parallelismFirst: max(min(advisory, ⌈total / parallelism⌉), least); else advisory, but least at the least
func (q *query) coalescedTo(total float64) float64 {
	advisory := q.advisory()
	least := min(sizeOr(q.settings["spark.sql.adaptive.coalescePartitions.minPartitionSize"], defaultLeast), advisory)
	if strings.EqualFold(q.settings["spark.sql.adaptive.coalescePartitions.parallelismFirst"], "false") {
		return max(advisory, least)
	}
	parallelism := float64(q.Slots.V)
	if v, err := strconv.ParseFloat(q.settings["spark.default.parallelism"], 64); err == nil && v >= 1 {
		parallelism = v
	}
	if parallelism < 1 {
		return advisory
	}
	return max(min(advisory, total/parallelism), least)
}

// merged reports whether a task's data may be several coalesced partitions, which are no evidence about keys.
func (q *query) merged(p *phase, s *skewedRow) bool {
	coalesced := false
	for _, id := range p.reads {
		coalesced = coalesced || q.tree.node(id).Coalesced
	}
	if !coalesced {
		return false
	}
	return !s.InputBytes.OK || float64(s.InputBytes.V) <= q.coalescedTo(s.TotalBytes.V)*sizeTolerance
}
