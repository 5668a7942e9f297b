package serve

import (
	"net/http"
)

// Handler answers all requests.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.applicationsPage)
	m.HandleFunc("GET /all", s.storePage)
	m.HandleFunc("GET /applications/{key}", s.applicationPage)
	m.HandleFunc("GET /applications/{key}/timeline", s.timelinePage)
	m.HandleFunc("GET /applications/{key}/policies", s.applicationPoliciesPage)
	m.HandleFunc("GET /queries/{key}", s.queryPage)
	m.HandleFunc("GET /jobs/{key}", s.jobPage)
	m.HandleFunc("GET /phases/{key}", s.phasePage)
	m.HandleFunc("GET /attempts/{key}", s.attemptPage)
	m.HandleFunc("GET /running", s.runningListPage)
	m.HandleFunc("GET /running/{id}", s.runningPage)
	m.HandleFunc("GET /machines", s.machinesPage)
	m.HandleFunc("GET /machine", s.machinePage)
	m.HandleFunc("GET /logs", s.logsPage)
	m.HandleFunc("GET /compare", s.comparePage)
	m.HandleFunc("GET /policies", s.policiesPage)
	m.HandleFunc("POST /policies/replay", s.startReplay)
	m.HandleFunc("POST /policies/cancel", s.cancelReplay)
	m.HandleFunc("GET /audit", s.auditPage)
	m.HandleFunc("GET /sql", s.consolePage)
	m.HandleFunc("GET /sql/{file}", s.download)
	for _, e := range s.endpoints() {
		m.HandleFunc("GET /api/v1"+e.path, e.answer)
	}
	m.HandleFunc("GET /api/v1/openapi.json", s.openAPI)
	m.HandleFunc("GET /history/{id}/", s.historyLink)
	m.HandleFunc("GET /history/{id}", s.historyLink)
	if s.o.MCP != nil {
		m.Handle("/mcp", s.o.MCP)
	}
	m.HandleFunc("GET /static/{name}", s.asset)
	m.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	m.HandleFunc("/", s.noPage)
	return s.guard.around(m)
}
