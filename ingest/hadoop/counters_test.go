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
