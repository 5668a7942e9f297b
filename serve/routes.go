package serve

import (
	"net/http"

	"straggler/serve/api"
)

// route is a pattern of http.ServeMux and its handler.
type route struct {
	at   string
	show http.HandlerFunc
}

// pages returns the table of the pages.
func (s *Server) pages() []route {
	return []route{
		{"/{$}", s.applicationsPage},
		{"/all", s.storePage},
		{"/applications/{key}", s.applicationPage},
		{"/applications/{key}/timeline", s.timelinePage},
		{"/applications/{key}/policies", s.applicationPoliciesPage},
		{"/queries/{key}", s.queryPage},
		{"/jobs/{key}", s.jobPage},
		{"/phases/{key}", s.phasePage},
		{"/attempts/{key}", s.attemptPage},
		{"/running", s.runningListPage},
		{"/running/{id}", s.runningPage},
		{"/machines", s.machinesPage},
		{"/machine", s.machinePage},
		{"/logs", s.logsPage},
		{"/compare", s.comparePage},
		{"/policies", s.policiesPage},
		{"/audit", s.auditPage},
		{"/audit/{day}", s.nightPage},
		{"/sql", s.consolePage},
		{"/history/{id}", s.historyLink},
		{"/history/{id}/", s.historyLink},
	}
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	for _, p := range s.pages() {
		m.HandleFunc("GET "+p.at, p.show)
	}
	m.HandleFunc("POST /policies/replay", s.startReplay)
	m.HandleFunc("POST /policies/cancel", s.cancelReplay)
	m.HandleFunc("GET /sql/{file}", s.download)
	api.New(s.c, s.o.Running, s.o.Version).Handle(m)
	if s.o.MCP != nil {
		m.Handle("/mcp", s.o.MCP)
	}
	m.HandleFunc("GET /static/{name}", s.asset)
	m.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.noAnswer(w, r, m) })
	return s.guard.around(m)
}
