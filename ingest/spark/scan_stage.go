package spark

import "slices"

// Stages are described when their job starts, when they are submitted and when they end, each time with all of their RDDs and
// the stack that made them: of a log of short stages an eighth. They are read as task events are, by keys in Spark's order.

// scanStageInfo reads the `Stage Info` that b begins with, if the keys are in Spark's order, and returns its end, or −1 if they
// are not or the stage has failed.
func (d *decoder) scanStageInfo(b []byte, s *stageInfo) (next int) {
	*s = stageInfo{RDDs: rdds{Own: none, Partitions: none, All: d.lineage.All[:0], Parents: d.lineage.Parents[:0]},
		Parents: []int64{}, Submit: none, Complete: none}
	var i int
	s.ID, i = digits(b, expect(b, 0, `{"Stage ID":`))
	attempt, i := digits(b, expect(b, i, `,"Stage Attempt ID":`))
	s.Attempt = int32(attempt)
	name, i := word(b, expect(b, i, `,"Stage Name":"`))
	s.Tasks, i = digits(b, expect(b, i, `,"Number of Tasks":`))
	i = expect(b, i, `,"RDD Info":`)
	end := s.RDDs.scan(b[i:])
	if d.lineage = s.RDDs; end < 0 || attempt > 1<<31-1 {
		return -1
	}
	s.Parents, i = ids(b, expect(b, i+end, `,"Parent IDs":`), s.Parents)
	i = skipText(b, i, `,"Details":"`)
	if next, ok := try(b, i, `,"Submission Time":`); ok {
		s.Submit, i = digits(b, next)
	}
	if next, ok := try(b, i, `,"Completion Time":`); ok {
		s.Complete, i = digits(b, next)
	}
	i = expect(b, i, `,"Accumulables":`)
	values, end := scanAccumulables(b[i:], `,"Value":`, d.values[:0])
	if d.values = values; end < 0 {
		return -1
	}
	i = skipCount(b, i+end, `,"Resource Profile Id":`)
	i = skipFlag(b, i, `,"Shuffle Push Enabled":`)
	i = skipCount(b, i, `,"Shuffle Push Mergers Count":`)
	if next, ok := try(b, i, "}"); ok {
		s.Name, s.Values = d.oneLine(name), slices.Clone(values)
		return next
	}
	return -1
}

// ids reads a list of numbers.
func ids(b []byte, i int, to []int64) (_ []int64, next int) {
	i = expect(b, i, "[")
	if next, ok := try(b, i, "]"); ok {
		return to, next
	}
	for more := true; more; i, more = try(b, i, ",") {
		var id int64
		id, i = digits(b, i)
		to = append(to, id)
	}
	return to, expect(b, i, "]")
}

// scan reads the list of an `RDD Info` that b begins with, if the keys are in Spark's order, and returns its end, or −1 if they
// are not.
func (v *rdds) scan(b []byte) (next int) {
	i := expect(b, 0, "[")
	if next, ok := try(b, i, "]"); ok {
		return next
	}
	for more := true; more; i, more = try(b, i, ",") {
		var rdd rddInfo
		rdd.ID, i = digits(b, expect(b, i, `{"RDD ID":`))
		i = skipText(b, i, `,"Name":"`)
		i = skipText(b, i, `,"Scope":"`)
		i = skipText(b, i, `,"Callsite":"`)
		v.Parents, i = ids(b, expect(b, i, `,"Parent IDs":`), v.Parents)
		i = skipFlat(b, expect(b, i, `,"Storage Level":{`))
		if next, ok := try(b, i, `,"Barrier":`); ok {
			rdd.Barrier, i = boolean(b, next)
		}
		i = skipText(b, i, `,"DeterministicLevel":"`)
		rdd.Partitions, i = digits(b, expect(b, i, `,"Number of Partitions":`))
		i = skipCount(b, i, `,"Number of Cached Partitions":`)
		i = skipCount(b, i, `,"Memory Size":`)
		i = skipCount(b, i, `,"ExternalBlockStore Size":`)
		i = skipCount(b, i, `,"Disk Size":`)
		i = expect(b, i, "}")
		v.add(&rdd)
	}
	if next, ok := try(b, i, "]"); ok {
		return next
	}
	return -1
}
