package live

import (
	"context"
	"errors"
	"fmt"

	"straggler/schema"
	"straggler/store"
)

// Keep writes the observed rows of an application into a store, in one commit, replacing those of an earlier watch. An ingested
// log of the same application is a separate application.
func Keep(ctx context.Context, st *store.Store, s *State, tool string) (err error) {
	if len(s.Trace.Applications) == 0 {
		return nil
	}
	app := &s.Trace.Applications[0]
	input := schema.InputKey(app.NativeID, []byte(app.SourceFile))
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log, Tool: tool})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("keeping what was seen of %s: %w", app.NativeID, err), tx.Abort())
		}
	}()
	if _, known, err := st.Input(ctx, input); err != nil {
		return err
	} else if known {
		tx.Retire(input)
	}
	rows := int64(0)
	for b := range s.Trace.Batches() {
		if err := tx.Append(input, b); err != nil {
			return err
		}
		rows += int64(b.Len())
	}
	caveat := schema.Caveat{ApplicationID: app.ApplicationID, Code: "watched",
		Detail: "what was seen while it ran, not its log: what came and went between two polls, and what its interface does not say, is missing"}
	if err := store.Append(tx, input, []schema.Caveat{caveat}); err != nil {
		return err
	}
	if err := tx.Input(store.InputRecord{Name: app.SourceFile + "/" + app.NativeID, Key: store.KeyText(input),
		Fingerprint: fmt.Sprintf("%016x%016x", uint64(input), uint64(s.Now)), Format: "watch"}); err != nil {
		return err
	}
	row := schema.Ingest{IngestID: tx.ID(), Files: 1, RowsIn: rows, RowsOut: rows, Format: "watch", ToolVersion: tool}
	if err := store.Append(tx, 0, []schema.Ingest{row}); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}
