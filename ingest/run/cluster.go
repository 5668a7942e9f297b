package run

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"straggler/engine"
	"straggler/ingest"
	"straggler/store"
)

// On a cluster every machine reads a share of the logs: copies of this program run there, each on some shards (Shard), and
// each shard is a commit of its own. A cluster runs work at least once: when a copy dies and its shard is read again, the
// logs that it had committed are recognised by their fingerprints and skipped.

// shardTries is how often a shard that could not be committed is tried again, in addition to the cluster's own retries.
const shardTries = 3

// errShard is returned when the shard of a log could not be committed.
var errShard = errors.New("the cluster could not bring it into the store")

// workerSpec is the instruction for the copies.
type workerSpec struct {
	Store  string
	Paths  []string
	From   string
	Again  bool
	Limits ingest.Limits

	Literals bool
	Shards   int
}

// shardRead is what a copy answers for a shard.
type shardRead struct {
	Shard   int
	Results []Result
	Failure string // why nothing of the shard was committed; "" when it was
}

// OnCluster is Run on a cluster, in the given number of shards.
func OnCluster(ctx context.Context, st *store.Store, eng engine.RemoteRunner, paths []string, o Options, shards int) (Summary, error) {
	began := time.Now()
	where, err := eng.StoreAddress()
	if err != nil {
		return Summary{}, fmt.Errorf("ingest: on a cluster: %w", err)
	}
	spec := workerSpec{Store: where, From: o.From, Again: o.Again, Limits: o.Limits, Literals: o.Literals, Shards: max(1, shards)}
	for _, p := range paths {
		if p == "-" {
			return Summary{}, fmt.Errorf("ingest: %w: a cluster cannot read standard input", ingest.ErrUse)
		}
		if !strings.Contains(p, "://") {
			if p, err = filepath.Abs(p); err != nil {
				return Summary{}, fmt.Errorf("ingest: %w", err)
			}
		}
		spec.Paths = append(spec.Paths, p)
	}
	file, err := json.Marshal(spec)
	if err != nil {
		return Summary{}, fmt.Errorf("ingest: %w", err)
	}
	m := merger{results: make(map[string]Result)}
	left := make([]int, spec.Shards)
	for i := range left {
		left[i] = i + 1
	}
	stop := reportProgress(ctx, st, o.Progress)
	for try := 0; try < shardTries && len(left) > 0 && err == nil; try++ {
		left, err = m.round(ctx, eng, file, left, o.Tool)
	}
	stop()
	if err == nil && len(left) > 0 && len(m.results) == 0 {
		err = fmt.Errorf("%w: %s", errShard, m.failure)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("ingest: %w", err)
	}
	s := m.summary(len(left) > 0)
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// merger combines the answers of the copies. Every copy finds all logs and reads those of its shards.
type merger struct {
	results map[string]Result
	failure string // of the last shard that was not committed
}

// round has the cluster read shards, and returns those that were not committed.
func (m *merger) round(ctx context.Context, eng engine.RemoteRunner, file []byte, shards []int, tool string) (left []int, err error) {
	values := make([]string, len(shards))
	for i, n := range shards {
		values[i] = fmt.Sprintf("(%d)", n)
	}
	rows, err := eng.RunRemote(ctx, engine.RemoteJob{SQL: "SELECT shard FROM (VALUES " + strings.Join(values, ", ") +
		") AS t(shard)", Columns: []string{"shard"},
		Order: "shard", Partitions: len(shards), Verb: []string{"copy", "ingest", "--version", tool}, File: file})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		text, _ := rows.Value(1).(string)
		found, err := engine.DecodeOutput(text)
		if err != nil {
			return nil, err
		}
		var s shardRead
		if err := json.Unmarshal(found, &s); err != nil {
			return nil, fmt.Errorf("the result of a copy on the cluster cannot be read: %w", err)
		}
		if s.Failure != "" {
			m.failure = s.Failure
			left = append(left, s.Shard)
		}
		m.add(&s)
	}
	return left, rows.Err()
}

// weight orders results of the same log by their importance.
var weight = map[Status]int{OtherShard: 0, NotRecognised: 1, Failed: 2, Duplicate: 3, AlreadyThere: 4, Partial: 5, Read: 6}

func (m *merger) add(s *shardRead) {
	for _, r := range s.Results {
		if s.Failure != "" && r.stored() { // in what was not committed
			r = Result{Name: r.Name, Status: OtherShard, Format: r.Format}
		}
		if old, ok := m.results[r.Name]; !ok || weight[r.Status] > weight[old.Status] {
			m.results[r.Name] = r
		}
	}
}

// summary adds up the results. A log that no shard has read belongs to a failed shard.
func (m *merger) summary(failures bool) Summary {
	var s Summary
	for _, r := range m.results {
		if r.Status == OtherShard && failures {
			r = failed(r.Name, fmt.Errorf("%w: %s", errShard, m.failure))
		}
		if r.Err == nil && (r.Status == Failed || r.Status == Partial) {
			r.Err = errors.New(r.Reason)
		}
		s.Results = append(s.Results, r)
	}
	s.total()
	return s
}

// reportProgress reports every second how many logs have been committed, until it is stopped.
func reportProgress(ctx context.Context, st *store.Store, tell func(Progress)) (stop func()) {
	if tell == nil {
		return func() {}
	}
	before, _ := st.Inputs(ctx)
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				if now, err := st.Inputs(ctx); err == nil {
					tell(Progress{Done: max(0, len(now)-len(before))})
				}
			}
		}
	}()
	return func() { close(ended); <-stopped }
}

// Work runs on the cluster's machines. It reads the given shards into the store, as the spec file says, and writes their
// results.
func Work(ctx context.Context, formats []ingest.Format, file string, in io.Reader, out io.Writer, o Options) error {
	data, err := store.ReadStaged(ctx, file)
	if err != nil {
		return fmt.Errorf("ingest: this machine does not see the store: %w", err)
	}
	var spec workerSpec
	if err := json.Unmarshal(data, &spec); err != nil {
		return fmt.Errorf("ingest: %s: %w", file, err)
	}
	st, err := store.Open(ctx, spec.Store, store.Options{}) // which is there, since the file lies in it
	if err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	w := bufio.NewWriter(out)
	err = engine.ReadRemoteRows(in, 1, func(fields []engine.RemoteField) error {
		n, err := fields[0].Int()
		if err != nil {
			return err
		}
		o.From, o.Again, o.Limits, o.Literals, o.Shard = spec.From, spec.Again, spec.Limits, spec.Literals, Shard{K: int(n), N: spec.Shards}
		found, err := json.Marshal(readShard(ctx, st, formats, spec.Paths, o))
		if err != nil {
			return err
		}
		return errors.Join(engine.WriteOutput(w, n, found), ctx.Err())
	})
	return errors.Join(err, w.Flush())
}

// readShard reads one shard. A shard without logs, or with none that can be read, is done.
func readShard(ctx context.Context, st *store.Store, formats []ingest.Format, paths []string, o Options) shardRead {
	s, err := Run(ctx, st, formats, paths, o)
	answer := shardRead{Shard: o.Shard.K, Results: s.Results}
	for i := range answer.Results {
		answer.Results[i].Err = nil // its text is in Reason
	}
	if err != nil && !errors.Is(err, ErrUnreadable) && !(errors.Is(err, ErrNothingToRead) && len(s.Results) > 0) {
		answer.Failure = err.Error()
	}
	return answer
}
