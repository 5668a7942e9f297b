package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/schema"
	"straggler/store"
)

// Options configure a run. The zero value is usable.
type Options struct {
	From     string // name of the format; "" to recognise it
	Again    bool   // also read inputs that the store has, and replace them
	Parallel int    // inputs read at once; 0: one per processor
	Shard    Shard
	Limits   ingest.Limits
	Literals bool            // keep the literals of queries, which may contain personal data
	Remote   discover.Remote // reads URLs; nil reads none
	TempDir  string          // for archives that cannot be read in place; "": the system's temporary directory
	Tool     string          // version of straggler, recorded in the commit
	Stdin    *os.File        // read for "-"; nil: the standard input of the process
	Progress func(Progress)  // called a few times a second by one goroutine

	// Round, unless 0, bounds the bytes of the files that one run reads. It reads the most recently changed logs, at least
	// one. The others have the status Waiting, and a follower reads them in its next rounds, without a pause.
	Round int64
	// Planned, unless nil, is called with what was found before anything is read: the logs of this round have the status
	// Planned, and no result has rows.
	Planned func([]Result)
}

func (o Options) withDefaults() Options {
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	o.Limits = o.Limits.WithDefaults()
	return o
}

// Shard is the K-th of N shares of the inputs, K from 1. N runs with different K, on one machine or many, read every input
// exactly once: the share depends on the input's key, which is made from its base name and first bytes. The zero Shard is
// all inputs.
type Shard struct{ K, N int }

func (s Shard) valid() bool { return s == Shard{} || s.N >= 1 && s.K >= 1 && s.K <= s.N }

func (s Shard) has(key schema.Key) bool { return s.N <= 1 || key%int64(s.N) == int64(s.K-1) }

// Progress is the progress of a run.
type Progress struct {
	Done, Inputs int
	Bytes, Total int64 // raw bytes; Total is 0 while unknown, and does not count streams
	Rows         int64
	Rejects      int64
}

var (
	// ErrNothingToRead is returned when the arguments contain no log.
	ErrNothingToRead = errors.New("nothing to read")
	// ErrUnreadable is returned when none of the logs could be read.
	ErrUnreadable = errors.New("no log could be read")
	// ErrNoUsableRecord is the error of a log that was read to its end and has no record that its format can use.
	ErrNoUsableRecord = errors.New("none of its records could be used")
)

// Run reads logs into a store, in one commit. Inputs that could not be read are in the summary and do not affect the others;
// the error is ErrUnreadable when none could be read and ErrNothingToRead when there was none. After any other error, such
// as a full disk, the store is unchanged.
func Run(ctx context.Context, st *store.Store, formats []ingest.Format, paths []string, o Options) (Summary, error) {
	return runAgain(ctx, st, formats, paths, o, nil)
}

// runAgain runs, and retries after a conflict with another run.
func runAgain(ctx context.Context, st *store.Store, formats []ingest.Format, paths []string, o Options, seen *followState) (Summary, error) {
	for left := 3; ; left-- {
		r := &run{store: st, o: o.withDefaults(), seen: seen}
		err := r.run(ctx, formats, paths)
		seen.settle(&r.summary, err)
		// Another run has committed one of the inputs meanwhile. Plan again with the store's present contents.
		if left > 0 && (errors.Is(err, store.ErrIngested) || errors.Is(err, store.ErrKeys)) && !r.streams {
			continue
		}
		return r.summary, err
	}
}

// run is one run.
type run struct {
	store   *store.Store
	o       Options
	seen    *followState // of a follower; else nil
	known   *known
	found   *discover.Found
	jobs    []*job
	streams bool // an input cannot be read again
	summary Summary

	inputs  atomic.Int64
	done    atomic.Int64
	bytes   atomic.Int64
	total   atomic.Int64
	rows    atomic.Int64
	rejects atomic.Int64
}

// job is an input that may have to be read.
type job struct {
	*discover.Input
	storeKey
	application string       // see ingest.Format
	forms       []schema.Key // of inputs, in this run or in the store, all of whose records it has
	result      Result
	print       string // fingerprint, once known
	sink        *ingest.Sink
	err         error // of reading

	unusable bool // all of its records were rejected
}

func (j *job) fail(err error) {
	j.result.Status, j.result.Err, j.result.Reason = Failed, err, err.Error()
}

func (r *run) run(ctx context.Context, formats []ingest.Format, paths []string) (err error) {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends readers that wait for a stream
	if !r.o.Shard.valid() {
		return fmt.Errorf("ingest: %w: there is no shard %d of %d", ingest.ErrUse, r.o.Shard.K, r.o.Shard.N)
	}
	if r.known, err = load(ctx, r.store); err != nil {
		return err
	}
	defer func() {
		if r.found != nil {
			r.found.Close()
		}
	}()
	stop := r.report(ctx)
	defer stop()
	if err = r.plan(ctx, formats, paths); err == nil && len(r.jobs) > 0 {
		err = r.read(ctx, began)
	}
	r.summary.Seconds = time.Since(began).Seconds()
	r.summary.total()
	if err == nil {
		err = r.summary.verdict(r.o.From)
	}
	return err
}

