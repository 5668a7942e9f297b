package tez

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/schema"
)

type counterTree struct {
	Groups []struct {
		Name     string `json:"counterGroupName"`
		Counters []struct {
			Name  string `json:"counterName"`
			Value number `json:"counterValue"`
		} `json:"counters"`
	} `json:"counterGroups"`
}

// setCounters sets the columns that counters provide. With tez.task.generate.counters.per.io, a group per input and output
// (TaskCounter_Reducer_2_INPUT_Map_1) repeats what the attempt's own groups count for all of them; the sum over inputs and outputs
// is taken where that is missing.
func setCounters(a *schema.Attempt, v jsontext.Value) {
	var t counterTree
	if len(v) == 0 || json.Unmarshal(v, &t, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		a.Quality |= schema.MetricsMissing
		return
	}
	sums, ofParts := map[string]int64{}, map[string]int64{}
	for _, g := range t.Groups {
		of := sums
		if strings.Contains(g.Name, "_INPUT_") || strings.Contains(g.Name, "_OUTPUT_") {
			of = ofParts
		}
		for _, c := range g.Counters {
			of[strings.ToUpper(c.Name)] += int64(c.Value)
		}
	}
	for name, n := range ofParts {
		if _, ok := sums[name]; !ok {
			sums[name] = n
		}
	}
	if len(sums) == 0 {
		a.Quality |= schema.MetricsMissing
		return
	}
	get := func(name string) schema.Null[int64] {
		n, ok := sums[name]
		return schema.Null[int64]{V: n, OK: ok && n >= 0}
	}
	var read schema.Null[int64]
	for name, n := range sums {
		if strings.HasSuffix(name, "_BYTES_READ") && name != "FILE_BYTES_READ" && n >= 0 {
			read = schema.Some(read.Or(0) + n)
		}
		if strings.HasSuffix(name, "_BYTES_WRITTEN") && name != "FILE_BYTES_WRITTEN" && n >= 0 {
			a.OutputBytes = schema.Some(a.OutputBytes.Or(0) + n)
		}
	}
	shuffle, direct := get("SHUFFLE_BYTES"), get("SHUFFLE_BYTES_DISK_DIRECT")
	if read.OK || shuffle.OK {
		a.InputBytes = schema.Some(read.Or(0) + shuffle.Or(0))
	}
	if shuffle.OK && read.Or(0) == 0 { // unknown which file systems' bytes these are
		local := min(direct.Or(0), shuffle.V)
		a.LocalBytes, a.RemoteBytes = schema.Some(local), schema.Some(shuffle.V-local)
	}
	a.InputRecords = get("INPUT_RECORDS_PROCESSED")
	if !a.InputRecords.OK {
		a.InputRecords = get("REDUCE_INPUT_RECORDS")
	}
	a.ShuffleWriteBytes = get("OUTPUT_BYTES_PHYSICAL")
	a.SpillBytes = get("ADDITIONAL_SPILLS_BYTES_WRITTEN")
	a.PeakMemoryBytes = get("PHYSICAL_MEMORY_BYTES")
	if ms := get("GC_TIME_MILLIS"); ms.OK {
		a.GCS = schema.Some(float64(ms.V) / 1000)
	}
	if ms := get("CPU_MILLISECONDS"); ms.OK {
		a.CPUS = schema.Some(float64(ms.V) / 1000)
	}
}
