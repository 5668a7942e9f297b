package serve_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// openAPI is the part of the OpenAPI document that these tests read.
type openAPI struct {
	OpenAPI string
	Paths   map[string]struct {
		Get struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema any }
			}
		}
	}
}

func readOpenAPI(t *testing.T, h http.Handler) (doc openAPI) {
	t.Helper()
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/openapi.json").Body.Bytes(), &doc))
	if doc.OpenAPI != "3.1.0" {
		t.Fatalf("OpenAPI %q", doc.OpenAPI)
	}
	return doc
}

// described returns the paths of the document.
func described(t *testing.T, h http.Handler) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(readOpenAPI(t, h).Paths))
}

// asDescribed requests a path of the API, and checks that it answers with a code and as documented for that path.
func asDescribed(t *testing.T, h http.Handler, path, at string, code int) {
	t.Helper()
	key := "default"
	if code == 200 {
		key = "200"
	}
	compiler := jsonschema.NewCompiler()
	reporttest.Check(t, compiler.AddResource("answer.json", readOpenAPI(t, h).Paths[path].Get.Responses[key].Content["application/json"].Schema))
	schema, err := compiler.Compile("answer.json")
	reporttest.Check(t, err)
	w := get(h, "/api/v1"+at)
	v, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil || w.Code != code {
		t.Errorf("%s: %d, not %d, %v", at, w.Code, code, err)
		return
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s: %v", at, err)
	}
}

