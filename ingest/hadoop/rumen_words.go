package hadoop

import (
	"strings"

	"straggler/schema"
)

// loggedStatus converts Rumen's word for the end of an attempt, which stays Running if the trace has none.
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

// loggedCounter returns the counter in a member of an attempt.
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

// loggedUse returns the counter in a member of an attempt's resourceUsageMetrics.
func loggedUse(member []byte) counter {
	switch string(member) {
	case "cumulativeCpuUsage":
		return cpuMillis
	case "physicalMemoryUsage":
		return physicalMemory
	}
	return notUsed
}

// dotted removes the backslashes that anonymised traces have before the dots of names.
func dotted(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.ReplaceAll(s, `\.`, ".")
}
