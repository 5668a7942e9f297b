package api

import (
	"embed"
	"net/http"

	"straggler/schema"
	"straggler/serve/catalog"
	"straggler/serve/running"
)

//go:embed sql/*.sql
var queryFiles embed.FS

// sqlOf returns the query in a file, about one application or phase.
func sqlOf(file string, key schema.Key) string { return catalog.SQL(queryFiles, file, key) }

// API serves /api/v1.
type API struct {
	c         *catalog.Catalog
	board     *running.Board // nil for none
	straggler string         // its version
}

// New returns the API of a catalog and of running applications; board may be nil. version is straggler's.
func New(c *catalog.Catalog, board *running.Board, version string) *API {
	return &API{c, board, version}
}

// Handle registers all addresses of the API.
func (api *API) Handle(m *http.ServeMux) {
	for _, e := range api.endpoints() {
		m.HandleFunc("GET /api/v1"+e.path, e.answer)
	}
	m.HandleFunc("GET /api/v1/openapi.json", api.describe)
}

// endpoint is a row of the API's table: its address, what it returns, and of which type.
type endpoint struct {
	path, what string
	parameters []parameter
	answer     http.HandlerFunc
	gives      any // a value of the type; nil for any JSON
}

// parameter is a parameter of the query string; those of the path are derived from it.
type parameter struct {
	name, what string
	integer    bool
}

// endpoints returns the table of the API.
func (api *API) endpoints() []endpoint {
	limit := parameter{"limit", "at most so many", true}
	status := func(what string) parameter { return parameter{"status", what, false} }
	tasks := []parameter{{"offset", "tasks to leave out first", true}, {"length", "at most so many, 20 without it", true},
		{"sortBy", "ID, +runtime or -runtime", false}, status("running, success, failed or killed")}
	return []endpoint{
		{"/applications", "The applications, the newest first, in Spark's shape",
			[]parameter{status("completed or running"), limit, {"minDate", "started on this day or later", false},
				{"maxDate", "started on this day or before", false},
				{"minEndDate", "ended on this day or later", false}, {"maxEndDate", "ended on this day or before", false}},
			answer(api.applications), []sparkApplication{}},
		{"/applications/{id}", "One application, by the framework's id or by straggler's key", nil, answer(api.application), sparkApplication{}},
		{"/applications/{id}/jobs", "Its jobs, in Spark's shape", []parameter{status("running, succeeded, failed or unknown")}, answer(api.jobs), []sparkJob{}},
		{"/applications/{id}/jobs/{job}", "One of its jobs", nil, answer(api.job), sparkJob{}},
		{"/applications/{id}/stages", "Its phases, in the shape of Spark's stages",
			[]parameter{status("active, complete, pending, skipped or failed")}, answer(api.stages), []sparkStage{}},
		{"/applications/{id}/stages/{stage}", "The attempts of one of its phases", nil, answer(api.stages), []sparkStage{}},
		{"/applications/{id}/stages/{stage}/{attempt}", "One attempt of one of its phases", nil, answer(api.stage), sparkStage{}},
		{"/applications/{id}/stages/{stage}/{attempt}/taskList", "Its tasks, in Spark's shape, with their causes", tasks, answer(api.tasks), []sparkTask{}},
		{"/applications/{id}/stages/{stage}/{attempt}/taskSummary", "Quantiles over its tasks",
			[]parameter{{"quantiles", "such as 0.25,0.5,0.75", false}}, answer(api.summary), sparkSummary{}},
		{"/applications/{id}/executors", "Its executors that were not lost, in Spark's shape", nil, answer(api.executors(false)), []sparkExecutor{}},
		{"/applications/{id}/allexecutors", "All its executors", nil, answer(api.executors(true)), []sparkExecutor{}},
		{"/applications/{id}/environment", "Its settings", nil, answer(api.environment), sparkEnvironment{}},
		{"/applications/{id}/sql", "Its queries, with the operators of their final plans",
			[]parameter{{"details", "false leaves the plans out", false}, tasks[0], tasks[1]}, answer(api.executions), []sparkExecution{}},
		{"/applications/{id}/sql/{execution}", "One of its queries", nil, answer(api.execution), sparkExecution{}},
		{"/version", "The release of Spark whose API this one has the shape of", nil, answer(api.version), sparkVersion{}},
		{"/applications/{id}/timeline", "What a picture of a window of its time shows",
			[]parameter{{"from", "seconds after its first attempt", false}, {"to", "the same, its end without it", false},
				{"of", "instead of both, the key of a job or a phase", false}, {"skip", "machines to leave out first", true}},
			answer(api.timeline), timelineAnswer{}},
		{"/running", "The applications that run, with their stages and slow tasks", nil, answer(api.running), []runningAnswer{}},
		{"/replays", "The replays of policies that were started from the pages, the newest first", nil, answer(api.replays), []replayAnswer{}},
		{"/applications/{id}/report", "The document of straggler report --as json on it", nil, api.report, nil},
		{"/report", "The document on all applications", nil, api.report, nil},
		{"/sql", "The rows of a query, as straggler sql --as json writes them", []parameter{{"q", "the query", false}}, api.query, []map[string]any{}},
		{"/schema", "The tables with their columns", nil, api.schema, []tableAnswer{}},
		{"/status", "What is being read and computed", nil, api.status, statusAnswer{}},
	}
}
