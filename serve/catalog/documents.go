package catalog

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"straggler/engine"
	"straggler/ingest"
	"straggler/report"
)

// The number of documents kept, and the time limit for building one. A document is bounded: 50 outliers with their evidence, 20
// phases and 6 timelines are at most a few megabytes.
const (
	mostDocuments = 64
	documentTime  = 5 * time.Minute
)

// documents caches the documents requested last. The zero value is ready to use.
type documents struct {
	mu    sync.Mutex
	by    map[report.Scope]*list.Element
	order list.List // of *document, the one asked for last in front
}

// document is a document, built or being built.
type document struct {
	of    report.Scope
	ready chan struct{}
	doc   *report.Document
	err   error
}

// Document returns the document on a part of the store. It is shared and must not be modified. Building continues even if ctx
// ends, because the document will probably be requested again.
func (c *Catalog) Document(ctx context.Context, scope report.Scope) (*report.Document, error) {
	v, err := c.version()
	if err != nil {
		return nil, err
	}
	d, found := v.docs.get(scope)
	if !found {
		c.building.Go(func() {
			ctx, cancel := context.WithTimeout(c.base, documentTime)
			defer cancel()
			defer close(d.ready)
			defer ingest.Recover(&d.err)
			d.doc, d.err = v.build(ctx, c.Where(), scope)
		})
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("catalog: %w", ctx.Err())
	}
	if d.err != nil {
		v.docs.forget(d) // the next one tries again
	}
	return d.doc, d.err
}

// build builds a document.
func (v *version) build(ctx context.Context, where string, scope report.Scope) (doc *report.Document, err error) {
	err = v.pages.with(ctx, func(eng engine.Engine) (err error) {
		doc, err = report.Build(ctx, eng, report.Options{Store: where, Scope: scope})
		return err
	})
	return doc, err
}

// get returns a document, or a new one that the caller must build, dropping another if there are too many.
func (ds *documents) get(of report.Scope) (d *document, found bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if e, ok := ds.by[of]; ok {
		ds.order.MoveToFront(e)
		return e.Value.(*document), true
	}
	if ds.by == nil {
		ds.by = make(map[report.Scope]*list.Element)
	}
	d = &document{of: of, ready: make(chan struct{})}
	ds.by[of] = ds.order.PushFront(d)
	for ds.order.Len() > mostDocuments {
		delete(ds.by, ds.order.Remove(ds.order.Back()).(*document).of)
	}
	return d, false
}

func (ds *documents) forget(d *document) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if e, ok := ds.by[d.of]; ok && e.Value == any(d) {
		ds.order.Remove(e)
		delete(ds.by, d.of)
	}
}
