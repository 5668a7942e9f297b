// Package ingesttest reads an input with a format and returns the rows in memory, so that formats can be tested without a
// store. Conformance checks an input against the rules that every format must obey.
package ingesttest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"straggler/ingest"
	"straggler/schema"
)

// Result is the output of a format. The rows of each table are sorted by primary key, or as printed.
type Result struct {
	schema.Trace
	ingest.Counts
	Err error // the error of Format.Read, such as io.ErrUnexpectedEOF
}

// Bytes reads data as if it were a file of that name, and decompresses it as a run does.
func Bytes(tb testing.TB, f ingest.Format, name string, data []byte) Result {
	tb.Helper()
	return Read(tb, f, Input(name, data), ingest.Limits{})
}

// Read reads an input.
func Read(tb testing.TB, f ingest.Format, in *ingest.Input, limits ingest.Limits) Result {
	tb.Helper()
	var (
		mu  sync.Mutex
		res Result
	)
	out := ingest.NewSink(limits, func(b schema.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if !b.AddTo(&res.Trace) {
			return fmt.Errorf("ingesttest: %s is not a log table", b.Table().Name)
		}
		return nil
	})
	res.Err = f.Read(context.Background(), in, out)
	if err := out.Err(); err != nil {
		tb.Fatal(err)
	}
	res.Counts = out.Counts()
	Sort(&res.Trace)
	return res
}

// Sort sorts the rows of every table, so that their order does not depend on timing.
func Sort(t *schema.Trace) {
	tables := reflect.ValueOf(t).Elem()
	for i := range tables.NumField() {
		sortRows(tables.Field(i))
	}
}

func sortRows(rows reflect.Value) {
	primary := -1
	for i, c := range schema.Columns(rows.Type().Elem()) {
		if c.Key == "primary" {
			primary = i
		}
	}
	order := make([]row, rows.Len())
	for i := range order {
		v := rows.Index(i)
		order[i].value = reflect.ValueOf(v.Interface())
		if primary >= 0 {
			order[i].key = v.Field(primary).Int()
		} else {
			order[i].text = fmt.Sprint(v.Interface())
		}
	}
	slices.SortStableFunc(order, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.text, b.text))
	})
	for i := range order {
		rows.Index(i).Set(order[i].value)
	}
}

type row struct {
	key   int64
	text  string
	value reflect.Value
}
