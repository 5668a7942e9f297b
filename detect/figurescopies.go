package detect

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/schema"
	"straggler/store"
)

// On an engine of many machines copies of this program compute phase_stats.sql, outliers.sql and usage.sql, phase by phase, as
// phases.go does here: the attempts are read and moved once, whereas SQL does so for every named part.

//go:embed copies_figures.sql
var figuresSQL string

// FiguresStep is the step of copies that compute the figures of phases.
const FiguresStep = "figures"

// figuresColumns are the columns of copies_figures.sql, in the order in which add reads them.
var figuresColumns = []string{"phase_id", "attempt_id", "application_id", "task", "number", "start_us", "finish_us", "duration_s", "succeeded", "killed", "running", "recompute",
	"input_bytes", "remote_bytes", "input_records", "cpu_s", "fetch_wait_s", "gang", "skipped"}

// copyFile is the File of the job of copies.
type copyFile struct {
	Inputs   map[schema.Key]schema.Key // of phases, as copies.Rows has them
	LastSeen map[schema.Key]int64      // part.lastSeen
}

// figuresOnCopies is figuresHere on an engine of many machines. It returns errors.ErrUnsupported, before running anything, if
// their machines cannot write to the store, or if there are more than copiedPhases.
func (p *part) figuresOnCopies(ctx context.Context, tx *store.Tx, eng engine.RemoteRunner) (usage string, err error) {
	phases, err := p.count(ctx, eng)
	if err != nil {
		return "", err
	}
	if phases > p.limits.copiedPhases {
		return "", fmt.Errorf("%d phases: %w", phases, errors.ErrUnsupported)
	}
	lastSeen, err := p.lastSeen(ctx, eng)
	if err != nil {
		return "", fmt.Errorf("when incomplete logs end: %w", err)
	}
	file, err := json.Marshal(copyFile{p.inputsByBlock(), lastSeen})
	if err != nil {
		return "", err
	}
	var found []taskUsage
	err = engine.UseParts(ctx, eng, "detected_figures", figuresSQL, func(sql string) error {
		job := engine.RemoteJob{SQL: sql, Columns: figuresColumns, Order: "phase_id", Partitions: partitionsOf(p.attempts),
			Verb: []string{"copy", FiguresStep, "--version", tx.Tool()}, File: file}
		return copies.Run(ctx, tx, eng, job, func(phase schema.Key, message []byte) error {
			u, err := decodeUsage(phase, message)
			found = append(found, u)
			return err
		})
	}, p.seen(span{all: true})...)
	if err != nil {
		return "", err
	}
	return "SELECT * FROM " + usageTable + " AS u", pinRows(ctx, eng, usageTable, found)
}

// copyAttempts is the approximate number of attempts per copy, or a five-thousandth of all if that is more: each copy leaves up
// to three files. A core takes about ten seconds for them.
const copyAttempts = 500_000

// partitionsOf returns the number of shares into which attempts are divided for copies.
func partitionsOf(attempts int64) int { return int(attempts/max(copyAttempts, attempts/5_000)) + 2 }

// copiedPhases bounds the phases whose usage and usual figures the committing process holds, at about 400 bytes each.
const copiedPhases = 20_000_000

// count sets the approximate number of attempts, and returns the number of phases.
func (p *part) count(ctx context.Context, eng engine.Engine) (phases int64, err error) {
	sql := "SELECT count(*) AS n, CAST(0 AS BIGINT) AS phases FROM " + p.from("attempts") + " UNION ALL SELECT CAST(0 AS BIGINT), count(*) FROM " + p.from("phases")
	for r, err := range engine.Read[struct {
		N      int64 `col:"n"`
		Phases int64 `col:"phases"`
	}](ctx, eng, sql) {
		if err != nil {
			return 0, err
		}
		p.attempts += r.N
		phases += r.Phases
	}
	return phases, nil
}

// encode returns a message about the usage of a phase: its figures as doubles, with NaN for NULL.
func (u *taskUsage) encode(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(u.Succeeded))
	for _, v := range u.figures() {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(orNaN(*v)))
	}
	return b
}

func decodeUsage(phase schema.Key, message []byte) (taskUsage, error) {
	u := taskUsage{PhaseID: phase}
	figures := u.figures()
	if len(message) != 8*(1+len(figures)) {
		return u, fmt.Errorf("a copy says %d bytes of phase %d", len(message), phase)
	}
	u.Succeeded = int64(binary.LittleEndian.Uint64(message))
	for i, v := range figures {
		v.V = math.Float64frombits(binary.LittleEndian.Uint64(message[8*(i+1):]))
		if v.OK = !math.IsNaN(v.V); !v.OK {
			v.V = 0
		}
	}
	return u, nil
}

func (u *taskUsage) figures() [7]*schema.Null[float64] {
	return [...]*schema.Null[float64]{&u.MedianS, &u.P95S, &u.InputBytes, &u.InputRecords, &u.CPUS, &u.WaitS, &u.TickS}
}

// Copy runs a step for the rows that it reads, and writes the results. It runs on the cluster's machines.
func Copy(ctx context.Context, a copies.Assignment) error {
	w := copies.NewWriter(ctx, a.Pieces)
	return w.Close(a.Out, work(ctx, w, a))
}

