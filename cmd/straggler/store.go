package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/schema/laws"
	"straggler/store"
	"straggler/table"
	"straggler/verify"
)

const storeHelp = `A store is a directory of Parquet files and of commits that name them, or the same in a bucket of an object store. Every
verb that has --store takes either:

  --store lake                                       a directory
  --store s3://BUCKET/PATH                           Amazon S3
  --store 's3://BUCKET/PATH?endpoint=https://HOST'   a server of the same protocol: MinIO, Ceph, R2 and others
  --store gs://BUCKET/PATH                           Google Cloud Storage
  --store azblob://CONTAINER/PATH                    Azure Blob Storage
  --store file:///DIR                                a directory used like a bucket, for network file systems without locks

Credentials come from the same environment as those of the vendors' own tools, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
AWS_PROFILE, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, and from nowhere else; they are
never printed. AWS_ENDPOINT_URL and AWS_REGION count as well. Reading needs permission to list and get objects; writing
also to put and delete them.

A commit is a conditional put (If-None-Match), so any number of machines may ingest into one bucket at once: of two that
commit at the same moment, one retries with the next number, and a log that both read is in the store once. A server
without conditional puts is refused before anything is written. Transient failures are retried.

A query reads copies of the files of the tables that it names. They are kept in a directory of this machine, each checked
against the length and checksum in its commit: --cache DIR, or STRAGGLER_CACHE, or straggler in the user's cache directory.
STRAGGLER_CACHE_BYTES bounds them (20 GiB without it); the least recently used go first. The directory can be
shared by processes and removed at any time.

Not every row of the Parquet files counts: store/READING.md in the repository has the rules for other programs, as SQL for DuckDB.

Replaced files stay in a bucket for an hour, for readers that have them open, and are removed by the next ingest or
compaction; files of writers that died stay for a day. A lifecycle rule of the bucket should remove incomplete multipart
uploads.`

func storeCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:     "store",
		Short:   "List, check, compact a store, or remove an ingest from it",
		Long:    storeHelp,
		Example: "  straggler store ls --store lake",
		Args:    onlyFlags,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(storeLsCommand(e), storeVerifyCommand(e), storeCompactCommand(e), storeRmCommand(e))
	return c
}

func storeLsCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:     "ls --store DIR",
		Short:   "List the commits of a store",
		Example: "  straggler store ls --store lake",
		Args:    onlyFlags,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		st, err := e.openStore(ctx, dir)
		if err != nil {
			return nil, err
		}
		entries, err := st.List(ctx)
		if err != nil {
			return nil, err
		}
		f := table.NewFixed("commit BIGINT", "id", "kind", "committed TIMESTAMP", "inputs BIGINT", "files BIGINT", "rows BIGINT", "bytes BIGINT", "state")
		for _, c := range entries {
			f.Add(c.Sequence, c.ID, string(c.Kind), schema.Time(c.Committed.UnixMicro()), int64(len(c.Inputs)-c.Hidden), int64(c.Files),
				c.Rows, c.Bytes, commitState(c))
		}
		return f, nil
	})
}

func commitState(c store.Entry) string {
	switch {
	case !c.Visible:
		return "replaced"
	case c.Stale:
		return "stale"
	}
	return "visible"
}

func storeVerifyCommand(e *env) *cobra.Command {
	var rows bool
	var perLaw int
	c := storeVerb(e, &cobra.Command{
		Use:   "verify --store DIR",
		Short: "Read every file of a store and compare it with its commit; exit 3 when one is damaged",
		Long: glossary(`Verify reads every file of a store and compares its length, checksum, rows and columns with the commit that names it. With
--rows it also checks that the rows of the log tables obey the laws below, in SQL and row by row, so the store may be of any
size; each violation is printed with its table, key, column, law and value. The exit code is 3 when a file is damaged or a
row breaks a law.`, laws.All()),
		Example: `  straggler store verify --store lake
  straggler store verify --rows --store lake`,
		Args: onlyFlags,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		st, err := e.openStore(ctx, dir)
		if err != nil {
			return nil, err
		}
		done := e.step("reading the store")
		found, err := st.Verify(ctx)
		done()
		if err != nil {
			return nil, err
		}
		f := table.NewFixed("file", "problem", "advice")
		files := map[error]int{}
		for _, x := range found {
			f.Add(x.File, x.Problem, x.Advice)
			files[x.Err]++
		}
		for _, kind := range []error{store.ErrDamaged, store.ErrNewer} {
			if n := files[kind]; n > 0 {
				err = errors.Join(err, fmt.Errorf("%w: %s of the store", kind, count(n, "file")))
			}
		}
		if err != nil {
			return f, err
		}
		if len(found) == 0 {
			e.say("the store is intact")
		}
		if rows {
			return e.verifyRows(ctx, st, perLaw)
		}
		if len(found) == 0 {
			return nil, nil
		}
		return f, nil
	})
	c.Flags().BoolVar(&rows, "rows", false, "check the laws of rows as well")
	c.Flags().IntVar(&perLaw, "per-law", 100, "print `N` violations of each column and law; the others are counted")
	engineFlag(c, e)
	return c
}

