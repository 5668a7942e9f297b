package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/store"
)

// Logs is a store to which logs are added, and in which they change and are removed.
type Logs struct {
	*store.Store
	Shown map[schema.Key]*schema.Trace // by input
	// logs so far; each has its number as fingerprint, so that a log read again has another state
	Read int
}

// NewLogs takes an empty store.
func NewLogs(st *store.Store) *Logs {
	return &Logs{Store: st, Shown: map[schema.Key]*schema.Trace{}}
}

// Ingest commits logs, replacing what the store has under their keys.
func (l *Logs) Ingest(t testing.TB, logs map[schema.Key]*schema.Trace) {
	t.Helper()
	tx, err := l.Begin(t.Context(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Abort()
	for _, input := range slices.Sorted(maps.Keys(logs)) {
		for b := range logs[input].Batches() {
			if err := tx.Append(input, b); err != nil {
				t.Fatal(err)
			}
		}
		l.Read++
		if l.Shown[input] != nil {
			tx.Retire(input)
		}
		l.Shown[input] = logs[input]
		if err := tx.Input(store.InputRecord{Name: fmt.Sprint("log-", input), Key: store.KeyText(input), Fingerprint: fmt.Sprint(l.Read)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Retire removes a log.
func (l *Logs) Retire(t testing.TB, input schema.Key) {
	t.Helper()
	tx, err := l.Begin(t.Context(), store.Origin{Kind: store.Removal, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	tx.Retire(input)
	delete(l.Shown, input)
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
