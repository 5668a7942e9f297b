package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
	"straggler/table"
)

// query runs the query in the parameter q or in the body of a POST, and streams its rows as straggler sql --as json does.
func (api *API) query(w http.ResponseWriter, r *http.Request) {
	sql := r.FormValue("q")
	if len(sql) > catalog.MostQuery || sql == "" {
		writeJSON(w, http.StatusBadRequest, failure{fmt.Sprintf("give a query of at most %d bytes in the parameter q", catalog.MostQuery)})
		return
	}
	enc, _ := table.Named("json")
	begun := false
	err := api.c.Query(r.Context(), sql, func(rows *engine.Rows) error {
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
		writeJSON(w, QueryStatus(err), failure{prose.Clean(err.Error(), 4*prose.TextRunes)})
	}
}

// QueryStatus returns the HTTP status code for a failed query.
func QueryStatus(err error) int {
	switch {
	case errors.Is(err, engine.ErrStatement):
		return http.StatusForbidden
	case errors.Is(err, catalog.ErrTime):
		return http.StatusGatewayTimeout
	case strings.Contains(err.Error(), "Error: "): // of DuckDB, about the text of the query
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// schema lists the tables for the console's completion.
func (api *API) schema(w http.ResponseWriter, _ *http.Request) {
	var tables []tableAnswer
	for _, t := range schema.Tables() {
		a := tableAnswer{Name: t.Name, Doc: t.Doc, Columns: []columnAnswer{}}
		for _, c := range t.Columns {
			a.Columns = append(a.Columns, columnAnswer{Name: c.Name, Type: string(c.Type), Nullable: c.Nullable, Unit: c.Unit, Doc: c.Doc, Values: c.Values})
		}
		tables = append(tables, a)
	}
	writeJSON(w, http.StatusOK, tables)
}

// tableAnswer and columnAnswer describe a table.
type tableAnswer struct {
	Name    string         `json:"name"`
	Doc     string         `json:"doc"`
	Columns []columnAnswer `json:"columns"`
}

type columnAnswer struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Nullable bool     `json:"nullable"`
	Unit     string   `json:"unit,omitempty"`
	Doc      string   `json:"doc"`
	Values   []string `json:"values,omitempty"`
}