// report calls Progress until it is stopped.
func (r *run) report(ctx context.Context) (stop func()) {
	if r.o.Progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.o.Progress(r.progress())
			case <-ctx.Done():
				r.o.Progress(r.progress())
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

func (r *run) progress() Progress {
	return Progress{Done: int(r.done.Load()), Inputs: int(r.inputs.Load()), Bytes: r.bytes.Load(), Total: r.total.Load(),
		Rows: r.rows.Load(), Rejects: r.rejects.Load()}
}

// verdict returns the error of a run that read nothing, whose formats were those that from names, or all.
func (s *Summary) verdict(from string) error {
	good := s.Count(Read) + s.Count(Partial) + s.Count(AlreadyThere) + s.Count(OtherShard)
	switch failed := s.Count(Failed); {
	case good > 0:
		return nil
	case failed == 1:
		return fmt.Errorf("ingest: %w: %w%s", ErrUnreadable, s.firstFailure(), s.advice(from))
	case failed > 1:
		return fmt.Errorf("ingest: %w: %d failed, the first: %w%s", ErrUnreadable, failed, s.firstFailure(), s.advice(from))
	case len(s.Results) == 0:
		return fmt.Errorf("ingest: %w: the arguments name no file", ErrNothingToRead)
	case len(s.Results) == 1:
		return fmt.Errorf("ingest: %w: %s: %s", ErrNothingToRead, s.Results[0].Name, s.Results[0].Reason+s.advice(from))
	}
	return fmt.Errorf("ingest: %w: none of %d files is a known log%s", ErrNothingToRead, len(s.Results), s.advice(from))
}

// advice returns what to do if no format recognised anything.
func (s *Summary) advice(from string) string {
	if from != "" {
		return ""
	}
	for _, r := range s.Results {
		if r.Status != NotRecognised && !errors.Is(r.Err, discover.ErrNotRecognised) {
			return ""
		}
	}
	return "; straggler formats lists the logs that can be read"
}

func (s *Summary) firstFailure() error {
	for _, r := range s.Results {
		if r.Status == Failed {
			return fmt.Errorf("%s: %w", r.Name, r.Err)
		}
	}
	return nil
}

// read reads the inputs of the jobs and commits their rows.
func (r *run) read(ctx context.Context, began time.Time) (err error) {
	tx, err := r.store.Begin(ctx, store.Origin{Kind: store.Log, Tool: r.o.Tool})
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Abort())
		}
	}()
	order, stop := newOrder(ctx, r.o.Limits.Buffered, func(i int, b schema.Batch) error {
		r.rows.Add(int64(b.Len()))
		return tx.Append(r.jobs[i].key, b)
	})
	defer stop()
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(r.o.Parallel)
	for i := range r.jobs { // in this order: the others may wait for the first one, so it must be started
		g.Go(func() error {
			if err := reading.Err(); err != nil {
				return err
			}
			if err := r.job(ctx, i, order); err != nil {
				order.fail(err) // so that no reader waits for rows that will not come
				return err
			}
			r.done.Add(1)
			return nil
		})
	}
	if err = g.Wait(); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	return r.commit(ctx, tx, began)
}

