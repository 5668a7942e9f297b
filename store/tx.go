package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"straggler/schema"
)

// Origin is where the rows of a transaction come from.
type Origin struct {
	Kind Kind
	Tool string // version of straggler
}

// Tx collects rows for one commit. None is visible before Commit, and Abort discards them all.
type Tx struct {
	s       *Store
	ctx     context.Context // of Begin; when it ends, so does the transaction
	origin  Origin
	staging string    // directory of this machine
	writer  string    // as it is registered
	lock    io.Closer // on the staging directory, so that no other process removes it
	cat     *catalog  // when the transaction began
	state   string    // of the logs that results are computed from; "": matches no store

	mu       sync.Mutex
	tables   map[string]*tableWriter
	inputs   []InputRecord
	inputAt  map[KeyText]int // position in inputs
	retired  []KeyText
	replaced []replaced
	ingests  []IngestRecord
	saw      []InputState
	kept     []KeptRecord

	keptInputs []InputRecord         // whose results Resume kept
	stale      bool                  // Resume found results of inputs that have changed or been removed
	dependsOn  map[schema.Key]string // what else results of an input depend on

	pieces         pieces          // of programs on other machines; nil without
	piecesName     string          // name of their location in the store
	piecesData     string          // directory of this machine with their data
	named          map[string]bool // the files of the commit, if that is or may be visible
	outcomeUnknown bool            // whether it is visible

	unchanged bool // Resume found that the visible results are current
	failed    error
	done      bool
}

// replaced is an earlier commit that a compaction replaces, and what was hidden of it when it was read.
type replaced struct {
	sequence int64
	hidden   map[KeyText]bool
}

var errDone = errors.New("store: the transaction has ended")

