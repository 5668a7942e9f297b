package spark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"testing"

	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// The reference reader uses encoding/json and maps, and no state but sums. Its sums for each stage attempt must agree with
// the rows.

type referenceEnd struct {
	Event   string
	Stage   int64                   `json:"Stage ID"`
	Attempt int64                   `json:"Stage Attempt ID"`
	Reason  struct{ Reason string } `json:"Task End Reason"`
	Info    struct {
		ID        int64 `json:"Task ID"`
		Launch    int64 `json:"Launch Time"`
		Finish    int64 `json:"Finish Time"`
		Getting   int64 `json:"Getting Result Time"`
		Host      string
		Locality  string
		Partition *int64 `json:"Partition ID"`
		Index     int64
	} `json:"Task Info"`
	Metrics *struct {
		Deserialize int64 `json:"Executor Deserialize Time"`
		Run         int64 `json:"Executor Run Time"`
		CPU         int64 `json:"Executor CPU Time"`
		GC          int64 `json:"JVM GC Time"`
		Serialize   int64 `json:"Result Serialization Time"`
		Spilled     int64 `json:"Disk Bytes Spilled"`
		Read        struct {
			Wait    int64 `json:"Fetch Wait Time"`
			Remote  int64 `json:"Remote Bytes Read"`
			Local   int64 `json:"Local Bytes Read"`
			Records int64 `json:"Total Records Read"`
		} `json:"Shuffle Read Metrics"`
		Write struct {
			Bytes int64 `json:"Shuffle Bytes Written"`
		} `json:"Shuffle Write Metrics"`
		Input struct {
			Bytes   int64 `json:"Bytes Read"`
			Records int64 `json:"Records Read"`
		} `json:"Input Metrics"`
		Output struct {
			Bytes int64 `json:"Bytes Written"`
		} `json:"Output Metrics"`
	} `json:"Task Metrics"`
}

type sums map[string]map[string]float64 // stage attempt → quantity → sum

func (s sums) add(phase, quantity string, v float64) {
	if s[phase] == nil {
		s[phase] = map[string]float64{}
	}
	s[phase][quantity] += v
}

func referenceSums(t *testing.T, log []byte) sums {
	t.Helper()
	s := sums{}
	seen := map[int64]bool{}
	for _, line := range bytes.Split(log, []byte("\n")) {
		var e referenceEnd
		if !bytes.Contains(line, []byte("TaskEnd")) {
			continue
		}
		if json.Unmarshal(line, &e) != nil || e.Event != "SparkListenerTaskEnd" || e.Reason.Reason == "Resubmitted" || seen[e.Info.ID] {
			continue
		}
		seen[e.Info.ID] = true
		phase := fmt.Sprintf("%d.%d", e.Stage, e.Attempt)
		s.add(phase, "ends", 1)
		s.add(phase, "duration", float64(e.Info.Finish-e.Info.Launch)/1e3)
		s.add(phase, "launch", float64(e.Info.Launch))
		s.add(phase, "on "+e.Info.Host, 1)
		s.add(phase, "locality "+e.Info.Locality, 1)
		if e.Info.Partition != nil {
			s.add(phase, "partition", float64(*e.Info.Partition))
		} else if e.Attempt == 0 {
			s.add(phase, "partition", float64(e.Info.Index))
		}
		if e.Reason.Reason != "Success" {
			s.add(phase, "not succeeded", 1)
			continue
		}
		m := e.Metrics
		s.add(phase, "cpu", float64(m.CPU)/1e9)
		s.add(phase, "gc", float64(m.GC)/1e3)
		s.add(phase, "deserialize", float64(m.Deserialize)/1e3)
		s.add(phase, "wait", float64(m.Read.Wait)/1e3)
		s.add(phase, "records", float64(m.Input.Records+m.Read.Records))
		s.add(phase, "input", float64(m.Input.Bytes+m.Read.Remote+m.Read.Local))
		s.add(phase, "shuffled", float64(m.Write.Bytes))
		s.add(phase, "output", float64(m.Output.Bytes))
		s.add(phase, "spilled", float64(m.Spilled))
		// The rest of an attempt without its parts, apart from the scheduler delay's lower limit of 0.
		getting := int64(0)
		if e.Info.Getting > 0 {
			getting = e.Info.Finish - e.Info.Getting
		}
		s.add(phase, "result", float64(m.Serialize+getting)/1e3)
		if rest := e.Info.Finish - e.Info.Launch - m.Run - m.Deserialize - m.Serialize - getting; rest > 0 {
			s.add(phase, "scheduler", float64(rest)/1e3)
		}
	}
	return s
}

func rowSums(tr *schema.Trace) sums {
	names := map[schema.Key]string{}
	for _, p := range tr.Phases {
		names[p.PhaseID] = p.NativeID + "." + strconv.Itoa(int(p.Attempt))
	}
	upper := map[schema.Locality]string{schema.ProcessLocal: "PROCESS_LOCAL", schema.NodeLocal: "NODE_LOCAL",
		schema.NoPreference: "NO_PREF", schema.RackLocal: "RACK_LOCAL", schema.AnyLocality: "ANY"}
	s := sums{}
	for _, a := range tr.Attempts {
		if a.Status == schema.Running {
			continue
		}
		phase := names[a.PhaseID]
		s.add(phase, "ends", 1)
		s.add(phase, "duration", a.DurationS.V)
		s.add(phase, "launch", float64(a.StartTime.V)/1e3)
		s.add(phase, "on "+a.Machine.V, 1)
		s.add(phase, "locality "+upper[a.Locality.V], 1)
		s.add(phase, "partition", float64(a.Task))
		if a.Status != schema.Success {
			s.add(phase, "not succeeded", 1)
			continue
		}
		s.add(phase, "cpu", a.CPUS.V)
		s.add(phase, "gc", a.GCS.V)
		s.add(phase, "deserialize", a.DeserializeS.V)
		s.add(phase, "wait", a.FetchWaitS.V)
		s.add(phase, "records", float64(a.InputRecords.V))
		s.add(phase, "input", float64(a.InputBytes.V))
		s.add(phase, "shuffled", float64(a.ShuffleWriteBytes.V))
		s.add(phase, "output", float64(a.OutputBytes.V))
		s.add(phase, "spilled", float64(a.SpillBytes.V))
		s.add(phase, "result", a.ResultS.V)
		s.add(phase, "scheduler", a.SchedulerDelayS.V)
	}
	return s
}

// The rows of the first log have no input bytes and records if Spark 1.2 counted neither local bytes nor records.
func TestReference(t *testing.T) {
	logs := labelledLogs(t)
	for _, m := range manifest(t) {
		logs = append(logs, ingesttest.Corpus(t, m.file)[0])
	}
	for _, path := range logs {
		t.Run(path, func(t *testing.T) {
			want := referenceSums(t, content(t, path))
			r := readFile(t, path)
			got := rowSums(&r.Trace)
			if len(got) != len(want) {
				t.Errorf("%d stage attempts, want %d", len(got), len(want))
			}
			for phase := range want {
				for q, w := range want[phase] {
					if g := got[phase][q]; math.Abs(g-w) > 1e-9*math.Abs(w)+1e-9 {
						t.Errorf("stage %s: %s is %v, want %v", phase, q, g, w)
					}
				}
			}
		})
	}
}
