package hadoop

import (
	"testing"

	"straggler/schema"
)

// Without /proc, as on macOS, Hadoop writes 0 for the memory and the processor time of every attempt: both are unknown. An
// attempt that has memory may have used less than a millisecond of the processor.
func TestUnmeasuredProcess(t *testing.T) {
	for memory, measured := range map[int64]bool{0: false, 1 << 20: true} {
		var c counters
		c.set(physicalMemory, memory)
		c.set(cpuMillis, 0)
		c.set(gcMillis, 40)
		var row schema.Attempt
		c.fill(&row, mapTask, nil)
		if row.CPUS.OK != measured || row.PeakMemoryBytes.OK != measured || row.GCS != schema.Some(0.04) {
			t.Errorf("memory %d: processor time %v, memory %v, collection %v", memory, row.CPUS, row.PeakMemoryBytes, row.GCS)
		}
	}
}

// A reduce with records has copied bytes; early versions write 0.
func TestUncountedShuffle(t *testing.T) {
	for records, known := range map[int64]bool{0: true, 10000: false} {
		var c counters
		c.set(shuffleBytes, 0)
		c.set(reduceRecords, records)
		var row schema.Attempt
		c.fill(&row, reduceTask, map[string]float64{})
		if row.InputBytes.OK != known || row.InputRecords != schema.Some(records) {
			t.Errorf("%d records: %v bytes", records, row.InputBytes)
		}
	}
}
