package spark

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/ingest/read/pull"
)

// bothWays decodes a task event with the fast scanner and with the general one. The general one must accept what the fast one
// accepted, with the same result.
func bothWays(t *testing.T, record []byte) (fast bool) {
	t.Helper()
	var d decoder
	k, named := leadingEvent(record)
	if !named || k != kindTaskStart && k != kindTaskEnd {
		return false
	}
	var pulled batch
	why := d.pullEvent(k, record, &pulled)
	var got, want any
	if k == kindTaskStart {
		var s task
		fast, got = d.scanTaskStart(record, &s), s
		if why == "" {
			want = pulled.starts[0]
		}
	} else {
		var e taskEnd
		fast, got = d.scanTaskEnd(record, &e), e
		if why == "" {
			want = pulled.ends[0]
		}
	}
	if fast && why != "" {
		t.Errorf("the fast scanner takes what the general one refuses because %s:\n%s", why, ingest.Sample(record))
	} else if fast && !reflect.DeepEqual(got, want) {
		t.Errorf("fast %+v\ngeneral %+v\nof %s", got, want, ingest.Sample(record))
	}
	return fast
}

// Both scanners read the same from every task event of every real log, and the fast one accepts nearly all events of tasks
// that started or succeeded.
func TestScannersAgree(t *testing.T) {
	logs := labelledLogs(t)
	for _, m := range ingesttest.CorpusOrNone("spark/*/*") {
		if !bytes.Contains([]byte(m), []byte("eventlog_v2_")) {
			logs = append(logs, m)
		}
	}
	for _, path := range logs {
		taken, all := 0, 0
		for _, line := range bytes.Split(content(t, path), []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			if bothWays(t, line) {
				taken++
			}
			if k, _ := leadingEvent(line); k == kindTaskStart || k == kindTaskEnd && bytes.Contains(line[:200], []byte(`"Reason":"Success"`)) {
				all++
			}
		}
		if taken*100 < all*95 {
			t.Errorf("%s: the fast scanner takes %d of %d", path, taken, all)
		}
	}
}

// Text that looks like the end of a task's accumulables and is not.
func TestScanIsNotFooled(t *testing.T) {
	const start = `{"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},` +
		`"Task Info":{"Task ID":2,"Index":3,"Attempt":0,"Launch Time":10,"Executor ID":"1","Host":"h","Locality":"ANY","Speculative":false,` +
		`"Getting Result Time":0,"Finish Time":20,"Failed":false,"Killed":false,"Accumulables":[`
	const metrics = `"Task Metrics":{"Executor Deserialize Time":1,"Executor Run Time":2,"Result Size":3,"JVM GC Time":4,` +
		`"Result Serialization Time":5,"Memory Bytes Spilled":6,"Disk Bytes Spilled":7,"Updated Blocks":[]}`
	const other = `"Task Metrics":{"Executor Deserialize Time":9,"Executor Run Time":9,"Result Size":9,"JVM GC Time":9,` +
		`"Result Serialization Time":9,"Memory Bytes Spilled":9,"Disk Bytes Spilled":9,"Updated Blocks":[]}`
	for name, record := range map[string]string{
		"plain":                  start + `]},` + metrics + `}`,
		"nested in a value":      start + `{"ID":1,"Update":{"a":{"b":[]},` + other + `}}]},` + metrics + `}`,
		"in a string":            start + `{"ID":1,"Name":"]},\"Task Metrics\":{"}]},` + metrics + `}`,
		"arrays inside":          start + `{"ID":1,"Update":[[],[1]],"Value":[{"x":[]}]}]},` + metrics + `}`,
		"a key after":            start + `],"Partition ID":7},` + metrics + `}`,
		"a list after":           start + `],"Partition ID":7,"Z":[]},` + metrics + `}`,
		"a key of the event":     start + `]},"Stage ID":5,` + metrics + `}`,
		"metrics inside":         start + `],"Z":{"z":[]},` + other + `},` + metrics + `}`,
		"objects of metrics":     start + `]},"Task Executor Metrics":{"a":{"b":1}},` + metrics + `}`,
		"a brace in a string":    start + `]},"Task Executor Metrics":{"a":"}"},` + metrics + `}`,
		"blocks":                 start + `]},` + metrics[:len(metrics)-3] + `[{"Block ID":"rdd_1_]}","Status":{"Memory Size":5}}]}}`,
		"escaped host":           start[:len(start)-150] + start[len(start)-150:] + `]},` + metrics + `}`,
		"a fraction":             start + `]},"Task Metrics":{"Executor Deserialize Time":1.5,"Executor Run Time":2e3}}`,
		"a number beyond 64 bit": start + `]},"Task Metrics":{"Executor Deserialize Time":99999999999999999999,"Executor Run Time":2}}`,
	} {
		if !json.Valid([]byte(record)) {
			t.Fatalf("%s: not JSON", name)
		}
		bothWays(t, []byte(record))
		var b batch
		var d decoder
		if why := d.record([]byte(record), &b); why != "" {
			t.Errorf("%s: %s", name, why)
		} else if run, ok := b.ends[0].metric(mRun); !ok || run != 2 && run != 2000 {
			t.Errorf("%s: a run time of %d", name, run)
		}
	}
}

// The fast scanner is compared with the general one. Invalid JSON is left out: the general one may notice damage where the
// fast one skips, and neither must.
func FuzzScan(f *testing.F) {
	seeds := map[string]bool{}
	for _, path := range append(labelledLogs(f), ingesttest.CorpusOrNone("spark/apache/*")...) {
		for _, line := range bytes.Split(content(f, path), []byte("\n")) {
			k, _ := leadingEvent(line)
			shape := string(keysOf(line))
			if (k == kindTaskStart || k == kindTaskEnd) && len(line) < 4000 && !seeds[shape] {
				seeds[shape] = true
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if json.Valid(record) && bytes.Count(record, []byte("["))+bytes.Count(record, []byte("{")) < pull.MaxDepth {
			bothWays(t, record)
		}
		var d decoder
		var b batch
		if record = bytes.TrimRight(record, " \t\r"); len(record) > 0 {
			d.record(record, &b)
		}
	})
}

// keysOf returns a record without its values, which shows what a seed adds to others.
func keysOf(record []byte) (keys []byte) {
	for i, part := range bytes.Split(record, []byte(`"`)) {
		if i%2 == 1 && len(part) > 4 && part[0] >= 'A' && part[0] <= 'Z' {
			keys = append(keys, part...)
		}
	}
	return keys
}
