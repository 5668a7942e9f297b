package serve

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"
)

// endpoint is a row of the API: its address, what it answers, and with what type.
type endpoint struct {
	path, what string
	parameters []parameter
	answer     http.HandlerFunc
	gives      any // a value of the type; nil for any JSON
}

// parameter is one of a query; those of the path follow from it.
type parameter struct {
	name, what string
	integer    bool
}

// endpoints is the table of the API.
func (s *Server) endpoints() []endpoint {
	limit := parameter{"limit", "at most so many", true}
	status := func(what string) parameter { return parameter{"status", what, false} }
	tasks := []parameter{{"offset", "tasks to leave out first", true}, {"length", "at most so many, 20 without it", true}, {"sortBy", "ID, +runtime or -runtime", false}, status("running, success, failed or killed")}
	return []endpoint{
		{"/applications", "The applications, the newest first, in Spark's shape", []parameter{status("completed or running"), limit, {"minDate", "started on this day or later", false}, {"maxDate", "started on this day or before", false},
			{"minEndDate", "ended on this day or later", false}, {"maxEndDate", "ended on this day or before", false}}, api(s.applicationsAPI), []sparkApplication{}},
		{"/applications/{id}", "One application, by the framework's id or by straggler's key", nil, api(s.applicationAPI), sparkApplication{}},
		{"/applications/{id}/jobs", "Its jobs, in Spark's shape", []parameter{status("running, succeeded, failed or unknown")}, api(s.jobsAPI), []sparkJob{}},
		{"/applications/{id}/jobs/{job}", "One of its jobs", nil, api(s.jobAPI), sparkJob{}},
		{"/applications/{id}/stages", "Its phases, in the shape of Spark's stages", []parameter{status("active, complete, pending, skipped or failed")}, api(s.stagesAPI), []sparkStage{}},
		{"/applications/{id}/stages/{stage}", "The attempts of one of its phases", nil, api(s.stagesAPI), []sparkStage{}},
		{"/applications/{id}/stages/{stage}/{attempt}", "One attempt of one of its phases", nil, api(s.stageAPI), sparkStage{}},
		{"/applications/{id}/stages/{stage}/{attempt}/taskList", "Its tasks, in Spark's shape, with their causes", tasks, api(s.tasksAPI), []sparkTask{}},
		{"/applications/{id}/stages/{stage}/{attempt}/taskSummary", "Quantiles over its tasks", []parameter{{"quantiles", "such as 0.25,0.5,0.75", false}}, api(s.summaryAPI), sparkSummary{}},
		{"/applications/{id}/executors", "Its executors that were not lost, in Spark's shape", nil, api(s.executorsAPI(false)), []sparkExecutor{}},
		{"/applications/{id}/allexecutors", "All its executors", nil, api(s.executorsAPI(true)), []sparkExecutor{}},
		{"/applications/{id}/environment", "Its settings", nil, api(s.environmentAPI), sparkEnvironment{}},
		{"/applications/{id}/sql", "Its queries, with the operators of their final plans", []parameter{{"details", "false leaves the plans out", false}, tasks[0], tasks[1]}, api(s.executionsAPI), []sparkExecution{}},
		{"/applications/{id}/sql/{execution}", "One of its queries", nil, api(s.executionAPI), sparkExecution{}},
		{"/version", "The release of Spark whose API this one has the shape of", nil, api(s.versionAPI), sparkVersion{}},
		{"/applications/{id}/timeline", "What a picture of a window of its time shows", []parameter{{"from", "seconds after its first attempt", false}, {"to", "the same, its end without it", false}, {"of", "instead of both, the key of a job or a phase", false}, {"skip", "machines to leave out first", true}},
			api(s.timelineAPI), timelineAnswer{}},
		{"/running", "The applications that run, with their stages and slow tasks", nil, api(s.runningAPI), []runningAnswer{}},
		{"/replays", "The replays of policies that were started from the pages, the newest first", nil, api(s.replaysAPI), []replayAnswer{}},
		{"/applications/{id}/report", "The document of straggler report --as json on it", nil, s.reportAPI, nil},
		{"/report", "The document on all applications", nil, s.reportAPI, nil},
		{"/sql", "The rows of a query, as straggler sql --as json writes them", []parameter{{"q", "the query", false}}, s.queryAPI, []map[string]any{}},
		{"/schema", "The tables with their columns", nil, s.schemaAPI, []tableAnswer{}},
		{"/status", "What is being read and computed", nil, s.statusAPI, statusAnswer{}},
	}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// openAPI describes the API, in OpenAPI 3.1, whose schemas are JSON Schema.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	paths := map[string]any{}
	for _, e := range s.endpoints() {
		parameters := []any{}
		for _, m := range pathParameter.FindAllStringSubmatch(e.path, -1) {
			parameters = append(parameters, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
		}
		for _, p := range e.parameters {
			schema := map[string]any{"type": "string"}
			if p.integer {
				schema = map[string]any{"type": "integer", "minimum": 0}
			}
			parameters = append(parameters, map[string]any{"name": p.name, "in": "query", "description": p.what, "schema": schema})
		}
		gives := map[string]any{"type": "object"}
		if e.gives != nil {
			gives = schemaOf(reflect.TypeOf(e.gives))
		}
		paths[e.path] = map[string]any{"get": map[string]any{"summary": e.what, "parameters": parameters, "responses": map[string]any{
			"200":     map[string]any{"description": e.what, "content": map[string]any{"application/json": map[string]any{"schema": gives}}},
			"default": map[string]any{"description": "What went wrong", "content": map[string]any{"application/json": map[string]any{"schema": schemaOf(reflect.TypeFor[failure]())}}},
		}}}
	}
	writeJSON(w, http.StatusOK, map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "straggler", "version": s.o.Version,
		"description": "Applications, jobs, stages and tasks have the shape of Spark's REST API where a field means the same; fields that begin with straggler are its own."},
		"servers": []any{map[string]any{"url": "/api/v1"}}, "paths": paths})
}

// schemaOf is the JSON schema of a type as encoding/json writes it. Nothing else may be in an object, and what is not left out
// when it is unknown must be there.
func schemaOf(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object"}
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties[name] = schemaOf(f.Type)
			if options != "omitempty" {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return map[string]any{"type": "string"}
}
