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

// Documents that are kept, and how long one may take. A document is bounded: 50 outliers with their evidence, 20 phases and 6
// timelines come to at most a few megabytes.
const (
	mostDocuments = 64
	documentTime  = 5 * time.Minute
	overviewTime  = time.Hour // it is built once a version, of all rows
)

// subject is what a document is about: a part of the store, or all of it in overview.
type subject struct {
	scope    report.Scope
	overview bool
}

// documents keeps the documents that were asked for last. The zero value is ready.
type documents struct {
	mu    sync.Mutex
	by    map[subject]*list.Element
	order list.List // of *document, the one asked for last in front
}

// document is one that is being built or was.
type document struct {
	of    subject
	ready chan struct{}
	doc   *report.Document
	err   error
}

// Document gives the document on a part of the store, or on all of it with the zero Scope. It is shared: read it only. One that
// is being built is built to its end although ctx ends, because somebody will ask for it again.
func (c *Catalog) Document(ctx context.Context, scope report.Scope) (*report.Document, error) {
	return c.document(ctx, subject{scope: scope})
}

// Overview gives the document of report.Overview, in the same way.
func (c *Catalog) Overview(ctx context.Context) (*report.Document, error) {
	return c.document(ctx, subject{overview: true})
}

func (c *Catalog) document(ctx context.Context, of subject) (*report.Document, error) {
	v, err := c.version()
	if err != nil {
		return nil, err
	}
	return c.documentOf(ctx, v, of)
}

func (c *Catalog) documentOf(ctx context.Context, v *version, of subject) (*report.Document, error) {
	d, found := v.docs.get(of)
	if !found {
		c.building.Go(func() {
			limit := documentTime
			if of.overview {
				limit = overviewTime
			}
			ctx, cancel := context.WithTimeout(c.base, limit)
			defer cancel()
			defer close(d.ready)
			defer ingest.Recover(&d.err)
			d.doc, d.err = v.build(ctx, c.Where(), of)
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

// build makes a document.
func (v *version) build(ctx context.Context, where string, of subject) (doc *report.Document, err error) {
	err = v.pages.with(ctx, func(eng engine.Engine) (err error) {
		if of.overview {
			doc, err = report.Overview(ctx, eng)
		} else {
			doc, err = report.Build(ctx, eng, report.Options{Store: where, Scope: of.scope})
		}
		return err
	})
	return doc, err
}

// get finds a document, or makes room for one that is to be built.
func (ds *documents) get(of subject) (d *document, found bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if e, ok := ds.by[of]; ok {
		ds.order.MoveToFront(e)
		return e.Value.(*document), true
	}
	if ds.by == nil {
		ds.by = make(map[subject]*list.Element)
	}
	d = &document{of: of, ready: make(chan struct{})}
	ds.by[of] = ds.order.PushFront(d)
	for ds.order.Len() > mostDocuments {
		last := ds.order.Back()
		if last.Value.(*document).of.overview { // it took longest
			ds.order.MoveToFront(last)
			continue
		}
		delete(ds.by, ds.order.Remove(last).(*document).of)
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