// Begin starts a transaction. The files of dead writers are removed first.
func (s *Store) Begin(ctx context.Context, o Origin) (*Tx, error) {
	if s.o.ReadOnly {
		return nil, fmt.Errorf("store: %s is open for reading only", s.where)
	}
	unlock, err := s.at.lock(ctx)
	if errors.Is(err, fs.ErrNotExist) { // another writer has created the store, and removed it because it failed
		if err = s.at.init(ctx, false); err == nil {
			unlock, err = s.at.lock(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer unlock()
	tx := &Tx{s: s, ctx: ctx, origin: o, tables: make(map[string]*tableWriter)}
	if tx.writer, err = s.at.registerWriter(ctx); err != nil { // first: clean compares with the time at which it registers
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := tx.begin(ctx); err != nil {
		return nil, errors.Join(err, s.at.unregisterWriter(context.WithoutCancel(ctx), tx.writer))
	}
	return tx, nil
}

// begin cleans the store, and creates the transaction's staging directory.
func (tx *Tx) begin(ctx context.Context) error {
	s := tx.s
	cat, err := s.catalog(ctx)
	if err != nil {
		return err
	}
	if err := s.clean(ctx, cat); err != nil {
		return fmt.Errorf("store: cleaning up after a dead writer: %w", err)
	}
	if len(cat.obsolete()) > 0 {
		if _, _, err := s.sweep(ctx); err != nil {
			return fmt.Errorf("store: removing what later commits replaced: %w", err)
		}
	}
	if tx.cat, err = s.catalog(ctx); err != nil { // cleaning may have removed commits
		return err
	}
	tx.state = tx.cat.state()
	if tx.staging, tx.lock, err = s.staging.create(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Append is Tx.Append for a slice of rows.
func Append[R any](tx *Tx, input schema.Key, rows []R) error {
	return tx.Append(input, schema.BatchOf(rows))
}

// Append copies rows of one input into the transaction. Rows of no input, such as results, have the key 0. It may be
// called concurrently; rows keep the order of the calls, except that those of one phase are clustered.
func (tx *Tx) Append(input schema.Key, b schema.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	w, err := tx.writerOf(b.Table())
	if err != nil {
		return err
	}
	if err := w.appendAll(input, b); err != nil {
		tx.fail(err)
		return err
	}
	return nil
}

// writerOf finds the writer of a table.
func (tx *Tx) writerOf(t *schema.Table) (*tableWriter, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch {
	case tx.done:
		return nil, errDone
	case tx.failed != nil:
		return nil, tx.failed
	}
	w := tx.tables[t.Name]
	if w == nil {
		w = newTableWriter(tx.ctx, tx.s.fs, tx.staging, "", t)
		tx.tables[t.Name] = w
	}
	return w, nil
}

func (tx *Tx) fail(err error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.failed == nil {
		tx.failed = err
	}
}

// Input records that an input has been read completely, and how. Every key that rows were appended under needs a record.
func (tx *Tx) Input(r InputRecord) error {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.done {
		return errDone
	}
	if at, ok := tx.inputAt[r.Key]; ok {
		return fmt.Errorf("store: %w: %s and %s", ErrKeys, tx.inputs[at].Name, r.Name)
	}
	if tx.inputAt == nil {
		tx.inputAt = map[KeyText]int{}
	}
	tx.inputAt[r.Key] = len(tx.inputs)
	tx.inputs = append(tx.inputs, r)
	return nil
}

// Retire hides the rows of an input in earlier commits, from the moment of the commit.
func (tx *Tx) Retire(input schema.Key) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.retired = append(tx.retired, KeyText(input))
}

// Tool returns the version of straggler given for the transaction.
func (tx *Tx) Tool() string { return tx.origin.Tool }

// State returns the state of the logs from which the transaction's results are computed.
func (tx *Tx) State() string { return tx.state }

// ID returns the id that a log commit has with the inputs recorded so far.
func (tx *Tx) ID() string {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return ingestID(tx.inputs)
}

// Abort discards everything appended. After Commit it does nothing.
func (tx *Tx) Abort() error {
	tx.mu.Lock()
	if tx.done {
		tx.mu.Unlock()
		return nil
	}
	tx.done = true
	tx.mu.Unlock()
	for _, w := range tx.tables {
		w.drop()
	}
	return tx.close()
}

// close removes the staging directory and the pieces that are not in the commit, even after the context has ended. What it
// cannot remove is left to the next writer, for which the writer stays registered as a sign.
func (tx *Tx) close() error {
	ctx := context.WithoutCancel(tx.ctx)
	err := tx.s.staging.remove(tx.staging, tx.lock)
	left := tx.outcomeUnknown
	if tx.pieces != nil {
		if tx.named == nil { // a user who interrupts does not wait longer
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, cleanupTime)
			defer cancel()
		}
		if perr := tx.pieces.end(ctx, tx.named); perr != nil {
			left, err = true, cmp.Or(err, perr)
		}
	}
	if !left {
		if uerr := tx.s.at.unregisterWriter(ctx, tx.writer); err == nil {
			err = uerr
		}
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Commit makes everything appended visible at once. After an error none of it is, unless the error says otherwise.
func (tx *Tx) Commit(ctx context.Context) (Commit, error) {
	c, err := tx.finish()
	if err == nil {
		err = tx.publish(ctx, c)
	}
	if err != nil {
		tx.s.commits.Add(1) // it may be visible in spite of the error
		return Commit{}, errors.Join(err, tx.Abort())
	}
	tx.mu.Lock()
	tx.done = true
	tx.mu.Unlock()
	tx.s.commits.Add(1)
	tx.close() // an error does not matter: the next writer removes what is left
	return *c, nil
}

// finish writes what is still in memory and builds the commit.
func (tx *Tx) finish() (*Commit, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch {
	case tx.done:
		return nil, errDone
	case tx.failed != nil:
		return nil, tx.failed
	}
	c := &Commit{Format: plainFormat, Kind: tx.origin.Kind, Tool: tx.origin.Tool, Inputs: slices.Clone(tx.inputs),
		Retired: slices.Clone(tx.retired), Ingests: tx.ingests}
	if c.Kind.result() {
		c.Columns = resultColumns()
	}
	slices.SortFunc(c.Inputs, func(a, b InputRecord) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	slices.Sort(c.Retired)
	c.Retired = slices.Compact(c.Retired)
	for _, old := range tx.replaced {
		c.Replaced = append(c.Replaced, old.sequence)
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, w := range tx.tables { // while one waits for the disk, another compresses
		group.Go(w.finish)
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, t := range schema.Tables() {
		w := tx.tables[t.Name]
		if w == nil || len(w.done) == 0 {
			continue
		}
		c.Tables = append(c.Tables, TableRecord{Name: t.Name, Columns: columnTexts(t), Files: slices.Clone(w.done), Keyed: c.Kind.result() && w.rows[0] == 0})
	}
	if c.Kind.result() {
		c.State, c.Saw, c.Kept = tx.state, tx.saw, tx.kept
	}
	if len(c.Saw)+len(c.Kept) > 0 || slices.ContainsFunc(c.Tables, func(t TableRecord) bool { return t.Keyed }) {
		c.Format = commitFormat
	}
	c.ID = contentID(c)
	if c.Kind == Log && len(c.Inputs) > 0 && len(c.Replaced) == 0 {
		c.ID = ingestID(c.Inputs)
	}
	return c, tx.complete(c)
}

// complete fills in the records of the inputs, and checks that every row has one.
func (tx *Tx) complete(c *Commit) error {
	at := make(map[schema.Key]int)
	for i := range c.Inputs {
		in := &c.Inputs[i]
		in.Rows = make(map[string]int64)
		if in.Ingest == "" {
			in.Ingest = c.ID
		}
		at[schema.Key(in.Key)] = i
	}
	known := map[schema.Key]bool{0: true}
	for _, in := range c.Saw {
		known[schema.Key(in.Key)] = true
	}
	for _, r := range c.Ingests {
		known[schema.Key(r.Key)] = true
	}
	for name, w := range tx.tables {
		for key, n := range w.rows {
			if i, ok := at[key]; ok {
				c.Inputs[i].Rows[name] = n
			} else if !known[key] {
				return fmt.Errorf("store: rows of %s belong to input %d, which was not declared", name, key)
			}
		}
	}
	return nil
}

func columnTexts(t *schema.Table) []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Name + " " + string(c.Type)
	}
	return out
}

// publish moves the files to their final places and creates the commit that names them. When a writer that does not see our
// lock takes the sequence number first, publish checks for conflicts with what is visible by then and tries the next number.
func (tx *Tx) publish(ctx context.Context, c *Commit) error {
	s := tx.s
	unlock, err := s.at.lock(ctx)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer unlock()
	var stored []string
	for put := false; ; {
		cat, err := s.catalog(ctx)
		if err == nil {
			err = cat.checkConflicts(c, tx.replaced)
		}
		if err == nil && !put {
			put = true
			if stored, err = s.at.put(ctx, tx.assignPaths(cat, c)); err != nil {
				err = fmt.Errorf("store: %w", err)
			}
		}
		if err == nil && tx.pieces != nil {
			if err = tx.pieces.check(ctx); err != nil {
				err = fmt.Errorf("store: %w", err)
			}
		}
		if err == nil {
			cat.markChanged(c, tx.cat.next)
			var visible bool
			visible, err = tx.create(ctx, c, cat.next)
			switch {
			case errors.Is(err, fs.ErrExist):
				continue
			case err == nil:
				tx.named = namesOf(c)
			case visible:
				tx.named, tx.outcomeUnknown = namesOf(c), true
				return fmt.Errorf("store: commit %d is or may be visible: %w", c.Sequence, err)
			default:
				err = fmt.Errorf("store: %w", err)
			}
		}
		if err != nil {
			tx.removeStored(ctx, stored)
		}
		return err
	}
}

// cleanupTime bounds the removal of files after a failure, which is independent of the context: a user waits that long after
// Ctrl-C, and it is enough for a server that answers. Files that remain are orphans.
const cleanupTime = 20 * time.Second

// removeStored removes the files of a commit that failed.
func (tx *Tx) removeStored(ctx context.Context, stored []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	for _, name := range stored {
		tx.s.at.remove(ctx, name)
	}
}

func (tx *Tx) create(ctx context.Context, c *Commit, sequence int64) (visible bool, err error) {
	c.Sequence = sequence
	data, err := c.encode()
	if err == nil {
		visible, err = tx.s.at.create(ctx, commitName(sequence), data, path.Join(tx.staging, "commit.json"))
	}
	return visible, err
}

// namesOf returns the paths of a commit's files.
func namesOf(c *Commit) map[string]bool {
	names := make(map[string]bool)
	for _, t := range c.Tables {
		for _, f := range t.Files {
			names[f.Path] = true
		}
	}
	return names
}

// assignPaths gives the files paths that no commit names.
func (tx *Tx) assignPaths(cat *catalog, c *Commit) []upload {
	used := cat.files()
	id := c.ID
	if tx.writer != "" {
		id += "-" + tx.writer
	}
	var out []upload
	for i := range c.Tables {
		t := &c.Tables[i]
		n := 0
		for j := range t.Files {
			f := &t.Files[j]
			staged := f.Path
			if tx.pieces != nil && tx.pieces.stored(staged) {
				continue
			}
			for f.Path = ""; f.Path == "" || used[f.Path]; n++ {
				f.Path = path.Join("tables", t.Name, fmt.Sprintf("%s-%d.parquet", id, n))
			}
			out = append(out, upload{path.Join(tx.staging, staged), *f})
		}
	}
	return out
}
