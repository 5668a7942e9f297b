package serve

import (
	"errors"
	"fmt"
	"net/http"

	"straggler/engine"
	"straggler/report"
	"straggler/report/json"
	"straggler/report/prose"
	"straggler/serve/catalog"
	"straggler/table"
)

// The API under /api/v1: what all of its answers share, and those that are no list of Spark's.

// failure is the answer to a request that failed.
type failure struct {
	Error string `json:"error"`
}

// api answers with what do gives, or with what went wrong.
func api[T any](do func(*http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		if err == nil {
			writeJSON(w, http.StatusOK, v)
			return
		}
		refuse(w, err)
	}
}

// refuse says what went wrong.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, report.ErrNoRow) || errors.Is(err, errNoPage):
		code = http.StatusNotFound
	case errors.Is(err, errMethod):
		code = http.StatusMethodNotAllowed
	case errors.Is(err, errParameter):
		code = http.StatusBadRequest
	case errors.Is(err, errSeveral):
		code = http.StatusConflict
	}
	writeJSON(w, code, failure{prose.Clean(err.Error(), 2*prose.TextRunes)})
}

var errParameter = errors.New("wrong parameter")

// reportAPI is the document of straggler report --as json.
func (s *Server) reportAPI(w http.ResponseWriter, r *http.Request) {
	var scope report.Scope
	if id := r.PathValue("id"); id != "" {
		a, err := s.native(r)
		if err != nil {
			refuse(w, err)
			return
		}
		scope.Application = a.ApplicationID
	}
	d, err := s.c.Document(r.Context(), scope)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.Write(w, d)
}

// queryAPI runs a query, in the parameter q or as the body of a POST, and streams its rows as straggler sql --as json does.
func (s *Server) queryAPI(w http.ResponseWriter, r *http.Request) {
	sql := r.FormValue("q")
	if len(sql) > catalog.MostQuery || sql == "" {
		writeJSON(w, http.StatusBadRequest, failure{fmt.Sprintf("give a query of at most %d bytes in the parameter q", catalog.MostQuery)})
		return
	}
	enc, _ := table.Named("json")
	begun := false
	err := s.c.Query(r.Context(), sql, func(rows *engine.Rows) error {
		begun = true
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, err := enc.Write(w, rows, table.Options{})
		return err
	})
	switch {
	case err == nil:
	case begun:
		panic(http.ErrAbortHandler)
	default:
		writeJSON(w, queryCode(err), failure{prose.Clean(err.Error(), 4*prose.TextRunes)})
	}
}
