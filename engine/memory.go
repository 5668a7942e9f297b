package engine

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns the number of bytes that this process may use: the memory of the machine, or the limit of its control group, or
// 0 if unknown.
func Memory() int64 {
	total := int64(0)
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int64
		if _, err := fmt.Sscanf(string(data), "MemTotal: %d kB", &kb); err == nil {
			total = kb << 10
		}
	}
	if data, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && (total == 0 || n < total) {
			total = n
		}
	}
	return total
}

// DefaultMemory returns the default memory limit of an engine in this process: a quarter of what the process may use, assumed to
// be 4 GB if unknown.
func DefaultMemory() int64 { return max(cmp.Or(Memory(), 4<<30)/4, 256<<20) }
