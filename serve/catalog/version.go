package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report"
	"straggler/schema"
	"straggler/store"
)

// The number of queries of each kind that run at once. With two, a short one does not wait for a long one; more would not help,
// since DuckDB runs each on all processors.
const (
	pageEngines   = 2
	lookupEngines = 2
	userEngines   = 2
)

// userTemp bounds the disk space of an engine for users' queries that do not fit into memory.
const userTemp = 4 << 30

// version is one state of the store. Its engines hold snapshots, so that a compaction does not remove its files.
type version struct {
	id        string
	store     *store.Store
	fresh     bool  // outliers and causes are of its logs
	pages     *pool // for documents, which make session tables
	lookups   *pool // for our own short queries
	users     *pool // for SQL that users wrote
	docs      documents
	storewide storewideResults
	number    int // of the version, from 1

	mu     sync.Mutex
	apps   []report.Application
	judged bool // what they lost is known
}

// newVersion takes a snapshot of the store. The other engines are opened when they are needed, and see the same state, because
// nothing is committed through this Store.
func newVersion(ctx context.Context, id string, st *store.Store, memory int64) (*version, error) {
	v := &version{id: id, store: st}
	// documents of the whole store need the rest: on 10 million attempts some aggregates take over 1 GB, and cannot be written
	// to the disk
	share := memory / 3 / (lookupEngines + userEngines)
	v.pages = newPool(st, pageEngines, engine.Options{MemoryBytes: memory / 3})
	v.lookups = newPool(st, lookupEngines, engine.Options{MemoryBytes: share})
	v.users = newPool(st, userEngines, engine.Options{MemoryBytes: share, TempBytes: userTemp, Locked: true})
	err := v.pages.with(ctx, func(eng engine.Engine) (err error) {
		if v.apps, err = report.ListApplications(ctx, eng); err == nil {
			slices.SortFunc(v.apps, byStart)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, v.retire())
	}
	return v, nil
}

func (v *version) applications() ([]report.Application, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.apps, v.judged
}

// judge sets what the applications lost.
func (v *version) judge(overview *report.Document) {
	apps := slices.Clone(overview.Trust.Applications.Rows)
	slices.SortFunc(apps, byStart)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.apps, v.judged = apps, true
}

// keepLosses sets what the applications lost according to an earlier version, until it is known for this one.
func (v *version) keepLosses(old *version) {
	apps, _ := old.applications()
	at := make(map[schema.Key]*report.Application, len(apps))
	for i := range apps {
		at[apps[i].ApplicationID] = &apps[i]
	}
	for i := range v.apps {
		if was := at[v.apps[i].ApplicationID]; was != nil {
			v.apps[i].Loss = was.Loss
		}
	}
}

// byStart orders applications from newest to oldest.
func byStart(a, b report.Application) int {
	return cmp.Or(cmp.Compare(b.StartTime.V, a.StartTime.V), cmp.Compare(a.NativeID, b.NativeID), cmp.Compare(a.ApplicationID, b.ApplicationID))
}

// retire closes the engines that are idle, and the others when they are returned.
func (v *version) retire() error {
	return errors.Join(v.pages.close(), v.lookups.close(), v.users.close())
}

// pool lends engines, each to one at a time.
type pool struct {
	store *store.Store
	o     engine.Options
	free  chan engine.Engine // nil where it was not opened yet

	mu     sync.Mutex
	closed bool
}

func newPool(st *store.Store, n int, o engine.Options) *pool {
	p := &pool{store: st, o: o, free: make(chan engine.Engine, n)}
	for range n {
		p.free <- nil
	}
	return p
}

// with lends an engine.
func (p *pool) with(ctx context.Context, do func(engine.Engine) error) error {
	var eng engine.Engine
	select {
	case eng = <-p.free:
	case <-ctx.Done():
		return fmt.Errorf("catalog: waiting for other queries: %w", ctx.Err())
	}
	defer func() { p.giveBack(eng) }()
	if eng == nil {
		var err error
		if eng, err = engines.Open(ctx, p.store, p.o); err != nil {
			eng = nil // not an interface that holds a nil pointer
			return err
		}
	}
	return do(eng)
}

func (p *pool) giveBack(eng engine.Engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed && eng != nil {
		eng.Close()
		eng = nil
	}
	p.free <- eng
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for range cap(p.free) {
		select {
		case eng := <-p.free:
			if eng != nil {
				errs = append(errs, eng.Close())
			}
			p.free <- nil
		default:
		}
	}
	return errors.Join(errs...)
}