func work(ctx context.Context, w *copies.Writer, a copies.Assignment) error {
	data, err := copies.ReadFile(ctx, a.File)
	if err != nil {
		return err
	}
	var know copyFile
	if err := json.Unmarshal(data, &know); err != nil {
		return fmt.Errorf("%s: %w", a.File, err)
	}
	switch a.Step {
	case FiguresStep:
		f := copiedFigures{w: w, inputs: know.Inputs, figurer: figurer{lastSeen: know.LastSeen}}
		read := func(fields []engine.RemoteField) error { return cmp.Or(f.add(fields), ctx.Err()) }
		return cmp.Or(engine.ReadRemoteRows(a.In, len(figuresColumns), read), f.flush())
	case SlowerStep:
		c := comparer{}
		return cmp.Or(engine.ReadRemoteRows(a.In, len(comparedColumns), c.add), c.write(ctx, w, know.Inputs))
	}
	return fmt.Errorf("detect: a copy has no step %q", a.Step)
}

// copiedFigures computes the figures of one phase after another.
type copiedFigures struct {
	w        *copies.Writer
	inputs   map[schema.Key]schema.Key
	figurer  figurer
	row      phaseRow
	any      bool // attempts and row are those of row.PhaseID
	hasRow   bool
	attempts attempts
	outliers []schema.Outlier
	message  []byte
}

// add reads a row of figuresColumns.
func (c *copiedFigures) add(fields []engine.RemoteField) error {
	r := rowFields{rest: fields}
	phase := r.integer()
	if !c.any || phase != c.row.PhaseID {
		if err := c.flush(); err != nil {
			return err
		}
		c.row, c.any = phaseRow{PhaseID: phase}, true
	}
	if !r.rest[0].OK {
		r.rest = r.rest[16:]
		c.row.Gang, c.row.Skipped, c.hasRow = r.truth(), r.truth(), true
		return r.err
	}
	a := &c.attempts
	a.phase, a.id, a.application, a.task, a.number = append(a.phase, phase), append(a.id, r.integer()), append(a.application, r.integer()), append(a.task, r.integer()), append(a.number, int32(r.integer()))
	a.start, a.finish, a.duration = append(a.start, r.time()), append(a.finish, r.time()), append(a.duration, orNaN(r.float()))
	var flags uint8
	for _, flag := range [...]uint8{succeeded, killed, running, recompute} {
		if r.truth().V {
			flags |= flag
		}
	}
	a.bytes, a.remote, a.records = append(a.bytes, orNaN(r.float())), append(a.remote, orNaN(r.float())), append(a.records, orNaN(r.float()))
	cpu, wait := r.float(), r.float()
	if cpu.OK {
		flags |= cpuKnown
	}
	if wait.OK {
		flags |= waitKnown
	}
	a.cpu, a.wait, a.flags = append(a.cpu, orNaN(cpu)), append(a.wait, orNaN(wait)), append(a.flags, flags)
	return r.err
}

// flush writes the figures of a phase's attempts once all of them have been read.
func (c *copiedFigures) flush() error {
	defer func() {
		c.attempts.reset()
		c.hasRow = false
	}()
	if !c.hasRow {
		return nil
	}
	phase, input := c.row.PhaseID, c.inputs[c.row.PhaseID&^(schema.BlockKeys-1)]
	if c.attempts.len() == 0 {
		return copies.Append(c.w, phase, input, []schema.PhaseStats{c.row.stats(nil)})
	}
	c.figurer.slow = c.figurer.slow[:0]
	figures := c.figurer.figures(phase, &c.attempts)
	c.outliers = c.outliers[:0]
	for i := range figures.slow {
		c.outliers = append(c.outliers, figures.slow[i].outlier(phase))
	}
	c.message = figures.usage.encode(c.message[:0])
	return cmp.Or(
		copies.Append(c.w, phase, input, []schema.PhaseStats{c.row.stats(&figures)}),
		copies.Append(c.w, phase, input, c.outliers),
		c.w.Message(phase, c.message))
}

// rowFields reads the fields of a row, one after another, and keeps the first error.
type rowFields struct {
	rest []engine.RemoteField
	err  error
}

func (r *rowFields) next() engine.RemoteField {
	f := r.rest[0]
	r.rest = r.rest[1:]
	return f
}

func (r *rowFields) integer() int64 {
	n, err := r.next().Int()
	r.err = cmp.Or(r.err, err)
	return n
}

// time returns noTime if it is unknown.
func (r *rowFields) time() int64 {
	if !r.rest[0].OK {
		r.next()
		return noTime
	}
	return r.integer()
}

func (r *rowFields) float() (x schema.Null[float64]) {
	f := r.next()
	if x.OK = f.OK; x.OK {
		var err error
		x.V, err = f.Float()
		r.err = cmp.Or(r.err, err)
	}
	return x
}

func (r *rowFields) truth() (x schema.Null[bool]) {
	f := r.next()
	if x.OK = f.OK; x.OK {
		var err error
		x.V, err = f.Bool()
		r.err = cmp.Or(r.err, err)
	}
	return x
}
