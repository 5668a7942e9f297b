package engine

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory is the bytes that this process may use: those of the machine, or of the group of processes that it is in; 0 where the
// system does not say.
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

// DefaultMemory is the bytes that an engine in this process may take where nobody says: a quarter of what this process may use,
// which is taken to be 4 GB where the system does not say.
func DefaultMemory() int64 { return max(cmp.Or(Memory(), 4<<30)/4, 256<<20) }
