package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/store"
	"straggler/whatif"
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
	if err := e.analyse(ctx, st, eng); err != nil {
		eng.Close()
		return nil, err
	}
	return eng, nil
}

// analyse brings the results of a store up to date with its logs and with this straggler.
func (e *env) analyse(ctx context.Context, st *store.Store, eng engine.Engine) error {
	for _, stage := range []struct {
		kind store.Kind
		what string
		run  func() error
	}{
		{store.Detect, "finding outliers", func() error {
			_, err := detect.Run(ctx, st, eng, detect.Options{Tool: version})
			return err
		}},
		{store.Causes, "finding causes", func() error {
			_, err := causes.Run(ctx, st, eng, causes.Options{Tool: version})
			return err
		}},
		{store.Whatif, "replaying policies", func() error {
			o, err := whatif.Brief(ctx, eng)
			if err != nil {
				return err
			}
			o.Tool = version
			_, err = whatif.Run(ctx, st, eng, o)
			return err
		}},
	} {
		fresh, err := isFresh(ctx, st, stage.kind)
		if err != nil {
			return err
		}
		if fresh {
			continue
		}
		done := e.step(stage.what)
		err = stage.run()
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

// isFresh says that the results of a kind are of the logs that the store has now, by this version.
func isFresh(ctx context.Context, st *store.Store, kind store.Kind) (bool, error) {
	c, err := st.Result(ctx, kind)
	if err != nil || c == nil {
		return false, err
	}
	state, err := st.State(ctx)
	return c.State == state && c.Tool == version, err
}

// count is a number with its noun.
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
