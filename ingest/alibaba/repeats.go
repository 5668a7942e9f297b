package alibaba

import (
	"encoding/binary"
	"math"

	"straggler/schema"
)

// maxInstances bounds the instances that are remembered, at 25 bytes each. In longer traces later repeats are not noticed.
const maxInstances = 1_000_000

// repeats holds the named instances that have a row, to find rows that occur again, as where files were concatenated or copied.
type repeats map[schema.Key]firstRow

// firstRow is a hash of the first row of an instance, and the number of other rows after it.
type firstRow struct {
	hash  schema.Key
	tries int32
}

// drop removes rows that are equal to an earlier one and counts them. Other rows of the same instance are its further tries.
func (r repeats) drop(rows []schema.Attempt) (kept []schema.Attempt, dropped int64) {
	kept = rows[:0]
	for i := range rows {
		row := &rows[i]
		if row.NativeID != "" && len(r) < maxInstances {
			instance := instanceKey(row)
			hash := rowHash(instance, row)
			first, again := r[instance]
			if !again {
				first.hash = hash
			} else if _, equal := r[hash]; equal || first.hash == hash {
				dropped++
				continue
			} else {
				first.tries++
				row.Number = first.tries
				r[hash] = firstRow{}
			}
			r[instance] = first
		}
		if kept = rows[:len(kept)+1]; dropped > 0 { // rows are large
			kept[len(kept)-1] = *row
		}
	}
	return kept, dropped
}

// after returns the number of the try before the first of an instance's numbered rows: -1 if it has no other row.
func (r repeats) after(row *schema.Attempt) int32 {
	if first, ok := r[instanceKey(row)]; ok {
		return first.tries
	}
	return -1
}

func instanceKey(row *schema.Attempt) schema.Key {
	return schema.HashKey(row.PhaseID, "instance", []byte(row.NativeID))
}

// rowHash hashes what a row of an instance says.
func rowHash(instance schema.Key, row *schema.Attempt) schema.Key {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(row.StartTime.V))
	binary.LittleEndian.PutUint64(b[8:], uint64(row.FinishTime.V))
	binary.LittleEndian.PutUint64(b[16:], math.Float64bits(row.CPUS.V))
	return schema.HashKey(instance, "row", b[:], []byte(row.Status), []byte(row.Machine.V))
}
