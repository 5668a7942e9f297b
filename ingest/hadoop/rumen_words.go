package hadoop

import (
	"strings"

	"straggler/schema"
)

// loggedStatus is Rumen's word for the end of an attempt, which stays Running where the trace has none.
func loggedStatus(word []byte) schema.AttemptStatus {
	switch strings.ToUpper(string(word)) {
	case "SUCCESS", "SUCCEEDED":
		return schema.Success
	case "FAILED":
		return schema.Failed
	case "KILLED":
		return schema.Killed
	}
	return schema.Running
}

// loggedCounter is the counter that a member of an attempt holds.
func loggedCounter(member []byte) counter {
	switch string(member) {
	case "hdfsBytesRead":
		return bytesRead
	case "hdfsBytesWritten":
		return bytesWritten
	case "fileBytesWritten":
		return localWritten
	case "mapInputBytes":
		return mapInputBytes
	case "mapInputRecords":
		return inputRecords
	case "mapOutputBytes":
		return outputBytes
	case "reduceShuffleBytes":
		return shuffleBytes
	case "reduceInputRecords":
		return reduceRecords
	case "spilledRecords":
		return spilledRecords
	}
	return notUsed
}

// loggedUse is the counter that a member of an attempt's resourceUsageMetrics holds.
func loggedUse(member []byte) counter {
	switch string(member) {
	case "cumulativeCpuUsage":
		return cpuMillis
	case "physicalMemoryUsage":
		return physicalMemory
	}
	return notUsed
}

// dotted takes the backslashes away that anonymised traces have before the dots of names.
func dotted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.ReplaceAll(s, `\.`, ".")
}