// job reads one input. Its error concerns the whole run, not only the input.
func (r *run) job(ctx context.Context, i int, order *order) error {
	j := r.jobs[i]
	if there, err := r.alreadyThere(ctx, j); err != nil {
		return err
	} else if there {
		return order.done(i)
	}
	j.sink = ingest.NewSink(r.o.Limits, func(b schema.Batch) error { return order.put(i, b) })
	if j.err = readInput(ctx, j, r.o.Literals); j.err == nil {
		j.err = j.Damage()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if broken := r.found.SourceErr(); broken != nil {
		return fmt.Errorf("%w: %w; nothing was committed, so repeat the ingest when the place can be reached", ErrUnreadable, broken)
	}
	if err := j.sink.Finish(j.err); err != nil {
		return err
	}
	print, err := j.Fingerprint(ctx)
	if err == nil {
		j.print = print
	} else if j.err == nil {
		j.err = err
	}
	r.conclude(j)
	return order.done(i)
}

// readInput calls the format.
func readInput(ctx context.Context, j *job, literals bool) (err error) {
	defer ingest.Recover(&err)
	in := *j.Input.Input
	in.Key, in.KeepLiterals = j.key, literals
	return j.Format.Read(ctx, &in, j.sink)
}

// alreadyThere reports whether the store has exactly this input.
func (r *run) alreadyThere(ctx context.Context, j *job) (bool, error) {
	if r.o.Again || j.Size() < 0 || !r.known.suspect(j) {
		return false, nil
	}
	print, err := j.Fingerprint(ctx)
	if err != nil {
		return false, ctx.Err() // reading it will give the error again
	}
	rec := r.known.byPrint[print]
	if rec == nil {
		if rec = r.known.longer(j); rec == nil {
			return false, nil
		}
		j.result.Status, j.result.Reason = AlreadyThere, "as "+rec.Name+", a longer state of the same log; --again replaces it"
		return true, nil
	}
	j.result.Status, j.result.Reason = AlreadyThere, "as "+rec.Name
	switch m := decodeMeta(rec); {
	case m.Unusable:
		j.fail(fmt.Errorf("%w when it was read before; --again reads it once more", ErrNoUsableRecord))
	case m.Error != "":
		j.result.Reason += ", which could not be read to its end: " + m.Error
	}
	r.bytes.Add(j.Size())
	return true, nil
}

// conclude sets the result of a job that was read.
func (r *run) conclude(j *job) {
	c := j.sink.Counts()
	res := &j.result
	res.Status, res.Decoded, res.Rejects, res.Rows = Read, c.Decoded, c.Rejects, c.Rows
	r.rejects.Add(c.Rejects)
	res.Bytes, res.Content = j.BytesRead()
	_, rejected := c.Rows["rejects"]
	empty := len(c.Rows) == 0 || rejected && len(c.Rows) == 1
	// formats skip records of others as those of later versions of their own
	foreign := j.err == nil && j.Unrecognised && res.Content > 0 && empty
	j.unusable = c.Rejects > 0 && (c.Decoded == 0 || foreign)
	switch {
	case j.unusable && j.err != nil:
		j.err = fmt.Errorf("%w: %w", ErrNoUsableRecord, j.err)
	case j.unusable && !foreign:
		j.err = fmt.Errorf("%w; the table rejects holds %d of %d and says why", ErrNoUsableRecord, c.Rows["rejects"], c.Rejects)
	case foreign:
		j.err = fmt.Errorf("%w: nothing in it is of the format %s; without --from its content says what it is", ErrNoUsableRecord, r.o.From)
	}
	if j.err == nil {
		return
	}
	res.Err, res.Reason = j.err, j.err.Error()
	switch {
	case len(c.Rows) == 0 || j.unusable:
		j.fail(j.err)
	case ingest.IsCut(j.err) && c.Rejects > int64(len(j.Parts)) && j.Codec != "": // truncation damages only the last record of a file
		res.Status, res.Reason = Partial, fmt.Sprintf("it stops before its end, and %d records before that make no sense: it is damaged; get a good copy of it", c.Rejects)
	case ingest.IsCut(j.err): // it is read as far as possible
		res.Reason = "it stops before its end: it is still written, or was cut"
	default:
		res.Status = Partial
	}
}

// commit commits what was read, unless nothing was.
func (r *run) commit(ctx context.Context, tx *store.Tx, began time.Time) error {
	wrote := false
	for _, j := range r.jobs {
		if j.result.stored() {
			fresh, err := r.declare(tx, j)
			if err != nil {
				return fmt.Errorf("ingest: %w", err)
			}
			wrote = wrote || fresh
		}
		r.summary.Results = append(r.summary.Results, j.result)
	}
	r.jobs = nil
	if !wrote {
		return tx.Abort()
	}
	r.summary.total()
	s := &r.summary
	row := schema.Ingest{IngestID: tx.ID(), Files: s.Files, Bytes: s.Content, RowsIn: s.Decoded + s.Rejects, RowsOut: s.Decoded,
		Rejects: s.Rejects, Format: strings.Join(s.Formats(), ","), ToolVersion: r.o.Tool, Seconds: time.Since(began).Seconds()}
	if err := store.Append(tx, 0, []schema.Ingest{row}); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	c, err := tx.Commit(ctx)
	if err != nil {
		s.Results = nil // nothing that was read is in the store
		return fmt.Errorf("ingest: %w", err)
	}
	s.Commit = &c
	return nil
}

// declare records an input in the transaction, and that it replaces earlier versions. It returns false if the store already has
// the same input, which for a stream is known only after reading it.
func (r *run) declare(tx *store.Tx, j *job) (fresh bool, err error) {
	m := inputMeta{Base: j.Base, Head: j.head, Raw: j.Size(), Files: len(j.Parts), Codec: j.Codec, Format: j.Format.Name,
		Unusable: j.unusable, Application: j.application}
	if j.err != nil {
		m.Error = ingest.Sample(j.err.Error())
	}
	extra, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	if old := r.known.byKey[j.key]; old != nil {
		tx.Retire(j.key)
		j.result.Grown = old.Fingerprint != j.print
	}
	same := r.known.byPrint[j.print]
	for _, key := range j.forms {
		if r.known.byKey[key] != nil && key != j.key {
			tx.Retire(key)
		}
	}
	if same != nil && schema.Key(same.Key) != j.key {
		tx.Retire(schema.Key(same.Key))
	}
	if same != nil && !r.o.Again && j.result.Status != Failed {
		j.result.Status, j.result.Reason = AlreadyThere, "as "+same.Name
	}
	return same == nil || r.o.Again, tx.Input(store.InputRecord{Name: j.Name, Key: store.KeyText(j.key), Bytes: j.result.Content,
		Fingerprint: j.print, Format: j.Format.Name, Extra: extra})
}
