package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"straggler/analysis"
	"straggler/audit"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/store"
	"straggler/table"
	"straggler/whatif"
)

// storeFlag adds the flag of the store that a verb works on.
func storeFlag(c *cobra.Command, e *env, dir *string) {
	c.Flags().StringVar(dir, "store", "", "`DIR` of the store, or its URL such as s3://BUCKET/PATH; see straggler help store")
	c.MarkFlagRequired("store")
	cacheFlag(c, e)
}

// cacheFlag adds the flag of the directory for copies of a bucket's files.
func cacheFlag(c *cobra.Command, e *env) {
	c.Flags().StringVar(&e.cache, "cache", "", "`DIR` for copies of a bucket's files; default $STRAGGLER_CACHE, else straggler in the user's cache directory")
}

// engineFlag adds the flag that says where the SQL of a verb runs.
func engineFlag(c *cobra.Command, e *env) {
	c.Flags().StringVar(&e.server, "engine", "",
		"where the SQL runs: duckdb, in this process, or `spark://USER@HOST:PORT`, on a cluster that can read the store; see straggler help engine")
}

// openStore opens an existing store to read it.
func (e *env) openStore(ctx context.Context, where string) (*store.Store, error) {
	return store.Open(ctx, where, store.Options{ReadOnly: true, Cache: e.copies()})
}

// makeStore opens a store to write to it, and creates it if there is none; when the verb fails before anything is in it, it
// is removed again.
func (e *env) makeStore(ctx context.Context, where string) (st *store.Store, err error) {
	st, err = store.Open(ctx, where, store.Options{Cache: e.copies()})
	if err == nil {
		e.made = st
	}
	return st, err
}

// changedStore opens an existing store to write to it.
func (e *env) changedStore(ctx context.Context, where string) (*store.Store, error) {
	if _, err := e.openStore(ctx, where); err != nil {
		return nil, err
	}
	return e.makeStore(ctx, where)
}

func (e *env) copies() store.Cache { return store.Cache{Dir: e.cache, Progress: e.transfers()} }

// openOrTemp opens a store for writing, or a temporary one if none is named; create allows creating a missing store.
func (e *env) openOrTemp(ctx context.Context, where string, create bool) (*store.Store, error) {
	switch {
	case where == "":
		return store.Temp(ctx)
	case create:
		return e.makeStore(ctx, where)
	}
	return e.changedStore(ctx, where)
}

// withEngine opens an existing store for writing results, and an engine over it.
func (e *env) withEngine(ctx context.Context, where string, o engine.Options, do func(*store.Store, engine.Engine) error) error {
	st, err := e.changedStore(ctx, where)
	if err != nil {
		return err
	}
	return e.onEngine(ctx, st, o, do)
}

// withResults is withEngine for a verb that prints its results; they are not kept if the store is read-only.
func (e *env) withResults(ctx context.Context, where string, do func(*store.Store, engine.Engine) error) error {
	st, err := e.changedStore(ctx, where)
	if err != nil {
		return err
	}
	err = e.onEngine(ctx, st, engine.Options{}, do)
	if !e.notKept(st, err) {
		return err
	}
	if st, err = st.Scratch(ctx); err != nil {
		return err
	}
	return errors.Join(e.onEngine(ctx, st, engine.Options{}, do), st.Close())
}

func (e *env) onEngine(ctx context.Context, st *store.Store, o engine.Options, do func(*store.Store, engine.Engine) error) error {
	o.Server = e.server
	eng, err := engines.Open(ctx, st, o)
	if err != nil {
		return err
	}
	defer eng.Close()
	return do(st, eng)
}

// notKept reports whether an error means that a store is read-only, so that results must be written to a temporary one, and
// tells the user. That does not work on a cluster, which could not read the temporary store.
func (e *env) notKept(st *store.Store, err error) bool {
	if !store.ReadOnly(err) || e.server != "" && e.server != "duckdb" {
		return false
	}
	e.say("%s cannot be written, so the results are not kept in it", table.Printable(st.Where()))
	return true
}

// analysed opens an engine over a store and brings its results up to date. It returns the store of the engine, which is a
// temporary one if the store is read-only.
func (e *env) analysed(ctx context.Context, st *store.Store, o analysis.Options) (*analysed, error) {
	a := &analysed{Store: st}
	err := a.update(ctx, e, o)
	if e.notKept(st, err) {
		if a.Store, err = st.Scratch(ctx); err != nil {
			return nil, err
		}
		if err = a.update(ctx, e, o); err != nil {
			err = errors.Join(err, a.Store.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// analysed is a store with up-to-date results, an engine over it, and the results of replays if there were any.
type analysed struct {
	*store.Store
	eng  engine.Engine
	last *whatif.Summary
}

func (a *analysed) update(ctx context.Context, e *env, o analysis.Options) (err error) {
	o.Tool, o.Step = version, e.step
	open := func() (engine.Engine, error) { return engines.Open(ctx, a.Store, engine.Options{Server: e.server}) }
	a.eng, a.last, err = analysis.Open(ctx, a.Store, open, o)
	return err
}

// Close closes the engine and removes a temporary store.
func (a *analysed) Close() error { return errors.Join(a.eng.Close(), a.Store.Close()) }

// configured reads the named configuration, or straggler.yaml if it exists.
func configured(name string) (*audit.Config, error) {
	if _, err := os.Stat("straggler.yaml"); name == "" && err == nil {
		name = "straggler.yaml"
	}
	if name == "" {
		return audit.DefaultConfig(), nil
	}
	return audit.ReadConfig(name)
}

func configFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "config", "", "`FILE` with rules and suppressions; straggler.yaml of this directory when it is there")
}
