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

// Errors of requests; Status maps them to status codes.
var (
	// ErrAddress is returned for an address that does not exist.
	ErrAddress = errors.New("no page has this address")
	// ErrMethod is returned for an address that does not support the request's method.
	ErrMethod = errors.New("this address does not support that method")
	// ErrParameter is returned for an invalid value of a parameter.
	ErrParameter = errors.New("wrong parameter")
	// errSeveral is returned for an id that several applications have.
	errSeveral = errors.New("several applications have this id")
)

// Status returns the HTTP status code for an error.
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

// answer returns a handler that writes the result of do as JSON, or its error.
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

// Refuse writes an error as JSON.
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
