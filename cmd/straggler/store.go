package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/schema"
	"straggler/store"
	"straggler/table"
)

func storeCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:     "store",
		Short:   "List, check, compact a store, or remove an ingest from it",
		Example: "  straggler store ls --store lake",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(storeLsCommand(e), storeVerifyCommand(e), storeCompactCommand(e), storeRmCommand(e))
	return c
}

// storeVerb makes a verb of store that gives rows.
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
	storeFlag(c, &dir)
	o.flags(c, rowEncodings)
	return c
}

func storeLsCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:     "ls --store DIR",
		Short:   "List the commits of a store",
		Example: "  straggler store ls --store lake",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		st, err := openStore(ctx, dir)
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
	return storeVerb(e, &cobra.Command{
		Use:     "verify --store DIR",
		Short:   "Read every file of a store and hold it against its commit; exit 3 when one is damaged",
		Example: "  straggler store verify --store lake",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		st, err := openStore(ctx, dir)
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
		damaged := 0
		for _, x := range found {
			f.Add(x.File, x.Problem, x.Advice)
			if x.Damage {
				damaged++
			}
		}
		if damaged > 0 {
			return f, fmt.Errorf("%w: %s of the store", store.ErrDamaged, count(damaged, "file"))
		}
		if len(found) == 0 {
			e.say("the store is whole")
			return nil, nil
		}
		return f, nil
	})
}

func storeCompactCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:     "compact --store DIR",
		Short:   "Put small commits together and remove what nothing is visible of",
		Example: "  straggler store compact --store lake",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, dir string, _ []string) (table.Rows, error) {
		return changeStore(ctx, e, dir, func(st *store.Store) (store.Compaction, error) { return st.Compact(ctx, version) })
	})
}

func storeRmCommand(e *env) *cobra.Command {
	return storeVerb(e, &cobra.Command{
		Use:   "rm ID --store DIR",
		Short: "Remove an ingest, or results, by the id that store ls shows",
		Example: `  straggler store ls --store lake
  straggler store rm ID --store lake`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, dir string, args []string) (table.Rows, error) {
		return changeStore(ctx, e, dir, func(st *store.Store) (store.Compaction, error) { return st.Remove(ctx, args[0], version) })
	})
}

func changeStore(ctx context.Context, e *env, dir string, do func(*store.Store) (store.Compaction, error)) (table.Rows, error) {
	if _, err := openStore(ctx, dir); err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, dir, store.Options{})
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
		e.say("somebody reads the store, so files that are not needed any more stay until the next time")
	}
	return f, nil
}
