package spark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/ingest/read"
	"straggler/ingest/read/pull"
	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// planLogs returns logs with plans: those of the repository, and of the corpus if there is one.
func planLogs(tb testing.TB) map[string][]byte {
	tb.Helper()
	logs := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(labelled, "sql", "app-*"))
	for _, pattern := range []string{"db_subExecution_id*", "dsAndDf*", "eventlog_4nodes*", "gds_ucx*", "nds_q72*", "xgboost*", "tasks_executors*"} {
		files = append(files, ingesttest.CorpusOrNone("spark/rapids-tools/"+pattern)...)
	}
	files = append(files, ingesttest.CorpusOrNone("spark/apache/local-1*2*")...)
	for _, f := range files {
		logs[filepath.Base(f)] = content(tb, f)
	}
	return logs
}

// The order of keys and the choice of scanner do not matter for plans either: rows of all tables are equal.
func TestPlansInAnyKeyOrder(t *testing.T) {
	logs := planLogs(t)
	for _, name := range slices.Sorted(mapsKeys(logs)) {
		log := logs[name]
		if len(log) > 8<<20 {
			continue
		}
		rng := rand.New(rand.NewPCG(5, 6))
		var shuffled []byte
		eachLine(log, func(line []byte) {
			if !json.Valid(line) || bytes.Contains(line, []byte(`"SparkListenerEnvironmentUpdate"`)) {
				shuffled = append(append(shuffled, line...), '\n')
				return
			}
			n := parseTree(t, line)
			n.shuffle(rng)
			shuffled = append(n.write(shuffled, " "), '\n')
		})
		want, got := under(t, 7, log), under(t, 7, shuffled)
		want.Trace.Rejects, got.Trace.Rejects = nil, nil
		if diff := cmp.Diff(want.Trace, got.Trace); diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
	}
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// The reference reader of plans uses encoding/json and maps. What the tasks of a stage added to an accumulator must equal
// what its operator counted; the plan that ran must have as many operators as its tree.
type referencePlan struct {
	Node     string `json:"nodeName"`
	Simple   string `json:"simpleString"`
	Children []referencePlan
	Metrics  []struct {
		Name string
		ID   int64  `json:"accumulatorId"`
		Kind string `json:"metricType"`
	}
}

func (p *referencePlan) each(f func(*referencePlan)) {
	f(p)
	for i := range p.Children {
		p.Children[i].each(f)
	}
}

// checkRows compares a plan with its rows: as many, in the order of the plan, each below the operator that reads it. A query
// whose start is not in the log has none.
func (p *referencePlan) checkRows(t *testing.T, rows []schema.PlanNode) {
	t.Helper()
	at := 0
	var below func(n *referencePlan, parent schema.Null[schema.Key])
	below = func(n *referencePlan, parent schema.Null[schema.Key]) {
		if at++; at > len(rows) {
			return
		}
		row := rows[at-1]
		name := strings.NewReplacer("Scan In-memory table", "InMemoryTableScan", "Execute ", "").Replace(n.Node)
		if !strings.HasPrefix(name, row.Operator) && row.Engine == schema.SparkEngine || row.ParentID != parent || row.Position != int32(at-1) {
			t.Errorf("operator %d is %s below %v, want %s below %v", at-1, row.Operator, row.ParentID, n.Node, parent)
		}
		for i := range n.Children {
			if row.ReusesID.OK {
				break // Spark repeats there what it reuses
			}
			below(&n.Children[i], schema.Some(row.NodeID))
		}
	}
	if p != nil {
		below(p, schema.Null[schema.Key]{})
	}
	if at != len(rows) {
		t.Errorf("%d operators in the plan as made, %d rows", at, len(rows))
	}
}

// The rows of plans are compared with a reading of the same log by encoding/json, line by line.
func TestPlansReference(t *testing.T) {
	checked := 0
	for name, log := range planLogs(t) {
		sums, stages := map[int64]int64{}, map[int64]map[int64]bool{}
		plans, first := map[int64]*referencePlan{}, map[int64]*referencePlan{}
		eachLine(log, func(line []byte) {
			var e struct {
				Event     string
				Execution int64                   `json:"executionId"`
				Plan      *referencePlan          `json:"sparkPlanInfo"`
				Stage     int64                   `json:"Stage ID"`
				Reason    struct{ Reason string } `json:"Task End Reason"`
				Info      struct {
					Accumulables []struct {
						ID       int64
						Update   any
						Metadata string
					}
				} `json:"Task Info"`
			}
			if json.Unmarshal(line, &e) != nil {
				return
			}
			if e.Plan != nil {
				plans[e.Execution] = e.Plan
				if strings.HasSuffix(e.Event, "SQLExecutionStart") && first[e.Execution] == nil {
					first[e.Execution] = e.Plan
				}
			}
			if e.Event != "SparkListenerTaskEnd" {
				return
			}
			for _, a := range e.Info.Accumulables {
				if a.Metadata == "sql" {
					v, _ := strconv.ParseInt(fmt.Sprint(a.Update), 10, 64)
					sums[a.ID] += max(v, 0)
					if stages[a.ID] == nil {
						stages[a.ID] = map[int64]bool{}
					}
					stages[a.ID][e.Stage] = true
				}
			}
		})
		r := ingesttest.Bytes(t, Format(), name, log)
		phases := map[schema.Key]schema.Phase{}
		for _, p := range r.Phases {
			phases[p.PhaseID] = p
		}
		initial := map[schema.Key][]schema.PlanNode{}
		for _, n := range r.PlanNodes {
			if n.Plan == schema.InitialPlan {
				initial[n.QueryID] = append(initial[n.QueryID], n)
			}
		}
		for _, q := range r.Queries {
			id, _ := strconv.ParseInt(q.NativeID, 10, 64)
			first[id].checkRows(t, initial[q.QueryID])
			want := plans[id]
			nodes := 0
			type metric struct {
				name string
				v    float64
			}
			wanted := map[metric]int{}
			ran := map[int64]bool{}
			want.each(func(n *referencePlan) {
				nodes++
				for _, m := range n.Metrics {
					scale := map[string]float64{"sum": 1, "size": 1, "timing": 1e-3, "nsTiming": 1e-9}[m.Kind]
					if v, ok := sums[m.ID]; ok && v > 0 && scale > 0 {
						wanted[metric{m.Name, float64(v) * scale}]++
						for s := range stages[m.ID] {
							ran[s] = true
						}
					}
				}
			})
			if q.Operators.V != int64(nodes) {
				t.Errorf("%s: query %s has %d operators, want %d", name, q.NativeID, q.Operators.V, nodes)
			}
			for _, m := range r.NodeMetrics {
				if m.QueryID != q.QueryID || m.Driver || !m.NodeID.OK || m.Value == 0 {
					continue
				}
				checked++
				found := false
				for w := range wanted {
					found = found || w.name == m.Name && math.Abs(w.v-m.Value) <= 1e-9*w.v
				}
				// values of lost executors are counted there, but not their tasks
				if !found && !strings.HasPrefix(name, "tasks_executors_fail") {
					t.Errorf("%s: query %s: no tasks added up to %s = %v", name, q.NativeID, m.Name, m.Value)
				}
			}
			for _, p := range r.NodePhases {
				stage, _ := strconv.ParseInt(phases[p.PhaseID].NativeID, 10, 64)
				if p.QueryID == q.QueryID && p.Basis == schema.ByAccumulators && !ran[stage] {
					t.Errorf("%s: query %s is said to have run in stage %d", name, q.NativeID, stage)
				}
			}
		}
		valid(t, &r.Trace)
	}
	if len(planLogs(t)) > 5 && checked < 1000 {
		t.Errorf("only %d metrics were compared", checked)
	}
}

// The scanner of an attempt's values agrees with the general one on real and damaged lists, and accepts the real ones.
func TestUpdatesScanned(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	taken, lists := 0, 0
	for _, log := range planLogs(t) {
		var d decoder
		n := 0
		eachLine(log, func(line []byte) {
			var e taskEnd
			if n++; n%7 != 0 || !bytes.HasPrefix(line, []byte(`{"Event":"SparkListenerTaskEnd"`)) || !d.scanTaskEnd(line, &e) || len(e.accumulables) < 3 {
				return
			}
			for range 3 {
				want := pullUpdates(e.accumulables, nil)
				if got, next := scanAccumulables(e.accumulables, `,"Update":`, nil); next == len(e.accumulables) {
					if !slices.Equal(got, want) {
						t.Errorf("%v, want %v of %.300s", got, want, e.accumulables)
					}
					taken++
				}
				lists++
				damaged := slices.Clone(e.accumulables)
				damaged[rng.IntN(len(damaged))] = "\"0,}]a"[rng.IntN(6)]
				e.accumulables = damaged
			}
		})
	}
	if lists > 100 && taken < lists/3 {
		t.Errorf("%d of %d lists were scanned", taken, lists)
	}
}

// The scanners of the lists of stages and plans agree with the general ones, on real lists and on damaged ones that are still
// JSON, and accept the real ones.
func TestListsScanned(t *testing.T) {
	var d decoder
	pulled := func(list []byte, read func()) (next int) {
		d.pull.Reset(list)
		if read(); d.pull.Why != "" {
			return -2
		}
		return len(list) - len(d.pull.Rest())
	}
	both := map[string]func(list []byte) (scanned, general any, next, end int){
		`"RDD Info":[`: func(list []byte) (any, any, int, int) {
			var scanned, general rdds
			next := scanned.scan(list)
			return scanned, general, next, pulled(list, func() { d.pullRDDs(&general) })
		},
		`"Stage Info":{`: func(stage []byte) (any, any, int, int) {
			var scanned, general stageInfo
			next := d.scanStageInfo(stage, &scanned)
			end := pulled(stage, func() { d.object(reflect.ValueOf(&general).Elem()) })
			scanned.order()
			general.order()
			return scanned, general, next, end
		},
		`"Accumulables":[`: func(list []byte) (any, any, int, int) {
			var general stageValues
			scanned, next := scanAccumulables(list, `,"Value":`, nil)
			end := pulled(list, func() { general = eachAccumulable(&d.pull, "Value", nil) })
			return scanned, general, next, end
		},
		`"metrics":[`: func(list []byte) (any, any, int, int) {
			var general []sqlplan.Metric
			scanned, next := d.scanPlanMetrics(list, nil)
			end := pulled(list, func() { general = d.planMetrics() })
			return scanned, general, next, end
		},
	}
	rng := rand.New(rand.NewPCG(9, 10))
	lists, taken := map[string]int{}, map[string]int{}
	for _, log := range planLogs(t) {
		eachLine(log, func(line []byte) {
			if bytes.HasPrefix(line, []byte(`{"Event":"SparkListenerTask`)) {
				return
			}
			for _, key := range slices.Sorted(mapsKeys(both)) {
				at := bytes.Index(line, []byte(key))
				if at < 0 {
					continue
				}
				at += len(key) - 1
				end, _ := pull.EndOf(line, at)
				list := slices.Clone(line[at:end])
				for round := range 3 {
					scanned, general, next, end := both[key](list)
					if next >= 0 && json.Valid(list) && (!reflect.DeepEqual(scanned, general) || next != end) {
						t.Errorf("%+v to %d, want %+v to %d of %.300s", scanned, next, general, end, list)
					}
					if round == 0 {
						if lists[key]++; next >= 0 {
							taken[key]++
						}
					}
					list[rng.IntN(len(list))] = "\"0,}]a"[rng.IntN(6)]
				}
			}
		})
	}
	for key, n := range lists {
		if n > 100 && taken[key] < n/2 {
			t.Errorf("%d of %d lists after %s were scanned", taken[key], n, key)
		}
	}
	if len(lists) != len(both) {
		t.Errorf("lists after %v only", lists)
	}
}

// Of the updates of a plan in one block only the last is decoded: the rows equal those of a log whose lines are decoded one
// by one, even if the last cannot be used.
func TestHeldUpdates(t *testing.T) {
	const event = `{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQL`
	update := func(plan string) string {
		return event + `AdaptiveExecutionUpdate","executionId":3,"sparkPlanInfo":` + plan + "}\n"
	}
	plan := func(name string) string { return `{"nodeName":"` + name + `","simpleString":"","children":[]}` }
	logs := planLogs(t)
	for name, last := range map[string]string{"Filter": update(plan("Filter")), "Sort": update(`{"nodeName":7,"children":[}`),
		"Project": event + `ExecutionEnd","executionId":3,"time":1700000000001}` + "\n" + update(plan("Project"))} {
		logs[name] = []byte(event + `ExecutionStart","executionId":3,"description":"d","time":1700000000000,"sparkPlanInfo":` +
			plan("Union") + "}\n" + update(plan("Window")) + update(plan("Sort")) + last)
	}
	for name, log := range logs {
		if len(log) > 8<<20 {
			continue
		}
		want, _ := readAtOnce(t, log, false)
		var one schema.Trace
		f := newFold(&ingest.Input{Name: "log", Base: "log", Key: 7}, ingest.NewSink(ingest.Limits{}, func(b schema.Batch) error {
			b.AddTo(&one)
			return nil
		}))
		var d decoder
		number, offset := int64(0), int64(0)
		eachLine(log, func(line []byte) {
			var b batch
			number++
			d.block(&read.Block{Data: line, Line: number, Offset: offset}, "log", &b)
			offset += int64(len(line)) + 1
			if err := f.batch(&b); err != nil {
				t.Fatal(err)
			}
		})
		f.finishApp("")
		want.Rejects, one.Rejects = nil, nil
		if diff := cmp.Diff(*want, one); diff != "" {
			t.Errorf("%s: %.2000s", name, diff)
		}
		if n := len(one.PlanNodes); len(log) < 2000 && (n != 2 || one.PlanNodes[1].Operator != name) {
			t.Errorf("%s: %+v", name, one.PlanNodes)
		}
	}
}

// A plan of 100 000 operators, one 10 000 deep, and one of 50 MB are read up to the limits, with a caveat.
func TestHugePlans(t *testing.T) {
	start := func(id int, plan string) string {
		return fmt.Sprintf(`{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":%d,"description":"d","time":1700000000000,"sparkPlanInfo":%s}`, id, plan)
	}
	leaf := `{"nodeName":"Project","simpleString":"Project [a#1]","children":[],"metadata":{},"metrics":[]}`
	wide := `{"nodeName":"Union","simpleString":"Union","children":[` + strings.Repeat(leaf+",", 99_998) + leaf + `],"metrics":[]}`
	deep := strings.Repeat(`{"nodeName":"Project","simpleString":"Project [a#1]","children":[`, 9_999) + leaf + strings.Repeat(`]}`, 9_999)
	long := `{"nodeName":"Filter","simpleString":"Filter ` + strings.Repeat("x", 50<<20) + `","children":[],"metrics":[]}`
	log := `{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}` + "\n" + start(0, wide) + "\n" + start(1, deep) + "\n" + start(2, long) + "\n"
	r := under(t, 7, []byte(log))
	valid(t, &r.Trace)
	if len(r.Trace.Rejects) > 0 || len(r.Queries) != 3 {
		t.Fatalf("%d queries, rejects %v", len(r.Queries), r.Trace.Rejects)
	}
	type of struct {
		query schema.Key
		plan  schema.PlanStage
	}
	count := map[of]int{}
	for _, n := range r.PlanNodes {
		count[of{n.QueryID, n.Plan}]++
	}
	for i, want := range []struct {
		nodes     int
		operators int64
	}{{maxPlanNodes, 100_000}, {10_000, 10_000}, {1, 1}} {
		q := r.Queries[i]
		made, ran := count[of{q.QueryID, schema.InitialPlan}], count[of{q.QueryID, schema.FinalPlan}]
		if made != want.nodes || ran != want.nodes || q.Operators.V != want.operators {
			t.Errorf("query %s: %d and %d of %d operators, want %+v", q.NativeID, made, ran, q.Operators.V, want)
		}
	}
	codes := map[string]int64{}
	for _, c := range r.Caveats {
		codes[c.Code] = c.Count.V
	}
	if codes["plan_cut"] != 1 || codes["plan_text_cut"] != 1 {
		t.Errorf("caveats %v", codes)
	}
	for _, n := range r.PlanNodes {
		if len(n.Detail.V) > sqlplan.MaxDetail+len("…") {
			t.Errorf("a detail of %d bytes", len(n.Detail.V))
		}
	}
}

// FuzzPlan reads arbitrary plans, in this goroutine and once per setting. The seeds are small events of a real log, because a
// fuzzer minimizes interesting inputs byte by byte for up to -fuzzminimizetime, by default a minute each; 1s is enough.
func FuzzPlan(f *testing.F) {
	eachLine(content(f, "testdata/plans.log"), func(line []byte) {
		if len(line) < 2000 {
			f.Add(line)
		}
	})
	f.Add([]byte(`{"Event":"SparkListenerSQLExecutionStart","executionId":0,"sparkPlanInfo":{"nodeName":"Window","simpleString":"Window [[[(","children":[{"children":[{}]}],"metrics":[{"accumulatorId":1}]}}`))
	f.Add([]byte("{\"Event\":\"SparkListenerSQLExecutionStart\",\"executionId\":0,\"sparkPlanInfo\":{\"nodeName\":\"Filter\",\"simpleString\":\"Filter (`\u00ef = 1)\"}}")) // a quote that nothing closes
	f.Fuzz(func(t *testing.T, events []byte) {
		log := append([]byte(`{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}`+"\n"), events...)
		dropped, _ := readAtOnce(t, log, false)
		valid(t, dropped)
		kept, _ := readAtOnce(t, log, true)
		valid(t, kept)
		for i := range dropped.Queries {
			if dropped.Queries[i].PlanFingerprint != kept.Queries[i].PlanFingerprint {
				t.Fatal("literals are in the fingerprint")
			}
		}
	})
}
