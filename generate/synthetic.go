package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"straggler/schema"
	"straggler/schema/synth"
	"straggler/spelling"
	"straggler/store"
)

// Synthetic selects what to make.
type Synthetic struct {
	Scenario string // a name of synth.Scenarios
	Seed     uint64
	Tasks    int64 // approximate total; 0 = the scenario's
	Wide     int   // instead of a scenario: one phase of that many tasks
	Phases   int   // instead of a scenario: that many phases of a few tasks

	Start schema.Null[schema.Time] // of the first application; if unknown, a fixed day
}

// ErrScenario is returned when there is no scenario with a name.
var ErrScenario = errors.New("no such scenario")

// Options returns the options of synth.
func (s Synthetic) Options() (synth.Options, error) {
	o, err := s.scenario()
	if s.Start.OK {
		o.Start = s.Start.V
	}
	return o, err
}

func (s Synthetic) scenario() (synth.Options, error) {
	switch {
	case s.Wide > 0:
		return synth.HugePhase(s.Seed, s.Wide), nil
	case s.Phases > 0:
		return synth.ManyPhases(s.Seed, s.Phases), nil
	}
	scenario, ok := synth.ByName(s.Scenario)
	if !ok {
		var names []string
		for _, known := range synth.Scenarios() {
			names = append(names, known.Name)
		}
		return synth.Options{}, fmt.Errorf("generate: %w: %q; %s", ErrScenario, s.Scenario, spelling.Choices(s.Scenario, names))
	}
	o := scenario.Make(s.Seed)
	if s.Tasks > 0 {
		o = o.WithTasks(s.Tasks)
	}
	return o, nil
}

// Made describes what was made.
type Made struct {
	Applications int64
	Attempts     int64
	Rows         int64
	Bytes        int64         // of logs
	Commit       *store.Commit // of a store
}

// ToStore writes a trace into a store, in one commit, replacing earlier rows of the same scenario and seed. The truth is
// written as CSV, one line per attempt; nil omits it.
func ToStore(ctx context.Context, st *store.Store, o synth.Options, tool string, truth io.Writer) (made Made, err error) {
	began := time.Now()
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log, Tool: tool})
	if err != nil {
		return Made{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Abort())
		}
	}()
	csv := newTruthCSV(truth)
	err = synth.Stream(ctx, o, func(b *synth.Batch) error {
		made.Attempts += int64(len(b.Trace.Attempts))
		for rows := range b.Trace.Batches() {
			if err := tx.Append(b.Input, rows); err != nil {
				return err
			}
			made.Rows += int64(rows.Len())
		}
		if len(b.Trace.Applications) > 0 {
			made.Applications++
			if err := declare(ctx, st, tx, &o, b); err != nil {
				return err
			}
		}
		return csv.write(b.Truth.Attempts)
	})
	if err == nil {
		err = csv.flush()
	}
	if err != nil {
		return made, fmt.Errorf("generate: %w", err)
	}
	row := schema.Ingest{IngestID: tx.ID(), Files: made.Applications, RowsIn: made.Rows, RowsOut: made.Rows, Format: "synth", ToolVersion: tool,
		Seconds: time.Since(began).Seconds()}
	if err := store.Append(tx, 0, []schema.Ingest{row}); err != nil {
		return made, fmt.Errorf("generate: %w", err)
	}
	c, err := tx.Commit(ctx)
	if err != nil {
		return made, fmt.Errorf("generate: %w", err)
	}
	made.Commit = &c
	return made, nil
}

// declare records an application in the transaction as a complete input.
func declare(ctx context.Context, st *store.Store, tx *store.Tx, o *synth.Options, b *synth.Batch) error {
	_, known, err := st.Input(ctx, b.Input)
	if err != nil {
		return err
	}
	if known {
		tx.Retire(b.Input)
	}
	name := fmt.Sprintf("synth:%s?seed=%d&application=%d", o.Scenario, o.Seed, b.Application)
	return tx.Input(store.InputRecord{Name: name, Key: store.KeyText(b.Input), Fingerprint: fmt.Sprintf("%016x", uint64(b.Input)), Format: "synth"})
}
