package causes

import (
	"context"
	"strconv"

	"straggler/causes/model"
	"straggler/causes/wire"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
)

// On an engine of many machines this process does not read the phases: copies of the program process them on the cluster, phase
// by phase. The first step, observe, returns the observations of each phase about its stage and machines; the second,
// attribute, takes the model and writes the attributions. Each copy leaves a piece in the store (store.Piece): the attributions
// as a file of their table, and messages about its phases for this process, which adds them up in the order of the phases, so
// that the sums equal those of a run in one process to the last bit. Only the names of the files pass through the engine. A
// copy may process the same phases twice, after a retry or as a speculative copy on the cluster: only one of the two pieces is
// named, and the other is never committed.

// The steps of a copy.
const (
	stepObserve   = "observe" // followed by =, and the length of the windows in seconds
	stepAttribute = "attribute"
)

// spreadAttempts is the number of attempts that one statement sends to copies, at least a twentieth of all: while it runs,
// their rows, 0.2 kB each, are on the disks of the cluster.
const spreadAttempts = 50_000_000

// partAttempts is about the number of attempts of one copy, at least a ten-thousandth of all, since each copy leaves a file.
const partAttempts = 200_000

// observeOnCopies is learn on an engine of many machines.
func (r *run) observeOnCopies(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx) error {
	step := stepObserve + "=" + strconv.FormatFloat(r.o.WindowS, 'g', -1, 64)
	return r.spread(ctx, eng, tx, copyStep{verb: step, rows: r.observedSQL, each: func(p *phaseRow, found []byte) error {
		var o model.Observation
		if err := wire.Decode(found, &o); err != nil {
			return err
		}
		r.application(p.Application).sums.Add(p.signature, &o)
		return nil
	}})
}

// attributeOnCopies is attribute on an engine of many machines.
func (r *run) attributeOnCopies(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx) error {
	if _, err := eng.StoreAddress(); err != nil {
		return err
	}
	runs, err := r.openRuns(ctx, tx)
	if err != nil {
		return err
	}
	if err := r.prepareRows(ctx); err != nil {
		return err
	}
	step := copyStep{verb: stepAttribute, withOutliers: true, file: wire.Encode(r.model), rows: r.attributedSQL}
	step.each = func(p *phaseRow, found []byte) error {
		var x attributed
		if err := wire.Decode(found, &x); err != nil {
			return err
		}
		if err := r.keep(tx, p, &x); err != nil {
			return err
		}
		return runs.take(p, &x.times)
	}
	if err := r.spread(ctx, eng, tx, step); err != nil {
		return err
	}
	r.runsJudged = true
	return r.dropRows(ctx)
}

// copyStep is a step for copies of the program.
type copyStep struct {
	verb         string
	withOutliers bool   // only phases with outliers, or with earlier runs to compare with
	file         []byte // input common to all copies; nil: none
	rows         func(*chunk) string
	each         func(p *phaseRow, found []byte) error // takes the message about a phase
}

// spread has copies do a step for all of its phases. It adds their files to the transaction and takes their messages in the
// order of the phases.
func (r *run) spread(ctx context.Context, eng engine.RemoteRunner, tx *store.Tx, step copyStep) error {
	all := int64(0)
	for i := range r.phases {
		all += r.phases[i].Attempts
	}
	at := 0
	for _, c := range r.chunks(step.withOutliers, max(r.o.spreadAttempts, all/20)) {
		w := engine.RemoteJob{SQL: step.rows(&c), Columns: copyColumns, Order: copyOrder, Partitions: int(c.attempts/max(partAttempts, all/10_000)) + 2,
			Verb: []string{"copy", step.verb, "--version", r.o.Tool}, File: step.file}
		err := copies.Run(ctx, tx, eng, w, func(phase schema.Key, found []byte) error {
			for at < len(r.phases) && r.phases[at].ID < phase {
				at++
			}
			if at == len(r.phases) || r.phases[at].ID != phase {
				return nil // of no job
			}
			return step.each(&r.phases[at], found)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
