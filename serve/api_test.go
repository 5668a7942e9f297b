package serve_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"straggler/report/reporttest"
	"straggler/serve"
)

// Every endpoint that the OpenAPI document names answers, and as it says; every address that it does not name is an error.
func TestAPI(t *testing.T) {
	s, c := served(t, filled(t, "mixed"), serve.Options{Version: "test"})
	until(t, c)
	h := s.Handler()
	var doc struct {
		OpenAPI string
		Paths   map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct{ Schema any }
				}
			}
		}
	}
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/openapi.json").Body.Bytes(), &doc))
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) < 12 {
		t.Fatalf("OpenAPI %q with %d paths", doc.OpenAPI, len(doc.Paths))
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
	fill := strings.NewReplacer("{id}", spark, "{job}", "0", "{stage}", fmt.Sprint(stages[0].StageID), "{attempt}", "0")
	for path, item := range doc.Paths {
		compiled := func(code string) *jsonschema.Schema {
			compiler := jsonschema.NewCompiler()
			reporttest.Check(t, compiler.AddResource("answer.json", item.Get.Responses[code].Content["application/json"].Schema))
			schema, err := compiler.Compile("answer.json")
			reporttest.Check(t, err)
			return schema
		}
		query := ""
		if path == "/sql" {
			query = "?q=" + url.QueryEscape("SELECT native_id, status FROM jobs")
		}
		w := get(h, "/api/v1"+fill.Replace(path)+query)
		v, err := jsonschema.UnmarshalJSON(w.Body)
		if err != nil || w.Code != 200 {
			t.Errorf("%s: %d, %v", path, w.Code, err)
			continue
		}
		if err := compiled("200").Validate(v); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if !strings.Contains(path, "{id}") {
			continue
		}
		w = get(h, "/api/v1"+strings.NewReplacer("{id}", "nobody", "{job}", "0", "{stage}", "0", "{attempt}", "0").Replace(path))
		if v, err = jsonschema.UnmarshalJSON(w.Body); err != nil || w.Code != 404 || compiled("default").Validate(v) != nil {
			t.Errorf("%s of an application that is not there: %d, %v, %v", path, w.Code, v, err)
		}
	}
	for _, path := range []string{"/applications?limit=x", "/applications?status=dead", "/applications?minDate=soon", "/applications/" + spark + "/jobs?status=dead", "/applications/" + spark + "/stages?status=dead", "/applications/" + spark + "/stages/0/0/taskList?sortBy=x", "/applications/" + spark + "/stages/0/0/taskList?offset=-1", "/sql"} {
		if w := get(h, "/api/v1"+path); w.Code != 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for query, want := range map[string]int{"": len(apps), "?minDate=1970-01-01": len(apps), "?maxDate=1971-01-01": 0, "?minDate=2100-01-01": 0, "?maxDate=2100-01-01T00:00:00.000GMT": len(apps), "?limit=1": 1,
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