// verifyRows checks the laws of rows and returns the violations.
func (e *env) verifyRows(ctx context.Context, st *store.Store, perLaw int) (table.Rows, error) {
	if perLaw < 1 {
		return nil, useError("--per-law is at least 1")
	}
	eng, err := engines.Open(ctx, st, engine.Options{Server: e.server})
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	done := e.step("checking the rows")
	r, err := verify.Rows(ctx, eng, verify.Options{PerLaw: perLaw})
	done()
	if err != nil {
		return nil, err
	}
	if r.Rows == 0 {
		e.say("the rows obey the laws")
		return nil, nil
	}
	f := table.NewFixed("table", "key", "column", "law", "value")
	for _, b := range r.Broken {
		for _, v := range b.First {
			f.Add(v.Table, v.Key, v.Column, string(v.Law), v.Value)
		}
		if more := b.Rows - int64(len(b.First)); more > 0 {
			f.Add(b.Table, nil, b.Column, string(b.Law), fmt.Sprintf("and %d more", more))
		}
	}
	return f, fmt.Errorf("%w: %s of %s; where the files are intact, a log contradicts itself or its format is read wrongly",
		errUnlawful, count(r.Rows, "violation"), count(int64(len(r.Broken)), "law"))
}

func storeCompactCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:   "compact --store DIR",
		Short: "Merge small commits and remove obsolete files",
		Long: `Compact merges small commits of logs into one, and likewise those of each kind of result, leaving out rows that no longer
count. It removes files of which nothing is visible. Attempts are sorted by phase, a million at a time, so that a query of one
phase reads less. The contents of the tables stay the same.`,
		Example: "  straggler store compact --store lake",
		Args:    onlyFlags,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		return changeStore(ctx, e, dir, func(st *store.Store) (store.Compaction, error) { return st.Compact(ctx, version) })
	})
}

func storeRmCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:   "rm ID --store DIR",
		Short: "Remove an ingest, or results, by the id that store ls shows",
		Long: `Rm removes all ingests, or the results, in the commit with this ID. After a compaction, which puts several ingests into one commit,
an ingest can still be removed alone, by its own ID: ingest_id of the table ingests.`,
		Example: `  straggler store ls --store lake
  straggler store rm ID --store lake`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, dir string, args []string) (table.Rows, error) {
		return changeStore(ctx, e, dir, func(st *store.Store) (store.Compaction, error) { return st.Remove(ctx, args[0], version) })
	})
}

func changeStore(ctx context.Context, e *env, dir string, do func(*store.Store) (store.Compaction, error)) (table.Rows, error) {
	st, err := e.changedStore(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer e.step("writing the store")()
	c, err := do(st)
	if err != nil {
		return nil, err
	}
	f := table.NewFixed("commits BIGINT", "rows BIGINT", "into", "files_removed BIGINT")
	f.Add(int64(c.Commits), c.Rows, c.Into, int64(c.Removed))
	if c.Postponed {
		e.say("obsolete files may still be in use by readers; the next ingest or compaction removes them")
	}
	return f, nil
}

// storeVerb makes a subcommand of store that gives rows.
func storeVerb(e *env, c *cobra.Command, run func(ctx context.Context, dir string, args []string) (table.Rows, error)) *cobra.Command {
	var dir string
	var o output
	c.RunE = func(c *cobra.Command, args []string) error {
		rows, err := run(c.Context(), dir, args)
		if rows == nil {
			return err
		}
		if werr := e.rows(o, rows); werr != nil {
			return werr
		}
		return err
	}
	storeFlag(c, e, &dir)
	o.flags(c, rowEncodings)
	return c
}
