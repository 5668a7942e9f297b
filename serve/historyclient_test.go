package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// historyClient returns a Python with the packages in testdata/history_client.txt: a published client of Spark's History
// Server (kubeflow's mcp-apache-spark-history-server), whose models reject fields of other types than Spark's.
func historyClient(t *testing.T) string {
	t.Helper()
	name := os.Getenv("STRAGGLER_HISTORY_CLIENT")
	if name == "" {
		name = "python3"
	}
	out, err := exec.Command(name, "-c", "import spark_history_mcp.api.spark_client").CombinedOutput()
	if err != nil {
		if reporttest.Required("historyclient") {
			t.Fatalf("%s lacks what testdata/history_client.txt names: %v\n%s", name, err, out)
		}
		t.Skipf("%s lacks what testdata/history_client.txt names; STRAGGLER_HISTORY_CLIENT names a Python that has it", name)
	}
	return name
}

// understood is an answer as parsed by the client.
type understood struct {
	app, what string
	rows      []map[string]any
}

func (u *understood) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&u.app, &u.what, &u.rows})
}

// asked runs every request of the client on a server.
func asked(t *testing.T, python string, s *serve.Server) map[[2]string][]map[string]any {
	t.Helper()
	ctx, cancel := contextOf(t)
	l := listener(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	c := exec.CommandContext(ctx, python, filepath.Join("testdata", "history_client.py"), "http://"+l.Addr().String())
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, errs.Bytes())
	}
	cancel()
	reporttest.Check(t, <-ended)
	return understoodIn(t, out)
}

func understoodIn(t *testing.T, lines []byte) map[[2]string][]map[string]any {
	t.Helper()
	all := map[[2]string][]map[string]any{}
	scan := bufio.NewScanner(bytes.NewReader(lines))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var u understood
		reporttest.Check(t, json.Unmarshal(scan.Bytes(), &u))
		all[[2]string{u.app, u.what}] = u.rows
	}
	reporttest.Check(t, scan.Err())
	return all
}

// event is the part of an event that this test reads.
type event struct {
	Event          string `json:"Event"`
	StageID        int    `json:"Stage ID"`
	StageAttemptID int    `json:"Stage Attempt ID"`
	Task           struct {
		ID       int     `json:"Task ID"`
		Launched float64 `json:"Launch Time"`
		Finished float64 `json:"Finish Time"`
		Host     string  `json:"Host"`
		Executor string  `json:"Executor ID"`
	} `json:"Task Info"`
	Metrics struct {
		CPU float64 `json:"Executor CPU Time"`
		GC  float64 `json:"JVM GC Time"`
	} `json:"Task Metrics"`
	JobID       *int `json:"Job ID"`
	ExecutionID *int `json:"executionId"`
}

// A published client of Spark's History Server parses every answer, for normal logs and malicious names. For a real log the
// answers agree with the log: the jobs, the executions, the stages that ran with their numbers of tasks, and for each task
// when and where it ran, its processor time and its garbage collection.
func TestPublishedClient(t *testing.T) {
	python := historyClient(t)
	log := filepath.Join("..", "testdata", "racks", "orders-20261108.zstd")
	s, _ := served(t, catalogtest.Store(t, true, append(catalogtest.Labelled(t, "..", "failures", "sql"), log)...), serve.Options{})
	got := asked(t, python, s)
	app := ""
	for _, a := range got[[2]string{"", "applications"}] {
		if a["name"] == "orders-20261108" {
			app = a["id"].(string)
		}
	}
	if app == "" || len(got[[2]string{"", "applications"}]) < 4 {
		t.Fatalf("the client sees %v", got[[2]string{"", "applications"}])
	}
	of := func(what string) []map[string]any { return got[[2]string{app, what}] }
	jobs, queries, tasks, ended, cpu, gc := map[int]bool{}, map[int]bool{}, map[float64]*event{}, map[string]float64{},
		map[string]float64{}, map[string]float64{}
	for e := range events(t, log) {
		switch {
		case e.Event == "SparkListenerTaskEnd":
			tasks[float64(e.Task.ID)] = e
			stage := fmt.Sprintf("stage %d.%d", e.StageID, e.StageAttemptID)
			ended[stage]++
			cpu[stage] += e.Metrics.CPU
			gc[stage] += e.Metrics.GC
		case e.Event == "SparkListenerJobStart":
			jobs[*e.JobID] = true
		case e.ExecutionID != nil:
			queries[*e.ExecutionID] = true
		}
	}
	if len(of("jobs")) != len(jobs) || len(of("queries")) != len(queries) || len(tasks) != 210 {
		t.Errorf("%d of %d jobs, %d of %d queries, %d tasks", len(of("jobs")), len(jobs), len(of("queries")), len(queries), len(tasks))
	}
	checked := 0
	for stage, n := range ended {
		rows := of(stage)
		// a tolerance of a nanosecond per task, since it is a sum of floats
		if len(rows) != 1 || rows[0]["numCompleteTasks"] != n || math.Abs(rows[0]["executorCpuTime"].(float64)-cpu[stage]) > n || rows[0]["jvmGcTime"] != gc[stage] {
			t.Errorf("%s: %v, want %v tasks, %v ns, %v ms", stage, rows, n, cpu[stage], gc[stage])
		}
		for _, x := range of(stage + " tasks") {
			checked++
			e, metrics := tasks[x["taskId"].(float64)], x["taskMetrics"].(map[string]any)
			if e == nil || x["duration"] != e.Task.Finished-e.Task.Launched || x["host"] != e.Task.Host ||
				x["executorId"] != e.Task.Executor || metrics["executorCpuTime"] != e.Metrics.CPU || metrics["jvmGcTime"] != e.Metrics.GC {
				t.Errorf("%s: %v, want %+v", stage, x, e)
			}
		}
	}
	if checked < 150 { // at most 20 of a stage
		t.Errorf("%d tasks were looked at", checked)
	}
}

// events returns the events of a log.
func events(t *testing.T, name string) iter.Seq[*event] {
	return func(yield func(*event) bool) {
		f, err := os.Open(name)
		reporttest.Check(t, err)
		defer f.Close()
		z, err := zstd.NewReader(f)
		reporttest.Check(t, err)
		defer z.Close()
		d := json.NewDecoder(z)
		for d.More() {
			var e event
			reporttest.Check(t, d.Decode(&e))
			if !yield(&e) {
				return
			}
		}
	}
}