// Every endpoint in the OpenAPI document answers as documented; every other address is an error.
func TestAPI(t *testing.T) {
	s, c := served(t, filled(t, "sql"), serve.Options{Version: "test"})
	until(t, c)
	h := s.Handler()
	paths := described(t, h)
	if len(paths) < 12 {
		t.Fatalf("%d paths", len(paths))
	}
	var apps []struct {
		ID       string
		Attempts []struct{ AppSparkVersion, StartTime string }
	}
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/applications").Body.Bytes(), &apps))
	spark := ""
	for _, a := range apps {
		if strings.HasPrefix(a.ID, "app-") {
			spark = a.ID
		}
	}
	var stages []struct {
		StageID      int64 `json:"stageId"`
		AttemptID    int
		NumTasks     int
		StragglerKey string
	}
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/applications/"+spark+"/stages").Body.Bytes(), &stages))
	if len(stages) < 5 {
		t.Fatalf("%d stages", len(stages))
	}
	fill := strings.NewReplacer("{id}", spark, "{job}", "0", "{execution}", "0", "{stage}", fmt.Sprint(stages[0].StageID), "{attempt}", "0")
	for _, path := range paths {
		query := ""
		if path == "/sql" {
			query = "?q=" + url.QueryEscape("SELECT native_id, status FROM jobs")
		}
		asDescribed(t, h, path, fill.Replace(path)+query, 200)
		if strings.Contains(path, "{id}") {
			asDescribed(t, h, path, strings.NewReplacer("{id}", "nobody", "{job}", "0", "{stage}", "0", "{attempt}", "0",
				"{execution}", "0").Replace(path), 404)
		}
	}
	for _, path := range []string{"/applications?limit=x", "/applications?status=dead", "/applications?minDate=soon", "/applications/" + spark + "/jobs?status=dead", "/applications/" + spark + "/stages?status=dead", "/applications/" + spark + "/stages/0/0/taskList?sortBy=x", "/applications/" + spark + "/stages/0/0/taskList?offset=-1", "/sql"} {
		if w := get(h, "/api/v1"+path); w.Code != 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for query, want := range map[string]int{"": len(apps), "?minDate=1970-01-01": len(apps), "?maxDate=1971-01-01": 0,
		"?minDate=2100-01-01": 0, "?maxDate=2100-01-01T00:00:00.000GMT": len(apps), "?limit=1": 1,
		"?status=completed&minEndDate=2100-01-01": 0} {
		var some []struct{ ID string }
		reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/applications"+query).Body.Bytes(), &some))
		if len(some) != want {
			t.Errorf("%s lists %d applications, not %d", query, len(some), want)
		}
	}
	kinds := 0
	for _, status := range []string{"active", "complete", "pending", "skipped", "failed"} {
		var some []struct{ Status string }
		reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/applications/"+spark+"/stages?status="+status).Body.Bytes(), &some))
		for _, s := range some {
			if !strings.EqualFold(s.Status, status) {
				t.Errorf("status=%s lists a stage that is %s", status, s.Status)
			}
		}
		kinds += len(some)
	}
	if kinds != len(stages) {
		t.Errorf("the stages of all statuses are %d of %d", kinds, len(stages))
	}
	var tasks []struct{ Duration int64 }
	all := get(h, fmt.Sprintf("/api/v1/applications/%s/stages/%d/0/taskList?length=10000&sortBy=-runtime", spark, stages[0].StageID))
	reporttest.Check(t, json.Unmarshal(all.Body.Bytes(), &tasks))
	if len(tasks) < stages[0].NumTasks {
		t.Errorf("%d tasks of %d", len(tasks), stages[0].NumTasks)
	}
	for i := 1; i < len(tasks); i++ {
		if tasks[i].Duration > tasks[i-1].Duration {
			t.Errorf("tasks are not sorted by run time: %v", tasks)
			break
		}
	}
}

// What clients of the History Server request besides tasks is consistent with the tasks: quantiles are durations of tasks,
// counts of executors sum to the attempts, tasks have the requested status and order, and every job of a query belongs to the
// application.
func TestSparkParts(t *testing.T) {
	s, _ := served(t, catalogtest.Store(t, false, catalogtest.Labelled(t, "..", "sql")...), serve.Options{})
	h := s.Handler()
	ask := func(path string, into any) {
		t.Helper()
		w := get(h, "/api/v1/applications"+path)
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v %s", path, w.Code, err, w.Body)
		}
	}
	var apps []struct{ ID string }
	ask("", &apps)
	app := "/" + apps[0].ID
	var stages []struct {
		StageID, AttemptID, NumTasks, NumCompleteTasks, NumFailedTasks, NumKilledTasks int
		Status                                                                         string
	}
	ask(app+"/stages?withSummaries=true&details=true&quantiles=0.5", &stages)
	attempts, at := 0, ""
	for _, st := range stages {
		attempts += st.NumCompleteTasks + st.NumFailedTasks + st.NumKilledTasks
		if st.NumCompleteTasks > 3 && at == "" {
			at = fmt.Sprintf("%s/stages/%d/%d", app, st.StageID, st.AttemptID)
		}
	}
	var tasks, none []struct {
		Status   string
		Duration float64
		Metrics  map[string]any `json:"taskMetrics"`
	}
	ask(at+"/taskList?length=100000&sortBy=increasing_runtime&status=success", &tasks)
	ask(at+"/taskList?status=failed", &none)
	for i, x := range tasks {
		if x.Status != "SUCCESS" || i > 0 && x.Duration < tasks[i-1].Duration || x.Metrics["executorCpuTime"] == nil {
			t.Errorf("task %d: %+v", i, x)
		}
	}
	if len(none) > 0 {
		t.Errorf("failed tasks: %+v", none)
	}
	var summary struct{ Quantiles, Duration []float64 }
	ask(at+"/taskSummary?quantiles=0,0.3,0.5,1", &summary)
	for i, q := range summary.Quantiles {
		if want := tasks[min(int(q*float64(len(tasks))), len(tasks)-1)].Duration; len(summary.Duration) != 4 || summary.Duration[i] != want {
			t.Errorf("quantile %v is %v, want %v", q, summary.Duration, want)
		}
	}
	var executors []struct{ TotalTasks int }
	ask(app+"/allexecutors", &executors)
	for _, e := range executors {
		attempts -= e.TotalTasks
	}
	if attempts != 0 || len(executors) == 0 {
		t.Errorf("%d executors, and %d attempts are of none of them, or of several", len(executors), attempts)
	}
	var environment struct{ SparkProperties [][]string }
	if ask(app+"/environment", &environment); len(environment.SparkProperties) == 0 {
		t.Error("no settings")
	}
	var jobs []struct{ JobID int64 }
	ask(app+"/jobs", &jobs)
	known := map[int64]bool{}
	for _, j := range jobs {
		known[j.JobID] = true
	}
	var queries []struct {
		SuccessJobIDs []int64
		Nodes         []struct{ NodeID int64 }
		Edges         []struct{ FromID, ToID int64 }
	}
	ask(app+"/sql?length=1000", &queries)
	ran := 0
	for _, q := range queries {
		for _, j := range q.SuccessJobIDs {
			ran++
			if !known[j] {
				t.Errorf("a query names job %d, which does not exist", j)
			}
		}
		if len(q.Nodes) != len(q.Edges)+1 { // a plan is a tree
			t.Errorf("%d operators and %d edges", len(q.Nodes), len(q.Edges))
		}
	}
	if ran == 0 {
		t.Error("no query ran a job")
	}
	for _, bad := range []string{at + "/taskSummary?quantiles=2", at + "/taskSummary?quantiles=x", at + "/taskList?status=slow", app + "/sql?length=x"} {
		if w := get(h, "/api/v1/applications"+bad); w.Code != 400 {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
}
