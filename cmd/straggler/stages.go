package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/analysis"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/store"
)

// storeFlag names the store that a verb works on.
func storeFlag(c *cobra.Command, e *env, dir *string) {
	c.Flags().StringVar(dir, "store", "", "`DIR` of the store, or its URL: s3://BUCKET/PATH; straggler help store says more")
	c.MarkFlagRequired("store")
	cacheFlag(c, e)
}

// cacheFlag says where copies of a store's files are kept when it lies in a bucket.
func cacheFlag(c *cobra.Command, e *env) {
	c.Flags().StringVar(&e.cache, "cache", "", "`DIR` for copies of a bucket's files; else $STRAGGLER_CACHE, else straggler in the user's cache directory")
}

// engineFlag says where the SQL of a verb runs.
func engineFlag(c *cobra.Command, e *env) {
	c.Flags().StringVar(&e.server, "engine", "", "where the SQL runs: duckdb, in this process, or `spark://USER@HOST:PORT`, on a cluster that sees the store; straggler help engine says more")
}

// openStore opens a store that must be there.
func (e *env) openStore(ctx context.Context, where string) (*store.Store, error) {
	return store.Open(ctx, where, store.Options{ReadOnly: true, Cache: e.copies()})
}

// makeStore opens a store to write to it; without one there it becomes one.
func (e *env) makeStore(ctx context.Context, where string) (*store.Store, error) {
	return store.Open(ctx, where, store.Options{Cache: e.copies()})
}

// changedStore opens a store that must be there to write to it.
func (e *env) changedStore(ctx context.Context, where string) (*store.Store, error) {
	if _, err := e.openStore(ctx, where); err != nil {
		return nil, err
	}
	return e.makeStore(ctx, where)
}

func (e *env) copies() store.Cache { return store.Cache{Dir: e.cache, Progress: e.transfers()} }

// withEngine opens a store that must be there and an engine over it, for results to be written.
func (e *env) withEngine(ctx context.Context, dir string, do func(*store.Store, engine.Engine) error) error {
	st, err := e.changedStore(ctx, dir)
	if err != nil {
		return err
	}
	eng, err := engines.Open(ctx, st, engine.Options{Server: e.server})
	if err != nil {
		return err
	}
	defer eng.Close()
	return do(st, eng)
}

// analysed opens an engine over a store whose results are up to date.
func (e *env) analysed(ctx context.Context, st *store.Store) (engine.Engine, error) {
	eng, err := engines.Open(ctx, st, engine.Options{Server: e.server})
	if err != nil {
		return nil, err
	}
	if err := analysis.Update(ctx, st, eng, version, e.step); err != nil {
		eng.Close()
		return nil, err
	}
	return eng, nil
}

// count is a number with its noun.
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
