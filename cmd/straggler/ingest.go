package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/remote"
	"straggler/ingest/run"
	"straggler/store"
	"straggler/table"
)

type ingestOptions struct {
	follow time.Duration
	store  string
	logs   logOptions
	again  bool
	shard  string
	shards int
	output output
}

func ingestCommand(e *env) *cobra.Command {
	var o ingestOptions
	c := &cobra.Command{
		Use:   "ingest LOG… --store DIR",
		Short: "Read logs into a store",
		Long: `Ingest reads logs into the tables of a store, all of them in one commit: a store never holds half of an ingest.
A LOG is a file, a directory, a pattern such as 'logs/*.zstd', a URL of an object store or HDFS (s3://BUCKET/PREFIX,
gs://…, azblob://…, hdfs://NAMENODE:PORT/PATH), the address of a Spark History Server (http://HOST:18080, or
http://HOST:18080/APPLICATION), or - for standard input. The format is recognised by content.
Credentials for URLs come from the environment, as for the vendors' own tools; for a History Server they are
STRAGGLER_REST_TOKEN, or STRAGGLER_REST_USER and STRAGGLER_REST_PASSWORD, and STRAGGLER_REST_CA names certificates to trust.
Its logs are downloaded one by one into the cache, where the same command finds them again; the log of a running application is
downloaded only if the application is named. Logs that the store already has are skipped; a log that has grown replaces its
earlier version. If a Spark log exists in several forms, such as rolled and as one file, or whole and compacted, the form that
has all records of the others is read.
Input that cannot be read is named and does not affect the rest; the exit code is then 3.`,
		Example: `  straggler ingest eventlogs --store lake
  straggler ingest 'eventlogs/*.zstd' --store lake --from spark
  straggler ingest --again eventlogs --store lake
  straggler ingest /shared/eventlogs --store /shared/lake --engine 'spark://me@thrift.example:10000?binary=/shared/bin/straggler' --shards 200`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("shards") && e.server == "duckdb" {
				return useError("--shards has no effect with --engine duckdb; give spark://USER@HOST:PORT, or leave it out")
			}
			return runIngest(c.Context(), e, o, args)
		},
	}
	storeFlag(c, e, &o.store)
	o.logs.flags(c.Flags())
	c.Flags().BoolVar(&o.again, "again", false, "read logs that the store already has, and replace them")
	c.Flags().StringVar(&o.shard, "shard", "", "read only share `K/N` of the logs, the same ones on every run; N runs read all")
	c.Flags().DurationVar(&o.follow, "follow", 0, "keep reading logs that are new, grow or roll, every `INTERVAL` such as 30s, until interrupted")
	engineFlag(c, e)
	c.Flags().IntVar(&o.shards, "shards", 16, "with --engine spark://…: divide the logs into `N` shards, each a task of the cluster and a commit")
	o.output.flags(c, rowEncodings)
	needs(c.Flags(), "shards", "engine")
	return c
}

func runIngest(ctx context.Context, e *env, o ingestOptions, logs []string) error {
	in := o.logs.options()
	in.Again = o.again
	var err error
	if in.Shard, err = parseShard(o.shard); err != nil {
		return err
	}
	if _, err := o.output.encoding(); err != nil {
		return err
	}
	logs, missing, err := e.fetched(ctx, logs)
	if err != nil {
		return err
	}
	st, err := e.makeStore(ctx, o.store)
	if err != nil {
		return err
	}
	if o.follow != 0 {
		return e.followLogs(ctx, st, logs, o.follow, in)
	}
	read := e.ingest
	if e.server != "" && e.server != "duckdb" {
		if o.shard != "" {
			return useError("--shard is for machines without a cluster; with --engine give --shards")
		}
		read = func(ctx context.Context, st *store.Store, logs []string, in run.Options) (run.Summary, error) {
			return e.spreadIngest(ctx, st, logs, in, o.shards)
		}
	}
	s, err := read(ctx, st, logs, in)
	if len(s.Results) > 0 {
		err = errors.Join(err, e.rows(o.output, results(&s, o.output)))
	}
	if err != nil {
		return err
	}
	e.say("%s", readSummary(&s))
	return errors.Join(e.unread(&s), missing)
}

// ingest reads logs and shows the progress.
func (e *env) ingest(ctx context.Context, st *store.Store, logs []string, o run.Options) (run.Summary, error) {
	show, done := e.readingBar()
	defer done()
	client := remote.New(remote.Options{})
	defer client.Close()
	o.Tool, o.Stdin, o.Progress, o.Remote = version, e.in, e.sayWaiting(logs, show), client
	return run.Run(ctx, st, formats.All(), logs, o)
}

