package api

import (
	"net/http"

	"straggler/report"
	"straggler/report/json"
)

// report writes the document of straggler report --as json.
func (api *API) report(w http.ResponseWriter, r *http.Request) {
	var scope report.Scope
	if id := r.PathValue("id"); id != "" {
		a, err := api.native(r)
		if err != nil {
			Refuse(w, err)
			return
		}
		scope.Application = a.ApplicationID
	}
	d, err := api.c.Document(r.Context(), scope)
	if err != nil {
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.Write(w, d)
}
