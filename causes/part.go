package causes

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/detect"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed marks.sql
var marksSQL string

// part is the part of a store that a run processes.
type part struct {
	whole   bool                // rows have no input: everything is processed in every run
	nothing bool                // there is nothing to do for the chosen applications
	fresh   []store.InputRecord // not processed by an earlier run in their present state: learnt from, and attributed
	kept    []store.InputRecord // those that have not changed
	moved   []store.InputRecord // unchanged, but with different estimates in the model: attributed again
	owners  store.Owners        // of the keys of all these
	chosen  map[schema.Key]bool // inputs of the chosen applications; nil: all

	work map[schema.Key]workOn // what is done with the phases of an input
}

// choose selects the inputs to process: those with detected outliers, except those that have results of this version from the
// same outliers, history and options.
func (r *run) choose(ctx context.Context, st *store.Store, tx *store.Tx) error {
	inputs, err := st.Inputs(ctx)
	if err != nil {
		return err
	}
	dependencies, err := r.dependencies(ctx, tx, inputs)
	if err != nil {
		return err
	}
	tx.DependsOn(dependencies)
	todo, ok := tx.Resume(r.o.Again)
	if !ok || len(dependencies) == 0 {
		tx.DropAll()
		r.part = part{whole: true}
		if !r.o.Applications.All() {
			return detect.ErrShared
		}
		return nil
	}
	if !r.o.Applications.All() && tx.Replaces() {
		return detect.ErrReplaces
	}
	p := part{fresh: todo, kept: tx.Kept(), owners: store.OwnersOf(append(todo[:len(todo):len(todo)], tx.Kept()...))}
	if !r.o.Applications.All() {
		var others []store.InputRecord
		if p.fresh, others, err = r.o.Applications.Inputs(ctx, r.eng, todo); err != nil {
			return err
		}
		mine, _, err := r.o.Applications.Inputs(ctx, r.eng, p.kept)
		if err != nil {
			return err
		}
		p.chosen = map[schema.Key]bool{}
		for _, in := range append(mine, p.fresh...) {
			p.chosen[schema.Key(in.Key)] = true
		}
		p.nothing = len(p.chosen) == 0
		if len(others) > 0 {
			tx.Partial()
		}
	}
	if len(dependencies) < len(inputs) { // detect has not processed all
		tx.Partial()
	}
	p.work = make(map[schema.Key]workOn, len(p.fresh))
	for _, in := range p.fresh {
		tx.Saw(in)
		p.work[schema.Key(in.Key)] = learnt
	}
	r.part = p
	return nil
}

// dependencies returns the dependencies of the results of each input besides its rows: the version that detected its outliers,
// the history of its stages, and the options. It omits inputs on which detect has not run.
func (r *run) dependencies(ctx context.Context, tx *store.Tx, inputs []store.InputRecord) (map[schema.Key]string, error) {
	type mark struct {
		First schema.Key `col:"first"`
		Mark  int64      `col:"mark"`
	}
	owners, marks := store.OwnersOf(inputs), map[schema.Key]int64{}
	for m, err := range engine.Read[mark](ctx, r.eng, strings.ReplaceAll(marksSQL, "{block}", strconv.Itoa(-schema.BlockKeys))) {
		if err != nil {
			return nil, fmt.Errorf("history of stages: %w", err)
		}
		if input, ok := owners.Of("phases", m.First); ok {
			marks[input] += m.Mark
		}
	}
	dependencies := map[schema.Key]string{}
	for input, tool := range tx.Current(store.Detect) {
		dependencies[input] = fmt.Sprintf("%q %d %g %g", tool, marks[input], r.o.WindowS, r.o.FalseShare)
	}
	return dependencies, nil
}

// workOn is the kind of work to do on a phase.
type workOn uint8

const (
	nothing workOn = iota // its results are kept
	again                 // it is attributed again
	learnt                // it is learnt from and attributed
)

// inputOf returns the input that a key of a table came from, under which rows about it are stored, or 0 if that is not recorded.
func (p *part) inputOf(table string, key schema.Key) schema.Key {
	input, _ := p.owners.Of(table, key)
	return input
}

// selectInputs restricts the engine to the rows of some inputs, numbers their machines and reads their phases.
func (r *run) selectInputs(ctx context.Context, inputs []store.InputRecord) error {
	r.seen = nil
	if !r.part.whole {
		if err := r.eng.Choose(ctx, store.KeysOf(inputs)); err != nil {
			return err
		}
		for _, table := range []string{"attempts", "losses", "edges", "outliers", "stage_history"} {
			r.seen = append(r.seen, engine.Seen{Table: table, SQL: "SELECT * FROM " + engine.ChosenPrefix + table})
		}
	}
	return r.concurrently(ctx, r.numberMachines, r.findExecutors, r.findBlank, func(ctx context.Context) error {
		if err := engine.MaterializeParts(ctx, r.eng, "causes_outliers", outliersSQL, r.seen...); err != nil {
			return err
		}
		return r.readPhases(ctx)
	})
}

// seenPhases returns the restricted tables that queries see, including the phases to process.
func (r *run) seenPhases() []engine.Seen {
	if r.part.whole {
		return r.seen
	}
	return append(slices.Clip(r.seen), engine.Seen{Table: "phases", SQL: "SELECT * FROM " + engine.ChosenPrefix + "phases"})
}

// findExecutors creates the table causes_executors.
func (r *run) findExecutors(ctx context.Context) error {
	executors := strings.NewReplacer("{overlap}", strconv.FormatFloat(fit.LaunchOverlap, 'e', -1, 64), "{young}",
		strconv.Itoa(fit.YoungFor*1e6)).Replace(executorsSQL)
	return engine.MaterializeParts(ctx, r.eng, "causes_executors", executors, r.seen...)
}

// attempts returns the name of the table of the selected attempts.
func (r *run) attempts() string {
	if r.part.whole {
		return "attempts"
	}
	return engine.ChosenPrefix + "attempts"
}
