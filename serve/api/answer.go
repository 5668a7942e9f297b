package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/serve/catalog"
)

// Errors of requests, by which Status and the pages know what went wrong.
var (
	// ErrAddress is returned for an address that nothing has.
	ErrAddress = errors.New("no page has this address")
	// ErrMethod is returned for an address that is asked with another method than its own.
	ErrMethod = errors.New("this address is not asked with that method")
	// ErrParameter is returned for a parameter whose value cannot be one.
	ErrParameter = errors.New("wrong parameter")
	// errSeveral is returned for an id that several applications have.
	errSeveral = errors.New("several applications have this id")
)

// Status is the code of HTTP for what went wrong.
func Status(err error) int {
	switch {
	case errors.Is(err, report.ErrNoRow) || errors.Is(err, ErrAddress):
		return http.StatusNotFound
	case errors.Is(err, ErrMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(err, ErrParameter) || errors.Is(err, catalog.ErrReplay):
		return http.StatusBadRequest
	case errors.Is(err, errSeveral) || errors.Is(err, catalog.ErrReplaying):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// failure is the answer to a request that failed.
type failure struct {
	Error string `json:"error"`
}

// answer answers with what do gives, or with what went wrong.
func answer[T any](do func(*http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		if err != nil {
			Refuse(w, err)
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

// Refuse answers with what went wrong.
func Refuse(w http.ResponseWriter, err error) {
	writeJSON(w, Status(err), failure{prose.Clean(err.Error(), 2*prose.TextRunes)})
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	var text strings.Builder
	json.NewEncoder(&text).Encode(v) // which escapes what HTML would obey
	io.WriteString(w, prose.VisibleJSON(text.String()))
}