// spreadIngest reads logs on a cluster and shows the progress.
func (e *env) spreadIngest(ctx context.Context, st *store.Store, logs []string, o run.Options, shards int) (run.Summary, error) {
	if shards < 1 || shards > 100_000 {
		return run.Summary{}, useError("--shards %d: give a number from 1 to 100000", shards)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Server: e.server})
	if err != nil {
		return run.Summary{}, err
	}
	defer eng.Close()
	cluster, ok := eng.(engine.RemoteRunner)
	if !ok {
		return run.Summary{}, useError("--engine %s: it cannot run programs; ingest needs spark://…", eng.Name())
	}
	show, done := e.readingBar()
	defer done()
	o.Tool, o.Progress = version, show
	return run.OnCluster(ctx, st, cluster, logs, o, shards)
}

// followLogs reads logs repeatedly and reports each round.
func (e *env) followLogs(ctx context.Context, st *store.Store, logs []string, every time.Duration, o run.Options) error {
	if every < time.Second {
		return useError("--follow %s: give an interval of at least 1s", every)
	}
	client := remote.New(remote.Options{})
	defer client.Close()
	o.Tool, o.Remote = version, client
	each := func(s run.Summary, err error) {
		if err != nil {
			e.say("%s", oneMessage(err))
			return
		}
		e.say("%s", readSummary(&s))
	}
	return run.Follow(ctx, st, formats.All(), logs, run.FollowOptions{Options: o, Every: every, Each: each})
}

// fewResults is the number of inputs up to which all are listed on a terminal; beyond it, those read without problems are
// omitted.
const fewResults = 40

func results(s *run.Summary, o output) table.Rows {
	f := table.NewFixed("input", "status", "format", "recognised_by", "bytes BIGINT", "records BIGINT", "rejects BIGINT", "attempts BIGINT", "reason")
	for _, r := range s.Results {
		if r.Status == run.Read && len(s.Results) > fewResults && !o.toFile() && (o.as == "" || o.as == "table") {
			continue
		}
		f.Add(r.Name, string(r.Status), r.Format, r.Why, r.Bytes, r.Decoded+r.Rejects, r.Rejects, r.Rows["attempts"], r.Reason)
	}
	return f
}

// readSummary returns a sentence about an ingest.
func readSummary(s *run.Summary) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s read", count(s.Count(run.Read)+s.Count(run.Partial), "log"))
	if n := s.Count(run.AlreadyThere); n > 0 {
		fmt.Fprintf(&b, ", %d already there", n)
	}
	if n := s.Count(run.Failed); n > 0 {
		fmt.Fprintf(&b, ", %d failed", n)
	}
	if s.Content > 0 {
		fmt.Fprintf(&b, ": %s in %.2f s (%s/s), %s, %s, %s", humanize.Bytes(uint64(s.Content)), s.Seconds,
			humanize.Bytes(uint64(float64(s.Content)/max(s.Seconds, 1e-3))), count(s.Decoded+s.Rejects, "record"),
			count(s.Rejects, "reject"), count(s.Rows["attempts"], "attempt"))
	}
	if s.Commit != nil {
		fmt.Fprintf(&b, "; commit %s", s.Commit.ID)
	}
	return b.String()
}

// unread returns an error about the inputs that could not be read, nil if there are none. It also reports the number of records
// rejected from the others, which is not an error.
func (e *env) unread(s *run.Summary) error {
	bad := s.Unread()
	if s.Rejects > 0 {
		e.say("straggler: %d of %s could not be used; the table rejects says which and why", s.Rejects, count(s.Decoded+s.Rejects, "record"))
	}
	if len(bad) == 0 {
		return nil
	}
	for i, r := range bad {
		if i == 10 {
			e.say("straggler: … and %d more", len(bad)-i)
			break
		}
		e.say("straggler: %s: %s: %s", table.Printable(r.Name), r.Status, table.Printable(r.Reason))
	}
	return fmt.Errorf("%w: %d of %s; the rest is in the store", errUnread, len(bad), count(len(s.Results), "log"))
}

func parseShard(text string) (run.Shard, error) {
	if text == "" {
		return run.Shard{}, nil
	}
	var s run.Shard
	if n, err := fmt.Sscanf(text, "%d/%d", &s.K, &s.N); err != nil || n != 2 || s.K < 1 || fmt.Sprintf("%d/%d", s.K, s.N) != text {
		return s, useError("--shard %q: write it as K/N, such as 1/4", text)
	}
	return s, nil
}
