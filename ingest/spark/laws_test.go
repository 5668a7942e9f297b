package spark

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// lawLogs returns logs with failures, losses, copies and queries.
func lawLogs(t *testing.T) map[string][]byte {
	t.Helper()
	logs := map[string][]byte{}
	for _, name := range []string{"recompute", "hard-loss-spec", "failures", "sql", "plain"} {
		files, _ := filepath.Glob(filepath.Join(labelled, name, "app-*"))
		if len(files) != 1 {
			t.Fatalf("%d logs of %s", len(files), name)
		}
		logs[name] = content(t, files[0])
	}
	return logs
}

// under reads a log under a given key, so that rows of different texts can be compared.
func under(t *testing.T, key schema.Key, log []byte) ingesttest.Result {
	t.Helper()
	in := ingesttest.Input("log", log)
	in.Key = key
	r := ingesttest.Read(t, Format(), in, ingest.Limits{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}

func eachLine(log []byte, f func(line []byte)) {
	for _, line := range bytes.Split(log, []byte("\n")) {
		if len(line) > 0 {
			f(line)
		}
	}
}

// The order of keys and the white space between them do not matter.
func TestKeyOrder(t *testing.T) {
	for name, log := range lawLogs(t) {
		rng := rand.New(rand.NewPCG(1, 2))
		var shuffled []byte
		eachLine(log, func(line []byte) {
			n := parseTree(t, line)
			n.shuffle(rng)
			shuffled = append(n.write(shuffled, []string{"", " ", "\t "}[rng.IntN(3)]), '\n')
		})
		if diff := cmp.Diff(under(t, 7, log), under(t, 7, shuffled)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The scanners agree on records that were changed in every way.
func TestScannersAgreeOnMutants(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	fast := 0
	var records [][]byte
	for _, log := range lawLogs(t) {
		lines := bytes.Split(log, []byte("\n"))
		for i := 0; i < len(lines); i += 17 {
			if bytes.Contains(lines[i][:min(len(lines[i]), 40)], []byte("SparkListenerTask")) && len(lines[i]) < 6000 {
				records = append(records, lines[i])
			}
		}
	}
	slices.SortFunc(records, bytes.Compare)
	for range 8_000 {
		n := parseTree(t, records[rng.IntN(len(records))])
		for range 1 + rng.IntN(3) {
			if n.mutate(rng); n.tooLarge() {
				break
			}
		}
		if !n.tooLarge() && bothWays(t, n.write(nil, "")) {
			fast++
		}
	}
	// Mutants in which only a value changed are still accepted; without any, the test would show nothing.
	if fast < 400 {
		t.Errorf("the fast scanner took %d mutants", fast)
	}
}

// Any number of decoders gives the same rows in the same order.
func TestParallelIsSequential(t *testing.T) {
	log := repeated(lawLogs(t)["recompute"], 12<<20)
	run := func(decoders int) *schema.Trace {
		var tr schema.Trace
		out := ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
			b.AddTo(&tr)
			return nil
		})
		in := ingesttest.Input("log", log)
		if err := readWith(context.Background(), in, out, decoders); err != nil {
			t.Fatal(err)
		}
		return &tr
	}
	want := run(1)
	if len(want.Attempts) < 2000 || len(want.Losses) < 50 {
		t.Fatalf("%d attempts, %d losses", len(want.Attempts), len(want.Losses))
	}
	valid(t, want)
	for _, decoders := range []int{2, 5} {
		if diff := cmp.Diff(want, run(decoders)); diff != "" {
			t.Errorf("%d decoders: %.2000s", decoders, diff)
		}
	}
}

// A log truncated anywhere gives the rows of its complete lines: attempts that ended are the same as in the whole log, and at
// most one record is rejected.
func TestCutAnywhere(t *testing.T) {
	log := content(t, filepath.Join("testdata", "cut.log"))
	whole := map[string]schema.Attempt{}
	for _, a := range under(t, 7, log).Attempts {
		whole[a.NativeID] = a
	}
	if len(whole) < 5 {
		t.Fatalf("%d attempts", len(whole))
	}
	for end := range len(log) {
		in := ingesttest.Input("log", log[:end])
		in.Key = 7
		r := ingesttest.Read(t, Format(), in, ingest.Limits{Line: 8 << 10}) // buffers are as large as the longest allowed line
		lines := int64(nonEmpty(log[:end]))
		if r.Decoded+r.Counts.Rejects != lines || r.Counts.Rejects > 1 {
			t.Fatalf("cut at %d: %d decoded, %d rejected of %d lines", end, r.Decoded, r.Counts.Rejects, lines)
		}
		if (r.Err != nil) != (r.Decoded == 0) {
			t.Fatalf("cut at %d: %v after %d records", end, r.Err, r.Decoded)
		}
		if end < len(log)-1 && len(r.Applications) == 1 && r.Applications[0].Complete {
			t.Fatalf("cut at %d: complete", end)
		}
		valid(t, &r.Trace)
		for _, a := range r.Attempts {
			if a.Status != schema.Running && !cmp.Equal(a, whole[a.NativeID]) {
				t.Fatalf("cut at %d: %s", end, cmp.Diff(a, whole[a.NativeID]))
			}
		}
	}
}

var timeKeys = map[string]bool{"Timestamp": true, "Launch Time": true, "Finish Time": true, "Getting Result Time": true, "Submission Time": true,
	"Completion Time": true, "Executor Deserialize Time": true, "Executor Run Time": true, "JVM GC Time": true, "Result Serialization Time": true,
	"Fetch Wait Time": true, "Executor CPU Time": true}

// Multiplying all times by three multiplies all seconds by three, and changes nothing else.
func TestScaledTimes(t *testing.T) {
	for name, log := range lawLogs(t) {
		var scaled []byte
		eachLine(log, func(line []byte) {
			n := parseTree(t, line)
			n.each(func(n *node) {
				for i, k := range n.keys {
					if timeKeys[k] && n.elems[i].open == 0 {
						ms, err := strconv.ParseInt(n.elems[i].raw, 10, 64)
						if err != nil {
							t.Fatal(err)
						}
						n.elems[i].raw = strconv.FormatInt(3*ms, 10)
					}
				}
			})
			scaled = append(n.write(scaled, ""), '\n')
		})
		want, got := under(t, 7, log), under(t, 7, scaled)
		for i := range want.Attempts {
			scaleAttempt(&want.Attempts[i])
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) })
		if diff := cmp.Diff(want.Attempts, got.Attempts, near); diff != "" {
			t.Errorf("%s: %.3000s", name, diff)
		}
		if diff := cmp.Diff(statuses(&want.Trace), statuses(&got.Trace)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func scaleAttempt(a *schema.Attempt) {
	for _, v := range []*schema.Null[schema.Time]{&a.QueuedTime, &a.StartTime, &a.FinishTime} {
		v.V *= 3
	}
	for _, v := range []*schema.Null[float64]{&a.DurationS, &a.CPUS, &a.GCS, &a.FetchWaitS, &a.SchedulerDelayS, &a.DeserializeS, &a.ResultS} {
		v.V *= 3
	}
}

// statuses returns the contents of a trace other than times.
func statuses(t *schema.Trace) (s []string) {
	for _, p := range t.Phases {
		s = append(s, strings.Join([]string{p.NativeID, strconv.Itoa(int(p.Attempt)), string(p.Status), strconv.FormatBool(p.Recompute)}, " "))
	}
	for _, l := range t.Losses {
		s = append(s, strings.Join([]string{strconv.FormatInt(l.PhaseID, 10), strconv.FormatInt(l.Task, 10), strconv.FormatInt(l.RecomputedBy.V, 10)}, " "))
	}
	return s
}

// Logs before Spark 3.3 name no partitions. In a log that does, with the names removed, every partition is recovered from the
// outputs that were missing when a stage was resubmitted.
func TestPartitionsAreTold(t *testing.T) {
	for _, name := range []string{"recompute", "hard-loss-spec"} {
		log := lawLogs(t)[name]
		var bare []byte
		eachLine(log, func(line []byte) {
			n := parseTree(t, line)
			n.each(func(n *node) {
				if i := slices.Index(n.keys, "Partition ID"); i >= 0 {
					n.keys, n.elems = slices.Delete(n.keys, i, i+1), slices.Delete(n.elems, i, i+1)
				}
			})
			bare = append(n.write(bare, ""), '\n')
		})
		if diff := cmp.Diff(under(t, 7, log), under(t, 7, bare)); diff != "" {
			t.Errorf("%s: %.3000s", name, diff)
		}
	}
}
