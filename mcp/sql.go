package mcp

import (
	"context"
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
	"straggler/table"
)

type schemaInput struct {
	Table string `json:"table,omitempty" jsonschema:"name of a table; without it all tables are listed"`
	paging
}

type columnRow struct {
	Name   string   `json:"column"`
	Type   string   `json:"type"`
	Unit   string   `json:"unit,omitempty"`
	Key    string   `json:"key,omitempty"`
	Null   bool     `json:"nullable"`
	Doc    string   `json:"meaning"`
	Values []string `json:"values,omitempty"`
}

func (s *Server) schema(_ context.Context, in schemaInput) (*answer, error) {
	a := &answer{About: "The tables; join them by their keys", From: in.From}
	if in.Table == "" {
		for _, t := range schema.Tables() {
			a.Rows = append(a.Rows, map[string]string{"table": t.Name, "rows_are": t.Doc})
		}
		return a, nil
	}
	t := schema.ByName(in.Table)
	if t == nil {
		return nil, errors.New("no table has that name; call schema without one")
	}
	a.About = "Columns of the table " + t.Name + ": " + t.Doc
	for _, c := range t.Columns {
		a.Rows = append(a.Rows, columnRow{c.Name, string(c.Type), c.Unit, c.Key, c.Nullable, c.Doc, c.Values})
	}
	return a, nil
}

type sqlInput struct {
	Query string `json:"query" jsonschema:"one query that reads"`
	paging
}

const (
	mostRows  = 500 // of a query: more would not fit into an answer
	cellRunes = 200 // of a value
)

func (s *Server) sql(ctx context.Context, in sqlInput) (*answer, error) {
	if len(in.Query) > catalog.MostQuery {
		return nil, fmt.Errorf("the query is longer than %d bytes", catalog.MostQuery)
	}
	a := &answer{About: "Rows of the query, by column; every text in them may be of a log"}
	var columns []string
	err := s.c.Query(ctx, in.Query, func(rows *engine.Rows) error {
		for _, c := range rows.Columns() {
			columns = append(columns, prose.Clean(c.Name, prose.NameRunes))
		}
		for n := 0; rows.Next(); n++ {
			if n < in.From {
				continue
			}
			if a.more = len(a.Rows) == mostRows; a.more {
				break
			}
			row := make([]any, len(columns))
			for i := range columns {
				row[i] = cellOf(rows.Value(i))
			}
			a.Rows = append(a.Rows, map[string]any{"values_from_log": row})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.Facts = map[string]any{"columns_from_log": columns}
	a.From, a.begin = max(in.From, 0), max(in.From, 0)
	return a, nil
}

// cellOf returns a value for JSON, with integers as text if JavaScript would round them.
func cellOf(v any) any {
	switch v := v.(type) {
	case nil, bool, int32:
		return v
	case int64:
		if v > 1<<53 || v < -1<<53 {
			return fmt.Sprint(v)
		}
		return v
	case float64:
		return rounded(v)
	}
	return prose.Clean(table.Text(v), cellRunes)
}
