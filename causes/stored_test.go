package causes

import (
	"context"
	"errors"
	"testing"

	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// Stored returns a store filled by fill, with results of detect, and an engine over it.
func Stored(t testing.TB, fill func(*store.Store) error) (*store.Store, engine.Engine) {
	t.Helper()
	st, eng := Filled(t, fill)
	if _, err := detect.Run(t.Context(), st, eng, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	return st, eng
}

// Filled returns a store filled by fill, and an engine over it.
func Filled(t testing.TB, fill func(*store.Store) error) (*store.Store, engine.Engine) {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if err := fill(st); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return st, eng
}

// Commit commits what put appends.
func Commit(ctx context.Context, st *store.Store, put func(*store.Tx) error) error {
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log})
	if err != nil {
		return err
	}
	if err := put(tx); err != nil {
		return errors.Join(err, tx.Abort())
	}
	_, err = tx.Commit(ctx)
	return err
}

// PutTrace appends the rows of a trace.
func PutTrace(tx *store.Tx, t schema.Trace) error {
	for b := range t.Batches() {
		if err := tx.Append(0, b); err != nil {
			return err
		}
	}
	return nil
}
