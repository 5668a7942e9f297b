package api

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"
)

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// describe writes the description of the API in OpenAPI 3.1.
func (api *API) describe(w http.ResponseWriter, _ *http.Request) {
	paths := map[string]any{}
	for _, e := range api.endpoints() {
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
			"200": map[string]any{"description": e.what, "content": map[string]any{"application/json": map[string]any{"schema": gives}}},
			"default": map[string]any{"description": "What went wrong",
				"content": map[string]any{"application/json": map[string]any{"schema": schemaOf(reflect.TypeFor[failure]())}}},
		}}}
	}
	writeJSON(w, http.StatusOK, map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "straggler", "version": api.straggler,
		"description": "Applications, jobs, stages and tasks have the shape of Spark's REST API where a field means the same; fields that begin with straggler are its own."},
		"servers": []any{map[string]any{"url": "/api/v1"}}, "paths": paths})
}

// schemaOf returns the JSON schema of a type as encoding/json writes it. Objects have no other fields, and a field without
// omitempty is required.
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
